/* Reports: what `superarm report` does, as calls. Result folders in; tables, figures and a page out. */
#ifndef SUPERARM_REPORT_H
#define SUPERARM_REPORT_H

#include <stddef.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_report sa_report;

/* Reads the folders of one experiment that was split by runs, and merges them; or the folders of one figure (see
 * sa_figure_write), merged panel by panel. SA_INVALID, naming the option that differs or the runs that overlap, when they
 * cannot be merged. `*out` is set only on success; caller frees with sa_report_destroy. */
SA_API sa_status sa_report_open(const char *const *folders, size_t count, sa_report **out);
SA_API void sa_report_destroy(sa_report *report); /* NULL is fine */

/* Adds published curves from a CSV file with the columns figure,score,d,algorithm,round,mean_regret,sd_regret,runs. They are
 * drawn dashed beside the agents whose label is that algorithm. A wrong file is SA_FORMAT with "file:line: ", and changes
 * nothing. */
SA_API sa_status sa_report_reference(sa_report *report, const char *path);

/* Is this file one that sa_report_reference would take? For asking before long work. */
SA_API sa_status sa_report_check_reference(const char *path);

/* Writes report.html, table.csv, curves.csv and, where gnuplot is installed, the figure as .svg and .png; each appears whole
 * or not at all. `folder` NULL: the first folder that was opened. */
SA_API sa_status sa_report_write(sa_report *report, const char *folder);

/* The tables as text. Valid until the report changes. */
SA_API const char *sa_report_table(const sa_report *report);
/* The path of the page that was written, "" before. */
SA_API const char *sa_report_page(const sa_report *report);
/* Why there are no figures, as a sentence; "" when there are. */
SA_API const char *sa_report_note(const sa_report *report);

/* Makes `folder` the folder of a figure, whose panels are the result folders `panels` (count) in it, in this order. `name` is
 * "fig1", `title` a line for people, `command` what repeats it. */
SA_API sa_status sa_figure_write(const char *folder, const char *name, const char *title, const char *command,
                                 const char *const *panels, size_t count);

#ifdef __cplusplus
}
#endif

#endif

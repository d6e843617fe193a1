/* Reports: what `superarm report` does, as calls. Result folders in; tables, figures and a page out. */
#ifndef SUPERARM_REPORT_H
#define SUPERARM_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sa_report sa_report;

/* Reads the folders of one experiment, split by runs, by agents or both, and merges them; or those of one
 * figure (see sa_figure_write), merged panel by panel. SA_INVALID, naming the option that differs or the run
 * that is not the same, when they cannot be merged. `*out` is set only on success; caller frees with
 * sa_report_destroy. */
SA_API sa_status sa_report_open(const char *const *folders, size_t count, sa_report **out);
SA_API void sa_report_destroy(sa_report *report); /* NULL is fine */

/* Each folder as a panel of one figure. */
SA_API sa_status sa_report_open_panels(const char *const *folders, size_t count, sa_report **out);

/* How it is to look, before it is written: "format" (html, latex or csv), "title", "size" (inches: 6x3.5),
 * "log" (x, y or xy), "band" (sd, se, ci95, quartiles, range: worst and best run, none), "agent" (LABEL
 * or LABEL:NAME; those named, in this order), "against" (the label of the agent that differences are to),
 * "regret" (expected or realised, else as the experiment says), "columns" (of tables: mean,sd,worst). A wrong
 * value is SA_INVALID. */
SA_API sa_status sa_report_set(sa_report *report, const char *name, const char *value);
/* The names of columns; NULL: there are fewer. */
SA_API const char *sa_report_column(size_t index);

/* How figures show agents: names, colours and marks, the same wherever they are drawn. */
typedef struct sa_agent_style {
    char name[256];  /* "CN-UCB" */
    char colour[16]; /* "#0072B2" */
    size_t dashes;   /* 0: solid; else a dash of 8 (1 + (dashes - 1) / 3) and 1 + (dashes - 1) % 3 dots */
    size_t mark; /* 0 to 4: disc, square, triangle, diamond, triangle downwards; 5 to 9: the same, empty */
} sa_agent_style;
/* Of the index-th of agents (count) with these labels, algorithms, presets and hidden units. */
SA_API sa_status sa_agent_style_of(const char *const *labels, const char *const *algorithms,
                                   const char *const *presets, const int64_t *hidden, size_t count,
                                   size_t index, sa_agent_style *out);

/* Adds published curves from a CSV file with the columns
 * figure,score,d,algorithm,round,mean_regret,sd_regret,runs, and regret where it is not realised in all of
 * them (realised or expected). They are drawn dashed beside the agents whose label is that algorithm. A
 * wrong file is SA_FORMAT with "file:line: ", one of another regret than is shown SA_INVALID; both change
 * nothing. */
SA_API sa_status sa_report_reference(sa_report *report, const char *path);

/* Is this file one that sa_report_reference would take, where this regret is shown (NULL: any)? For asking
 * before long work. */
SA_API sa_status sa_report_check_reference(const char *path, const char *regret);

/* Writes what the format asks for, each file whole or not at all: html is report.html, table.csv, curves.csv
 * and the figure as .svg, .png and .pdf where gnuplot is installed; latex is table.tex and the figure as .svg
 * and .pdf; csv the two csv files. What was merged from several folders, or is in parts, becomes an ordinary
 * result there. `folder` NULL: the first folder that was opened. */
SA_API sa_status sa_report_write(sa_report *report, const char *folder);

/* The tables as text, as they were opened or last written. Valid until the report changes. */
SA_API const char *sa_report_table(const sa_report *report);
/* The path of the page that was written, "" before. */
SA_API const char *sa_report_page(const sa_report *report);
/* Why there are no figures, as a sentence; "" when there are. */
SA_API const char *sa_report_note(const sa_report *report);

/* Makes `folder` the folder of a figure, whose panels are the result folders `panels` (count) in it, in this
 * order. `name` is "fig1", `title` a line for people, `command` what repeats it. */
SA_API sa_status sa_figure_write(const char *folder, const char *name, const char *title, const char *command,
                                 const char *const *panels, size_t count);

#ifdef __cplusplus
}
#endif

#endif

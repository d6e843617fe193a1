/* What the files of this folder share: a report is one or more panels, a panel is one experiment with all its runs.
 *
 *   folder.c, merge.c, figure_folder.c, open.c   from folders to panels
 *   reference.c                                  published curves
 *   summarise.c, names.c                         from panels to numbers and words
 *   table.c, csv.c, gnuplot.c, figure.c          to tables and figures
 *   page.c, page_style.c, page_options.c         to the page
 *   write.c                                      and to the disk */
#ifndef SA_REPORT_REPORT_H
#define SA_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/options.h"
#include "experiment/experiment.h"
#include <superarm/report.h>

/* What is told of an agent: both regrets, as sa_regret counts them, and clicks where users click. */
enum { SA_REPORT_CLICKS = sa_regret_count, SA_REPORT_KINDS, SA_REPORT_VALUE = 16384 };

/* A curve with its deviation, at some rounds. */
typedef struct sa_curve {
    size_t count;
    size_t *round;     /* (count) from 1, increasing */
    double *mean, *sd; /* (count) */
} sa_curve;

void sa_curve_clear(sa_curve *curve);

/* A curve that somebody published. */
typedef struct sa_published {
    char *figure, *score, *algorithm;
    size_t dim, runs;
    sa_curve curve;
} sa_published;

typedef struct sa_report_agent {
    char *label;
    char *name; /* for people: "CN-UCB" */
    sa_options *options;
    double *total[SA_REPORT_KINDS]; /* (runs, rounds), cumulative */
    double seconds;                 /* a run, in the mean */
    uint64_t peak_bytes, diverged_trainings;
    double certificate; /* the largest of a decision; NaN where none had one, or an older version wrote the folder */
    sa_mean final[SA_REPORT_KINDS];
    sa_mean difference[SA_REPORT_KINDS]; /* run by run, to the first agent */
    sa_curve curve[SA_REPORT_KINDS];     /* every max(1, T/80) rounds, and the last */
    const sa_published *published;       /* of the report; NULL: none */
} sa_report_agent;

typedef struct sa_run_range {
    uint64_t first, count;
} sa_run_range;

typedef struct sa_report_panel {
    char *name;          /* of the folder: "h1" */
    char *title;         /* "h1(x) = x'a" */
    char **folders;      /* (folder_count) in the order given */
    sa_run_range *range; /* (folder_count) */
    size_t folder_count;
    sa_options *options;
    sa_report_agent *agents; /* (agent_count) */
    size_t agent_count;
    size_t runs, rounds;
} sa_report_panel;

struct sa_report {
    char *folder;            /* the first given */
    char *figure;            /* "fig1", "" for one experiment */
    char *title, *command;   /* of a figure; NULL for one experiment */
    sa_report_panel *panels; /* (panel_count) */
    size_t panel_count;
    sa_published *published; /* (published_count) */
    size_t published_count;
    sa_buffer table; /* text */
    char *page, *note;
};

static inline int sa_panel_shown(const sa_report_panel *panel) { return panel->options->show_regret; }
/* Kinds that the panel has: the last is clicks. */
static inline int sa_panel_kinds(const sa_report_panel *panel) {
    return panel->options->clicks == SA_CLICKS_NONE ? SA_REPORT_CLICKS : SA_REPORT_KINDS;
}

/* Has an agent widths that are not exact, and a bound on how far they are? */
bool sa_panel_is_certified(const sa_report_panel *panel);

/* ---- folders (folder.c, merge.c, figure_folder.c) ---- */

/* One finished experiment. */
sa_status sa_panel_read(const char *folder, sa_report_panel *out);
void sa_panel_clear(sa_report_panel *panel);
/* Joins the runs of `parts` (count); takes what it needs from them, and leaves them to be cleared. */
sa_status sa_panel_merge(sa_report_panel *parts, size_t count, sa_report_panel *out);

typedef struct sa_figure_folder {
    char *name, *title, *command;
    char **panels; /* (count) */
    size_t count;
} sa_figure_folder;

bool sa_is_figure(const char *folder);
sa_status sa_figure_read(const char *folder, sa_figure_folder *out);
void sa_figure_clear(sa_figure_folder *figure);

/* ---- numbers and words (summarise.c, names.c, reference.c) ---- */

/* Final regrets, differences and curves of all agents, and names. */
sa_status sa_panel_summarise(sa_report_panel *panel);
sa_status sa_reference_read(const char *path, sa_published **out, size_t *count);
void sa_reference_clear(sa_published *published, size_t count);
/* Mean, deviation and 95% interval of `runs` runs from their mean and deviation. */
sa_mean sa_mean_of(double mean, double sd, size_t runs);
/* Our mean at a round. */
double sa_mean_at(const sa_report_panel *panel, const sa_report_agent *agent, int kind, size_t round);
/* The last published point that lies within our rounds; false when there is none. */
bool sa_published_end(const sa_report_panel *panel, const sa_published *published, size_t *index);

/* "CN-UCB" for an agent that is labelled cn-ucb and is one; else the label. */
sa_status sa_agent_name(const char *label, const sa_options *options, char **name);
sa_status sa_panel_title(const sa_options *options, char **title);

/* How an agent's curve is drawn: no two agents of a panel alike, and in colours that colour-blind people can tell apart. */
typedef struct sa_line {
    const char *colour; /* "#0072B2" */
    size_t dashes;      /* 0: solid; else kinds of dashes, of which there is no last one */
} sa_line;

sa_line sa_agent_line(const sa_report_panel *panel, size_t index);

/* ---- tables (table.c, csv.c) ---- */

enum { SA_TABLE_COLUMNS = 14 };

typedef struct sa_table {
    size_t columns, rows;             /* the first row has the titles */
    char *(*cells)[SA_TABLE_COLUMNS]; /* (rows) */
    bool *published;                  /* (rows) */
} sa_table;

sa_status sa_table_make(const sa_report_panel *panel, sa_table *out);
void sa_table_clear(sa_table *table);
/* Adds all panels' tables to the buffer. */
sa_status sa_table_text(const sa_report *report, sa_buffer *buffer);
void sa_table_csv(const sa_report *report, sa_buffer *buffer);
void sa_curves_csv(const sa_report *report, sa_buffer *buffer);

/* ---- figures (figure.c, gnuplot.c) ---- */

typedef enum sa_picture { SA_PICTURE_SVG, SA_PICTURE_PNG } sa_picture;

/* Runs gnuplot on a script; what it printed is in `out`. SA_UNSUPPORTED with a sentence when it is missing or fails. */
sa_status sa_gnuplot(const sa_buffer *script, sa_buffer *out);
/* One panel, or all panels side by side with one legend. */
sa_status sa_figure_panel(const sa_report_panel *panel, sa_picture kind, bool legend, sa_buffer *out);
sa_status sa_figure_all(const sa_report *report, sa_picture kind, sa_buffer *out);
/* A piece of the agent's curve, for a legend in HTML. */
void sa_figure_swatch(sa_buffer *buffer, const sa_report_panel *panel, size_t index, bool published);

/* ---- the page (page.c, page_style.c, page_options.c) ---- */

extern const char *const sa_page_style;
/* Escaped. */
void sa_html_text(sa_buffer *buffer, const char *text);
void sa_page_options(sa_buffer *buffer, const sa_report_panel *panel);
/* `pictures` (panel_count) SVG; `note` says why there are none, or is "". */
sa_status sa_page_make(const sa_report *report, const sa_buffer *pictures, const char *note, sa_buffer *page);

#endif

/* What the files of this folder share: a report is one or more panels, a panel is one experiment with the
 * runs that are there.
 *
 *   panel.c, figure_folder.c, open.c             from folders to panels
 *   reference.c                                  published curves
 *   summarise.c, names.c, sweep.c                from panels to numbers and words
 *   style.c                                      what is to be shown, and how
 *   table.c, csv.c, latex.c                      to tables
 *   gnuplot.c, figure.c, heat_map.c              to figures
 *   page.c, page_style.c, page_options.c         to the page
 *   write.c                                      and to the disk */
#ifndef SA_REPORT_REPORT_H
#define SA_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "options/options.h"
#include "results/display.h"
#include "results/table.h"
#include <superarm/report.h>

enum { SA_REPORT_VALUE = 16384 };

/* Both regrets are curves as sa_regret counts them. */
_Static_assert((int)SA_CURVE_EXPECTED == (int)SA_REGRET_EXPECTED &&
                   (int)SA_CURVE_REALISED == (int)SA_REGRET_REALISED,
               "a regret is the curve of its number");

/* A curve with its deviation, at some rounds. */
typedef struct sa_curve {
    size_t count;
    size_t *round;      /* (count) from 1, increasing */
    double *mean, *sd;  /* (count) */
    double *low, *high; /* (count) of the band; NULL: none */
} sa_curve;

void sa_curve_clear(sa_curve *curve);

/* A curve that somebody published. */
typedef struct sa_published {
    char *figure, *score, *algorithm;
    size_t dim, runs;
    int regret; /* which it is of: sa_regret */
    sa_curve curve;
} sa_published;

/* In a sweep, beside the cells that see the same draws. */
typedef enum sa_standing { SA_NO_STANDING, SA_BEST, SA_NOT_WORSE } sa_standing;

/* An agent of the table, and what is said of it beside the others. */
typedef struct sa_report_agent {
    const sa_agent_runs *of;
    char *name; /* for people: "CN-UCB" */
    sa_totals totals;
    sa_mean difference[SA_CURVE_COUNT]; /* run by run, to agent `against`, of the runs that both have */
    double p[SA_CURVE_COUNT], holm[SA_CURVE_COUNT]; /* of these, and corrected; NaN: no comparison */
    size_t against; /* an index: the panel's reference, or the best cell of a sweep */
    sa_standing standing;
    sa_curve curve[SA_CURVE_COUNT]; /* every max(1, T/80) rounds, and the last */
    const sa_published *published;  /* of the report; NULL: none */
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
    sa_results results; /* what the rest is made of */
    char *missing;      /* runs that are not there, in words; "" */
    char *note;         /* what regret is, where it is not that against the best slate; "" */
    int shown;          /* which regret figures and tables show: sa_regret */
    const sa_options *options;
    sa_report_agent *agents; /* (agent_count) those that have runs, or that were chosen of them */
    size_t agent_count, reference;
    bool against_best;        /* differences are to the best cell of a sweep, and not to the reference */
    sa_report_agent *waiting; /* (waiting_count) those that were not; NULL where nothing was chosen */
    size_t waiting_count;
    size_t rounds; /* of the agent that has most */
} sa_report_panel;

typedef enum sa_band {
    SA_BAND_SD,
    SA_BAND_SE,
    SA_BAND_CI95,
    SA_BAND_QUARTILES,
    SA_BAND_RANGE,
    SA_BAND_NONE
} sa_band;
typedef enum sa_format_kind { SA_FORMAT_HTML, SA_FORMAT_LATEX, SA_FORMAT_CSV } sa_format_kind;

/* What a table tells of an agent: X(ENUMERATOR, "its name in --columns"), and after these the columns of runs
 * (results/table.h) and what was published. */
/* clang-format off */
#define SA_CELL_LIST(X)                                                                                      \
    X(AGENT, "agent") X(RUNS, "runs") X(MEAN, "mean") X(SD, "sd") X(INTERVAL, "interval") X(WORST, "worst")  \
    X(DIFFERENCE, "difference") X(DIFFERENCE_INTERVAL, "difference-interval") X(STANDING, "standing")        \
    X(CLICKS, "clicks") X(CLICKS_INTERVAL, "clicks-interval") X(P, "p") X(HOLM, "holm") X(MARKS, "marks")
/* clang-format on */

typedef enum sa_cell {
#define SA_CELL_ENUM(enumerator, name) SA_CELL_##enumerator,
    SA_CELL_LIST(SA_CELL_ENUM)
#undef SA_CELL_ENUM
        SA_CELL_COLUMN, /* the first of them */
    SA_CELL_RATIO = SA_CELL_COLUMN + SA_COLUMN_COUNT,
    SA_CELL_COUNT
} sa_cell;

/* Its name in --columns; "": it is never shown. */
const char *sa_cell_name(sa_cell cell);

typedef struct sa_style {
    int format, band;
    sa_cell columns[SA_CELL_COUNT]; /* (column_count) of tables; none: the usual ones */
    size_t column_count;
    char *title, *against; /* "": the usual ones */
    double width, height;  /* inches; 0: as much as is needed */
    bool log_x, log_y;
    size_t judge; /* the last runs, which a sweep's choice is judged by; 0: no choice */
} sa_style;

struct sa_report {
    sa_style style;
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

/* What differences are to, in words. */
static inline const char *sa_panel_against(const sa_report_panel *panel) {
    return panel->against_best ? "the best" : panel->agents[panel->reference].name;
}
static inline int sa_panel_shown(const sa_report_panel *panel) { return panel->shown; }
static inline const char *sa_panel_regret(const sa_report_panel *panel) {
    return panel->shown == SA_REGRET_REALISED ? "realised" : "expected";
}
/* Is this kind of curve told of? Both regrets, and clicks where users click. */
static inline bool sa_panel_tells(const sa_report_panel *panel, int kind) {
    return kind == SA_CURVE_CLICKS ? panel->options->clicks != SA_CLICKS_NONE : kind != SA_CURVE_REWARD;
}

/* Has an agent widths that are not exact, and a bound on how far they are? */
bool sa_panel_is_certified(const sa_report_panel *panel);

/* ---- folders (panel.c, figure_folder.c) ---- */

/* One experiment, merged from the folders (count) that have parts of it. */
sa_status sa_panel_read(const char *const *folders, size_t count, sa_report_panel *out);
void sa_panel_clear(sa_report_panel *panel);
/* Makes the folder an ordinary result: of its own parts, where it has any, or of the other folders that were
 * merged. `*note`, where another process works in it, says so; caller frees. */
sa_status sa_panel_keep(const sa_report_panel *panel, const char *folder, char **note);

enum { SA_FIGURE_PANELS = 64 };

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
/* Curves with this band. */
sa_status sa_panel_curves(sa_report_panel *panel, int band);
/* What was set takes effect: once, before anything is shown. */
sa_status sa_report_finish(sa_report *report);
/* Finds the published curves of the agents; SA_INVALID where one of them is of the regret that is not
 * shown. */
sa_status sa_report_match(sa_report *report);
/* Differences run by run to another agent than the first. */
sa_status sa_panel_compare(sa_report_panel *panel, size_t reference);
/* The agent's differences to the one that it is compared with. */
sa_status sa_agent_compare(const sa_report_panel *panel, sa_report_agent *agent);
/* Holm's correction over all comparisons of the panel, once they are made. */
sa_status sa_panel_correct(sa_report_panel *panel);
/* "*", "**", "***" for corrected probabilities below 5%, 1% and 0.1%, else "". */
const char *sa_significance_marks(double holm);
sa_status sa_reference_read(const char *path, sa_published **out, size_t *count);
void sa_reference_clear(sa_published *published, size_t count);
/* Mean, deviation and 95% interval of `runs` runs from their mean and deviation. */
sa_mean sa_mean_of(double mean, double sd, size_t runs);
/* Our mean at a round. */
double sa_mean_at(const sa_report_agent *agent, int kind, size_t round);
/* The last published point that lies within our rounds; false when there is none. */
bool sa_published_end(const sa_report_panel *panel, const sa_published *published, size_t *index);

/* That of the curve that was published. */
const char *sa_published_name(const sa_report_agent *agent);
sa_status sa_panel_title(const sa_options *options, char **title);

/* How an agent's curve is drawn: no two agents of a panel alike, and in colours that colour-blind people can
 * tell apart. */
typedef struct sa_line {
    const char *colour; /* "#0072B2" */
    size_t dashes;      /* 0: solid; else kinds of dashes, of which there is no last one */
} sa_line;

sa_line sa_agent_line(const sa_report_panel *panel, size_t index);
/* Which mark stands along it. */
size_t sa_line_mark(sa_line line, size_t index);

/* ---- sweeps (sweep.c) ---- */

bool sa_panel_is_sweep(const sa_report_panel *panel);
/* "h1(x) = x'a, d = 80: sweep over gamma, hidden" */
sa_status sa_sweep_title(const sa_report_panel *panel, char **title);
/* " after 2000 rounds"; nothing where cells differ in them. */
void sa_panel_rounds_text(const sa_report_panel *panel, sa_buffer *text);
/* Is the agent's curve in figures? Of a sweep with many cells, those of the best are. */
bool sa_agent_is_drawn(const sa_report_panel *panel, size_t index);
/* How many are. */
size_t sa_panel_drawn(const sa_report_panel *panel);
/* Compares each cell with the best of its environment. */
sa_status sa_sweep_compare(sa_report_panel *panel);
/* --judge (judge.c): can it be done, and a line for each choice. */
sa_status sa_judge_check(const sa_report *report);
sa_status sa_judge_text(const sa_report *report, const sa_report_panel *panel, sa_buffer *text);
/* A line where the sweep is over an option that its agents estimate by themselves. */
void sa_sweep_note(const sa_report_panel *panel, sa_buffer *text);
/* Is `base` its label without the cell? */
bool sa_sweep_is_of(const sa_report_panel *panel, const sa_report_agent *agent, const char *base);
/* The label of an agent without its cell, "" where there is one agent; caller frees. `*first`: it has a heat
 * map, that is to be drawn now: the grid has two options, and no agent before it has this label. */
sa_status sa_sweep_base(const sa_report_panel *panel, size_t index, char **base, bool *first);

/* ---- tables (table.c, csv.c) ---- */

/* Cells are found by their column, never by their place: which columns are shown, and where, is another
 * matter. */
typedef struct sa_table {
    size_t rows;                   /* the first row has the titles */
    char *(*cells)[SA_CELL_COUNT]; /* (rows) by sa_cell; "": nothing to say */
    bool *published;               /* (rows) */
    sa_cell shown[SA_CELL_COUNT];  /* (columns) in their order */
    size_t columns;
} sa_table;

/* Shows the columns of the style, or those of the list `usual` (count) that have something to say; all of
 * them where it is NULL. */
sa_status sa_table_make(const sa_report *report, const sa_report_panel *panel, const sa_cell *usual,
                        size_t count, sa_table *out);
void sa_table_clear(sa_table *table);
/* Adds all panels' tables to the buffer. */
sa_status sa_table_text(const sa_report *report, sa_buffer *buffer);
void sa_table_csv(const sa_report *report, sa_buffer *buffer);
/* As LaTeX reads it; the tables for a paper. */
void sa_latex_text(sa_buffer *buffer, const char *text);
sa_status sa_table_latex(const sa_report *report, sa_buffer *buffer);
void sa_curves_csv(const sa_report *report, sa_buffer *buffer);

/* ---- figures (figure.c, heat_map.c, gnuplot.c) ---- */

typedef enum sa_picture { SA_PICTURE_SVG, SA_PICTURE_PNG, SA_PICTURE_PDF } sa_picture;

/* Runs gnuplot on a script; what it printed is in `out`. SA_UNSUPPORTED with a sentence when it is missing or
 * fails. */
sa_status sa_gnuplot(const sa_buffer *script, sa_buffer *out);
/* In single quotes, where gnuplot takes everything as it is but the quote, which is doubled. */
void sa_gnuplot_quote(sa_buffer *script, const char *text);
/* How it draws: letters and lines by a scale, 1 in a figure of the usual size, and a size in 1/96 inch. */
void sa_gnuplot_terminal(sa_buffer *script, sa_picture kind, double scale, size_t width, size_t height);
/* Mean regret over two options, of the agents whose label before the cell's values is `base`. */
sa_status sa_heat_map(const sa_report *report, const sa_report_panel *panel, const char *base,
                      sa_picture kind, sa_buffer *out);
/* One panel without a legend, or all panels side by side with one legend. */
sa_status sa_figure_panel(const sa_report *report, const sa_report_panel *panel, sa_buffer *out);
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

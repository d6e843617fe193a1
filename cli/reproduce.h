/* The paper's experiments, for reproduce*.c. */
#ifndef CLI_REPRODUCE_H
#define CLI_REPRODUCE_H

#include "cli.h"

enum { REPRODUCE_PANELS = 8, REPRODUCE_NAME = 32, REPRODUCE_FOLDER = CLI_VALUE + 64 };

extern const cli_command REPRODUCE;

/* What was asked for. */
typedef struct reproduce_request {
    const char *figure; /* "fig1" ... or "all" */
    bool quick;
    const char *reference;       /* NULL: none */
    int count;                   /* of the other arguments */
    char **arguments;            /* (count) */
    const sa_options *given;     /* those that the arguments set are `given` */
    char preset[REPRODUCE_NAME]; /* in force */
    char out[CLI_VALUE];
} reproduce_request;

/* One experiment of a figure, in a folder of its own. */
typedef struct reproduce_panel {
    char name[REPRODUCE_NAME]; /* "h1" */
    sa_experiment *experiment;
    double weight; /* how long it takes, roughly, in any unit */
} reproduce_panel;

typedef struct reproduce_figure {
    const char *name; /* "fig1" */
    char title[256];
    char folder[REPRODUCE_FOLDER];
    reproduce_panel panels[REPRODUCE_PANELS];
    size_t count;
} reproduce_figure;

/* ---- reproduce_figures.c: which experiments make up a figure ---- */

/* The index-th figure's name; NULL when there is none. */
const char *reproduce_figure_name(size_t index);
/* Makes the experiments. An option of the user's wins over the figure's; one that the figure varies leaves
 * one panel or curve. Says what is wrong. Caller clears either way. */
int reproduce_make(const reproduce_request *request, const char *name, reproduce_figure *figure);
void reproduce_clear(reproduce_figure *figure);

/* ---- reproduce_progress.c: one line for all panels ---- */

typedef struct reproduce_progress {
    cli_progress line;
    double weight;      /* of all panels */
    double weight_done; /* of those that have ended */
    double worked;      /* weight that was worked on here, in earlier panels */
    double seconds;     /* that it took */
    /* of the panel that is being worked on */
    const char *figure, *panel;
    double panel_weight, first_share, share, panel_seconds;
} reproduce_progress;

void reproduce_progress_panel(reproduce_progress *progress, const char *figure, const reproduce_panel *panel);
void reproduce_progress_panel_end(reproduce_progress *progress);
sa_progress_call reproduce_progress_show; /* user: a reproduce_progress */

#endif

/* The paper's figures as experiments (Section 5 and the additional experiments). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reproduce.h"

/* ---- the table ---- */

typedef struct panel_plan {
    const char *environment;
    int dim, rounds, quick_rounds;
} panel_plan;

typedef struct figure_plan {
    const char *name, *title;
    const char *varies;     /* the option in which panels differ, and after which they are named */
    const char *algorithms; /* NULL: see widths */
    const char *widths[8];  /* of the networks: one cn-ts each, against comblin-ts */
    /* icml23: with the linear ones as their papers define them; tuned: with networks alone */
    bool corrected;
    double agents; /* how many networks there are to train */
    panel_plan panels[REPRODUCE_PANELS];
} figure_plan;

enum { QUICK_RUNS = 4 };

static const figure_plan FIGURES[] = {
    {.name = "fig1",
     .title = "Figure 1: cumulative regret of CN-UCB and CN-TS, and of linear models",
     .varies = "environment",
     .algorithms = "cn-ucb,cn-ts,cn-ts1,comblin-ucb,comblin-ts,greedy",
     .corrected = true,
     .agents = 4,
     .panels = {{"h1", 80, 2000, 600}, {"h2", 80, 2000, 600}, {"h3", 80, 4000, 800}}},
    {.name = "fig2",
     .title = "Figure 2: CN-UCB and CN-TS as the dimension d of contexts grows",
     .varies = "dim",
     .algorithms = "cn-ucb,cn-ts,cn-ts1",
     .agents = 3,
     .panels = {{"h2", 40, 2000, 600}, {"h2", 80, 2000, 600}, {"h2", 120, 4000, 800}}},
    {.name = "fig3",
     .title = "Figure 3: CN-TS with networks of m = 100 to 4 hidden units, and CombLinTS",
     .varies = "environment",
     .widths = {"100", "50", "20", "10", "4"},
     .agents = 2,
     .panels = {{"h1", 80, 2000, 600}}},
};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES };

const char *reproduce_figure_name(size_t index) { return index < FIGURE_COUNT ? FIGURES[index].name : NULL; }

void reproduce_clear(reproduce_figure *figure) {
    for (size_t i = 0; i < figure->count; i++) sa_experiment_destroy(figure->panels[i].experiment);
    figure->count = 0;
}

/* ---- options ---- */

static sa_status set_number(sa_experiment *experiment, const char *name, int value) {
    char text[32];
    snprintf(text, sizeof text, "%d", value);
    return sa_experiment_set(experiment, name, text);
}

/* The user's value of an option, or `otherwise` when it was not given. */
static const char *choose(const reproduce_request *request, const char *name, const char *otherwise,
                          char text[CLI_VALUE]) {
    if (!sa_options_given(request->given, name) ||
        sa_options_get(request->given, name, text, CLI_VALUE) != SA_OK)
        return otherwise;
    return text;
}

static sa_status add_widths(const reproduce_request *request, const figure_plan *plan,
                            sa_experiment *experiment) {
    char text[128], value[CLI_VALUE];
    const char *only = choose(request, "hidden", NULL, value);
    for (size_t i = 0; plan->widths[i] && (i == 0 || !only); i++) {
        const char *width = only ? only : plan->widths[i];
        snprintf(text, sizeof text, "cn-ts-m%.20s:algorithm=cn-ts,hidden=%.20s", width, width);
        sa_status status = sa_experiment_agent(experiment, text);
        if (status != SA_OK) return status;
    }
    return sa_experiment_agent(experiment, "comblin-ts:algorithm=comblin-ts");
}

/* The figure's agents, unless the user names algorithms. */
static sa_status add_agents(const reproduce_request *request, const figure_plan *plan,
                            sa_experiment *experiment) {
    static const char *const corrected[] = {"comblin-ucb-corrected:algorithm=comblin-ucb,preset=paper",
                                            "comblin-ts-corrected:algorithm=comblin-ts,preset=paper"};
    /* what is left of the tuned ones without the regression beside the network */
    static const char *const alone[] = {"cn-ucb-alone:algorithm=cn-ucb,companion=false",
                                        "cn-ts-alone:algorithm=cn-ts,companion=false"};
    /* docs/REPRODUCTION.md: of gamma 0.03, 0.1, 0.3 and rates theory, 1e-5, 3e-5, 1e-4, on another seed */
    static const char chosen[] = "cn-ucb-chosen:algorithm=cn-ucb,gamma=0.1,rate=theory";
    bool tuned = !strcmp(request->preset, "tuned"), icml23 = !strcmp(request->preset, "icml23");
    sa_status status = SA_OK;
    if (sa_options_given(request->given, "algorithm")) return SA_OK;
    if (!plan->algorithms) return add_widths(request, plan, experiment);
    status = sa_experiment_set(experiment, "algorithm", plan->algorithms);
    for (size_t i = 0; status == SA_OK && plan->corrected && (tuned || icml23) && i < 2; i++)
        status = sa_experiment_agent(experiment, icml23 ? corrected[i] : alone[i]);
    if (status == SA_OK && plan->corrected && !strcmp(request->preset, "paper"))
        status = sa_experiment_agent(experiment, chosen);
    return status;
}

/* ---- panels ---- */

static sa_status set_panel(const reproduce_request *request, const figure_plan *plan, const panel_plan *panel,
                           sa_experiment *experiment) {
    sa_status status = sa_experiment_set(experiment, "preset", request->preset);
    if (status == SA_OK) status = sa_experiment_set(experiment, "environment", panel->environment);
    if (status == SA_OK) status = set_number(experiment, "dim", panel->dim);
    if (status == SA_OK)
        status = set_number(experiment, "rounds", request->quick ? panel->quick_rounds : panel->rounds);
    if (status == SA_OK && request->quick) status = set_number(experiment, "runs", QUICK_RUNS);
    return status == SA_OK ? add_agents(request, plan, experiment) : status;
}

static int make_panel(const reproduce_request *request, const figure_plan *plan, const panel_plan *panel,
                      reproduce_figure *figure) {
    char value[CLI_VALUE], folder[REPRODUCE_FOLDER + REPRODUCE_NAME];
    bool done = false;
    reproduce_panel *made = &figure->panels[figure->count++];
    *made = (reproduce_panel){.experiment = sa_experiment_new()};
    if (!made->experiment) return cli_fail(REPRODUCE.name, SA_OUT_OF_MEMORY);
    sa_status status = set_panel(request, plan, panel, made->experiment);
    if (status != SA_OK) return cli_fail(REPRODUCE.name, status);
    int exit_status = cli_take(&REPRODUCE, request->count, request->arguments, made->experiment, &done);
    if (done) return exit_status;
    const sa_options *options = sa_experiment_options(made->experiment);
    if (sa_options_get(options, plan->varies, value, sizeof value) != SA_OK || strlen(value) > 20)
        return cli_say(REPRODUCE.name, EXIT_INPUT, "--%s %.40s cannot name a panel", plan->varies, value);
    snprintf(made->name, sizeof made->name, "%s%.20s", strcmp(plan->varies, "dim") ? "" : "d", value);
    snprintf(folder, sizeof folder, "%s/%s", figure->folder, made->name);
    status = sa_experiment_set(made->experiment, "out", folder);
    if (status == SA_OK && access(folder, F_OK))
        status = sa_experiment_set(made->experiment, "resume", "false");
    if (status == SA_OK) status = sa_options_get(options, "rounds", value, sizeof value);
    if (status != SA_OK) return cli_fail(REPRODUCE.name, status);
    made->weight =
        plan->agents * atof(value) * sqrt(atof(value)); /* between training alone and widths alone */
    return EXIT_FINE;
}

/* Which panels: all, or that of the user's value of the option that they vary. */
static bool wanted(const reproduce_request *request, const figure_plan *plan, const panel_plan *panel) {
    char value[CLI_VALUE], own[32];
    const char *only = choose(request, plan->varies, NULL, value);
    if (!only) return true;
    snprintf(own, sizeof own, "%d", panel->dim);
    return !strcmp(only, strcmp(plan->varies, "dim") ? panel->environment : own);
}

static int make_panels(const reproduce_request *request, const figure_plan *plan, reproduce_figure *figure) {
    int exit_status = EXIT_FINE;
    for (const panel_plan *panel = plan->panels; panel->environment && exit_status == EXIT_FINE; panel++)
        if (wanted(request, plan, panel)) exit_status = make_panel(request, plan, panel, figure);
    if (exit_status == EXIT_FINE && figure->count == 0) /* a value that the paper does not have */
        exit_status = make_panel(request, plan, &plan->panels[0], figure);
    return exit_status;
}

int reproduce_make(const reproduce_request *request, const char *name, reproduce_figure *figure) {
    const figure_plan *plan = FIGURES;
    while (strcmp(plan->name, name)) plan++;
    figure->name = plan->name;
    snprintf(figure->title, sizeof figure->title, "%s (%spreset %s)", plan->title,
             request->quick ? "quick version, " : "", request->preset);
    snprintf(figure->folder, sizeof figure->folder, "%s/%s", request->out, name);
    return make_panels(request, plan, figure);
}

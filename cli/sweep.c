/* superarm sweep */
#include <stdlib.h>
#include <string.h>

#include "sweep.h"

const cli_command SWEEP = {
    .name = "sweep",
    .usage =
        "superarm sweep [SPEC.yaml] --out DIR [--grid OPTION=VALUE,VALUE...] [options]\n\n"
        "Runs every combination of a grid of options and writes a report of them. SPEC is one of `superarm "
        "run` with\n"
        "`grid:`, a mapping of options to lists of values; each cell is labelled by its values. Options of "
        "agents are\n"
        "compared on the same draws; those of the environment (and --seed) make experiments of their own.\n\n"
        "  --grid OPTION=V,V...         one more option of the grid; repeatable\n"
        "  --judge RUNS                 choose the cell by all --runs but the last RUNS, and report it on "
        "these\n"
        "  --shard I/N                  do the I-th of N parts (from 0), anywhere with the same DIR; when "
        "all are done,\n"
        "                               `superarm report DIR` merges them, and says what is missing\n"
        "  --slurm                      submit the shards to Slurm as a job array, and a last job that "
        "merges; what\n"
        "                               stands behind -- goes to sbatch. With --resume: the shards that "
        "failed, again\n"
        "  --tasks N                    with --slurm: shards [one a run]\n"
        "  --at-once M                  with --slurm: tasks that run at a time [as Slurm likes]\n",
    .examples =
        "Examples:\n"
        "  superarm sweep --environment h2 --grid gamma=0.1,1,10 --grid hidden=50,100 --runs 4 --out "
        "results/grid\n"
        "  superarm sweep spec.yaml --out results/grid --shard 0/8\n"
        "  superarm sweep spec.yaml --out results/grid --slurm --at-once 20 -- --time=2:00:00 --mem=2G\n",
    .agents = true,
};

/* ---- what was asked for ---- */

/* "gamma=0.1,1,10"; a value with a comma in it needs a spec file. */
static int take_grid(const char *text, sa_experiment *experiment) {
    char copy[CLI_VALUE];
    if (strlen(text) >= sizeof copy || !strchr(text, '='))
        return cli_say(SWEEP.name, EXIT_INPUT, "--grid %.200s is not of the form OPTION=VALUE,VALUE", text);
    strcpy(copy, text);
    char *value = strchr(copy, '=');
    *value++ = 0;
    for (char *next; value; value = next) {
        next = strchr(value, ',');
        if (next) *next++ = 0;
        sa_status status = sa_experiment_grid(experiment, copy, value);
        if (status != SA_OK) return cli_fail(SWEEP.name, status);
    }
    return EXIT_FINE;
}

static int take_count(const char *name, const char *text, size_t *out) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || *text < '0' || *text > '9' || value < 1 || value > 1000000)
        return cli_say(SWEEP.name, EXIT_INPUT, "%s %s is not a whole number from 1 to 1000000", name, text);
    *out = value;
    return EXIT_FINE;
}

/* Takes our own flags out of the arguments; the rest are options of the experiment. */
static int take_own(int count, char **arguments, sweep_request *request, sa_experiment *experiment) {
    static const char *const own[] = {"--grid", "--tasks", "--at-once", "--judge"};
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i], *value = NULL, *name = NULL;
        if (!strcmp(argument, "--")) {
            request->sbatch = arguments + i + 1;
            request->sbatch_count = count - i - 1;
            break;
        }
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            size_t size = strlen(own[k]);
            if (strncmp(argument, own[k], size) || (argument[size] && argument[size] != '=')) continue;
            name = own[k];
            value = argument[size] ? argument + size + 1 : i + 1 < count ? arguments[++i] : NULL;
            if (!value) return cli_say(SWEEP.name, EXIT_INPUT, "%s needs a value", name);
        }
        int exit_status = EXIT_FINE;
        if (!strcmp(argument, "--slurm"))
            request->slurm = true;
        else if (!name)
            request->arguments[request->count++] = arguments[i];
        else if (!strcmp(name, "--grid"))
            exit_status = take_grid(value, experiment);
        else if (!strcmp(name, "--judge"))
            request->judge = value;
        else
            exit_status =
                take_count(name, value, strcmp(name, "--tasks") ? &request->at_once : &request->tasks);
        if (exit_status != EXIT_FINE) return exit_status;
    }
    return EXIT_FINE;
}

static int check(const sweep_request *request, const sa_experiment *experiment) {
    const sa_options *options = sa_experiment_options(experiment);
    const char *only = request->tasks     ? "--tasks"
                       : request->at_once ? "--at-once"
                       : request->sbatch  ? "--"
                                          : NULL;
    if (!sa_options_given(options, "out"))
        return cli_say(SWEEP.name, EXIT_INPUT, "a sweep needs --out, the folder for its results");
    if (!sa_experiment_has_grid(experiment))
        return cli_say(SWEEP.name, EXIT_INPUT,
                       "there is no grid: give --grid gamma=0.1,1 or a spec with grid: {gamma: [0.1, 1]}");
    if (request->slurm && sa_options_given(options, "shard"))
        return cli_say(SWEEP.name, EXIT_INPUT, "--slurm makes shards of its own, so --shard is one too many");
    if (request->judge) {
        char runs[64];
        char *end;
        unsigned long judge = strtoul(request->judge, &end, 10);
        if (sa_options_get(options, "runs", runs, sizeof runs) != SA_OK || *end || judge < 1 ||
            *request->judge == '-' || judge >= strtoul(runs, NULL, 10))
            return cli_say(SWEEP.name, EXIT_INPUT,
                           "--judge %s is not a number of runs from 1 to --runs %s less 1", request->judge,
                           runs);
    }
    if (only && !request->slurm) return cli_say(SWEEP.name, EXIT_INPUT, "%s is for --slurm", only);
    return EXIT_FINE;
}

/* ---- doing it ---- */

static int write_report(const sweep_request *request, const sa_experiment *experiment) {
    char out[CLI_VALUE];
    const char *folder = out;
    sa_report *report = NULL;
    sa_status status = sa_options_get(sa_experiment_options(experiment), "out", out, sizeof out);
    if (status == SA_OK) status = sa_report_open(&folder, 1, &report);
    if (status == SA_OK && request->judge) status = sa_report_set(report, "judge", request->judge);
    int exit_status = status == SA_OK
                          ? cli_report_write(SWEEP.name, report, NULL, cli_flag(experiment, "quiet"))
                          : cli_fail(SWEEP.name, status);
    sa_report_destroy(report);
    return exit_status;
}

static int run(const sweep_request *request, sa_experiment *experiment) {
    cli_progress progress;
    sa_agent_result result;
    cli_catch_signals();
    cli_progress_begin(&progress, experiment);
    sa_status status = sa_experiment_run(experiment, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (status != SA_OK) return cli_fail(SWEEP.name, status);
    bool whole = sa_experiment_result(experiment, 0, &result) == SA_OK; /* and not one of several shards */
    return whole ? write_report(request, experiment) : EXIT_FINE;
}

static int sweep(sweep_request *request, sa_experiment *experiment) {
    bool done;
    int exit_status = cli_take(&SWEEP, request->count, request->arguments, experiment, &done);
    if (done) return exit_status;
    exit_status = check(request, experiment);
    if (exit_status != EXIT_FINE) return exit_status;
    sa_status status = sa_experiment_check(experiment);
    if (status != SA_OK) return cli_fail(SWEEP.name, status);
    return request->slurm ? sweep_submit(request, experiment) : run(request, experiment);
}

int cli_sweep(int count, char **arguments) {
    sweep_request request = {.arguments = calloc((size_t)count + 1, sizeof *request.arguments)};
    sa_experiment *experiment = sa_experiment_new();
    int exit_status = request.arguments && experiment ? take_own(count, arguments, &request, experiment)
                                                      : cli_fail(SWEEP.name, SA_OUT_OF_MEMORY);
    if (exit_status == EXIT_FINE) exit_status = sweep(&request, experiment);
    sa_experiment_destroy(experiment);
    free(request.arguments);
    return exit_status;
}

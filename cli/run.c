/* superarm run */
#include <math.h>
#include <string.h>

#include "cli.h"

static const cli_command RUN = {
    .name = "run",
    .usage = "superarm run [SPEC.yaml] [options]\n\n"
             "Runs one or more agents in one environment, --runs times, and shows their regret. A spec file "
             "holds the\n"
             "same options as a YAML mapping, and `agents:`, a mapping of labels to options; flags win over "
             "the spec,\n"
             "and an agent's own options over both. --resume goes on with what is in --out, also with more "
             "--runs or\n"
             "more agents; --shard I/N does one of N parts, which `superarm report` puts together.\n",
    .examples = "Examples:\n"
                "  superarm run --environment h2 --algorithm cn-ucb,cn-ts --runs 4 --out results/h2\n"
                "  superarm run --environment h1 --agent shy:algorithm=cn-ucb,gamma=0.1 --agent "
                "bold:algorithm=cn-ucb,gamma=3\n"
                "  superarm run --environment h2 --clicks cascade --slate 6 --algorithm "
                "cn-ucb,comblin-ucb,random --runs 4\n"
                "  superarm run results/h2/spec.yaml --out results/again\n",
    .agents = true,
};

static size_t longest_label(const sa_experiment *experiment) {
    sa_agent_result result;
    size_t longest = strlen("agent");
    for (size_t i = 0; sa_experiment_result(experiment, i, &result) == SA_OK; i++)
        if (strlen(result.label) > longest) longest = strlen(result.label);
    return longest;
}

/* A dash where there is one run, or all are alike: nobody knows how runs spread. */
static void print_spread(const sa_agent_result *result) {
    char interval[64] = "-", deviation[32] = "-", worst[32] = "-";
    if (!isnan(result->sd)) {
        snprintf(deviation, sizeof deviation, "%.4g", result->sd);
        snprintf(interval, sizeof interval, "%.6g to %.6g", result->low, result->high);
        snprintf(worst, sizeof worst, "%.6g", result->worst);
    }
    printf(" %11s  %-25s %10s", deviation, interval, worst);
}

/* What regret is, where it is not that against the best slate: once for agents that have the same. */
static void print_notes(const sa_experiment *experiment) {
    sa_agent_result result;
    char before[256] = "";
    for (size_t i = 0; sa_experiment_result(experiment, i, &result) == SA_OK; i++) {
        if (*result.note && strcmp(before, result.note))
            printf("from %s on: %s\n", result.label, result.note);
        snprintf(before, sizeof before, "%s", result.note);
    }
}

static void print_table(const sa_experiment *experiment) {
    char kind[32] = "";
    sa_agent_result result;
    bool clicks = sa_experiment_result(experiment, 0, &result) == SA_OK && result.clicks;
    int label = (int)longest_label(experiment);
    sa_options_get(sa_experiment_options(experiment), "show-regret", kind, sizeof kind);
    printf("%-*s %5s %12s %11s  %-25s %10s", label, "agent", "runs", "mean regret", "sd", "95% interval",
           "worst run");
    if (clicks) printf(" %9s", "clicks");
    printf(" %9s %9s  %-30s  %s\n", "s/run", "wall", "select / update / train", "name");
    for (size_t i = 0; sa_experiment_result(experiment, i, &result) == SA_OK; i++) {
        printf("%-*s %5zu %12.6g", label, result.label, result.runs, result.mean);
        print_spread(&result);
        if (clicks) printf(" %9.6g", result.clicks_mean);
        char times[96];
        snprintf(times, sizeof times, "%.3g / %.3g / %.3g", result.select_seconds, result.update_seconds,
                 result.train_seconds);
        printf(" %9.3g %9.3g  %-30s  %s\n", result.seconds_per_run, result.wall_seconds_per_run, times,
               result.display);
        if (result.alike)
            printf("%*s       all of these runs are alike, so they count as one, without an interval\n",
                   label, "");
        if (result.replay_seconds > 0)
            printf("%*s       beginning new epochs took %.3g s a run\n", label, "", result.replay_seconds);
        if (result.diverged_trainings > 0)
            printf("%*s       %llu trainings diverged and were undone\n", label, "",
                   (unsigned long long)result.diverged_trainings);
    }
    printf("%s regret after the last round; seconds of the processor a run, and on the wall's clock\n", kind);
    print_notes(experiment);
}

static int run(sa_experiment *experiment) {
    cli_progress progress;
    sa_status status = sa_experiment_check(experiment);
    if (status != SA_OK) return cli_fail(RUN.name, status);
    cli_catch_signals();
    cli_progress_begin(&progress, experiment);
    status = sa_experiment_run(experiment, cli_progress_show, &progress);
    cli_progress_end(&progress);
    if (status != SA_OK) return cli_fail(RUN.name, status);
    sa_agent_result result;
    bool whole = sa_experiment_result(experiment, 0, &result) == SA_OK; /* and not one of several shards */
    if (whole && !cli_flag(experiment, "quiet")) print_table(experiment);
    return EXIT_FINE;
}

int cli_run(int count, char **arguments) {
    bool done;
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return cli_fail(RUN.name, SA_OUT_OF_MEMORY);
    int exit_status = cli_take(&RUN, count, arguments, experiment, &done);
    if (!done) exit_status = run(experiment);
    sa_experiment_destroy(experiment);
    return exit_status;
}

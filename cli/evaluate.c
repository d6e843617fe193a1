/* superarm evaluate */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char NAME[] = "evaluate";

static const char HELP[] =
    "superarm evaluate LOG.jsonl [--policy LIST] [--estimators LIST] [--json FILE] [options]\n\n"
    "What would another policy have earned on the log's decisions? Prints a table of estimates: the mean a "
    "decision of "
    "the\n"
    "sum of its feedback, with 95% intervals, and for several policies their differences, decision by "
    "decision. Of a service's log with a control: what the control earned, measured, and the difference to "
    "it.\n\n"
    "  --policy LIST       given (the log has its probabilities, as target_propensity and so on), uniform, "
    "logged,\n"
    "                      or the file of an agent, FILE.npz or NAME=FILE.npz; several with commas. Default: "
    "given\n"
    "  --estimators LIST   ips, snips, iips, sniips, rips, snrips, cascade-dr, dm, dr, pi, replay. Default: "
    "those of\n"
    "                      the first six that the log has the probabilities for\n"
    "  --model NAME        reward model of cascade-dr, dm, dr: network (default), ridge or zero\n"
    "  --folds N           of the model's cross-fitting. Default: 5\n"
    "  --logging NAME      for pi: uniform (default; slates were drawn uniformly) or product (each position "
    "by itself)\n"
    "  --lengths NAME      who decided how long a slate is: request (default) or policy\n"
    "  --bootstrap N       resamplings, for bootstrap intervals beside the normal ones\n"
    "  --seed N            of the bootstrap and the network. Default: 1\n"
    "  --skip-bad          skips lines that are wrong instead of stopping at the first\n"
    "  --json FILE         writes everything there as JSON\n"
    "  --page FILE         writes a page: estimates side by side, how weights are spread, feedback by "
    "position\n\n"
    "Example:\n"
    "  superarm evaluate clicks.jsonl --policy uniform,logged --estimators snips,snrips\n";

typedef struct request {
    const char *log, *json, *page, *bootstrap, *folds, *seed, *lengths;
    sa_evaluate_settings settings;
} request;

/* ---- the table ---- */

static void print_head(const sa_evaluation *evaluation, const char *log) {
    uint64_t without = sa_evaluation_without_feedback(evaluation), open = sa_evaluation_not_final(evaluation);
    uint64_t others = sa_evaluation_other_sides(evaluation);
    printf("%" PRIu64 " decisions of %s", sa_evaluation_events(evaluation), log);
    if (without + open)
        printf("; left out: %" PRIu64 " without feedback, %" PRIu64 " that are not final", without, open);
    if (others) printf("; %" PRIu64 " whose slate was neither the agent's nor the control's", others);
    printf("\n\n%-12s %-10s %12s %12s   %-25s %10s %10s %8s\n", "policy", "estimator", "value", "error",
           "95% interval", "effective", "largest", "no");
    printf("%-12s %-10s %12s %12s   %-25s %10s %10s %8s\n", "", "", "", "", "", "decisions", "weight",
           "overlap");
}

static void print_numbers(const sa_estimate *estimate) {
    char interval[64];
    snprintf(interval, sizeof interval, "[%.6g, %.6g]", estimate->ci95[0], estimate->ci95[1]);
    printf(" %12.6g %12.3g   %-25s", estimate->value, estimate->standard_error, interval);
}

static void print_bootstrap(const sa_estimate *estimate) {
    if (!isnan(estimate->bootstrap95[0]))
        printf("%-12s %-10s %12s %12s   [%.6g, %.6g]\n", "", "", "", "bootstrap", estimate->bootstrap95[0],
               estimate->bootstrap95[1]);
}

static void print_estimates(const sa_evaluation *evaluation, size_t policy) {
    const char *name;
    for (size_t i = 0; (name = sa_evaluation_estimator(evaluation, policy, i)); i++) {
        sa_estimate estimate;
        if (sa_evaluation_get(evaluation, policy, name, &estimate) != SA_OK) continue;
        printf("%-12s %-10s", i ? "" : sa_evaluation_policy(evaluation, policy), name);
        print_numbers(&estimate);
        if (isnan(estimate.effective_sample_size))
            putchar('\n');
        else
            printf(" %10.1f %10.4g %7.1f%%\n", estimate.effective_sample_size, estimate.largest_weight,
                   100 * estimate.no_overlap);
        print_bootstrap(&estimate);
    }
}

/* What was measured, beside what was estimated. */
static void print_control(const sa_evaluation *evaluation) {
    sa_estimate control;
    uint64_t events = sa_evaluation_control(evaluation, &control);
    if (!events) return;
    printf("%-12s %-10s", "control", "measured");
    print_numbers(&control);
    printf(" %10" PRIu64 "\n", events);
}

static void print_minus_control(const sa_evaluation *evaluation, size_t policy) {
    const char *name;
    sa_estimate difference;
    if (sa_evaluation_control(evaluation, &difference) < 2) return;
    printf("\n%s minus control\n", sa_evaluation_policy(evaluation, policy));
    for (size_t i = 0; (name = sa_evaluation_estimator(evaluation, policy, i)); i++) {
        if (sa_evaluation_minus_control(evaluation, policy, name, &difference) != SA_OK) continue;
        printf("%-12s %-10s", "", name);
        print_numbers(&difference);
        putchar('\n');
    }
}

static void print_differences(const sa_evaluation *evaluation, size_t policy) {
    const char *name;
    printf("\n%s minus %s\n", sa_evaluation_policy(evaluation, policy), sa_evaluation_policy(evaluation, 0));
    for (size_t i = 0; (name = sa_evaluation_estimator(evaluation, policy, i)); i++) {
        sa_estimate difference;
        if (sa_evaluation_difference(evaluation, policy, name, &difference) != SA_OK) continue;
        printf("%-12s %-10s", "", name);
        print_numbers(&difference);
        putchar('\n');
        print_bootstrap(&difference);
    }
}

static void print_table(const sa_evaluation *evaluation, const char *log) {
    const char *warning;
    print_head(evaluation, log);
    for (size_t i = 0; i < sa_evaluation_policies(evaluation); i++) print_estimates(evaluation, i);
    print_control(evaluation);
    for (size_t i = 0; i < sa_evaluation_policies(evaluation); i++) print_minus_control(evaluation, i);
    for (size_t i = 1; i < sa_evaluation_policies(evaluation); i++) print_differences(evaluation, i);
    for (size_t i = 0; (warning = sa_evaluation_warning(evaluation, i)); i++)
        cli_say(NAME, EXIT_FINE, "warning: %s", warning);
}

/* ---- the command ---- */

static bool take_count(const char *text, uint64_t most, uint64_t *out) {
    char *end;
    if (!text) return true;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && *out <= most;
}

static int take_numbers(request *self) {
    uint64_t bootstrap = 0, folds = 0;
    self->settings.seed = 1;
    if (!take_count(self->bootstrap, 1000000, &bootstrap))
        return cli_say(NAME, EXIT_INPUT, "--bootstrap %s: a whole number up to 1000000 is wanted",
                       self->bootstrap);
    if (!take_count(self->folds, 1000, &folds) || (self->folds && folds < 2))
        return cli_say(NAME, EXIT_INPUT, "--folds %s: a whole number from 2 to 1000 is wanted", self->folds);
    if (!take_count(self->seed, UINT64_MAX, &self->settings.seed))
        return cli_say(NAME, EXIT_INPUT, "--seed %s: a whole number from 0 is wanted", self->seed);
    if (self->lengths && strcmp(self->lengths, "request") && strcmp(self->lengths, "policy"))
        return cli_say(NAME, EXIT_INPUT, "--lengths %s is not request or policy", self->lengths);
    self->settings.lengths_by_policy = self->lengths && !strcmp(self->lengths, "policy");
    self->settings.bootstrap = (size_t)bootstrap;
    self->settings.folds = (size_t)folds;
    return EXIT_FINE;
}

static int write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file)) written = false;
    return written ? EXIT_FINE : cli_say(NAME, EXIT_OTHER, "%s cannot be written", path);
}

static int write_page(const char *path, const sa_evaluation *evaluation) {
    char *page;
    sa_status status = sa_evaluation_page(evaluation, &page);
    if (status != SA_OK) return cli_fail(NAME, status);
    int exit_status = write_text(path, page);
    sa_evaluation_text_free(page);
    return exit_status;
}

static int evaluate(request *self) {
    sa_evaluation *evaluation;
    sa_status status = sa_evaluate(self->log, &self->settings, &evaluation);
    if (status != SA_OK) return cli_fail(NAME, status);
    print_table(evaluation, self->log);
    int exit_status = self->json ? write_text(self->json, sa_evaluation_json(evaluation)) : EXIT_FINE;
    if (self->page && exit_status == EXIT_FINE) exit_status = write_page(self->page, evaluation);
    sa_evaluation_destroy(evaluation);
    return exit_status;
}

int cli_evaluate(int count, char **arguments) {
    request self = {0};
    bool help = false;
    const cli_word words[] = {{"--policy", &self.settings.policies, NULL},
                              {"--estimators", &self.settings.estimators, NULL},
                              {"--model", &self.settings.model, NULL},
                              {"--folds", &self.folds, NULL},
                              {"--logging", &self.settings.logging, NULL},
                              {"--lengths", &self.lengths, NULL},
                              {"--bootstrap", &self.bootstrap, NULL},
                              {"--seed", &self.seed, NULL},
                              {"--skip-bad", NULL, &self.settings.skip_bad},
                              {"--json", &self.json, NULL},
                              {"--page", &self.page, NULL},
                              {NULL, NULL, NULL}};
    int exit_status = cli_take_words(NAME, count, arguments, words, &self.log, 1, &help);
    if (exit_status != EXIT_FINE) return exit_status;
    if (help) {
        fputs(HELP, stdout);
        return EXIT_FINE;
    }
    if (!self.log) return cli_say(NAME, EXIT_INPUT, "which log? superarm evaluate --help has an example");
    exit_status = take_numbers(&self);
    return exit_status == EXIT_FINE ? evaluate(&self) : exit_status;
}

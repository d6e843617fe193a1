/* superarm solve: one oracle on scores from a file. */
#include <string.h>

#include "cli.h"

static const char NAME[] = "solve";

static void print_help(void) {
    const char *name, *help;
    char flag[64];
    puts("superarm solve ORACLE --scores S [options]\n\n"
         "Prints the slate with the largest reward as JSON: {\"slate\": [...], \"reward\": r, \"alpha\": a, "
         "\"exact\": "
         "true},\n"
         "where the reward is sure to be at least alpha times the best. `superarm list oracles` says what "
         "each needs.\n"
         "Arrays are npy files, or with one axis also lists as in 0.5,1,0.2; indices may be int32, int64 or "
         "whole "
         "floats.\n\n"
         "Options:");
    for (size_t i = 0; sa_problem_name_at(i, &name, &help); i++) {
        snprintf(flag, sizeof flag, "--%s", name);
        printf("  %-13s %s\n", flag, help);
    }
    puts("\nExample:\n"
         "  superarm solve knapsack --scores scores.npy --costs costs.npy --capacity 10\n"
         "  superarm solve matroid --scores=-0.5,-0.1,-0.3 --groups 0,1,1 --slate 2 --exactly\n"
         "  superarm solve cascade --scores 0.2,0.9,0.5,0.4 --slate 2 --discounts 1,0.5");
}

static int unknown(const char *name) {
    enum { MOST = 32 };
    const char *names[MOST], *help;
    size_t count = 0;
    while (count < MOST && sa_problem_name_at(count, &names[count], &help)) count++;
    const char *nearest = cli_nearest(name, names, count);
    if (nearest) return cli_say(NAME, EXIT_INPUT, "--%s is not an option; did you mean --%s?", name, nearest);
    return cli_say(NAME, EXIT_INPUT, "--%s is not an option; --help lists them", name);
}

static bool is_known(const char *name) {
    const char *known, *help;
    for (size_t i = 0; sa_problem_name_at(i, &known, &help); i++)
        if (!strcmp(known, name)) return true;
    return false;
}

/* Takes the flags; `*oracle` is the word without dashes. */
static int take(sa_problem *problem, int count, char **arguments, const char **oracle) {
    for (int i = 0; i < count; i++) {
        char name[64];
        const char *argument = arguments[i], *equals = strchr(argument, '=');
        if (strncmp(argument, "--", 2) || !argument[2]) {
            if (*argument == '-')
                return cli_say(NAME, EXIT_INPUT, "%s is not an option; --help lists them", argument);
            if (*oracle) return cli_say(NAME, EXIT_INPUT, "%s is one oracle too many", argument);
            *oracle = argument;
            continue;
        }
        int size = equals ? (int)(equals - argument - 2) : (int)strlen(argument + 2);
        snprintf(name, sizeof name, "%.*s", size, argument + 2);
        if (!is_known(name)) return unknown(name);
        const char *value = equals                     ? equals + 1
                            : !strcmp(name, "exactly") ? "true"
                            : i + 1 < count            ? arguments[++i]
                                                       : NULL;
        if (!value || (!equals && !strncmp(value, "--", 2)))
            return cli_say(NAME, EXIT_INPUT, "--%s needs a value", name);
        sa_status status = sa_problem_set(problem, name, value);
        if (status != SA_OK) return cli_fail(NAME, status);
    }
    return EXIT_FINE;
}

static void print_solution(const sa_solution *solution) {
    fputs("{\"slate\": [", stdout);
    for (size_t i = 0; i < solution->length; i++) printf(i ? ", %zu" : "%zu", solution->slate[i]);
    fputs("], \"reward\": ", stdout);
    cli_print_number(solution->reward);
    fputs(", \"alpha\": ", stdout);
    cli_print_number(solution->alpha);
    printf(", \"exact\": %s}\n", solution->exact ? "true" : "false");
}

int cli_solve(int count, char **arguments) {
    const char *oracle = NULL;
    sa_solution solution;
    for (int i = 0; i < count; i++)
        if (!strcmp(arguments[i], "--help") || !strcmp(arguments[i], "-h")) {
            print_help();
            return EXIT_FINE;
        }
    sa_problem *problem = sa_problem_new();
    if (!problem) return cli_fail(NAME, SA_OUT_OF_MEMORY);
    int exit_status = take(problem, count, arguments, &oracle);
    if (exit_status == EXIT_FINE && !oracle)
        exit_status = cli_say(NAME, EXIT_INPUT, "which oracle? superarm list oracles shows them");
    if (exit_status == EXIT_FINE) {
        sa_status status = sa_problem_solve(problem, oracle, &solution);
        if (status == SA_OK)
            print_solution(&solution);
        else
            exit_status = cli_fail(NAME, status);
    }
    sa_problem_destroy(problem);
    return exit_status;
}

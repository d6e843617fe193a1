/* The program: finds the subcommand. Exit status: 0 fine, 2 the user's input is wrong, 1 anything else
 * (cli_exit_status). */
#include <string.h>

#include "cli.h"

static const struct {
    const char *name, *summary;
    int (*call)(int count, char **arguments);
} COMMANDS[] = {
    {"run", "run agents in an environment and show their regret", cli_run},
    {"sweep", "run every combination of a grid of options, here or on a cluster", cli_sweep},
    {"reproduce", "the paper's figures: fig1, fig2, fig3 or all", cli_reproduce},
    {"report", "tables, figures and a page of results; merges folders split by runs", cli_report},
    {"draw", "write an environment's draws as npy files", cli_draw},
    {"solve", "one oracle on scores from a file", cli_solve},
    {"serve", "serve decisions over HTTP, with a journal that loses nothing", cli_serve},
    {"theory", "the paper's quantities for a set of contexts", cli_theory},
    {"learn", "make an agent of a decision log, or go on with one", cli_learn},
    {"schema", "how a log's named fields become features: proposes it, checks it", cli_schema},
    {"convert", "logs of other programs (vw, obp, csv) to decision logs and back", cli_convert},
    {"evaluate", "what another policy would have earned on a log's decisions", cli_evaluate},
    {"list", "list algorithms, environments, oracles, confidence, feedback, presets, options, machine",
     cli_list},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static void print_help(void) {
    puts("superarm chooses slates: K of N arms a round, learning from what came of them.\n\n"
         "superarm COMMAND [options]\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) printf("  %-9s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
    puts(
        "\nsuperarm COMMAND --help has the options and an example; superarm --version prints the version.\n\n"
        "Example:\n"
        "  superarm run --environment h2 --algorithm cn-ucb,cn-ts --runs 4 --out results/h2");
}

static int unknown(const char *name) {
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++) names[i] = COMMANDS[i].name;
    const char *nearest = cli_nearest(name, names, COMMAND_COUNT);
    if (nearest) return cli_say("", EXIT_INPUT, "%s is not a command; did you mean %s?", name, nearest);
    return cli_say("", EXIT_INPUT, "%s is not a command; superarm --help lists them", name);
}

int main(int count, char **arguments) {
    if (count < 2) return cli_say("", EXIT_INPUT, "which command? superarm --help lists them");
    const char *name = arguments[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        print_help();
        return EXIT_FINE;
    }
    if (!strcmp(name, "--version")) {
        printf("superarm %s (%s)\n", sa_version(), sa_version_date());
        return EXIT_FINE;
    }
    if (sa_kernels_check() != SA_OK) return cli_say("", EXIT_INPUT, "%s", sa_last_error());
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(name, COMMANDS[i].name)) return COMMANDS[i].call(count - 2, arguments + 2);
    return unknown(name);
}

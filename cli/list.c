/* superarm list */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *const KINDS[] = {"algorithms", "environments", "oracles", "confidence",
                                    "feedback",   "presets",      "options", "machine"};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static const char HELP[] =
    "superarm list algorithms|environments|oracles|confidence|feedback|presets|options|machine\n\n"
    "Prints what there is to choose from, one a line with a word on it; or what this\n"
    "machine runs: the version, and the instructions that matrix products use.\n\n"
    "Example:\n"
    "  superarm list algorithms\n";

static bool row_at(const char *kind, size_t index, const char **name, const char **summary) {
    return strcmp(kind, "algorithms") ? sa_choice_at(kind, index, name, summary)
                                      : sa_algorithm_at(index, name, summary);
}

static void print_rows(const char *kind) {
    const char *name, *summary;
    int width = 0;
    for (size_t i = 0; row_at(kind, i, &name, &summary); i++)
        if ((int)strlen(name) > width) width = (int)strlen(name);
    for (size_t i = 0; row_at(kind, i, &name, &summary); i++) printf("%-*s  %s\n", width, name, summary);
}

/* What each needs, its alpha and its cost come before the line about it. */
static void print_oracles(void) {
    static const char *const titles[] = {"oracle", "needs; also takes", "alpha", "cost of a slate"};
    int width[4] = {0};
    char alpha[32];
    sa_oracle_info info;
    for (int pass = 0; pass < 2; pass++) {
        info = (sa_oracle_info){titles[0], "slate and reward", titles[1], titles[3], 0, true};
        for (size_t i = 0; i == 0 || sa_oracle_at(i - 1, &info); i++) {
            snprintf(alpha, sizeof alpha, "%.3g", info.alpha);
            const char *cells[] = {info.name, info.needs, i ? alpha : titles[2], info.cost};
            for (int column = 0; column < 4; column++) {
                int size = (int)strlen(cells[column]);
                if (size > width[column]) width[column] = size;
                if (pass) printf("%-*s  ", width[column], cells[column]);
            }
            if (pass) puts(info.summary);
        }
    }
}

enum { COLUMNS = 6 };

/* Name, group, kind, and the value under each preset. */
static const char *cell(const sa_option_info *info, int column, char value[CLI_VALUE]) {
    static const char *const presets[] = {"paper", "icml23", "tuned"};
    if (column == 0) return info->name;
    if (column == 1) return info->group;
    if (column == 2) return info->kind;
    cli_default(presets[column - 3], info->name, value);
    return *value ? value : "-";
}

/* The first option of this group? */
static bool begins_group(size_t index, const char *group) {
    sa_option_info info;
    for (size_t i = 0; i < index && sa_option_at(i, &info); i++)
        if (!strcmp(info.group, group)) return false;
    return true;
}

static void print_option(const sa_option_info *info, const int width[COLUMNS]) {
    char value[CLI_VALUE];
    for (int column = 0; column < COLUMNS; column++)
        printf("%-*s  ", width[column], cell(info, column, value));
    fputs(info->help, stdout);
    if (info->choices && !strcmp(info->kind, "choice")) printf(": %s", info->choices);
    if (info->alias) printf("; also --%s", info->alias);
    putchar('\n');
}

/* One a line, group by group. */
static void print_options(void) {
    static const char *const titles[COLUMNS] = {"option", "group", "kind", "paper", "icml23", "tuned"};
    int width[COLUMNS];
    char value[CLI_VALUE];
    sa_option_info info, member;
    for (int column = 0; column < COLUMNS; column++) {
        width[column] = (int)strlen(titles[column]);
        for (size_t i = 0; sa_option_at(i, &info); i++) {
            int size = (int)strlen(cell(&info, column, value));
            if (size > width[column]) width[column] = size;
        }
    }
    for (int column = 0; column < COLUMNS; column++) printf("%-*s  ", width[column], titles[column]);
    puts("help");
    for (size_t i = 0; sa_option_at(i, &info); i++) {
        if (!begins_group(i, info.group)) continue;
        for (size_t k = i; sa_option_at(k, &member); k++)
            if (!strcmp(member.group, info.group)) print_option(&member, width);
    }
}

static void print_machine(void) {
    printf("version  %s\n", sa_version());
    printf("kernels  %s%s\n", sa_kernels(), getenv("SUPERARM_KERNELS") ? ", as SUPERARM_KERNELS says" : "");
}

int cli_list(int count, char **arguments) {
    const char *kind = count > 0 ? arguments[0] : "";
    if (!strcmp(kind, "--help") || !strcmp(kind, "-h")) {
        fputs(HELP, stdout);
        return EXIT_FINE;
    }
    if (count != 1)
        return cli_say(
            "list", EXIT_INPUT,
            "say one of algorithms, environments, oracles, confidence, feedback, presets, options, machine");
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (!strcmp(kind, KINDS[i])) {
            if (!strcmp(kind, "options"))
                print_options();
            else if (!strcmp(kind, "oracles"))
                print_oracles();
            else if (!strcmp(kind, "machine"))
                print_machine();
            else
                print_rows(kind);
            return EXIT_FINE;
        }
    const char *nearest = cli_nearest(kind, KINDS, KIND_COUNT);
    if (nearest) return cli_say("list", EXIT_INPUT, "%s is not a list; did you mean %s?", kind, nearest);
    return cli_say(
        "list", EXIT_INPUT,
        "%s is not one of algorithms, environments, oracles, confidence, feedback, presets, options, machine",
        kind);
}

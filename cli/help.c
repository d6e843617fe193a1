/* Help from the options list. */
#include <string.h>

#include "cli.h"

bool cli_names(const cli_command *command, const char *option) {
    for (const char *const *name = command->options; name && *name; name++)
        if (!strcmp(option, *name)) return true;
    return false;
}

bool cli_takes(const cli_command *command, const sa_option_info *info) {
    if (command->options) return cli_names(command, info->name);
    if (info->scope == SA_SCOPE_AGENT) return command->agents || !strcmp(info->name, "preset");
    if (command->agents) return true;
    if (info->scope == SA_SCOPE_OUTPUT) return !strcmp(info->name, "out") || !strcmp(info->name, "quiet");
    /* a draw chooses nothing */
    return strcmp(info->name, "problem") && strcmp(info->name, "slate") && strcmp(info->name, "show-regret");
}

const char *cli_default(const char *preset, const char *name, char value[CLI_VALUE]) {
    sa_options *options = sa_options_new(preset);
    if (!options || sa_options_get(options, name, value, CLI_VALUE) != SA_OK) *value = 0;
    sa_options_destroy(options);
    return value;
}

/* "--regularization NUMBER": what the user types. */
static void print_option(const char *preset, const sa_option_info *info) {
    char left[256], value[CLI_VALUE];
    const char *what = !strcmp(info->kind, "integer")  ? " INTEGER"
                       : !strcmp(info->kind, "number") ? " NUMBER"
                       : !strcmp(info->kind, "text")   ? " TEXT"
                       : !strcmp(info->kind, "path")   ? " FILE"
                                                       : "";
    const char *choices = info->choices ? info->choices : "", *join = !*choices ? "" : *what ? "|" : " ";
    snprintf(left, sizeof left, "--%s%s%s%s", info->name, what, join, choices);
    printf("  %-28s", left);
    if (strlen(left) > 27) printf("\n%30s", "");
    printf(" %s", info->help);
    if (info->alias) printf("; also --%s", info->alias);
    cli_default(preset, info->name, value);
    if (!strcmp(info->kind, "flag"))
        printf(!strcmp(value, "true") ? " [on; --no-%s]" : " [off]", info->name);
    else if (*value)
        printf(" [%s]", value);
    putchar('\n');
}

/* The options of a command that lists them, but those that its usage explains. */
static void print_listed(const cli_command *command) {
    char flag[96];
    sa_option_info info;
    for (const char *const *name = command->options; *name; name++) {
        snprintf(flag, sizeof flag, "--%s ", *name);
        if (sa_option_find(*name, &info) && !strstr(command->usage, flag))
            print_option(command->preset, &info);
    }
    printf("\n%s", command->examples);
}

/* Those that people turn. */
static const char *const SHOWN[] = {"environment", "rounds", "arms",       "slate",     "dim",
                                    "noise",       "runs",   "seed",       "algorithm", "preset",
                                    "hidden",      "gamma",  "confidence", "threads",   "out"};

void cli_help(const cli_command *command, const char *preset) {
    sa_option_info info;
    fputs(command->usage, stdout);
    if (command->options) {
        print_listed(command);
        return;
    }
    sa_options *known = sa_options_new(preset);
    if (!known) preset = NULL;
    sa_options_destroy(known);
    printf("\nOptions that people turn (defaults of --preset %s in brackets):\n", preset ? preset : "tuned");
    for (size_t i = 0; i < sizeof SHOWN / sizeof *SHOWN; i++)
        if (sa_option_find(SHOWN[i], &info) && cli_takes(command, &info)) print_option(preset, &info);
    if (command->agents)
        puts("  --agent LABEL:option=value,...\n                               one more agent, with options "
             "of its "
             "own; repeatable");
    printf("\n`superarm list options` has all %zu, in groups.\n", sa_option_count());
    printf("\n%s", command->examples);
}

/* Help from the options list. */
#include <string.h>

#include "cli.h"

bool cli_takes(const cli_command *command, const sa_option_info *info) {
    for (const char *const *name = command->options; name && *name; name++)
        if (!strcmp(info->name, *name)) return true;
    if (command->options) return false;
    if (info->scope == SA_SCOPE_AGENT) return command->agents || !strcmp(info->name, "preset");
    if (command->agents) return true;
    if (info->scope == SA_SCOPE_OUTPUT) return !strcmp(info->name, "out") || !strcmp(info->name, "quiet");
    const char *name, *help;
    for (size_t i = 0; sa_problem_name_at(i, &name, &help); i++) /* a draw chooses nothing */
        if (!strcmp(info->name, name)) return !strcmp(name, "scores");
    return strcmp(info->name, "show-regret");
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

void cli_help(const cli_command *command, const char *preset) {
    static const struct {
        sa_option_scope scope;
        const char *title;
    } groups[] = {{SA_SCOPE_ENVIRONMENT, "The environment"},
                  {SA_SCOPE_EXPERIMENT, "The experiment"},
                  {SA_SCOPE_AGENT, "Agents"},
                  {SA_SCOPE_OUTPUT, "Output"}};
    fputs(command->usage, stdout);
    if (command->options) {
        print_listed(command);
        return;
    }
    sa_options *known = sa_options_new(preset);
    if (!known) preset = NULL;
    sa_options_destroy(known);
    for (size_t group = 0; group < sizeof groups / sizeof *groups; group++) {
        sa_option_info info;
        printf("\n%s", groups[group].title);
        if (group == 0) printf(" (defaults of --preset %s in brackets)", preset ? preset : "tuned");
        puts(":");
        for (size_t i = 0; sa_option_at(i, &info); i++)
            if (info.scope == groups[group].scope && cli_takes(command, &info)) print_option(preset, &info);
        if (groups[group].scope == SA_SCOPE_AGENT && command->agents)
            puts("  --agent LABEL:option=value,...\n                               one more agent, with "
                 "options of its "
                 "own; repeatable");
    }
    printf("\n%s", command->examples);
}

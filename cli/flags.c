/* Flags from the options list: --name value, --name=value, and --name or --no-name for those that are on or
 * off. */
#include <string.h>

#include "cli.h"

typedef struct flags {
    const cli_command *command;
    sa_experiment *experiment;
    int count, next;
    char **arguments;
    const char *spec;   /* the positional argument */
    const char *preset; /* the last --preset, for the help */
    bool help;
} flags;

/* One argument, taken apart. */
typedef struct one_flag {
    char name[64];
    const char *value; /* NULL: none yet */
    bool known;
    sa_option_info info;
} one_flag;

static int wrong(const flags *self, const char *format, const char *what) {
    return cli_say(self->command->name, EXIT_INPUT, format, what);
}

static bool is_switch(const one_flag *flag) { return flag->known && !strcmp(flag->info.kind, "flag"); }

/* Oracle data has flags of its own: --costs 1,2,3 is a part of --problem. */
static bool find_datum(one_flag *flag) {
    const char *name, *help;
    for (size_t i = 0; sa_problem_name_at(i, &name, &help); i++)
        if (!strcmp(name, flag->name) && sa_option_find("problem", &flag->info)) {
            if (!strcmp(name, "exactly")) flag->info.kind = "flag";
            return true;
        }
    return false;
}

static one_flag take_apart(const char *argument) {
    one_flag flag = {.value = NULL};
    const char *equals = strchr(argument, '=');
    size_t size = equals ? (size_t)(equals - argument - 2) : strlen(argument + 2);
    if (size >= sizeof flag.name) size = sizeof flag.name - 1;
    memcpy(flag.name, argument + 2, size);
    flag.value = equals ? equals + 1 : NULL;
    flag.known = sa_option_find(flag.name, &flag.info) || find_datum(&flag);
    if (!flag.known && !strncmp(flag.name, "no-", 3) && !equals &&
        sa_option_find(flag.name + 3, &flag.info)) {
        flag.known = !strcmp(flag.info.kind, "flag");
        if (flag.known) {
            memmove(flag.name, flag.name + 3, strlen(flag.name + 3) + 1);
            flag.value = "false";
        }
    }
    return flag;
}

/* Finds the flag's value, which may be the next argument. */
static int find_value(flags *self, one_flag *flag) {
    if (flag->value) return EXIT_FINE;
    const char *next = self->next < self->count ? self->arguments[self->next] : NULL;
    if (is_switch(flag)) {
        bool said = next && (!strcmp(next, "true") || !strcmp(next, "false"));
        flag->value = said ? next : "true";
        self->next += said;
        return EXIT_FINE;
    }
    if (!next || !strncmp(next, "--", 2)) return wrong(self, "--%s needs a value", flag->name);
    flag->value = next;
    self->next++;
    return EXIT_FINE;
}

static int set(flags *self, const one_flag *flag) {
    sa_status status = strcmp(flag->name, "agent")
                           ? sa_experiment_set(self->experiment, flag->name, flag->value)
                           : sa_experiment_agent(self->experiment, flag->value);
    return status == SA_OK ? EXIT_FINE : cli_fail(self->command->name, status);
}

/* Takes the argument at `next`; sets options only in the second pass, when the spec has been read. */
static int take(flags *self, bool second) {
    const char *argument = self->arguments[self->next++];
    if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
        self->help = true;
        return EXIT_FINE;
    }
    if (strncmp(argument, "--", 2) || !argument[2]) {
        if (*argument == '-' && argument[1])
            return wrong(self, "%s is not an option; --help lists them", argument);
        if (self->command->no_spec)
            return wrong(self, "%s is one word too many; --help has an example", argument);
        if (self->spec && !second) return wrong(self, "%s is one spec file too many", argument);
        self->spec = argument;
        return EXIT_FINE;
    }
    one_flag flag = take_apart(argument);
    bool agent = self->command->agents && !strcmp(flag.name, "agent");
    if (flag.known && !cli_takes(self->command, &flag.info) && !cli_names(self->command, flag.name))
        return wrong(self, "--%s is not an option here; --help lists them", flag.name);
    if (!flag.known && !agent) { /* the library knows the nearest name */
        sa_status status = sa_experiment_set(self->experiment, flag.name, flag.value ? flag.value : "");
        return status == SA_OK ? EXIT_FINE : cli_fail(self->command->name, status);
    }
    int exit_status = find_value(self, &flag);
    if (exit_status != EXIT_FINE) return exit_status;
    if (!strcmp(flag.name, "preset")) self->preset = flag.value;
    return second ? set(self, &flag) : EXIT_FINE;
}

static int pass(flags *self, bool second) {
    int exit_status = EXIT_FINE;
    for (self->next = 0; exit_status == EXIT_FINE && self->next < self->count && !self->help;)
        exit_status = take(self, second);
    return exit_status;
}

int cli_take(const cli_command *command, int count, char **arguments, sa_experiment *experiment, bool *done) {
    flags self = {.command = command, .experiment = experiment, .count = count, .arguments = arguments};
    *done = true;
    int exit_status = pass(&self, false);
    if (exit_status != EXIT_FINE) return exit_status;
    if (self.help) {
        cli_help(command, self.preset ? self.preset : command->preset);
        return EXIT_FINE;
    }
    if (self.spec) {
        sa_status status = sa_experiment_read(experiment, self.spec);
        if (status != SA_OK) return cli_fail(command->name, status);
    }
    exit_status = pass(&self, true);
    *done = exit_status != EXIT_FINE;
    return exit_status;
}

bool cli_flag(const sa_experiment *experiment, const char *name) {
    char value[16];
    return sa_options_get(sa_experiment_options(experiment), name, value, sizeof value) == SA_OK &&
           !strcmp(value, "true");
}

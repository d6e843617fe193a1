/* What the subcommands share. The program uses the library's public headers alone. */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stdio.h>

#include <superarm/superarm.h>

enum {
    EXIT_FINE = 0,
    EXIT_OTHER = 1,
    EXIT_INPUT = 2,
    EXIT_SIGNAL = 128
}; /* the last: and the number of the signal */

/* ---- subcommands: arguments after the name ---- */

int cli_run(int count, char **arguments);
int cli_draw(int count, char **arguments);
int cli_list(int count, char **arguments);
int cli_report(int count, char **arguments);
int cli_reproduce(int count, char **arguments);
int cli_sweep(int count, char **arguments);
int cli_serve(int count, char **arguments);
int cli_solve(int count, char **arguments);
int cli_theory(int count, char **arguments);
int cli_schema(int count, char **arguments);
int cli_evaluate(int count, char **arguments);
int cli_convert(int count, char **arguments);
int cli_learn(int count, char **arguments);

/* ---- flags.c ---- */

typedef struct cli_command {
    const char *name;     /* "run" */
    const char *usage;    /* lines of the help above the options */
    const char *examples; /* below them */
    /* runs agents, so all options and --agent are taken; else those of the environment's draws */
    bool agents;
    bool no_spec;               /* takes no spec file */
    const char *preset;         /* the default one; NULL: the library's */
    const char *const *options; /* those it takes, ended by NULL; NULL: by what they belong to */
} cli_command;

/* Reads the spec, then the flags, into the experiment. `*done`: the answer was given (--help) or the input is
 * wrong, and the program ends with the returned status. */
int cli_take(const cli_command *command, int count, char **arguments, sa_experiment *experiment, bool *done);
/* The value of an option as a flag. */
bool cli_flag(const sa_experiment *experiment, const char *name);

/* ---- words.c ---- */

typedef struct cli_word {
    const char *name;   /* "--out" */
    const char **value; /* where its value goes; NULL for a flag */
    bool *on;           /* set where the flag is given */
} cli_word;

/* Takes the arguments of a command with a few flags of its own; `words` is ended by a name of NULL. Up to
 * `most` words without dashes go to `plain`. `*help`: --help was asked for. */
int cli_take_words(const char *command, int count, char **arguments, const cli_word *words,
                   const char **plain, size_t most, bool *help);

/* ---- numbers.c ---- */

/* As JSON: with as many digits as it takes to read the same number back; null for what is not finite. */
void cli_print_number(double number);

/* ---- report.c ---- */

/* Writes the report, prints its table unless quiet, and names the page. `out` NULL: the first folder of the
 * report. */
int cli_report_write(const char *command, sa_report *report, const char *out, bool quiet);

/* ---- messages.c ---- */

/* "superarm run: --slate 25 is more than --arms 20" */
__attribute__((format(printf, 3, 4))) int cli_say(const char *command, int exit_status, const char *format,
                                                  ...);
/* The one rule: 1 where memory, the disk or the caller's own code failed, 128 and the signal where one came
 * (130 for Ctrl-C, 143 for SIGTERM), and 2 for all else: the input, or a file that it names, is wrong. */
int cli_exit_status(sa_status status);
/* The library's last sentence, and that status. */
int cli_fail(const char *command, sa_status status);
/* What was skipped or left out of a log that was read to its end. */
void cli_warn_of_log(const char *command, sa_log_reader *reader);
/* The nearest of the words, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *words, size_t count);

/* ---- help.c ---- */

void cli_help(const cli_command *command, const char *preset);
/* Is this an option of the command? And one that its list names? */
bool cli_takes(const cli_command *command, const sa_option_info *info);
bool cli_names(const cli_command *command, const char *option);
/* An option's value under a preset. Returns `value`. */
enum { CLI_VALUE = 4200 };
const char *cli_default(const char *preset, const char *name, char value[CLI_VALUE]);

/* ---- progress.c ---- */

typedef struct cli_progress {
    bool shown;
    double period; /* seconds between two lines */
    double last;   /* seconds of the last line */
} cli_progress;

/* Catches SIGINT and SIGTERM, which then end the work at the next round; a second one ends the program at
 * once. */
void cli_catch_signals(void);
/* The signal that came, or 0. */
int cli_signal(void);
void cli_progress_begin(cli_progress *progress, const sa_experiment *experiment);
sa_progress_call cli_progress_show; /* user: a cli_progress */
void cli_progress_end(cli_progress *progress);
/* "1 h 02 min", "3 min 20 s", "12 s". Returns `text`. */
const char *cli_duration(double seconds, char text[32]);

#endif

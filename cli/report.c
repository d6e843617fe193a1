/* superarm report */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char HELP[] =
    "superarm report DIR... [options]\n\n"
    "Makes a report of the results in DIR: report.html with figures and tables, table.csv, curves.csv, the "
    "figure as\n"
    ".svg, .png and .pdf (gnuplot draws it), and the table on stdout. Folders of one experiment, split by "
    "runs or by\n"
    "agents, are merged, and the merged folder is an ordinary result; so are the figure folders of "
    "`superarm\n"
    "reproduce`, panel by panel. An unfinished folder is reported with a note of what is missing.\n\n"
    "  --out DIR               folder for the report, and for what was merged [the first DIR, for the report "
    "alone]\n"
    "  --format html|latex|csv what to write: the page and all else; table.tex (booktabs) and the figure; "
    "csv files\n"
    "  --panels                each DIR is an experiment of its own, and a panel of one figure\n"
    "  --agent LABEL[:NAME]    show this agent, by this name; repeatable: those named, in their order\n"
    "  --against LABEL         the agent that differences are to [the first]\n"
    "  --columns LIST          of tables, as in runs,mean,worst; all are below [those that say something; "
    "not "
    "p, of\n"
    "                          paired t-tests, holm, corrected for all comparisons, and marks of that: * "
    "below "
    "0.05,\n"
    "                          ** 0.01, *** 0.001]\n"
    "  --judge RUNS            of a sweep: chooses the cell without the last RUNS runs, and tells how it "
    "does on "
    "these\n"
    "  --band KIND             sd, se, ci95 (of the mean), quartiles, range (of all runs) or none [sd]\n"
    "  --title TEXT            of the figure and the page\n"
    "  --size WxH              of the figure, in inches, as in 6x3.5\n"
    "  --log x|y|xy            logarithmic axes\n"
    "  --regret KIND           expected or realised [as --show-regret was]\n"
    "  --reference FILE.csv    published curves of the same regret to draw beside, with the columns\n"
    "                          figure,score,d,algorithm,round,mean_regret,sd_regret,runs, and regret if it "
    "is\n"
    "                          not realised in all of them\n"
    "  --quiet                 do not print the table\n\n"
    "Examples:\n"
    "  superarm report results/h2\n"
    "  superarm report here/fig1/h1 there/fig1/h1 --out results/fig1-h1\n"
    "  superarm report results/h1 results/h2 --panels --format latex --band ci95 --size 6.75x2.6 --out "
    "paper\n"
    "  superarm report results/h2 --agent cn-ts --agent cn-ucb:Ours --against cn-ucb --log y\n";

static void print_help(void) {
    fputs(HELP, stdout);
    fputs("\nColumns:", stdout);
    for (size_t i = 0; sa_report_column(i); i++) printf("%s %s", i ? "," : "", sa_report_column(i));
    fputs("\n", stdout);
}

enum { SETTINGS = 256 };

/* Flags that the report itself takes, as they are. */
static const char *const SET[] = {"--format", "--agent", "--against", "--band",    "--title",
                                  "--size",   "--log",   "--regret",  "--columns", "--judge"};
enum { SET_COUNT = sizeof SET / sizeof *SET };

typedef struct request {
    const char **folders; /* (count) */
    size_t count;
    const char *out, *reference; /* NULL: not given */
    struct {
        const char *name, *value;
    } set[SETTINGS]; /* (set_count) in their order */
    size_t set_count;
    bool quiet, help, panels;
} request;

/* The value of "--name VALUE" or "--name=VALUE" when the argument is that flag; else NULL, with *wrong unless
 * it is another. */
static const char *value_of(const char *name, int count, char **arguments, int *next, bool *wrong) {
    const char *argument = arguments[*next];
    size_t size = strlen(name);
    if (strncmp(argument, name, size) || (argument[size] && argument[size] != '=')) return NULL;
    if (argument[size] == '=') return argument + size + 1;
    *wrong = *next + 1 >= count || !strncmp(arguments[*next + 1], "--", 2);
    return *wrong ? NULL : arguments[++*next];
}

/* A flag with a value: 1 when it was one, 0 when it is something else, -1 when its value is missing. */
static int take_value(int count, char **arguments, int *next, request *self) {
    const char *value;
    bool wrong = false;
    if ((value = value_of("--out", count, arguments, next, &wrong)))
        self->out = value;
    else if (!wrong && (value = value_of("--reference", count, arguments, next, &wrong)))
        self->reference = value;
    for (size_t i = 0; !value && !wrong && i < SET_COUNT; i++) {
        value = value_of(SET[i], count, arguments, next, &wrong);
        if (!value) continue;
        if (self->set_count == SETTINGS) return -1;
        self->set[self->set_count].name = SET[i] + 2;
        self->set[self->set_count++].value = value;
    }
    return wrong ? -1 : value != NULL;
}

static int unknown(const char *argument) {
    static const char *const flags[] = {"--out",    "--reference", "--quiet",   "--help",    "--panels",
                                        "--format", "--agent",     "--against", "--band",    "--title",
                                        "--size",   "--log",       "--regret",  "--columns", "--judge"};
    const char *nearest = cli_nearest(argument, flags, sizeof flags / sizeof *flags);
    if (nearest)
        return cli_say("report", EXIT_INPUT, "%s is not an option; did you mean %s?", argument, nearest);
    return cli_say("report", EXIT_INPUT, "%s is not an option; --help lists them", argument);
}

static int take(int count, char **arguments, request *self) {
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        int taken = take_value(count, arguments, &i, self);
        if (taken < 0) return cli_say("report", EXIT_INPUT, "%s needs a value", argument);
        if (taken) continue;
        if (!strcmp(argument, "--quiet"))
            self->quiet = true;
        else if (!strcmp(argument, "--panels"))
            self->panels = true;
        else if (!strcmp(argument, "--help") || !strcmp(argument, "-h"))
            self->help = true;
        else if (*argument == '-' && argument[1])
            return unknown(argument);
        else
            self->folders[self->count++] = argument;
    }
    if (self->help || self->count > 0) return EXIT_FINE;
    return cli_say("report", EXIT_INPUT, "which folder? superarm report --help has an example");
}

int cli_report_write(const char *command, sa_report *report, const char *out, bool quiet) {
    sa_status status = sa_report_write(report, out);
    if (status != SA_OK) return cli_fail(command, status);
    if (!quiet) fputs(sa_report_table(report), stdout);
    if (*sa_report_note(report)) fprintf(stderr, "superarm %s: %s\n", command, sa_report_note(report));
    if (!quiet) printf("%sThe report is %s\n", *sa_report_table(report) ? "\n" : "", sa_report_page(report));
    return EXIT_FINE;
}

static int report_on(const request *self) {
    sa_report *report = NULL;
    sa_status status =
        (self->panels ? sa_report_open_panels : sa_report_open)(self->folders, self->count, &report);
    for (size_t i = 0; status == SA_OK && i < self->set_count; i++)
        status = sa_report_set(report, self->set[i].name, self->set[i].value);
    if (status == SA_OK && self->reference) status = sa_report_reference(report, self->reference);
    int exit_status = status == SA_OK ? cli_report_write("report", report, self->out, self->quiet)
                                      : cli_fail("report", status);
    sa_report_destroy(report);
    return exit_status;
}

int cli_report(int count, char **arguments) {
    request self = {.folders = calloc((size_t)count + 1, sizeof *self.folders)};
    if (!self.folders) return cli_fail("report", SA_OUT_OF_MEMORY);
    int exit_status = take(count, arguments, &self);
    if (exit_status == EXIT_FINE && self.help)
        print_help();
    else if (exit_status == EXIT_FINE)
        exit_status = report_on(&self);
    free(self.folders);
    return exit_status;
}

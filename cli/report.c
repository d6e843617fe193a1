/* superarm report */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char HELP[] =
    "superarm report DIR... [--out DIR] [--reference FILE.csv] [--quiet]\n\n"
    "Makes a report of the results in DIR: report.html with figures and tables, table.csv, curves.csv, the figure as\n"
    ".svg and .png (gnuplot draws it), and the table on stdout. Folders of one experiment that was split by runs\n"
    "(--first-run, --runs) are merged; so are the figure folders of `superarm reproduce`, panel by panel.\n\n"
    "  --out DIR               folder for the report [the first DIR]\n"
    "  --reference FILE.csv    published curves to draw beside, with the columns\n"
    "                          figure,score,d,algorithm,round,mean_regret,sd_regret,runs\n"
    "  --quiet                 do not print the table\n\n"
    "Examples:\n"
    "  superarm report results/h2\n"
    "  superarm report here/fig1/h1 there/fig1/h1 --out results/fig1-h1\n"
    "  superarm report here/fig1 there/fig1 --out results/fig1\n";

typedef struct request {
    const char **folders; /* (count) */
    size_t count;
    const char *out, *reference; /* NULL: not given */
    bool quiet, help;
} request;

/* The value of "--name VALUE" or "--name=VALUE" when the argument is that flag; else NULL, with *wrong unless it is another. */
static const char *value_of(const char *name, int count, char **arguments, int *next, bool *wrong) {
    const char *argument = arguments[*next];
    size_t size = strlen(name);
    if (strncmp(argument, name, size) || (argument[size] && argument[size] != '=')) return NULL;
    if (argument[size] == '=') return argument + size + 1;
    *wrong = *next + 1 >= count || !strncmp(arguments[*next + 1], "--", 2);
    return *wrong ? NULL : arguments[++*next];
}

static int take(int count, char **arguments, request *self) {
    static const char *const flags[] = {"--out", "--reference", "--quiet", "--help"};
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i], *value;
        bool wrong = false;
        if ((value = value_of("--out", count, arguments, &i, &wrong))) {
            self->out = value;
        } else if (!wrong && (value = value_of("--reference", count, arguments, &i, &wrong))) {
            self->reference = value;
        } else if (wrong) {
            return cli_say("report", EXIT_INPUT, "%s needs a value", argument);
        } else if (!strcmp(argument, "--quiet")) {
            self->quiet = true;
        } else if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
            self->help = true;
        } else if (*argument == '-' && argument[1]) {
            const char *nearest = cli_nearest(argument, flags, sizeof flags / sizeof *flags);
            if (nearest) return cli_say("report", EXIT_INPUT, "%s is not an option; did you mean %s?", argument, nearest);
            return cli_say("report", EXIT_INPUT, "%s is not an option; --help lists them", argument);
        } else {
            self->folders[self->count++] = argument;
        }
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
    sa_status status = sa_report_open(self->folders, self->count, &report);
    if (status == SA_OK && self->reference) status = sa_report_reference(report, self->reference);
    int exit_status =
        status == SA_OK ? cli_report_write("report", report, self->out, self->quiet) : cli_fail("report", status);
    sa_report_destroy(report);
    return exit_status;
}

int cli_report(int count, char **arguments) {
    request self = {.folders = calloc((size_t)count + 1, sizeof *self.folders)};
    if (!self.folders) return cli_fail("report", SA_OUT_OF_MEMORY);
    int exit_status = take(count, arguments, &self);
    if (exit_status == EXIT_FINE && self.help)
        fputs(HELP, stdout);
    else if (exit_status == EXIT_FINE)
        exit_status = report_on(&self);
    free(self.folders);
    return exit_status;
}

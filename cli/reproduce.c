/* superarm reproduce */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reproduce.h"

const cli_command REPRODUCE = {
    .name = "reproduce",
    .usage =
        "superarm reproduce fig1|fig2|fig3|all [options]\n\n"
        "Runs the paper's experiments and draws its figures. Every panel is an experiment with a folder of "
        "its own,\n"
        "OUT/fig1/h1 and so on; OUT/fig1 gets the figure and report.html. Any option given here wins over "
        "the\n"
        "figure's; one that the figure varies (--environment in fig1, --dim in fig2, --hidden in fig3) "
        "leaves that\n"
        "panel or curve alone. Stopped work goes on with --resume. To spread runs over machines, give each "
        "its own\n"
        "--first-run and --runs and merge with `superarm report A/fig1 B/fig1 --out C/fig1`.\n\n"
        "  --quick                      fewer rounds and 4 runs: about a minute for fig1 on two processors\n"
        "  --reference FILE.csv         published curves to draw beside, with the columns\n"
        "                               figure,score,d,algorithm,round,mean_regret,sd_regret,runs, and "
        "regret if it\n"
        "                               is not realised in all of them; --show-regret must be the same\n"
        "  --out DIR                    [results/reproduce-PRESET, with -quick behind it for --quick]\n",
    .examples = "Examples:\n"
                "  superarm reproduce fig1 --quick\n"
                "  superarm reproduce all --preset tuned --out results/tuned\n"
                "  superarm reproduce fig1 --first-run 10 --runs 10 --out results/second-half\n",
    .agents = true,
    .no_spec = true,
    .preset = "icml23",
};

/* ---- what was asked for ---- */

/* Takes --quick and --reference out of the arguments; the rest are options. */
static int take_own(int count, char **arguments, reproduce_request *request) {
    for (int i = 0; i < count; i++) {
        if (!strcmp(arguments[i], "--quick")) {
            request->quick = true;
        } else if (!strncmp(arguments[i], "--reference=", 12)) {
            request->reference = arguments[i] + 12;
        } else if (!strcmp(arguments[i], "--reference")) {
            if (i + 1 >= count || !strncmp(arguments[i + 1], "--", 2))
                return cli_say(REPRODUCE.name, EXIT_INPUT, "--reference needs a value");
            request->reference = arguments[++i];
        } else {
            request->arguments[request->count++] = arguments[i];
        }
    }
    return EXIT_FINE;
}

static int take_figure(const char *name, reproduce_request *request) {
    const char *names[8] = {"all"}, *figure;
    size_t count = 1;
    for (; (figure = reproduce_figure_name(count - 1)); count++) names[count] = figure;
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(name, names[i])) {
            request->figure = names[i];
            return EXIT_FINE;
        }
    if (!name || *name == '-')
        return cli_say(REPRODUCE.name, EXIT_INPUT, "say first which figure: fig1, fig2, fig3 or all");
    const char *nearest = cli_nearest(name, names, count);
    if (nearest)
        return cli_say(REPRODUCE.name, EXIT_INPUT, "%s is not a figure; did you mean %s?", name, nearest);
    return cli_say(REPRODUCE.name, EXIT_INPUT, "%s is not one of fig1, fig2, fig3 and all", name);
}

/* Published curves must be of the regret that will be shown. */
static sa_status check_reference(const reproduce_request *request) {
    char regret[32] = "";
    sa_options *preset = sa_options_new(request->preset);
    if (!preset) return SA_OUT_OF_MEMORY;
    bool given = sa_options_given(request->given, "show-regret");
    sa_options_get(given ? request->given : preset, "show-regret", regret, sizeof regret);
    sa_options_destroy(preset);
    return sa_report_check_reference(request->reference, regret);
}

/* Preset and folder, from what was given or by default. */
static int take_defaults(reproduce_request *request) {
    static const char *const of_one[] = {"trace", "log"};
    for (size_t i = 0; i < 2; i++)
        if (sa_options_given(request->given, of_one[i]))
            return cli_say(REPRODUCE.name, EXIT_INPUT,
                           "--%s is for one experiment: superarm run SPEC.yaml --%s FILE", of_one[i],
                           of_one[i]);
    snprintf(request->preset, sizeof request->preset, "%s", REPRODUCE.preset);
    if (sa_options_given(request->given, "preset"))
        sa_options_get(request->given, "preset", request->preset, sizeof request->preset);
    if (request->reference) {
        sa_status status = check_reference(request);
        if (status != SA_OK) return cli_fail(REPRODUCE.name, status);
    }
    snprintf(request->out, sizeof request->out, "results/reproduce-%s%s", request->preset,
             request->quick ? "-quick" : "");
    if (sa_options_given(request->given, "out"))
        sa_options_get(request->given, "out", request->out, sizeof request->out);
    char resume[8] = "";
    sa_options_get(request->given, "resume", resume, sizeof resume);
    if (!strcmp(resume, "true") && access(request->out, F_OK))
        return cli_say(REPRODUCE.name, EXIT_INPUT,
                       "--resume: there is no folder %s to go on with; leave --resume out to begin",
                       request->out);
    return EXIT_FINE;
}

/* ---- the command to repeat it ---- */

/* A word as the shell reads it. */
static void add_word(char *text, size_t size, const char *word) {
    bool bare = *word && !strpbrk(word, " \t\n'\"\\$`!*?[](){}<>|&;#~");
    size_t used = strlen(text);
    snprintf(text + used, size - used, bare ? " " : " '");
    for (; *word; word++) {
        used = strlen(text);
        snprintf(text + used, size - used, *word == '\'' ? "'\\''" : "%c", *word);
    }
    used = strlen(text);
    if (!bare) snprintf(text + used, size - used, "'");
}

static void write_command(const reproduce_request *request, const char *figure, char *text, size_t size) {
    static const char *const skipped[] = {"--resume", "--progress", "--quiet"};
    snprintf(text, size, "superarm reproduce %s%s", figure, request->quick ? " --quick" : "");
    for (int i = 0; i < request->count; i++) {
        bool skip = false;
        for (size_t k = 0; k < sizeof skipped / sizeof *skipped; k++)
            skip = skip || !strcmp(request->arguments[i], skipped[k]);
        if (!skip) add_word(text, size, request->arguments[i]);
    }
    if (!request->reference) return;
    add_word(text, size, "--reference");
    add_word(text, size, request->reference);
}

/* ---- doing it ---- */

static int write_report(const reproduce_request *request, const reproduce_figure *figure, bool quiet) {
    const char *panels[REPRODUCE_PANELS], *folder = figure->folder;
    char command[4096];
    for (size_t i = 0; i < figure->count; i++) panels[i] = figure->panels[i].name;
    write_command(request, figure->name, command, sizeof command);
    sa_report *report = NULL;
    sa_status status = sa_figure_write(folder, figure->name, figure->title, command, panels, figure->count);
    if (status == SA_OK) status = sa_report_open(&folder, 1, &report);
    if (status == SA_OK && request->reference) status = sa_report_reference(report, request->reference);
    int exit_status = status == SA_OK ? cli_report_write(REPRODUCE.name, report, NULL, quiet)
                                      : cli_fail(REPRODUCE.name, status);
    sa_report_destroy(report);
    return exit_status;
}

static int run_panel(const char *figure, reproduce_panel *panel, reproduce_progress *progress) {
    reproduce_progress_panel(progress, figure, panel);
    sa_status status = sa_experiment_run(panel->experiment, reproduce_progress_show, progress);
    reproduce_progress_panel_end(progress);
    if (status != SA_OK) cli_progress_end(&progress->line);
    if (status == SA_INTERRUPTED)
        return cli_say(REPRODUCE.name, cli_exit_status(status),
                       "stopped in %s %s; the same command with --resume goes on", figure, panel->name);
    return status == SA_OK ? EXIT_FINE : cli_fail(REPRODUCE.name, status);
}

static int run_figure(const reproduce_request *request, reproduce_figure *figure,
                      reproduce_progress *progress) {
    bool quiet = cli_flag(figure->panels[0].experiment, "quiet");
    for (size_t i = 0; i < figure->count; i++) {
        int exit_status = run_panel(figure->name, &figure->panels[i], progress);
        if (exit_status != EXIT_FINE) return exit_status;
        sa_experiment_destroy(figure->panels[i].experiment);
        figure->panels[i].experiment = NULL;
    }
    cli_progress_end(&progress->line);
    if (!quiet) printf("%s\n\n", figure->title);
    return write_report(request, figure, quiet);
}

/* Makes and checks all figures before the first is run: what is wrong is said before hours have passed. */
static int run_all(const reproduce_request *request, reproduce_figure *figures, size_t *count) {
    reproduce_progress progress = {0};
    const char *name;
    for (size_t i = 0; (name = reproduce_figure_name(i)); i++) {
        if (strcmp(request->figure, "all") && strcmp(request->figure, name)) continue;
        reproduce_figure *figure = &figures[(*count)++];
        int exit_status = reproduce_make(request, name, figure);
        for (size_t k = 0; exit_status == EXIT_FINE && k < figure->count; k++) {
            sa_status status = sa_experiment_check(figure->panels[k].experiment);
            if (status != SA_OK) exit_status = cli_fail(REPRODUCE.name, status);
            progress.weight += figure->panels[k].weight;
        }
        if (exit_status != EXIT_FINE) return exit_status;
    }
    cli_catch_signals();
    cli_progress_begin(&progress.line, figures[0].panels[0].experiment);
    int exit_status = EXIT_FINE;
    for (size_t i = 0; exit_status == EXIT_FINE && i < *count; i++)
        exit_status = run_figure(request, &figures[i], &progress);
    return exit_status;
}

static int reproduce(reproduce_request *request, const char *figure, sa_experiment *probe) {
    bool done = false;
    int exit_status = cli_take(&REPRODUCE, request->count, request->arguments, probe, &done);
    if (done) return exit_status;
    request->given = sa_experiment_options(probe);
    if ((exit_status = take_figure(figure, request)) != EXIT_FINE) return exit_status;
    if ((exit_status = take_defaults(request)) != EXIT_FINE) return exit_status;
    reproduce_figure figures[4] = {0};
    size_t count = 0;
    exit_status = run_all(request, figures, &count);
    for (size_t i = 0; i < count; i++) reproduce_clear(&figures[i]);
    return exit_status;
}

int cli_reproduce(int count, char **arguments) {
    const char *figure = count > 0 && *arguments[0] != '-' ? arguments[0] : NULL;
    int used = figure != NULL;
    reproduce_request request = {.arguments = calloc((size_t)count + 1, sizeof *request.arguments)};
    sa_experiment *probe = sa_experiment_new();
    int exit_status = request.arguments && probe ? take_own(count - used, arguments + used, &request)
                                                 : cli_fail(REPRODUCE.name, SA_OUT_OF_MEMORY);
    if (exit_status == EXIT_FINE) exit_status = reproduce(&request, figure, probe);
    sa_experiment_destroy(probe);
    free(request.arguments);
    return exit_status;
}

/* superarm learn */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { MOST = 512 };

static const char *options[MOST]; /* those of agents, ended by NULL */

static cli_command LEARN = {
    .name = "learn",
    .usage =
        "superarm learn LOG.jsonl --out AGENT.npz [options]\n\n"
        "Makes an agent of a decision log: it learns from the logged slates and their feedback, decision by "
        "decision,\n"
        "as if it had chosen them itself. Lines without feedback, or with \"final\": false, are left out.\n\n"
        "  --out AGENT.npz              where the agent is written, atomically\n"
        "  --agent AGENT.npz            goes on with this agent, and its options, instead of a new one\n"
        "  --schema SCHEMA.yaml         how named fields become features; it is saved with the agent\n"
        "  --skip-bad                   skips lines that are wrong instead of stopping at the first\n"
        "  --dim INTEGER                features of an arm [those of the schema, or of the log]\n"
        "  --slate INTEGER              K, where positions are told apart [that of the log's first "
        "decision]\n"
        "  --quiet                      prints nothing but errors and warnings\n",
    .examples = "Examples:\n"
                "  superarm run --environment h2 --algorithm random --rounds 500 --runs 1 --log log.jsonl\n"
                "  superarm learn log.jsonl --algorithm cn-ucb --out agent.npz\n"
                "  superarm learn monday.jsonl --schema schema.yaml --out agent.npz\n"
                "  superarm learn tuesday.jsonl --agent agent.npz --out agent.npz\n",
    .no_spec = true,
    .options = options,
};

typedef struct request {
    const char *log, *out, *agent, *schema;
    bool skip_bad, quiet;
    char **rest; /* (count) arguments that are options of agents */
    int count;
} request;

/* ---- what was asked for ---- */

/* Options of agents, and those of experiments that an agent looks at. */
static void list_options(void) {
    static const char *const shared[] = {"dim", "slate", "seed", "first-run", "rounds", "discounts"};
    size_t count = 0;
    sa_option_info info;
    for (size_t i = 0; sa_option_at(i, &info) && count + 1 < MOST; i++) {
        bool taken = info.scope == SA_SCOPE_AGENT;
        for (size_t j = 0; j < sizeof shared / sizeof *shared; j++)
            taken = taken || !strcmp(info.name, shared[j]);
        if (taken) options[count++] = info.name;
    }
    options[count] = NULL;
}

/* Is this a flag of an agent that takes a value of its own word? */
static bool takes_value(const char *argument) {
    sa_option_info info;
    return !strchr(argument, '=') && sa_option_find(argument + 2, &info) && strcmp(info.kind, "flag");
}

/* Parts our own words from the options of agents. */
static int sort_words(request *self, int count, char **arguments, char **own, int *own_count) {
    static const char *const ours[] = {"--out",   "--agent", "--schema", "--skip-bad",
                                       "--quiet", "--help",  "-h"};
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        size_t size = strcspn(argument, "=");
        bool mine = strncmp(argument, "--", 2) != 0;
        for (size_t j = 0; j < sizeof ours / sizeof *ours; j++)
            mine = mine || (strlen(ours[j]) == size && !strncmp(argument, ours[j], size));
        bool value = mine ? !strncmp(argument, "--", 2) && argument[size] != '=' &&
                                strcmp(argument, "--skip-bad") && strcmp(argument, "--quiet") &&
                                strcmp(argument, "--help")
                          : takes_value(argument);
        char **to = mine ? own : self->rest;
        int *filled = mine ? own_count : &self->count;
        to[(*filled)++] = arguments[i];
        if (value && i + 1 < count) to[(*filled)++] = arguments[++i];
    }
    return EXIT_FINE;
}

static int take(request *self, int count, char **arguments, sa_experiment *experiment, bool *done) {
    bool help = false;
    int own_count = 0;
    char **own = calloc((size_t)count + 1, sizeof *own);
    self->rest = calloc((size_t)count + 2, sizeof *self->rest);
    const cli_word words[] = {{"--out", &self->out, NULL},       {"--agent", &self->agent, NULL},
                              {"--schema", &self->schema, NULL}, {"--skip-bad", NULL, &self->skip_bad},
                              {"--quiet", NULL, &self->quiet},   {NULL, NULL, NULL}};
    *done = true;
    int exit_status = own && self->rest ? sort_words(self, count, arguments, own, &own_count)
                                        : cli_fail(LEARN.name, SA_OUT_OF_MEMORY);
    static char asked[] = "--help";
    for (int i = 0; i < own_count; i++) help = help || !strcmp(own[i], "--help") || !strcmp(own[i], "-h");
    if (help) self->rest[self->count++] = asked;
    if (exit_status == EXIT_FINE) exit_status = cli_take(&LEARN, self->count, self->rest, experiment, done);
    if (exit_status == EXIT_FINE && !help)
        exit_status = cli_take_words(LEARN.name, own_count, own, words, &self->log, 1, &help);
    free(own);
    if (exit_status != EXIT_FINE) *done = true;
    if (*done) return exit_status;
    *done = true;
    if (!self->log) return cli_say(LEARN.name, EXIT_INPUT, "which log? superarm learn --help has an example");
    if (!self->out) return cli_say(LEARN.name, EXIT_INPUT, "--out is missing: where does the agent go?");
    *done = false;
    return EXIT_FINE;
}

/* ---- the agent ---- */

/* What the log's first decision says of --dim and --slate, where these were not given. */
static sa_status read_first_decision(const request *self, const sa_schema *schema, sa_options *given) {
    sa_log_reader *reader;
    const sa_log_entry *entry;
    char number[32];
    sa_status status = sa_log_reader_open(self->log, self->skip_bad, &reader);
    if (status != SA_OK) return status;
    status = sa_log_reader_next(reader, &entry);
    if (status == SA_OK && entry && !sa_options_given(given, "dim") && !schema && entry->dim) {
        snprintf(number, sizeof number, "%zu", entry->dim);
        status = sa_options_set(given, "dim", number);
    }
    if (status == SA_OK && entry && !sa_options_given(given, "slate") && entry->slate) {
        snprintf(number, sizeof number, "%zu", entry->slate);
        status = sa_options_set(given, "slate", number);
    }
    sa_log_reader_close(reader);
    return status;
}

static sa_status make_agent(const request *self, const sa_options *given, sa_agent **agent) {
    sa_schema *schema = NULL;
    sa_options *own = sa_options_copy(given);
    sa_status status = own ? SA_OK : SA_OUT_OF_MEMORY;
    if (status == SA_OK && self->schema) status = sa_schema_load(self->schema, &schema);
    if (status == SA_OK) status = read_first_decision(self, schema, own);
    if (status == SA_OK) status = sa_options_check_read(own);
    if (status == SA_OK)
        status = schema ? sa_agent_create_with_schema(own, schema, agent) : sa_agent_create(own, agent);
    sa_schema_release(schema);
    sa_options_destroy(own);
    return status;
}

/* Options that were given go over those of the file, as far as an agent's may change. */
static sa_status load_agent(const request *self, const sa_options *given, sa_agent **agent) {
    const char *names[MOST], *values[MOST];
    static char texts[MOST][64];
    size_t count = 0;
    for (const char *const *name = options; *name; name++) {
        if (!sa_options_given(given, *name)) continue;
        names[count] = *name;
        sa_status status = sa_options_get(given, *name, texts[count], sizeof texts[count]);
        if (status != SA_OK) return status;
        values[count] = texts[count];
        count++;
    }
    sa_status status = sa_agent_load_with(self->agent, names, values, count, agent);
    if (status != SA_OK || !self->schema) return status;
    sa_schema *schema = NULL;
    status = sa_schema_load(self->schema, &schema);
    if (status == SA_OK) status = sa_agent_check_schema(*agent, schema);
    sa_schema_release(schema);
    return status;
}

static sa_status read_problem(const sa_options *given, sa_problem **problem) {
    char value[CLI_VALUE];
    if (!sa_options_given(given, "problem")) return SA_OK;
    sa_status status = sa_options_get(given, "problem", value, sizeof value);
    *problem = sa_problem_new();
    if (!*problem) return SA_OUT_OF_MEMORY;
    return status == SA_OK ? sa_problem_set(*problem, "problem", value) : status;
}

/* A line a second where somebody looks. */
typedef struct watch {
    bool shown;
    time_t last;
} watch;

static int show(void *user, const sa_learnt *learnt) {
    watch *self = user;
    time_t now = time(NULL);
    if (self->shown && now != self->last) fprintf(stderr, "\r%" PRIu64 " decisions", learnt->decisions);
    self->last = now;
    return cli_signal() != 0;
}

static void tell(const request *self, const sa_agent *agent, const sa_learnt *learnt) {
    sa_agent_counts counts;
    sa_agent_count(agent, &counts);
    if (*learnt->note) cli_say(LEARN.name, EXIT_FINE, "%s", learnt->note);
    if (self->quiet) return;
    printf("%s: learnt from %" PRIu64 " decisions", self->out, learnt->decisions);
    if (learnt->left_out) printf(", %" PRIu64 " left out without feedback", learnt->left_out);
    printf("; %" PRIu64 " observations, %" PRIu64 " trainings\n", counts.observations, counts.trainings);
    if (learnt->ignored)
        printf("%" PRIu64 " values are not in the schema and were left out\n", learnt->ignored);
}

static int learn(const request *self, sa_experiment *experiment) {
    const sa_options *given = sa_experiment_options(experiment);
    sa_agent *agent = NULL;
    sa_problem *problem = NULL;
    sa_learnt learnt;
    watch progress = {.shown = isatty(STDERR_FILENO) && !self->quiet, .last = time(NULL)};
    sa_status status = self->agent ? load_agent(self, given, &agent) : make_agent(self, given, &agent);
    if (status == SA_OK) status = read_problem(given, &problem);
    cli_catch_signals();
    if (status == SA_OK)
        status = sa_agent_learn_log(agent, self->log, self->skip_bad, problem, show, &progress, &learnt);
    if (progress.shown) fputs("\r\033[K", stderr);
    if (status == SA_OK) status = sa_agent_save(agent, self->out);
    int exit_status = status == SA_OK ? EXIT_FINE : cli_fail(LEARN.name, status);
    if (status == SA_OK) tell(self, agent, &learnt);
    sa_problem_destroy(problem);
    sa_agent_destroy(agent);
    return exit_status;
}

int cli_learn(int count, char **arguments) {
    request self = {0};
    bool done;
    list_options();
    sa_experiment *experiment = sa_experiment_new();
    if (!experiment) return cli_fail(LEARN.name, SA_OUT_OF_MEMORY);
    int exit_status = take(&self, count, arguments, experiment, &done);
    if (!done) exit_status = learn(&self, experiment);
    sa_experiment_destroy(experiment);
    free(self.rest);
    return exit_status;
}

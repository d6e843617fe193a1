/* superarm schema */
#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

static const char NAME[] = "schema";
enum { SHOWN = 10 }; /* lines that do not fit */

static const char HELP[] =
    "superarm schema LOG.jsonl [--out FILE] [--skip-bad]\n"
    "superarm schema --check SCHEMA.yaml LOG.jsonl [--skip-bad]\n\n"
    "Looks at the named fields of a log's contexts and items and proposes a schema, YAML with a comment on "
    "each line\n"
    "that says what was seen; it is meant to be edited. With --check it names the lines that do not fit a "
    "schema, and "
    "the\n"
    "exit status is then 2.\n\n"
    "  --out FILE       writes the schema there instead of stdout\n"
    "  --check SCHEMA   checks the log against this schema\n"
    "  --skip-bad       skips lines that are no decisions instead of stopping at the first\n\n"
    "Example:\n"
    "  superarm schema clicks.jsonl --out schema.yaml\n"
    "  superarm schema --check schema.yaml clicks.jsonl\n";

typedef struct request {
    const char *log, *out, *check;
    bool skip_bad;
} request;

static int propose(const request *self) {
    char *text;
    sa_status status = sa_schema_propose(self->log, self->skip_bad, &text);
    if (status != SA_OK) return cli_fail(NAME, status);
    int exit_status = EXIT_FINE;
    FILE *file = self->out ? fopen(self->out, "w") : stdout;
    bool written = file && fputs(text, file) >= 0 && fflush(file) == 0;
    if (file && self->out) written = fclose(file) == 0 && written;
    if (!written)
        exit_status = cli_say(NAME, EXIT_OTHER, "%s cannot be written", self->out ? self->out : "stdout");
    sa_schema_text_free(text);
    return exit_status;
}

typedef struct check {
    const sa_schema *schema;
    sa_log_reader *reader;
    sa_encoding *encoding;
    uint64_t fit, wrong;
} check;

/* Names the lines that do not fit, up to a few. */
static sa_status check_lines(check *self, const char *log) {
    const sa_log_entry *entry;
    for (;;) {
        sa_status status = sa_log_reader_next(self->reader, &entry);
        if (status != SA_OK || !entry) return status;
        status = sa_schema_encode(self->schema, entry->json, entry->json_size, self->encoding);
        if (status == SA_OUT_OF_MEMORY) return status;
        if (status == SA_OK) {
            self->fit++;
        } else if (self->wrong++ < SHOWN) {
            fprintf(stderr, "superarm %s: %s:%" PRIu64 ": %s\n", NAME, log, entry->line, sa_last_error());
        }
    }
}

static int check_log(const request *self) {
    sa_schema *schema = NULL;
    check state = {.encoding = sa_encoding_new()};
    sa_status status = state.encoding ? sa_schema_load(self->check, &schema) : SA_OUT_OF_MEMORY;
    if (status == SA_OK) status = sa_log_reader_open(self->log, self->skip_bad, &state.reader);
    state.schema = schema;
    if (status == SA_OK) status = check_lines(&state, self->log);
    int exit_status = status == SA_OK ? EXIT_FINE : cli_fail(NAME, status);
    if (status == SA_OK) {
        printf("%" PRIu64 " decisions fit, %" PRIu64 " do not; %zu features an arm\n", state.fit, state.wrong,
               sa_schema_dim(schema));
        if (sa_encoding_ignored(state.encoding))
            printf("%" PRIu64 " values are not in the schema and left out, as %s\n",
                   sa_encoding_ignored(state.encoding), sa_encoding_ignored_name(state.encoding));
        cli_warn_of_log(NAME, state.reader);
        exit_status = state.wrong ? EXIT_INPUT : EXIT_FINE;
    }
    sa_log_reader_close(state.reader);
    sa_schema_release(schema);
    sa_encoding_destroy(state.encoding);
    return exit_status;
}

int cli_schema(int count, char **arguments) {
    request self = {0};
    bool help = false;
    const cli_word words[] = {{"--out", &self.out, NULL},
                              {"--check", &self.check, NULL},
                              {"--skip-bad", NULL, &self.skip_bad},
                              {NULL, NULL, NULL}};
    int exit_status = cli_take_words(NAME, count, arguments, words, &self.log, 1, &help);
    if (exit_status != EXIT_FINE) return exit_status;
    if (help) {
        fputs(HELP, stdout);
        return EXIT_FINE;
    }
    if (!self.log) return cli_say(NAME, EXIT_INPUT, "which log? superarm schema --help has an example");
    if (self.check && self.out)
        return cli_say(NAME, EXIT_INPUT, "--out is for a proposal, and --check makes none");
    return self.check ? check_log(&self) : propose(&self);
}

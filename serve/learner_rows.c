#include "learner_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "closing.h"

typedef struct walk {
    sv_agent *agent;
    const char *scratch;
    sv_refusal why; /* status 0: it can go on */
    bool later;     /* what it could not do needs a disk with room */
} sv_walk;

/* A file of the folder for what the library reads from files only. */
static bool write_scratch(const sv_walk *self, const char *data, size_t size, sa_buffer *path) {
    sa_buffer_format(path, "%s-%lld.npz", self->scratch, (long long)self->agent->id);
    FILE *file = path->status ? NULL : fopen(path->text, "wb");
    bool good = file && (!size || fwrite(data, 1, size, file) == size);
    return file && !fclose(file) && good;
}

static void take_settings(sv_agent *agent, sv_settings *settings) {
    sv_settings_release(agent->learner_settings);
    agent->learner_settings = settings;
}

static void take_new(sv_walk *self, const sv_store_row *row) {
    sv_model *model = NULL;
    sv_settings *settings = sv_settings_read_text(row->data, row->size, &self->why);
    if (!settings) return;
    if (!sv_model_create(settings, &model, &self->why)) {
        sv_settings_release(settings);
        return;
    }
    self->agent->checkpoint_wanted = self->agent->model; /* a start is not to choose as before the reset */
    sv_model_destroy(self->agent->model);
    self->agent->model = model;
    take_settings(self->agent, settings);
}

static void take_change(sv_walk *self, const sv_store_row *row) {
    sa_buffer scratch = {0};
    sv_settings *settings = sv_settings_read_text(row->data, row->size, &self->why);
    if (!settings) return;
    bool good = sv_settings_same_agent(self->agent->learner_settings, settings);
    if (!good) {
        good =
            write_scratch(self, NULL, 0, &scratch) ||
            sv_refuse(&self->why, 503, "%s cannot be written", scratch.status ? self->scratch : scratch.text);
        if (good)
            good = sv_model_change(self->agent->model, self->agent->learner_settings, settings, scratch.text,
                                   &self->why);
        self->agent->checkpoint_wanted = true;
        self->later = !good && self->why.status == 503;
        if (scratch.text) unlink(scratch.text);
    }
    if (good)
        take_settings(self->agent, settings);
    else
        sv_settings_release(settings);
    sa_buffer_clear(&scratch);
}

static void take_model(sv_walk *self, const sv_store_row *row) {
    sa_buffer path = {0};
    sv_model *model = NULL;
    if (!write_scratch(self, row->data, row->size, &path))
        sv_refuse(&self->why, 503, "%s cannot be written", path.status ? self->scratch : path.text);
    else if (sv_model_load(path.text, &model, &self->why)) {
        self->agent->checkpoint_wanted = true;
        sv_settings *settings = sv_model_settings(model, self->agent->learner_settings, &self->why);
        sv_model_destroy(settings ? self->agent->model : model);
        if (settings) self->agent->model = model;
        if (settings) take_settings(self->agent, settings);
    }
    self->later = self->why.status == 503;
    if (path.text) unlink(path.text);
    sa_buffer_clear(&path);
}

/* Learns one event. What the agent refuses, it refuses each time that the row is read: it is left out, and
 * counted. */
static void learn(sv_walk *self, const sv_store_row *row, const sv_ask *ask, size_t *arms, double *scores,
                  bool *observed) {
    const sv_store_decision *of = &row->of;
    bool any;
    for (size_t i = 0; i < of->arm_count; i++) arms[i] = of->arms[i];
    if (!sv_closing_read(row->data, row->size, scores, observed,
                         sv_closing_count(self->agent->learner_settings, of), &any)) {
        sv_refuse(&self->why, 503, "row %llu is damaged", (unsigned long long)row->seq);
        return;
    }
    if (!any) return;
    /* by which a revision finds it; without them an agent is the one that learns from the log, to the byte */
    uint64_t key = self->agent->learner_settings->revise_days > 0 ? row->seq : 0;
    sa_status status = sv_model_learn(self->agent->model, ask, key, arms, scores, observed, of->arm_count);
    if (status == SA_INVALID || status == SA_UNSUPPORTED)
        atomic_fetch_add(&self->agent->skipped, 1);
    else if (status != SA_OK)
        sv_refuse_library(&self->why, status);
}

/* Every checkpoint has what is erased, so this is one that somebody removed, or rows from the first on. */
static void say_erased(sv_agent *agent, uint64_t seq) {
    fprintf(
        stderr,
        "superarm serve: agent %s: the event of row %llu was erased, and the checkpoint that had it is not "
        "there: the agent goes on without it\n",
        agent->name, (unsigned long long)seq);
    atomic_fetch_add(&agent->skipped, 1);
}

static void take_event(sv_walk *self, const sv_store_row *row) {
    sv_ask ask = {0};
    sv_refusal unread = {0};
    size_t count = row->of.arm_count;
    if (!row->of.id) {
        say_erased(self->agent, row->seq);
        return;
    }
    size_t *arms = calloc(count + 1, sizeof *arms);
    double *scores = calloc(count + 1, sizeof *scores);
    bool *observed = calloc(count + 1, sizeof *observed);
    if (!arms || !scores || !observed)
        sv_refuse(&self->why, 503, "memory could not be had");
    else if (sv_ask_read(&ask, self->agent->learner_settings, row->of.body, row->of.body_size, NULL, &unread))
        learn(self, row, &ask, arms, scores, observed);
    else if (unread.status == 400) /* made before the agent was reset to another shape */
        atomic_fetch_add(&self->agent->skipped, 1);
    else
        sv_refuse(&self->why, unread.status, "row %llu: %.400s", (unsigned long long)row->seq,
                  unread.message);
    sv_ask_free(&ask);
    free(arms);
    free(scores);
    free(observed);
}

/* What the agent does not remember any longer stays as it was learnt, each time that the row is read. */
static void revise(sv_walk *self, const sv_store_row *row, size_t count, sv_revision *revision) {
    if (!sv_closing_read_revision(row->data, row->size, count, revision)) {
        sv_refuse(&self->why, 503, "row %llu is damaged", (unsigned long long)row->seq);
        return;
    }
    sa_status status = sv_model_revise(self->agent->model, revision->of, revision->scores,
                                       revision->any_first ? revision->first : NULL,
                                       revision->any_changed ? revision->changed : NULL, count);
    if (status == SA_INVALID || status == SA_UNSUPPORTED || status == SA_UNKNOWN_DECISION ||
        status == SA_ALREADY_ANSWERED)
        atomic_fetch_add(&self->agent->skipped, 1);
    else if (status != SA_OK)
        sv_refuse_library(&self->why, status);
}

static void take_revision(sv_walk *self, const sv_store_row *row) {
    sa_json json = {0};
    if (!row->size) {
        say_erased(self->agent, row->seq);
        return;
    }
    size_t list = sa_json_parse(&json, row->data, row->size) == SA_OK ? sa_json_find(&json, 0, "now") : 0,
           count = list ? sa_json_count(&json, list) : 0;
    sa_json_clear(&json);
    sv_revision revision = {.scores = calloc(count + 1, sizeof(double)),
                            .first = calloc(count + 1, sizeof(bool)),
                            .changed = calloc(count + 1, sizeof(bool))};
    if (!revision.scores || !revision.first || !revision.changed)
        sv_refuse(&self->why, 503, "memory could not be had");
    else
        revise(self, row, count, &revision);
    free(revision.scores);
    free(revision.first);
    free(revision.changed);
}

static void take_row(sv_walk *self, const sv_store_row *row) {
    uint64_t expected = self->agent->learnt_seq + 1;
    if (!self->agent->model && (row->seq != expected || row->kind != ROW_NEW)) {
        sv_refuse(&self->why, 503,
                  "the journal begins with row %llu, and no saved agent that can be read is there",
                  (unsigned long long)row->seq);
        return;
    }
    if (row->seq != expected) {
        sv_refuse(&self->why, 503, "row %llu is missing", (unsigned long long)expected);
        return;
    }
    switch (row->kind) {
    case ROW_NEW: take_new(self, row); break;
    case ROW_CHANGE: take_change(self, row); break;
    case ROW_MODEL: take_model(self, row); break;
    case ROW_LEARN: take_event(self, row); break;
    case ROW_REVISE: take_revision(self, row); break;
    default: sv_refuse(&self->why, 503, "row %llu is of a newer kind", (unsigned long long)row->seq);
    }
    if (self->why.status) return;
    self->agent->learnt_seq = row->seq;
    self->agent->row_time = row->time;
}

/* Rows that outlive their query: one that stays open while the agent trains would keep SQLite's log from
 * being folded in. */
enum { ROWS_A_QUERY = 64, BYTES_A_QUERY = 4000000 };
static const double SECONDS_AT_A_TIME = 0.05;

typedef struct copied {
    sv_store_row row;
    void *bytes; /* of all of it */
} copied;

typedef struct copies {
    copied rows[ROWS_A_QUERY];
    size_t count, bytes;
    bool failed;
} copies;

static void *place(const void *from, size_t size, char **at) {
    void *to = *at;
    if (size) memcpy(to, from, size);
    *at += (size + 7) / 8 * 8;
    return to;
}

static bool copy_row(void *user, const sv_store_row *row) {
    copies *self = user;
    copied *into = &self->rows[self->count];
    size_t arms = row->of.arm_count * sizeof *row->of.arms, size = row->size + row->of.body_size + arms + 24;
    char *at = into->bytes = malloc(size);
    if (!at) {
        self->failed = true;
        return false;
    }
    into->row = *row;
    into->row.data = place(row->data, row->size, &at);
    into->row.of.body = place(row->of.body, row->of.body_size, &at);
    into->row.of.arms = place(row->of.arms, arms, &at);
    into->row.of.event = into->row.of.answer = NULL;
    self->bytes += size;
    return ++self->count < ROWS_A_QUERY && self->bytes < BYTES_A_QUERY;
}

/* The rows of one query, at most `most`; how many were taken. */
static size_t take_some(sv_walk *self, sv_store *store, size_t most, double until, const atomic_bool *stop) {
    size_t taken = 0;
    copies *next = calloc(1, sizeof *next);
    sv_store_status status =
        next ? sv_store_rows(store, self->agent->id, self->agent->learnt_seq + 1, most, copy_row, next)
             : STORE_OK;
    if (status != STORE_OK) {
        self->later = status != STORE_FAILED;
        sv_refuse(&self->why, 503, "%s", sv_store_sentence(store));
    } else if (!next || next->failed)
        sv_refuse(&self->why, 503, "memory could not be had");
    for (size_t i = 0; next && i < next->count; i++) {
        if (!self->why.status && !atomic_load(stop) && (!i || sv_clock_seconds() < until)) {
            take_row(self, &next->rows[i].row);
            taken++;
        }
        free(next->rows[i].bytes);
    }
    free(next);
    return taken;
}

bool sv_learner_take_rows(sv_store *store, sv_agent *agent, const char *scratch, size_t most,
                          const atomic_bool *stop, bool *later, char sentence[480]) {
    sv_walk walk = {.agent = agent, .scratch = scratch};
    double until = sv_clock_seconds() + SECONDS_AT_A_TIME;
    for (size_t taken = 0, now; taken < most && !walk.why.status; taken += now)
        if ((taken && sv_clock_seconds() >= until) ||
            !(now = take_some(&walk, store, most - taken, until, stop)))
            break;
    *later = walk.later;
    if (walk.why.status) snprintf(sentence, 480, "%s", walk.why.message);
    return !walk.why.status;
}

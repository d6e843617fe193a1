#include "learner_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closing.h"
#include "values.h"

typedef struct walk {
    sv_agent *agent;
    const char *folder;
    sv_refusal why; /* status 0: it can go on */
} sv_walk;

/* A file of the folder for what the library reads from files only. */
static bool write_scratch(const sv_walk *self, const char *data, size_t size, sv_text *path) {
    text_put(path, "%s/scratch-%lld.npz", self->folder, (long long)self->agent->id);
    FILE *file = path->failed ? NULL : fopen(path->data, "wb");
    bool good = file && (!size || fwrite(data, 1, size, file) == size);
    return file && !fclose(file) && good;
}

static void take_settings(sv_agent *agent, sv_settings *settings) {
    settings_release(agent->learner_settings);
    agent->learner_settings = settings;
}

static void take_new(sv_walk *self, const store_row *row) {
    sv_brain *brain = NULL;
    sv_settings *settings = settings_read_text(row->data, row->size, &self->why);
    if (!settings) return;
    if (!brain_create(settings, &brain, &self->why)) {
        settings_release(settings);
        return;
    }
    brain_destroy(self->agent->brain);
    self->agent->brain = brain;
    take_settings(self->agent, settings);
}

static void take_change(sv_walk *self, const store_row *row) {
    sv_text scratch = {0};
    sv_settings *settings = settings_read_text(row->data, row->size, &self->why);
    if (!settings) return;
    bool good = settings_same_agent(self->agent->learner_settings, settings);
    if (!good) {
        good = write_scratch(self, NULL, 0, &scratch) ||
               refuse(&self->why, 503, "%s cannot be written", scratch.failed ? self->folder : scratch.data);
        if (good) good = brain_change(&self->agent->brain, settings, scratch.data, &self->why);
        if (scratch.data) unlink(scratch.data);
    }
    if (good)
        take_settings(self->agent, settings);
    else
        settings_release(settings);
    text_free(&scratch);
}

static void take_model(sv_walk *self, const store_row *row) {
    sv_text path = {0};
    sv_brain *brain = NULL;
    if (!write_scratch(self, row->data, row->size, &path))
        refuse(&self->why, 503, "%s cannot be written", path.failed ? self->folder : path.data);
    else if (brain_load(path.data, &brain, &self->why)) {
        brain_destroy(self->agent->brain);
        self->agent->brain = brain;
        sv_settings *settings = settings_with(self->agent->learner_settings, brain_options(brain));
        if (settings)
            take_settings(self->agent, settings);
        else
            refuse(&self->why, 503, "memory could not be had");
    }
    if (path.data) unlink(path.data);
    text_free(&path);
}

/* Learns one event. What the agent refuses, it refuses each time that the row is read: it is left out, and
 * counted. */
static void learn(sv_walk *self, const store_row *row, const sv_ask *ask, size_t *arms, double *scores,
                  bool *observed) {
    const store_decision *of = &row->of;
    bool any;
    for (size_t i = 0; i < of->arm_count; i++) arms[i] = of->arms[i];
    if (!closing_read(row->data, row->size, scores, observed, of->arm_count, &any)) {
        refuse(&self->why, 503, "row %llu is damaged", (unsigned long long)row->seq);
        return;
    }
    if (!any) return;
    sa_status status = brain_learn(self->agent->brain, ask, arms, scores, observed, of->arm_count);
    if (status == SA_INVALID || status == SA_UNSUPPORTED)
        atomic_fetch_add(&self->agent->skipped, 1);
    else if (status != SA_OK)
        refuse_library(&self->why, status);
}

static void take_event(sv_walk *self, const store_row *row) {
    sv_ask ask = {0};
    sv_refusal unread = {0};
    size_t count = row->of.arm_count;
    if (!row->of.id) return; /* erased: a checkpoint has it */
    size_t *arms = calloc(count + 1, sizeof *arms);
    double *scores = calloc(count + 1, sizeof *scores);
    bool *observed = calloc(count + 1, sizeof *observed);
    json_t *body = json_loadb(row->of.body, row->of.body_size, 0, NULL);
    if (!arms || !scores || !observed || !body)
        refuse(&self->why, 503, "row %llu cannot be read, or memory is short", (unsigned long long)row->seq);
    else if (ask_read(&ask, self->agent->learner_settings, json_incref(body), row->of.body, row->of.body_size,
                      &unread))
        learn(self, row, &ask, arms, scores, observed);
    else if (unread.status == 400) /* made before the agent was reset to another shape */
        atomic_fetch_add(&self->agent->skipped, 1);
    else
        self->why = unread;
    ask_free(&ask);
    json_decref(body);
    free(arms);
    free(scores);
    free(observed);
}

static void take_row(sv_walk *self, const store_row *row) {
    uint64_t expected = self->agent->learnt_seq + 1;
    if (row->seq != expected) {
        refuse(&self->why, 503, "row %llu is missing", (unsigned long long)expected);
        return;
    }
    if (!self->agent->brain && row->kind != ROW_NEW) {
        refuse(&self->why, 503, "the journal begins with row %llu, and no checkpoint is there",
               (unsigned long long)row->seq);
        return;
    }
    switch (row->kind) {
    case ROW_NEW: take_new(self, row); break;
    case ROW_CHANGE: take_change(self, row); break;
    case ROW_MODEL: take_model(self, row); break;
    case ROW_LEARN: take_event(self, row); break;
    default: refuse(&self->why, 503, "row %llu is of a newer kind", (unsigned long long)row->seq);
    }
    if (!self->why.status) self->agent->learnt_seq = row->seq;
}

/* A row that outlives the query: a query that stays open while the agent trains would keep SQLite's log from
 * being folded in. */
typedef struct copied {
    store_row row;
    bool found, failed;
    void *data, *body, *arms;
} copied;

static void *copy_of(const void *bytes, size_t size, bool *failed) {
    void *copy = malloc(size + 1);
    if (copy && size) memcpy(copy, bytes, size);
    *failed = *failed || !copy;
    return copy;
}

static bool copy_row(void *user, const store_row *row) {
    copied *self = user;
    self->found = true;
    self->row = *row;
    self->row.data = self->data = copy_of(row->data, row->size, &self->failed);
    self->row.of.body = self->body = copy_of(row->of.body, row->of.body_size, &self->failed);
    self->row.of.arms = self->arms =
        copy_of(row->of.arms, row->of.arm_count * sizeof *row->of.arms, &self->failed);
    self->row.of.event = self->row.of.answer = NULL;
    return false;
}

/* false: there is no further row, or it cannot go on. */
static bool take_next(sv_walk *self, sv_store *store) {
    copied next = {0};
    store_status status = store_rows(store, self->agent->id, self->agent->learnt_seq + 1, 1, copy_row, &next);
    if (status != STORE_OK)
        refuse(&self->why, 503, "%s", store_sentence(store));
    else if (next.failed)
        refuse(&self->why, 503, "memory could not be had");
    else if (next.found)
        take_row(self, &next.row);
    free(next.data);
    free(next.body);
    free(next.arms);
    return next.found && !self->why.status;
}

bool learner_take_rows(sv_store *store, sv_agent *agent, const char *folder, size_t most,
                       char sentence[480]) {
    sv_walk walk = {.agent = agent, .folder = folder};
    for (size_t i = 0; i < most && take_next(&walk, store); i++) continue;
    if (walk.why.status) snprintf(sentence, 480, "%s", walk.why.message);
    return !walk.why.status;
}

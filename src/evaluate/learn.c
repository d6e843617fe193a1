/* A log's decisions into an agent, one after the other. */
#include <superarm/learn.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <superarm/log.h>
#include <superarm/schema.h>

#include "base/memory.h"
#include "base/text.h"

enum { PERIOD = 64 }; /* decisions between two calls of the progress */

typedef struct pupil {
    sa_agent *agent;
    const sa_schema *schema; /* the agent's, or NULL */
    size_t dim;
    bool totals; /* the agent is told the slate's total alone */
    sa_log_reader *reader;
    sa_request *request;
    sa_encoding *encoding;
    double *scores; /* (slate) */
    bool *observed; /* (slate) */
    size_t scores_room, observed_room;
    uint64_t refused; /* decisions that the agent does not take, where these are skipped */
    char first_refused[256];
    sa_learnt learnt;
} pupil;

static void clear(pupil *self) {
    sa_log_reader_close(self->reader);
    sa_request_destroy(self->request);
    sa_encoding_destroy(self->encoding);
    sa_free(self->scores);
    sa_free(self->observed);
}

static sa_status prepare(pupil *self, const char *path, bool skip_bad, const sa_problem *problem) {
    self->request = sa_request_new();
    self->encoding = sa_encoding_new();
    if (!self->request || !self->encoding) return SA_OUT_OF_MEMORY;
    sa_request_problem(self->request, problem);
    self->schema = sa_agent_schema(self->agent);
    char dim[32], feedback[32];
    SA_TRY(sa_options_get(sa_agent_options(self->agent), "feedback", feedback, sizeof feedback));
    self->totals = !strcmp(feedback, "total");
    SA_TRY(sa_options_get(sa_agent_options(self->agent), "dim", dim, sizeof dim));
    int64_t number;
    if (sa_text_to_integer(dim, &number, NULL)) self->dim = (size_t)number;
    return sa_log_reader_open(path, skip_bad, &self->reader);
}

/* The candidates' contexts into the request. */
static sa_status take_candidates(pupil *self, const sa_log_entry *entry) {
    if (self->schema) {
        SA_TRY(sa_schema_encode(self->schema, entry->json, entry->json_size, self->encoding));
        sa_request_contexts(self->request, sa_encoding_contexts(self->encoding), entry->candidates);
        return SA_OK;
    }
    if (!entry->contexts)
        return sa_fail(SA_INVALID, "items have named fields, and the agent has no schema to read them with");
    if (entry->dim != self->dim)
        return sa_fail(SA_INVALID, "contexts have %zu features, and the agent has --dim %zu", entry->dim,
                       self->dim);
    sa_request_contexts(self->request, entry->contexts, entry->candidates);
    return SA_OK;
}

/* scores[0] = the slate's total: as the log has it, or the sum of what was seen. */
static void take_total(pupil *self, const sa_log_entry *entry) {
    for (size_t k = 1; isnan(entry->total) && k < entry->slate; k++) self->scores[0] += self->scores[k];
    if (!isnan(entry->total)) self->scores[0] = entry->total;
    self->observed[0] = true;
}

static sa_status learn(pupil *self, const sa_log_entry *entry) {
    size_t slate = entry->slate, seen = 0;
    for (size_t k = 0; entry->feedback && k < slate; k++) seen += !isnan(entry->feedback[k]);
    bool total = self->totals && !isnan(entry->total);
    if ((seen == 0 && !total) || slate == 0 || !entry->final) {
        self->learnt.left_out++;
        return SA_OK;
    }
    SA_TRY(sa_grow_array(&self->scores, &self->scores_room, slate, sizeof *self->scores));
    SA_TRY(sa_grow_array(&self->observed, &self->observed_room, slate, sizeof *self->observed));
    for (size_t k = 0; k < slate && !total; k++) {
        self->observed[k] = !isnan(entry->feedback[k]);
        self->scores[k] = self->observed[k] ? entry->feedback[k] : 0;
    }
    if (self->totals) take_total(self, entry);
    SA_TRY(take_candidates(self, entry));
    sa_request_slate(self->request, slate);
    SA_TRY(sa_agent_learn(self->agent, self->request, entry->arms, self->scores, self->observed, slate));
    self->learnt.decisions++;
    return SA_OK;
}

static void write_note(pupil *self) {
    char *note = self->learnt.note;
    snprintf(note, sizeof self->learnt.note, "%s", sa_log_reader_warning(self->reader));
    if (self->refused && !*note)
        snprintf(note, sizeof self->learnt.note, "%" PRIu64 " decision%s skipped; the first: %s",
                 self->refused, self->refused == 1 ? " was" : "s were", self->first_refused);
    self->learnt.ignored = sa_encoding_ignored(self->encoding);
}

static sa_status learn_all(pupil *self, const char *path, bool skip_bad, sa_learn_progress *progress,
                           void *user) {
    const sa_log_entry *entry;
    for (uint64_t count = 1;; count++) {
        SA_TRY(sa_log_reader_next(self->reader, &entry));
        if (!entry) return SA_OK;
        sa_status status = learn(self, entry);
        if (status != SA_OK) {
            sa_fail_prefix(status, "%s:%" PRIu64 ": ", path, entry->line);
            if (status != SA_INVALID || !skip_bad) return status;
            if (self->refused++ == 0)
                snprintf(self->first_refused, sizeof self->first_refused, "%s", sa_last_error());
        }
        if (progress && count % PERIOD == 0 && progress(user, &self->learnt))
            return sa_fail(SA_INTERRUPTED, "%s: stopped after line %" PRIu64, path, entry->line);
    }
}

sa_status sa_agent_learn_log(sa_agent *agent, const char *path, bool skip_bad, const sa_problem *problem,
                             sa_learn_progress *progress, void *user, sa_learnt *learnt) {
    pupil self = {.agent = agent};
    if (!agent) return sa_fail(SA_INVALID, "the agent is NULL");
    sa_status status = prepare(&self, path, skip_bad, problem);
    if (status == SA_OK) status = learn_all(&self, path, skip_bad, progress, user);
    if (status == SA_OK) write_note(&self);
    if (status == SA_OK && self.learnt.decisions == 0)
        status = sa_fail(SA_INVALID,
                         "%s has nothing to learn from: %" PRIu64
                         " decisions are without feedback or not final%s%s",
                         path, self.learnt.left_out, *self.first_refused ? "; " : "", self.first_refused);
    if (learnt) *learnt = self.learnt;
    clear(&self);
    return status;
}

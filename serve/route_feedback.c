/* POST /v1/agents/NAME/feedback: checked against the decision and kept, in the writer; 204 when it is on
 * disk. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "closing.h"
#include "routes.h"
#include "service.h"
#include "values.h"

/* An arm of a slate by its id, or its index as text. */
typedef struct position {
    const char *name;
    size_t at;
} sv_position;

typedef struct feedback {
    sv_job job;
    sv_exchange *exchange;
    sa_json body;
    uint8_t digest[SA_SHA256_BYTES];
    char event[LIMIT_ID + 1];
    size_t values;          /* node of "feedback"; 0: it is missing */
    bool by_place;          /* its names are those of places, not of items */
    sa_buffer placed;       /* K values or nulls as JSON */
    sa_buffer learnt;       /* the same, with the default: the row, if the event ends with this feedback */
    size_t count;           /* K */
    int64_t decision;       /* whose slate it is; 0: of any with K arms */
    char key[LIMIT_ID + 8]; /* tells retries */
    sv_settings *settings;
    sv_refusal why;
    bool total; /* one value a page */
    bool late, retry, closed;
    double reward;
    uint64_t seq, revised; /* revised: the row that says how; 0: nothing was */
} sv_feedback;

static void free_feedback(void *state) {
    sv_feedback *self = state;
    sv_settings_release(self->settings);
    sa_json_clear(&self->body);
    sa_buffer_clear(&self->placed);
    sa_buffer_clear(&self->learnt);
    free(self);
}

static bool refuse_unknown(const sv_feedback *self, sv_refusal *why) {
    return sv_refuse(why, 404, "there is no event %.64s: unknown, or older than retention_days", self->event);
}

static bool read_key(sv_feedback *self, sv_refusal *why) {
    size_t id = sa_json_find(&self->body, 0, "id");
    char given[LIMIT_ID + 1];
    if (id) {
        if (!sv_value_id(&self->body, id, "id", given, why)) return false;
        snprintf(self->key, sizeof self->key, "id:%s", given);
        return true;
    }
    memcpy(self->key, "body:", 5);
    sv_hex_write(self->digest, sizeof self->digest, self->key + 5);
    return true;
}

static bool read_number(const sv_feedback *self, size_t at, const sv_settings *settings, sv_refusal *why) {
    const double *range = settings->reward_range;
    double worth;
    if (sv_value_is(&self->body, at, SA_JSON_NULL)) return true;
    if (!sv_rewards_check(&settings->rewards, &self->body, at, &worth, why)) return false;
    return (worth >= range[0] && worth <= range[1]) ||
           sv_refuse(why, 400, "feedback of %g is outside the agent's reward_range, %g to %g", worth,
                     range[0], range[1]);
}

/* A list's elements, or an object's values: the first, and the one behind. */
static size_t first_value(const sv_feedback *self, size_t by_name) { return self->values + 1 + by_name; }
static size_t next_value(const sv_feedback *self, size_t at, size_t by_name) {
    return self->body.nodes[at].next + by_name;
}

/* One value a page. */
static bool read_total(const sv_feedback *self, const sv_settings *settings, sv_refusal *why) {
    sa_json_kind wanted = settings->rewards.count ? SA_JSON_OBJECT : SA_JSON_NUMBER;
    if (!sv_value_is(&self->body, self->values, wanted))
        return sv_refuse(why, 400,
                         "feedback is not one %s for the page, which is what the agent learns from (total)",
                         settings->rewards.count ? "object of kinds" : "number");
    return read_number(self, self->values, settings, why);
}

static bool read_values(const sv_feedback *self, const sv_settings *settings, sv_refusal *why) {
    if (!self->values)
        return sv_refuse(why, 400, "feedback is missing: a value by item id, or a list of K values or nulls");
    if (sv_settings_total(settings)) return read_total(self, settings, why);
    bool by_name = sv_value_is(&self->body, self->values, SA_JSON_OBJECT);
    size_t end = self->body.nodes[self->values].next;
    if (!by_name && !sv_value_is(&self->body, self->values, SA_JSON_ARRAY))
        return sv_refuse(why, 400, "feedback is neither an object nor a list");
    if (by_name && end == self->values + 1) return sv_refuse(why, 400, "feedback has no values");
    for (size_t at = first_value(self, by_name); at < end; at = next_value(self, at, by_name))
        if (!read_number(self, at, settings, why)) return false;
    return true;
}

/* ---- where the values belong: before the writer, which only writes ---- */

typedef struct slate {
    sa_buffer names;        /* each ended by 0 */
    sv_position *positions; /* (count) by name */
    size_t count;
} sv_slate;

static void free_slate(sv_slate *self) {
    sa_buffer_clear(&self->names);
    free(self->positions);
}

static int by_name(const void *one, const void *other) {
    return strcmp(((const sv_position *)one)->name, ((const sv_position *)other)->name);
}

/* The slate of an answer, or the names of its places. */
static bool read_slate(sv_slate *self, const char *answer, bool by_place, sv_refusal *why) {
    sa_json json = {0};
    bool good = sa_json_parse(&json, answer, strlen(answer)) == SA_OK;
    size_t list = good ? sa_json_find(&json, 0, by_place ? "places" : "slate") : 0,
           count = list ? sa_json_count(&json, list) : 0;
    self->positions = calloc(count + 1, sizeof *self->positions);
    for (size_t at = list + 1; self->positions && self->count < count; at = json.nodes[at].next) {
        char name[LIMIT_ID + 1] = "";
        if (!sv_value_is(&json, at, SA_JSON_STRING))
            snprintf(name, sizeof name, "%.0f", sa_json_number(&json, at));
        else if (!sv_value_id(&json, at, "an arm", name, why))
            break;
        self->positions[self->count].at = self->count;
        self->count++;
        sa_buffer_bytes(&self->names, name, strlen(name) + 1);
    }
    sa_json_clear(&json);
    if (!self->positions || self->names.status || !good || self->count < count)
        return sv_refuse(why, 503, "memory could not be had");
    const char *name = self->names.text; /* which does not move any longer */
    for (size_t i = 0; i < count; i++, name += strlen(name) + 1) self->positions[i].name = name;
    qsort(self->positions, count, sizeof *self->positions, by_name);
    return true;
}

/* The place of an arm, or `count`. */
static size_t find_arm(const sv_slate *self, const char *name) {
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(self->positions[middle].name, name);
        if (order == 0) return self->positions[middle].at;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return self->count;
}

static bool place_by_name(const sv_feedback *self, const sv_slate *slate, size_t *nodes, sv_refusal *why) {
    const sa_json *json = &self->body;
    for (size_t at = first_value(self, true); at < json->nodes[self->values].next;
         at = next_value(self, at, true)) {
        char name[LIMIT_ID + 1] = "a name that is no id";
        sv_refusal unused;
        size_t place =
            sv_value_id(json, at - 1, "a name", name, &unused) ? find_arm(slate, name) : slate->count;
        if (place >= slate->count || place >= self->count)
            return sv_refuse(why, 400, "%.64s is %s event %.64s", name,
                             self->by_place ? "no place of" : "not in the slate of", self->event);
        nodes[place] = at;
    }
    return true;
}

/* The slate is the journal's: it is read there. */
static bool find_slate(sv_exchange *exchange, sv_feedback *self, sv_slate *slate, sv_refusal *why) {
    sv_store_decision found;
    sv_service *service = exchange->service;
    sv_store *reader = sv_readers_take(&service->readers, why);
    if (!reader) return false;
    sv_store_status status = sv_store_decision_find(reader, exchange->agent->id, self->event, &found);
    bool good = status == STORE_OK &&
                (*found.answer ||
                 sv_refuse(why, 503, "event %.64s names an item that is not in the journal", self->event)) &&
                read_slate(slate, found.answer, self->by_place, why);
    self->count = status == STORE_OK ? found.arm_count : 0;
    self->decision = status == STORE_OK ? found.id : 0;
    if (status == STORE_NONE)
        refuse_unknown(self, why);
    else if (status != STORE_OK)
        sv_refuse(why, 503, "%s", sv_store_sentence(reader));
    sv_readers_give_back(&service->readers, reader);
    return good;
}

/* Numbers are written as they are always written, so that the same feedback is the same text. */
static void write_placed(sv_feedback *self, const size_t *nodes) {
    sa_buffer_text(&self->placed, "[");
    for (size_t i = 0; i < self->count; i++) {
        if (i) sa_buffer_text(&self->placed, ",");
        if (nodes[i] && sv_value_is(&self->body, nodes[i], SA_JSON_OBJECT))
            sa_buffer_value(&self->placed, &self->body, nodes[i]);
        else
            sa_buffer_number(&self->placed,
                             nodes[i] && sv_value_is(&self->body, nodes[i], SA_JSON_NUMBER)
                                 ? sa_json_number(&self->body, nodes[i])
                                 : NAN,
                             0);
    }
    sa_buffer_text(&self->placed, "]");
}

static bool place_values(sv_feedback *self, const sv_slate *slate, bool named, sv_refusal *why) {
    size_t *nodes = calloc(self->count + 1, sizeof *nodes);
    if (!nodes) return sv_refuse(why, 503, "memory could not be had");
    if (self->total) nodes[0] = self->values;
    for (size_t i = 0, at = first_value(self, false); !named && !self->total && i < self->count;
         i++, at = next_value(self, at, false))
        nodes[i] = at;
    bool good = !named || place_by_name(self, slate, nodes, why);
    if (good) write_placed(self, nodes);
    free(nodes);
    if (good && (self->placed.status || !sv_closing_single(self->settings, self->placed.text, self->count,
                                                           &self->learnt, &self->reward)))
        good = sv_refuse(why, 503, "memory could not be had");
    return good;
}

/* K values or nulls, in the order of the slate, as text. */
static bool place(sv_exchange *exchange, sv_feedback *self, sv_refusal *why) {
    sv_slate slate = {0};
    self->total = sv_settings_total(self->settings);
    bool named = !self->total && sv_value_is(&self->body, self->values, SA_JSON_OBJECT);
    if (!named) self->count = self->total ? 1 : sa_json_count(&self->body, self->values);
    bool good = (!named || find_slate(exchange, self, &slate, why)) && place_values(self, &slate, named, why);
    free_slate(&slate);
    return good;
}

static bool prepare(sv_exchange *self, sv_feedback *feedback, sv_refusal *why) {
    static const char *const fields[] = {"event", "id", "feedback", "by", NULL};
    sa_json *body = &feedback->body;
    if (!sv_value_parse(body, self->body.text, self->body.size, feedback->digest, why) ||
        !sv_value_fields(body, 0, "feedback", fields, why))
        return false;
    size_t event = sa_json_find(body, 0, "event");
    if (!event) return sv_refuse(why, 400, "event is missing");
    if (!sv_value_id(body, event, "event", feedback->event, why)) return false;
    strcpy(self->event, feedback->event); /* for the log */
    feedback->values = sa_json_find(body, 0, "feedback");
    size_t by = sa_json_find(body, 0, "by");
    feedback->by_place = by && sa_json_equals(body, by, "place");
    if (by && !feedback->by_place && !sa_json_equals(body, by, "item"))
        return sv_refuse(why, 400, "by is neither item nor place");
    feedback->settings = sv_agent_settings(self->agent);
    return read_values(feedback, feedback->settings, why) && read_key(feedback, why) &&
           place(self, feedback, why);
}

/* ---- in the writer ---- */

/* Late, and not too late? */
static bool is_revision(const sv_feedback *self, const sv_store_decision *decision, int64_t now) {
    return decision->state == DECISION_LEARNT &&
           (double)(now - decision->time) <= self->settings->revise_days * 86400000 &&
           self->settings->revise_days > 0;
}

static sv_store_status keep(sv_feedback *self, sv_store *store, const sv_store_decision *decision,
                            const char *value) {
    int64_t now = sv_clock_milliseconds();
    sv_store_decision of = *decision;
    self->late = of.state == DECISION_LEARNT || of.state == DECISION_DROPPED || of.ended;
    sv_store_status status = sv_store_feedback_add(store, of.id, self->key, now, self->late, value);
    self->retry = status == STORE_NONE;
    sv_sums *sums = &self->exchange->service->sums;
    if (status == STORE_OK) status = sv_sums_feedback(sums, store, of.agent, self->late);
    if (status != STORE_OK) return status;
    if (is_revision(self, &of, now))
        return sv_closing_revise(store, sums, self->settings, &of, &self->revised);
    if (self->late || of.due || of.state == DECISION_HELD) return STORE_OK;
    self->closed = true; /* there is no other feedback to combine it with */
    return sv_closing_add(store, sums, self->settings, &of, &self->learnt, self->reward, &self->seq);
}

/* Does it fit what is there now? */
static bool fits(sv_feedback *self, const sv_store_decision *decision, size_t before) {
    if (self->decision && self->decision != decision->id) return refuse_unknown(self, &self->why);
    if (!self->total && self->count != decision->arm_count)
        return sv_refuse(&self->why, 400, "feedback has %zu values, and the slate of event %.64s %zu arms",
                         self->count, self->event, decision->arm_count);
    if (before >= LIMIT_FEEDBACKS || (before && (before + 1) * self->count > LIMIT_FEEDBACK_VALUES))
        return sv_refuse(&self->why, 409, "event %.64s has %zu feedbacks of %zu values, which is the most",
                         self->event, before, self->count);
    return true;
}

static sv_store_status run_feedback(sv_job *base, sv_store *store) {
    sv_feedback *self = (sv_feedback *)base;
    sv_store_decision decision;
    size_t before = 0;
    self->why.status = 0;
    self->late = self->retry = self->closed = false;
    self->seq = self->revised = 0;
    sv_store_status status = sv_store_decision_find(store, self->exchange->agent->id, self->event, &decision);
    if (status == STORE_NONE) refuse_unknown(self, &self->why);
    if (status == STORE_OK) status = sv_store_feedback_count(store, decision.id, &before);
    if (status == STORE_OK && fits(self, &decision, before))
        status = keep(self, store, &decision, self->placed.text);
    return status;
}

static void end_feedback(sv_job *base, sv_store_status status) {
    sv_feedback *self = (sv_feedback *)base;
    sv_exchange *exchange = self->exchange;
    sv_agent *agent = exchange->agent;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else if (self->why.status)
        sv_exchange_refuse(exchange, &self->why);
    else {
        if (self->retry)
            atomic_fetch_add(&agent->retries, 1);
        else
            sv_agent_count_feedback(agent);
        if (self->late && !self->retry) atomic_fetch_add(&agent->late, 1);
        if (self->revised) {
            sv_agent_wrote(agent, self->revised);
            sv_learner_wake(exchange->service->learner, agent);
        }
        if (self->closed && self->seq) { /* 0: who learns the agent makes the row */
            sv_agent_wrote(agent, self->seq);
            sv_agent_count_learnt(agent, self->reward);
            sv_learner_wake(exchange->service->learner, agent);
        }
        sv_exchange_answer(exchange, 204);
    }
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { sv_exchange_submit(self, &((sv_feedback *)self->state)->job); }

void sv_route_feedback(sv_exchange *self) {
    sv_refusal why = {0};
    sv_feedback *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_feedback;
    if (!state)
        sv_refuse(&why, 503, "memory could not be had");
    else if (prepare(self, state, &why)) {
        state->job = (sv_job){
            .run = run_feedback, .end = end_feedback, .queued = &self->agent->queued, .repeats = true};
        state->exchange = self;
        self->later = submit;
        return;
    }
    sv_exchange_refuse(self, &why);
}

/* POST /v1/agents/NAME/feedback: checked against the decision and kept, in the writer; 204 when it is on
 * disk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "closing.h"
#include "routes.h"
#include "service.h"
#include "values.h"

typedef struct feedback {
    sv_job job;
    sv_exchange *exchange;
    json_t *body;
    const char *event; /* of the body */
    const json_t *values;
    json_t *positions;      /* of values by name: where each arm is in the slate */
    sv_text placed;         /* K values or nulls as JSON */
    sv_text learnt;         /* the same, with the default: the row, if the event ends with this feedback */
    size_t count;           /* K */
    int64_t decision;       /* whose slate it is; 0: of any with K arms */
    char key[LIMIT_ID + 8]; /* tells retries */
    sv_settings *settings;
    sv_refusal why;
    bool late, retry, closed;
    double reward;
    uint64_t seq;
} sv_feedback;

static void free_feedback(void *state) {
    sv_feedback *self = state;
    sv_settings_release(self->settings);
    json_decref(self->positions);
    json_decref(self->body);
    text_free(&self->placed);
    text_free(&self->learnt);
    free(self);
}

static bool refuse_unknown(const sv_feedback *self, sv_refusal *why) {
    return sv_refuse(why, 404, "there is no event %.64s: unknown, or older than retention_days", self->event);
}

static bool read_key(sv_feedback *self, sv_refusal *why) {
    const json_t *id = json_object_get(self->body, "id");
    const char *given = NULL;
    uint8_t digest[SA_SHA256_BYTES];
    if (id && !sv_value_id(id, "id", &given, why)) return false;
    if (given) {
        snprintf(self->key, sizeof self->key, "id:%s", given);
        return true;
    }
    sv_value_hash(self->body, digest);
    memcpy(self->key, "body:", 5);
    sv_hex_write(digest, sizeof digest, self->key + 5);
    return true;
}

static bool read_number(const json_t *value, const sv_settings *settings, sv_refusal *why) {
    const double *range = settings->reward_range;
    double number;
    if (json_is_null(value)) return true;
    if (!sv_value_number(value, "a value of feedback", &number, why)) return false;
    return (number >= range[0] && number <= range[1]) ||
           sv_refuse(why, 400, "feedback of %g is outside the agent's reward_range, %g to %g", number,
                     range[0], range[1]);
}

static bool read_values(sv_feedback *self, const sv_settings *settings, sv_refusal *why) {
    const char *name;
    json_t *value;
    if (!self->values)
        return sv_refuse(why, 400, "feedback is missing: a value by item id, or a list of K values or nulls");
    if (json_is_array(self->values)) {
        for (size_t i = 0; i < json_array_size(self->values); i++)
            if (!read_number(json_array_get(self->values, i), settings, why)) return false;
        return true;
    }
    if (!json_is_object(self->values)) return sv_refuse(why, 400, "feedback is neither an object nor a list");
    if (!json_object_size(self->values)) return sv_refuse(why, 400, "feedback has no values");
    json_object_foreach((json_t *)self->values, name,
                        value) if (!read_number(value, settings, why)) return false;
    return true;
}

/* ---- where the values belong: before the writer, which only writes ---- */

/* The arms of the slate by id, or by index as text: their positions. */
static json_t *positions_of(const json_t *slate) {
    char index[32];
    json_t *made = json_object();
    for (size_t at = 0; made && at < json_array_size(slate); at++) {
        const json_t *arm = json_array_get(slate, at);
        snprintf(index, sizeof index, "%" JSON_INTEGER_FORMAT, json_integer_value(arm));
        const char *name = json_is_string(arm) ? json_string_value(arm) : index;
        if (json_object_set_new_nocheck(made, name, json_integer((json_int_t)at))) {
            json_decref(made);
            return NULL;
        }
    }
    return made;
}

static bool place_by_name(const sv_feedback *self, const json_t *positions, double *values, size_t count,
                          sv_refusal *why) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)self->values, name, value) {
        const json_t *at = json_object_get(positions, name);
        if (!at || (size_t)json_integer_value(at) >= count)
            return sv_refuse(why, 400, "%.64s is not in the slate of event %.64s", name, self->event);
        if (json_is_number(value)) values[json_integer_value(at)] = json_number_value(value);
    }
    return true;
}

/* The slate is the journal's: it is read there. */
static bool find_slate(sv_exchange *exchange, sv_feedback *self, sv_refusal *why) {
    sv_store_decision found;
    sv_service *service = exchange->service;
    sv_store *reader = sv_readers_take(&service->readers, why);
    if (!reader) return false;
    sv_store_status status = sv_store_decision_find(reader, exchange->agent->id, self->event, &found);
    json_t *answer = status == STORE_OK ? json_loads(found.answer, 0, NULL) : NULL;
    self->count = status == STORE_OK ? found.arm_count : 0;
    self->decision = status == STORE_OK ? found.id : 0;
    if (status == STORE_NONE)
        refuse_unknown(self, why);
    else if (status != STORE_OK)
        sv_refuse(why, 503, "%s", sv_store_sentence(reader));
    sv_readers_give_back(&service->readers, reader);
    if (status != STORE_OK) return false;
    self->positions = positions_of(json_object_get(answer, "slate"));
    json_decref(answer);
    return self->positions || sv_refuse(why, 503, "memory could not be had");
}

/* K values or nulls, in the order of the slate, as text. */
static bool place(sv_exchange *exchange, sv_feedback *self, sv_refusal *why) {
    bool by_name = json_is_object(self->values), good = true;
    if (by_name && !find_slate(exchange, self, why)) return false;
    if (!by_name) self->count = json_array_size(self->values);
    double *values = calloc(self->count + 1, sizeof *values);
    if (!values) return sv_refuse(why, 503, "memory could not be had");
    for (size_t i = 0; i < self->count; i++) {
        const json_t *value = by_name ? NULL : json_array_get(self->values, i);
        values[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    if (by_name) good = place_by_name(self, self->positions, values, self->count, why);
    if (good) text_numbers(&self->placed, values, self->count);
    if (good) self->reward = sv_closing_fill(self->settings, values, self->count, &self->learnt);
    free(values);
    if (good && (self->placed.failed || self->learnt.failed))
        good = sv_refuse(why, 503, "memory could not be had");
    return good;
}

static bool prepare(sv_exchange *self, sv_feedback *feedback, sv_refusal *why) {
    static const char *const fields[] = {"event", "id", "feedback", NULL};
    if (!(feedback->body = sv_value_parse(self->body.data, self->body.size, why))) return false;
    if (!sv_value_fields(feedback->body, "feedback", fields, why)) return false;
    const json_t *event = json_object_get(feedback->body, "event");
    if (!event) return sv_refuse(why, 400, "event is missing");
    if (!sv_value_id(event, "event", &feedback->event, why)) return false;
    strcpy(self->event, feedback->event); /* for the log */
    feedback->values = json_object_get(feedback->body, "feedback");
    feedback->settings = sv_agent_settings(self->agent);
    return read_values(feedback, feedback->settings, why) && read_key(feedback, why) &&
           place(self, feedback, why);
}

/* ---- in the writer ---- */

static sv_store_status keep(sv_feedback *self, sv_store *store, const sv_store_decision *decision,
                            const char *value) {
    int64_t now = sv_clock_milliseconds();
    sv_store_decision of = *decision;
    self->late = of.state != DECISION_WAITS;
    sv_store_status status = sv_store_feedback_add(store, of.id, self->key, now, self->late, value);
    self->retry = status == STORE_NONE;
    if (status != STORE_OK) return status;
    if (self->late || of.due) return STORE_OK;
    self->closed = true; /* there is no other feedback to combine it with */
    return sv_closing_add(store, of.agent, of.id, &self->learnt, &self->seq);
}

/* Does it fit what is there now? */
static bool fits(sv_feedback *self, const sv_store_decision *decision, size_t before) {
    if (self->decision && self->decision != decision->id) return refuse_unknown(self, &self->why);
    if (self->count != decision->arm_count)
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
    sv_store_status status = sv_store_decision_find(store, self->exchange->agent->id, self->event, &decision);
    if (status == STORE_NONE) refuse_unknown(self, &self->why);
    if (status == STORE_OK) status = sv_store_feedback_count(store, decision.id, &before);
    if (status == STORE_OK && fits(self, &decision, before))
        status = keep(self, store, &decision, self->placed.data);
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
        if (self->closed) {
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
        state->job = (sv_job){.run = run_feedback, .end = end_feedback, .queued = &self->agent->queued};
        state->exchange = self;
        self->later = submit;
        return;
    }
    sv_exchange_refuse(self, &why);
}

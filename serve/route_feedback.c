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
    char key[LIMIT_ID + 8]; /* tells retries */
    sv_settings *settings;
    sv_refusal why;
    bool late, retry, closed;
    double reward;
    uint64_t seq;
} sv_feedback;

static void free_feedback(void *state) {
    sv_feedback *self = state;
    settings_release(self->settings);
    json_decref(self->body);
    free(self);
}

static bool read_key(sv_feedback *self, sv_refusal *why) {
    const json_t *id = json_object_get(self->body, "id");
    const char *given = NULL;
    uint8_t digest[SA_SHA256_BYTES];
    if (id && !value_id(id, "id", &given, why)) return false;
    if (given) {
        snprintf(self->key, sizeof self->key, "id:%s", given);
        return true;
    }
    value_hash(self->body, digest);
    memcpy(self->key, "body:", 5);
    hex_write(digest, sizeof digest, self->key + 5);
    return true;
}

static bool read_number(const json_t *value, const sv_settings *settings, sv_refusal *why) {
    const double *range = settings->reward_range;
    double number;
    if (json_is_null(value)) return true;
    if (!value_number(value, "a value of feedback", &number, why)) return false;
    return (number >= range[0] && number <= range[1]) ||
           refuse(why, 400, "feedback of %g is outside the agent's reward_range, %g to %g", number, range[0],
                  range[1]);
}

static bool read_values(sv_feedback *self, const sv_settings *settings, sv_refusal *why) {
    const char *name;
    json_t *value;
    if (!self->values)
        return refuse(why, 400, "feedback is missing: a value by item id, or a list of K values or nulls");
    if (json_is_array(self->values)) {
        for (size_t i = 0; i < json_array_size(self->values); i++)
            if (!read_number(json_array_get(self->values, i), settings, why)) return false;
        return true;
    }
    if (!json_is_object(self->values)) return refuse(why, 400, "feedback is neither an object nor a list");
    if (!json_object_size(self->values)) return refuse(why, 400, "feedback has no values");
    json_object_foreach((json_t *)self->values, name,
                        value) if (!read_number(value, settings, why)) return false;
    return true;
}

static bool prepare(sv_exchange *self, sv_feedback *feedback, sv_refusal *why) {
    static const char *const fields[] = {"event", "id", "feedback", NULL};
    if (!(feedback->body = value_parse(self->body.data, self->body.size, why))) return false;
    if (!value_fields(feedback->body, "feedback", fields, why)) return false;
    const json_t *event = json_object_get(feedback->body, "event");
    if (!event) return refuse(why, 400, "event is missing");
    if (!value_id(event, "event", &feedback->event, why)) return false;
    feedback->values = json_object_get(feedback->body, "feedback");
    feedback->settings = agent_settings(self->agent);
    return read_values(feedback, feedback->settings, why) && read_key(feedback, why);
}

/* ---- in the writer ---- */

/* The position of an arm of the slate by its id, or by its index as text. */
static bool find_position(const json_t *slate, const char *name, size_t *at) {
    char index[32];
    for (*at = 0; *at < json_array_size(slate); ++*at) {
        const json_t *arm = json_array_get(slate, *at);
        if (json_is_string(arm) && !strcmp(json_string_value(arm), name)) return true;
        snprintf(index, sizeof index, "%" JSON_INTEGER_FORMAT, json_integer_value(arm));
        if (json_is_integer(arm) && !strcmp(index, name)) return true;
    }
    return false;
}

static bool place_by_name(const sv_feedback *self, const json_t *slate, double *values, sv_refusal *why) {
    const char *name;
    json_t *value;
    size_t at;
    json_object_foreach((json_t *)self->values, name, value) {
        if (!find_position(slate, name, &at))
            return refuse(why, 400, "%.64s is not in the slate of event %.64s", name, self->event);
        if (json_is_number(value)) values[at] = json_number_value(value);
    }
    return true;
}

/* K values or nulls, in the order of the slate. */
static bool place(const sv_feedback *self, const store_decision *decision, sv_text *out, sv_refusal *why) {
    json_t *answer = json_loads(decision->answer, 0, NULL);
    const json_t *slate = json_object_get(answer, "slate");
    size_t count = decision->arm_count;
    bool good = true;
    double *values = calloc(count + 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++) values[i] = NAN;
    if (!values)
        good = refuse(why, 503, "memory could not be had");
    else if (json_is_object(self->values))
        good = place_by_name(self, slate, values, why);
    else if (json_array_size(self->values) != count)
        good = refuse(why, 400, "feedback has %zu values, and the slate of event %.64s %zu arms",
                      json_array_size(self->values), self->event, count);
    else
        for (size_t i = 0; i < count; i++)
            if (json_is_number(json_array_get(self->values, i)))
                values[i] = json_number_value(json_array_get(self->values, i));
    if (good) text_numbers(out, values, count);
    free(values);
    json_decref(answer);
    return good;
}

static store_status keep(sv_feedback *self, sv_store *store, const store_decision *decision,
                         const char *value) {
    int64_t now = clock_milliseconds();
    store_decision of = *decision;
    self->late = of.state != DECISION_WAITS;
    store_status status = store_feedback_add(store, of.id, self->key, now, self->late, value);
    self->retry = status == STORE_NONE;
    if (status != STORE_OK) return status;
    if (self->late || of.due) return STORE_OK;
    store_row row;
    self->closed = true;
    status = closing_write(store, self->settings, &of, &row, &self->reward);
    self->seq = row.seq;
    return status;
}

static store_status run_feedback(sv_job *base, sv_store *store) {
    sv_feedback *self = (sv_feedback *)base;
    store_decision decision;
    sv_text value = {0};
    size_t count = 0;
    store_status status = store_decision_find(store, self->exchange->agent->id, self->event, &decision);
    if (status == STORE_NONE)
        refuse(&self->why, 404, "there is no event %.64s: unknown, or older than retention_days",
               self->event);
    if (status != STORE_OK) return status;
    if (place(self, &decision, &value, &self->why)) {
        if ((status = store_feedback_count(store, decision.id, &count)) == STORE_OK &&
            count >= LIMIT_FEEDBACKS)
            refuse(&self->why, 409, "event %.64s has %d feedbacks, which is the most", self->event,
                   LIMIT_FEEDBACKS);
        else if (status == STORE_OK)
            status = value.failed ? STORE_LATER : keep(self, store, &decision, value.data);
    }
    text_free(&value);
    return status;
}

static void end_feedback(sv_job *base, store_status status) {
    sv_feedback *self = (sv_feedback *)base;
    sv_exchange *exchange = self->exchange;
    sv_agent *agent = exchange->agent;
    if (status != STORE_OK)
        exchange_refuse_store(exchange, status);
    else if (self->why.status)
        exchange_refuse(exchange, &self->why);
    else {
        if (self->retry)
            atomic_fetch_add(&agent->retries, 1);
        else
            agent_count_feedback(agent);
        if (self->late && !self->retry) atomic_fetch_add(&agent->late, 1);
        if (self->closed) {
            agent_wrote(agent, self->seq);
            agent_count_learnt(agent, self->reward);
            learner_wake(exchange->service->learner, agent);
        }
        exchange_answer(exchange, 204);
    }
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { exchange_submit(self, &((sv_feedback *)self->state)->job); }

void route_feedback(sv_exchange *self) {
    sv_refusal why = {0};
    sv_feedback *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_feedback;
    if (!state)
        refuse(&why, 503, "memory could not be had");
    else if (prepare(self, state, &why)) {
        state->job = (sv_job){.run = run_feedback, .end = end_feedback, .queued = &self->agent->queued};
        state->exchange = self;
        self->later = submit;
        return;
    }
    exchange_refuse(self, &why);
}

/* POST /v1/agents/NAME/decide: chosen here, by whichever thread reads the request, and answered when it is
 * in the journal. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "routes.h"
#include "rules.h"
#include "service.h"
#include "words.h"

typedef struct decide {
    sv_job job;
    sv_exchange *exchange;
    sv_store_decision row;
    char event[LIMIT_ID + 1];
    uint32_t *arms;
    sa_buffer answer;
    sv_unknown *unknown; /* fields that the schema does not have; NULL: none */
    sv_refusal why;      /* status not 0: it could not be chosen, and only a retry can be answered */
    int status;          /* of the answer */
} sv_decide;

static void free_decide(void *state) {
    sv_decide *self = state;
    sa_buffer_clear(&self->answer);
    free(self->arms);
    free(self->unknown);
    free(self);
}

/* 48 bits of a hash of agent and event. */
static uint64_t draw_of(const char *agent, const char *event) {
    sa_sha256 hash;
    uint8_t digest[SA_SHA256_BYTES];
    uint64_t draw = 0;
    sa_sha256_begin(&hash);
    sa_sha256_add(&hash, agent, strlen(agent) + 1);
    sa_sha256_add(&hash, event, strlen(event));
    sa_sha256_end(&hash, digest);
    for (int i = 0; i < 6; i++) draw = draw << 8 | digest[i];
    return draw;
}

/* `given` "": random. */
static bool make_event(sv_decide *self, const char *given, sv_refusal *why) {
    uint8_t random[16];
    if (*given) {
        strcpy(self->event, given);
        return true;
    }
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return sv_refuse(why, 503, "there are no random numbers");
    sv_hex_write(random, sizeof random, self->event);
    return true;
}

static void write_propensities(sa_buffer *out, const char *name, const double *values, size_t count) {
    sa_buffer_format(out, ", \"%s\": ", name);
    if (values)
        sa_buffer_numbers(out, values, count, 0);
    else
        sa_buffer_format(out, "null");
}

/* A field that is misspelt has no effect, which the first answers say. */
static void write_warnings(sv_exchange *self, sv_decide *decide, const sv_ask *ask, const sa_schema *schema) {
    sa_buffer warnings = {0};
    if (!ask->ignored) return;
    decide->unknown = calloc(1, sizeof *decide->unknown);
    if (!decide->unknown) return;
    sv_unknown_find(decide->unknown, ask, schema);
    if (sv_agent_warn(self->agent, decide->unknown, schema, &warnings) && !warnings.status)
        sa_buffer_format(&decide->answer, ", \"warnings\": %s", warnings.text);
    sa_buffer_clear(&warnings);
}

static void write_answer(sv_decide *self, const sv_ask *ask, const sv_choice *choice, uint64_t version) {
    sa_buffer *out = &self->answer;
    sa_buffer_format(out, "{\"event\": ");
    sa_buffer_quote(out, self->event);
    sa_buffer_format(out, ", \"slate\": [");
    for (size_t i = 0; i < choice->length; i++) {
        if (i) sa_buffer_bytes(out, ", ", 2);
        sv_ask_write_arm(ask, choice->arms[i], out);
    }
    sa_buffer_format(out, "], \"propensity\": ");
    sa_buffer_number(out, choice->propensity, 0);
    write_propensities(out, "prefix_propensities", choice->prefixes, choice->length);
    write_propensities(out, "position_propensities", choice->positions, choice->length);
    sa_buffer_format(out, ", \"model\": %llu", (unsigned long long)version);
    if (ask->explain) {
        write_propensities(out, "estimates", choice->estimates, choice->length);
        write_propensities(out, "widths", choice->widths, choice->length);
        if (choice->scores)
            sv_words_explain(ask, choice->arms, choice->length, choice->scores, choice->columns, out);
    }
}

/* For the page: what was chosen, and why. */
static void show(sv_exchange *self, const sv_decide *decide, const sv_ask *ask, const sv_choice *choice,
                 uint64_t version) {
    sa_buffer json = {0};
    if (!sv_agent_wants_decision(self->agent)) return;
    sa_buffer_format(&json, "{\"time\": %lld, \"event\": ", (long long)decide->row.time);
    sa_buffer_quote(&json, decide->event);
    sa_buffer_format(&json, ", \"model\": %llu, \"candidates\": %zu, \"slate\": [",
                     (unsigned long long)version, ask->arms);
    for (size_t i = 0; i < choice->length && i < 10; i++) {
        sa_buffer_format(&json, "%s{\"id\": ", i ? ", " : "");
        sv_ask_write_arm(ask, choice->arms[i], &json);
        sa_buffer_format(&json, ", \"estimate\": ");
        sa_buffer_number(&json, choice->estimates[i], 0);
        sa_buffer_format(&json, ", \"width\": ");
        sa_buffer_number(&json, choice->widths[i], 0);
        sa_buffer_format(&json, "}");
    }
    sa_buffer_format(&json, "]}");
    if (json.status)
        sa_buffer_clear(&json);
    else
        sv_agent_show_decision(self->agent, json);
}

static bool keep_choice(sv_exchange *self, sv_decide *decide, const sv_settings *settings, const sv_ask *ask,
                        const sv_choice *choice, uint64_t version, sv_refusal *why) {
    decide->arms = calloc(choice->length + 1, sizeof *decide->arms);
    for (size_t i = 0; decide->arms && i < choice->length; i++) decide->arms[i] = (uint32_t)choice->arms[i];
    write_answer(decide, ask, choice, version);
    write_warnings(self, decide, ask, settings->schema);
    sa_buffer_format(&decide->answer, "}");
    if (!decide->arms || decide->answer.status) return sv_refuse(why, 503, "memory could not be had");
    decide->row.arms = decide->arms;
    decide->row.arm_count = choice->length;
    decide->row.answer = decide->answer.text;
    decide->row.model = version;
    show(self, decide, ask, choice, version);
    return true;
}

static bool choose(sv_exchange *self, sv_decide *decide, const sv_policy *policy, const sv_settings *settings,
                   sv_ask *ask, sv_refusal *why) {
    sv_choice choice = {0};
    if (!policy)
        return sv_agent_is_sound(self->agent, why) &&
               sv_refuse(why, 503, "agent %s is being recovered from its journal: try again", self->name);
    const char *oracle;
    bool good = sv_rules_oracle(settings, ask, &oracle, why) &&
                sv_policy_choose(policy, ask, oracle, draw_of(self->name, decide->event), &choice, why);
    if (good) good = keep_choice(self, decide, settings, ask, &choice, sv_policy_version(policy), why);
    sv_choice_free(&choice);
    return good;
}

/* ---- in the writer ---- */

static sv_store_status answer_retry(sv_decide *self, sv_store *store) {
    sv_store_decision found;
    sv_store_status status = sv_store_decision_find(store, self->row.agent, self->event, &found);
    if (status != STORE_OK) return status;
    if (!sv_digest_same(found.hash, self->row.hash)) {
        sv_refuse(&self->why, 409, "event %.64s was decided for another request", self->event);
        self->status = 409;
        return STORE_OK;
    }
    sa_buffer_clear(&self->answer);
    sa_buffer_format(&self->answer, "%s", found.answer);
    self->why.status = 0;
    self->status = 200;
    return STORE_OK;
}

static sv_store_status run_decide(sv_job *base, sv_store *store) {
    sv_decide *self = (sv_decide *)base;
    self->status = 201;
    sv_store_status status = self->why.status ? STORE_NONE : sv_store_decision_add(store, &self->row);
    return status == STORE_NONE ? answer_retry(self, store) : status;
}

static void end_decide(sv_job *base, sv_store_status status) {
    sv_decide *self = (sv_decide *)base;
    sv_exchange *exchange = self->exchange;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else if (self->why.status)
        sv_exchange_refuse(exchange, &self->why);
    else {
        exchange->answer = self->answer;
        self->answer = (sa_buffer){0};
        sa_buffer_bytes(&exchange->answer, "\n", 1);
        if (self->status == 201) {
            sv_agent_count_decision(exchange->agent);
            if (self->unknown) sv_agent_count_unknown(exchange->agent, self->unknown);
        } else
            atomic_fetch_add(&exchange->agent->retries, 1);
        sv_exchange_answer(exchange, self->status);
    }
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { sv_exchange_submit(self, &((sv_decide *)self->state)->job); }

/* ---- in a thread of a lane ---- */

/* What may take long is done where it keeps nobody else waiting. */
static sv_lane lane_of(const sv_exchange *self, const sv_ask *ask) {
    if (self->lane == LANE_ANY) return LANE_ANY;
    if (ask->problem) return LANE_SOLVER;
    return ask->arms > 1000 || ask->slate > 50 ? LANE_LARGE : self->lane;
}

/* Whatever the rules are, they have so much time, and CBC a process of its own. */
static void bound_solver(const sv_service *service, sv_ask *ask) {
    if (!ask->problem) return;
    if (service->solver_seconds > 0) sa_problem_bound_time(ask->problem, service->solver_seconds);
    if (service->solver) sa_problem_integer_solver(ask->problem, sv_solver_solve, service->solver);
}

static bool prepare(sv_exchange *self, sv_decide *decide, sv_refusal *why) {
    sv_ask ask = {0};
    sv_policy *policy = NULL;
    sv_settings *settings = NULL;
    if (!sv_agent_serving(self->agent, &policy, &settings)) settings = sv_agent_settings(self->agent);
    decide->row.agent = self->agent->id;
    decide->row.time = sv_clock_milliseconds();
    decide->row.wait = (int64_t)(settings->wait_seconds * 1000);
    if (settings->wait_seconds > 0 && !decide->row.wait) decide->row.wait = 1;
    decide->row.event = decide->event;
    decide->row.body = self->body.text;
    decide->row.body_size = self->body.size;
    bool good = sv_ask_read(&ask, settings, self->body.text, self->body.size, decide->row.hash, why) &&
                sv_words_read(&ask, settings, why);
    if (good && *ask.event) strcpy(self->event, ask.event); /* for the log */
    if (good && lane_of(self, &ask) != self->lane) {
        self->lane = lane_of(self, &ask);
        goto end;
    }
    bound_solver(self->service, &ask);
    if (good) good = make_event(decide, ask.event, why);
    if (good && !choose(self, decide, policy, settings, &ask, &decide->why) && !*ask.event) {
        *why = decide->why;
        good = false;
    }
end:
    sv_words_free(ask.words);
    sv_ask_free(&ask);
    sv_policy_release(policy);
    sv_settings_release(settings);
    return good;
}

void sv_route_decide(sv_exchange *self) {
    sv_refusal why = {0};
    sv_lane lane = self->lane;
    sv_decide *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_decide;
    if (!state)
        sv_refuse(&why, 503, "memory could not be had");
    else if (prepare(self, state, &why)) {
        if (self->lane != lane) { /* it is called again there */
            sv_exchange_settle(self);
            return;
        }
        state->job = (sv_job){.run = run_decide, .end = end_decide, .queued = &self->agent->queued};
        state->exchange = self;
        self->later = submit;
        return;
    }
    sv_exchange_refuse(self, &why);
}

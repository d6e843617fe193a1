/* POST /v1/agents/NAME/decide: chosen here, by whichever thread reads the request, and answered when it is
 * in the journal. POST .../shown, a slate that somebody else chose and showed, goes the same way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent_items.h"
#include "answer.h"
#include "clock.h"
#include "compact.h"
#include "routes.h"
#include "service.h"
#include "shown.h"
#include "sides.h"
#include "words.h"

typedef struct decide {
    sv_job job;
    sv_exchange *exchange;
    sv_store_decision row;
    char event[LIMIT_ID + 1];
    uint32_t *arms;
    sa_buffer answer;
    sa_buffer before;        /* the answer that the event had, for a retry */
    sa_buffer compact;       /* the row's body, where items are stored */
    sv_catalogue *catalogue; /* held until the row that names its items is written */
    sv_unknown *unknown;     /* fields that the schema does not have; NULL: none */
    bool unchosen;           /* it could not be chosen, and only a retry can be answered */
    sv_refusal why;          /* then, or of the writer; status 0: none */
    int status;              /* of the answer */
    bool shown;              /* somebody else chose */
    double propensity;       /* of that slate; NaN: unknown */
    sa_buffer stored;        /* its body as a decide's with a baseline */
    bool dry;                /* it is only tried: nothing is kept or counted */
    bool explored;
    sa_buffer names;  /* of the first arms, each ended by 0 */
    uint64_t removed; /* events that were held too long */
} sv_decide;

static void free_decide(void *state) {
    sv_decide *self = state;
    sa_buffer_clear(&self->answer);
    sa_buffer_clear(&self->before);
    sa_buffer_clear(&self->names);
    sa_buffer_clear(&self->stored);
    sa_buffer_clear(&self->compact);
    sv_catalogue_release(self->catalogue);
    free(self->arms);
    free(self->unknown);
    free(self);
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

typedef struct arms {
    const sv_ask *ask;
    const sv_choice *choice;
} arms;

static void write_arm(void *user, size_t k, sa_buffer *out) {
    const arms *self = user;
    sv_ask_write_arm(self->ask, self->choice->arms[k], out);
}

/* What the journal has of a request whose items are stored: all but them. */
static void write_request(const sv_ask *ask, sa_buffer *out) {
    static const char *const but[] = {"event", "items", "where", "explain", NULL};
    const sa_json *json = &ask->json;
    sa_buffer_bytes(out, "{", 1);
    for (size_t key = 1; key < json->nodes[0].next; key = json->nodes[key + 1].next) {
        size_t i = 0;
        while (but[i] && !sa_json_equals(json, key, but[i])) i++;
        if (but[i]) continue;
        if (out->size > 1) sa_buffer_bytes(out, ",", 1);
        sa_buffer_value(out, json, key);
        sa_buffer_bytes(out, ":", 1);
        sa_buffer_value(out, json, key + 1);
    }
    sa_buffer_bytes(out, "}", 1);
}

/* Where the answer goes on behind what can be put together again; 0: it begins otherwise. */
static size_t find_tail(const sv_decide *self, const sv_ask *ask, const sv_choice *choice) {
    sa_buffer head = {0};
    arms chosen = {ask, choice};
    const sv_answer answer = {self->event,        choice->length,   write_arm,         &chosen,
                              choice->propensity, choice->prefixes, choice->positions, self->row.model};
    sv_answer_begin(&answer, &head);
    bool same =
        !head.status && head.size < self->answer.size && !memcmp(head.text, self->answer.text, head.size);
    size_t size = head.size;
    sa_buffer_clear(&head);
    return same ? size : 0;
}

/* The items are in the journal already: the row names them. */
static bool keep_compact(sv_decide *self, const sv_ask *ask, const sv_choice *choice, sv_refusal *why) {
    sa_buffer rest = {0};
    size_t tail = find_tail(self, ask, choice);
    sv_compact compact = {.version = ask->catalogue->version,
                          .count = ask->arms,
                          .numbers = calloc(ask->arms, sizeof *compact.numbers),
                          .length = choice->length,
                          .propensity = choice->propensity,
                          .prefixes = choice->prefixes,
                          .positions = choice->positions,
                          .tail = self->answer.text + tail,
                          .tail_size = tail ? self->answer.size - tail - 1 : 0}; /* without the bracket */
    write_request(ask, &rest);
    compact.rest = rest.text;
    compact.rest_size = rest.size;
    for (size_t i = 0; compact.numbers && i < ask->arms; i++)
        compact.numbers[i] = ask->catalogue->items[ask->stored[i]]->number;
    if (compact.numbers && !rest.status) sv_compact_write(&compact, &self->compact);
    bool good = compact.numbers && !rest.status && !self->compact.status;
    free(compact.numbers);
    sa_buffer_clear(&rest);
    self->row.body = self->compact.text;
    self->row.body_size = self->compact.size;
    if (tail) self->row.answer = "";
    return good || sv_refuse(why, 503, "memory could not be had");
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
        sa_buffer_number(&json, choice->estimates ? choice->estimates[i] : NAN, 0);
        sa_buffer_format(&json, ", \"width\": ");
        sa_buffer_number(&json, choice->widths ? choice->widths[i] : NAN, 0);
        sa_buffer_format(&json, "}");
    }
    sa_buffer_format(&json, "]}");
    if (json.status)
        sa_buffer_clear(&json);
    else
        sv_agent_show_decision(self->agent, json);
}

static bool keep(sv_exchange *self, sv_decide *decide, const sv_settings *settings, const sv_ask *ask,
                 const sv_slates *slates, uint64_t version, sv_refusal *why) {
    const sv_choice *shown = &slates->shown;
    sa_buffer *answer = &decide->answer;
    decide->arms = calloc(shown->length + 1, sizeof *decide->arms);
    for (size_t i = 0; decide->arms && i < shown->length; i++) decide->arms[i] = (uint32_t)shown->arms[i];
    sa_buffer_format(answer, "{\"event\": ");
    if (decide->dry)
        sa_buffer_format(answer, "null, \"dry\": true");
    else
        sa_buffer_quote(answer, decide->event);
    sa_buffer_bytes(answer, ", ", 2);
    sv_slates_write(slates, ask, version, answer);
    write_warnings(self, decide, ask, settings->schema);
    sa_buffer_format(answer, "}");
    if (!decide->arms || answer->status) return sv_refuse(why, 503, "memory could not be had");
    decide->row.arms = decide->arms;
    decide->row.arm_count = shown->length;
    decide->row.answer = answer->text;
    decide->row.model = version;
    decide->row.side = slates->side;
    decide->explored = shown->explored;
    for (size_t i = 0; i < shown->length && i < HOUR_PLACES; i++)
        sv_ask_name_arm(ask, shown->arms[i], &decide->names);
    if (decide->names.status) return sv_refuse(why, 503, "memory could not be had");
    decide->row.state = ask->held ? DECISION_HELD : DECISION_WAITS;
    if (ask->catalogue && !keep_compact(decide, ask, shown, why)) return false;
    if (!decide->dry) show(self, decide, ask, shown, version);
    return true;
}

static bool choose(sv_exchange *self, sv_decide *decide, const sv_policy *policy, const sv_settings *settings,
                   sv_ask *ask, sv_refusal *why) {
    sv_slates slates;
    if (!policy)
        return sv_agent_is_sound(self->agent, why) &&
               sv_refuse(why, 503, "agent %s is being recovered from its journal: try again", self->name);
    if (decide->shown ? !sv_slates_shown(policy, settings, ask, decide->propensity, &slates, why)
                      : !sv_slates_choose(policy, settings, ask, self->name, decide->event, &slates, why))
        return false;
    bool good = keep(self, decide, settings, ask, &slates, sv_policy_version(policy), why);
    sv_slates_free(&slates);
    return good;
}

/* ---- in the writer ---- */

static sv_store_status answer_retry(sv_decide *self, sv_store *store) {
    sv_store_decision found;
    sv_store_status status = sv_store_decision_find(store, self->row.agent, self->event, &found);
    if (status == STORE_NONE && !self->why.status) /* neither kept nor there */
        sv_refuse(
            &self->why, 503,
            "event %.64s is not kept: it or its agent was removed at this moment, or the items that it was "
            "chosen from were replaced long ago: try again",
            self->event);
    if (status != STORE_OK) return status;
    if (!sv_digest_same(found.hash, self->row.hash)) {
        sv_refuse(&self->why, 409, "event %.64s was decided for another request", self->event);
        self->status = 409;
        return STORE_OK;
    }
    if (!*found.answer)
        return sv_refuse(&self->why, 503, "event %.64s names an item that is not in the journal",
                         self->event),
               STORE_OK;
    sa_buffer_clear(&self->before);
    sa_buffer_format(&self->before, "%s", found.answer);
    self->status = 200;
    return STORE_OK;
}

/* Events that are held for ever must not fill the disk: the oldest go. What other servers hold and activate
 * only the database knows, and it counts for a while: it is asked once in so many events. */
static sv_store_status make_room(sv_decide *self, sv_store *store) {
    enum { PERIOD = 64 };
    sv_agent *agent = self->exchange->agent;
    if (self->exchange->service->cluster)
        return agent->held_asked++ % PERIOD
                   ? STORE_OK
                   : sv_store_held_remove(store, agent->id, LIMIT_HELD, 2 * PERIOD, &self->removed);
    /* less than none, until those that were there at the start have been counted */
    if ((int64_t)atomic_load(&agent->held) < LIMIT_HELD) return STORE_OK;
    return sv_store_held_remove(store, agent->id, LIMIT_HELD - 1, 2, &self->removed);
}

/* What is held was not shown yet. */
static sv_store_status count(sv_decide *self, sv_store *store) {
    if (self->row.state == DECISION_HELD) return make_room(self, store);
    return sv_sums_decision(&self->exchange->service->sums, store, self->row.agent, self->row.side,
                            self->explored, &self->names);
}

static void send_ahead(sv_job *base, sv_store *store) {
    sv_decide *self = (sv_decide *)base;
    if (!self->unchosen) sv_store_decision_ahead(store, &self->row);
}

static sv_store_status run_decide(sv_job *base, sv_store *store) {
    sv_decide *self = (sv_decide *)base;
    self->status = 201;
    self->removed = 0;
    if (!self->unchosen) self->why.status = 0;
    sv_store_status status = self->unchosen ? STORE_NONE : sv_store_decision_add(store, &self->row);
    if (status == STORE_OK) return count(self, store);
    return status == STORE_NONE ? answer_retry(self, store) : status;
}

static void end_decide(sv_job *base, sv_store_status status) {
    sv_decide *self = (sv_decide *)base;
    sv_exchange *exchange = self->exchange;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else if (self->why.status && self->status != 200)
        sv_exchange_refuse(exchange, &self->why);
    else {
        sa_buffer *answer = self->status == 200 ? &self->before : &self->answer;
        exchange->answer = *answer;
        *answer = (sa_buffer){0};
        sa_buffer_bytes(&exchange->answer, "\n", 1);
        if (self->status == 201) {
            sv_agent_count_decision(exchange->agent, self->row.state == DECISION_HELD);
            atomic_fetch_sub(&exchange->agent->held, self->removed);
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

/* Another server may have stored an item that is not known here yet: is there a newer catalogue? */
static bool catch_up(sv_exchange *self, sv_decide *decide, const sv_ask *ask, const sv_settings *settings,
                     sv_refusal *without) {
    sv_refusal why = {0};
    sv_service *service = self->service;
    uint64_t before = decide->catalogue ? decide->catalogue->version : 0;
    if (!service->cluster || !settings->schema || (decide->catalogue && !ask->catalogue)) return false;
    sv_store *reader = sv_readers_take(&service->readers, &why);
    if (!reader) return false;
    sv_cluster_catch_up(reader, self->agent, &why);
    sv_readers_give_back(&service->readers, reader);
    sv_catalogue_release(decide->catalogue);
    *without = (sv_refusal){0};
    decide->catalogue = sv_agent_items_for(self->agent, settings->schema, without);
    return decide->catalogue && decide->catalogue->version > before;
}

static bool read_request(sv_exchange *self, sv_decide *decide, sv_ask *ask, const sv_settings *settings,
                         sv_refusal *why) {
    sv_refusal without = {0};
    const sa_buffer *body = decide->shown ? &decide->stored : &self->body;
    uint8_t *hash = decide->shown ? NULL : decide->row.hash;
    if (settings->schema) decide->catalogue = sv_agent_items_for(self->agent, settings->schema, &without);
    if (decide->shown &&
        !sv_shown_read(&self->body, &decide->stored, decide->row.hash, &decide->propensity, why))
        return false;
    decide->row.body = body->text;
    decide->row.body_size = body->size;
    if (sv_ask_read_stored(ask, settings, decide->catalogue, &without, decide->row.time, body->text,
                           body->size, hash, why))
        return true;
    if (why->status != 400 || !catch_up(self, decide, ask, settings, &without)) return false;
    sv_ask_free(ask);
    *ask = (sv_ask){0};
    why->status = 0;
    return sv_ask_read_stored(ask, settings, decide->catalogue, &without, decide->row.time, body->text,
                              body->size, hash, why);
}

static bool prepare(sv_exchange *self, sv_decide *decide, sv_refusal *why) {
    sv_ask ask = {0};
    sv_policy *policy = NULL;
    sv_settings *settings = NULL;
    if (!sv_agent_serving(self->agent, &policy, &settings)) settings = sv_agent_settings(self->agent);
    decide->row.agent = self->agent->id;
    decide->row.time = sv_clock_milliseconds();
    decide->row.wait = sv_settings_wait(settings);
    decide->row.event = decide->event;
    bool good = read_request(self, decide, &ask, settings, why) && sv_words_read(&ask, settings, why);
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

/* ?dry=1: what would be chosen now, by the same code. */
static bool read_dry(const char *query, bool *dry, sv_refusal *why) {
    *dry = query && !strcmp(query, "dry=1");
    return !query || !*query || *dry || sv_refuse(why, 400, "a decide has no parameters but dry=1");
}

static void answer_dry(sv_exchange *self, sv_decide *decide) {
    if (decide->why.status) {
        sv_exchange_refuse(self, &decide->why);
        return;
    }
    self->answer = decide->answer;
    decide->answer = (sa_buffer){0};
    sa_buffer_bytes(&self->answer, "\n", 1);
    sv_exchange_answer(self, 200);
}

static void answer(sv_exchange *self, bool shown) {
    sv_refusal why = {0};
    sv_lane lane = self->lane;
    sv_decide *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_decide;
    if (!state)
        sv_refuse(&why, 503, "memory could not be had");
    else if ((state->shown = shown, read_dry(self->query, &state->dry, &why)) && prepare(self, state, &why)) {
        if (self->lane != lane) { /* it is called again there */
            sv_exchange_settle(self);
            return;
        }
        if (state->dry) {
            answer_dry(self, state);
            return;
        }
        state->job = (sv_job){.run = run_decide,
                              .ahead = send_ahead,
                              .end = end_decide,
                              .queued = &self->agent->queued,
                              .repeats = true};
        state->unchosen = state->why.status;
        state->exchange = self;
        self->later = submit;
        return;
    }
    sv_exchange_refuse(self, &why);
}

void sv_route_decide(sv_exchange *self) { answer(self, false); }
void sv_route_shown(sv_exchange *self) { answer(self, true); }

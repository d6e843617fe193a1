/* POST, GET and DELETE of /v1/agents/NAME/evaluations: what an agent of other options would have earned. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "cluster.h"
#include "evaluations.h"
#include "routes.h"
#include "service.h"
#include "values.h"
#include <superarm/evaluate.h>

/* ---- what is asked ---- */

/* "2026-11-18", or with a time in UTC, "2026-11-18T08:00:00Z", seconds with a fraction if they like. */
static bool read_time(const sa_json *body, const char *name, int64_t *out, sv_refusal *why) {
    char text[LIMIT_ID + 1];
    struct tm day = {0};
    double seconds = 0;
    int end = 0, hour = 0, minute = 0;
    size_t at = sa_json_find(body, 0, name);
    if (!at || sv_value_is(body, at, SA_JSON_NULL)) return true;
    if (!sv_value_id(body, at, name, text, why)) return false;
    int count = sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &end);
    bool good = count == 3 && end == 10;
    if (good && text[end]) {
        const char *rest = text + end;
        end = 0;
        good = sscanf(rest, "T%2d:%2d:%lfZ%n", &hour, &minute, &seconds, &end) == 3 && end > 0 && !rest[end];
    }
    good = good && day.tm_mon >= 1 && day.tm_mon <= 12 && day.tm_mday >= 1 && day.tm_mday <= 31 &&
           hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && seconds >= 0 && seconds < 61 &&
           day.tm_year >= 1970;
    if (!good)
        return sv_refuse(why, 400, "%s is no time: \"2026-11-18\" or \"2026-11-18T08:00:00Z\" is wanted",
                         name);
    day.tm_year -= 1900;
    day.tm_mon--;
    day.tm_hour = hour;
    day.tm_min = minute;
    *out = (int64_t)timegm(&day) * 1000 + (int64_t)floor(seconds * 1000);
    return true;
}

static bool is_estimator(const char *name) {
    const char *known;
    for (size_t i = 0; (known = sa_estimator_at(i)); i++)
        if (!strcmp(known, name)) return true;
    return false;
}

static bool read_estimators(const sa_json *body, sv_evaluation_question *out, sv_refusal *why) {
    char name[LIMIT_ID + 1];
    size_t list = sa_json_find(body, 0, "estimators"), size = 0;
    if (!list || sv_value_is(body, list, SA_JSON_NULL)) return true;
    if (!sv_value_is(body, list, SA_JSON_ARRAY) || !sa_json_count(body, list))
        return sv_refuse(why, 400, "estimators is not a list of names, as in [\"rips\", \"cascade-dr\"]");
    for (size_t at = list + 1; at < body->nodes[list].next; at = body->nodes[at].next) {
        if (!sv_value_id(body, at, "estimators", name, why)) return false;
        if (!is_estimator(name) || !strcmp(name, "replay"))
            return sv_refuse(
                why, 400,
                "estimators: %.64s is none of ips, snips, iips, sniips, rips, snrips, cascade-dr, "
                "dm, dr and pi",
                name);
        size += (size_t)snprintf(out->estimators + size, sizeof out->estimators - size, "%s%s",
                                 size ? "," : "", name);
        if (size >= sizeof out->estimators) return sv_refuse(why, 400, "estimators: there are too many");
    }
    return true;
}

/* Whole options, as PUT takes them, with the agent's own features: the log has no others. */
static bool read_candidate(const sa_json *body, const sv_settings *present, sv_evaluation_question *out,
                           sv_refusal *why) {
    char dim[32];
    sv_options options = {0};
    sv_model *tried = NULL;
    size_t at = sa_json_find(body, 0, "options");
    if (!at || sv_value_is(body, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(body, at, SA_JSON_OBJECT)) return sv_refuse(why, 400, "options is no object");
    snprintf(dim, sizeof dim, "%zu", present->dim);
    bool good = sv_settings_plain_options(body, at, &options, why);
    const sv_option *given = good ? sv_options_find(&options, "dim") : NULL;
    if (given && strcmp(given->value, dim))
        good =
            sv_refuse(why, 400,
                      "options: dim is %.32s, and the events of this agent have %s features: a candidate is "
                      "judged by them",
                      given->value, dim);
    if (good && !given) good = sv_options_put(&options, "dim", dim, false);
    if (good && sv_options_find(&options, "floor") && !sv_options_find(&options, "floor-by"))
        good = sv_options_put(&options, "floor-by", "place", true);
    if (!good && !why->status) sv_refuse(why, 503, "memory could not be had");
    if (good) out->candidate = sv_settings_with(present, &options, why);
    sv_options_free(&options);
    good = out->candidate && sv_model_create(out->candidate, &tried, why); /* would PUT take it? */
    sv_model_destroy(tried);
    return good;
}

static bool read_question(const sa_json *body, const sv_settings *present, sv_evaluation_question *out,
                          sv_refusal *why) {
    static const char *const fields[] = {"options", "from", "to", "split", "estimators", NULL};
    size_t split = sa_json_find(body, 0, "split");
    if (sa_json_find(body, 0, "schema"))
        return sv_refuse(
            why, 400,
            "an evaluation has no schema: a candidate has the agent's own features, by which its "
            "events can be judged");
    if (!sv_value_fields(body, 0, "an evaluation", fields, why)) return false;
    *out = (sv_evaluation_question){.from = 0, .to = sv_clock_milliseconds(), .split = 0.5};
    if (!read_time(body, "from", &out->from, why) || !read_time(body, "to", &out->to, why)) return false;
    if (out->from >= out->to)
        return sv_refuse(why, 400, "from is not before to, which is now unless it is given");
    if (split && !sv_value_number(body, split, "split", &out->split, why)) return false;
    if (!(out->split > 0 && out->split < 1))
        return sv_refuse(why, 400, "split %g is not between 0 and 1: the share of the events that teaches",
                         out->split);
    return read_estimators(body, out, why) && read_candidate(body, present, out, why);
}

static void write_time(sa_buffer *out, const char *name, int64_t milliseconds) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm day;
    char date[40];
    gmtime_r(&seconds, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &day);
    sa_buffer_format(out, "\"%s\": \"%s.%03dZ\"", name, date, (int)(milliseconds % 1000));
}

/* As it is understood, with what was not given. */
static void write_question(const sv_evaluation_question *question, sa_buffer *out) {
    sa_buffer_text(out, "{");
    write_time(out, "from", question->from);
    sa_buffer_text(out, ", ");
    write_time(out, "to", question->to);
    sa_buffer_format(out, ", \"split\": ");
    sa_buffer_number(out, question->split, 0);
    if (question->candidate) {
        sa_buffer_text(out, ", \"options\": ");
        sv_options_write(&question->candidate->options, "", out);
    }
    if (*question->estimators) {
        sa_buffer_text(out, ", \"estimators\": [\"");
        for (const char *c = question->estimators; *c; c++)
            sa_buffer_bytes(out, *c == ',' ? "\", \"" : c, *c == ',' ? 4 : 1);
        sa_buffer_text(out, "\"]");
    }
    sa_buffer_text(out, "}");
}

/* ---- POST: in the journal first, then in the queue ---- */

typedef struct asking {
    sv_job job;
    sv_exchange *exchange;
    sv_evaluation *evaluation; /* ours until it is admitted */
    sa_buffer request;
    int64_t id;
    bool removed;
} sv_asking;

static void free_asking(void *state) {
    sv_asking *self = state;
    if (self->evaluation) sv_evaluations_admit(self->exchange->service->evaluations, self->evaluation, 0);
    sa_buffer_clear(&self->request);
    free(self);
}

static sv_asking *new_asking(sv_exchange *self, sv_refusal *why) {
    sv_asking *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_asking;
    if (state)
        state->exchange = self;
    else
        sv_refuse(why, 503, "memory could not be had");
    return state;
}

static sv_store_status run_add(sv_job *base, sv_store *store) {
    sv_asking *self = (sv_asking *)base;
    sv_agent *agent = self->exchange->agent;
    const sv_cluster *cluster = self->exchange->service->cluster;
    if (atomic_load(&agent->deleted)) return STORE_NONE;
    return sv_store_evaluation_add(store, agent->id, sv_clock_milliseconds(), self->request.text,
                                   cluster ? sv_cluster_id(cluster) : NULL, &self->id);
}

static void end_add(sv_job *base, sv_store_status status) {
    sv_asking *self = (sv_asking *)base;
    sv_exchange *exchange = self->exchange;
    if (status == STORE_OK && self->id) {
        sv_evaluations_admit(exchange->service->evaluations, self->evaluation, self->id);
        self->evaluation = NULL;
        sa_buffer_format(&exchange->answer, "{\"id\": %lld, \"state\": \"waiting\", \"request\": %s}\n",
                         (long long)self->id, self->request.text);
        sv_exchange_answer(exchange, 202);
    } else if (status == STORE_OK || status == STORE_NONE) {
        sv_refusal why = {0};
        sv_refuse(&why, 404, "agent %s was deleted at this moment", exchange->name);
        sv_exchange_refuse(exchange, &why);
    } else
        sv_exchange_refuse_store(exchange, status);
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { sv_exchange_submit(self, &((sv_asking *)self->state)->job); }

static bool prepare(sv_exchange *self, sv_refusal *why) {
    sa_json body = {0};
    sv_evaluation_question question = {0};
    sv_settings *present = sv_agent_settings(self->agent);
    sv_asking *state = new_asking(self, why);
    bool good = state && sv_agent_is_sound(self->agent, why) &&
                sv_value_parse(&body, self->body.text, self->body.size, NULL, why) &&
                read_question(&body, present, &question, why);
    if (good) {
        write_question(&question, &state->request);
        good = !state->request.status || sv_refuse(why, 503, "memory could not be had");
    }
    if (good) {
        state->evaluation = sv_evaluations_reserve(self->service->evaluations, self->agent, &question, why);
        good = state->evaluation;
    }
    if (!good) sv_settings_release(question.candidate);
    sv_settings_release(present);
    sa_json_clear(&body);
    return good;
}

void sv_route_evaluate(sv_exchange *self) {
    sv_refusal why = {0};
    if (!self->service->evaluations)
        sv_refuse(&why, 503, "this service makes no evaluations");
    else if (prepare(self, &why)) {
        ((sv_asking *)self->state)->job = (sv_job){.run = run_add, .end = end_add, .repeats = true};
        self->later = submit;
        return;
    }
    sv_exchange_refuse(self, &why);
}

/* ---- GET ---- */

typedef struct listing {
    sv_exchange *exchange;
    size_t count;
    bool doubtful; /* one may have ended between two looks */
} sv_listing;

/* Where servers share the store, its row knows the server that has it, if that is there. */
static void write_state(sv_listing *self, const sv_store_evaluation *found) {
    sv_evaluations *all = self->exchange->service->evaluations;
    sa_buffer *out = &self->exchange->answer;
    sv_evaluation_state state = EVALUATION_NONE;
    if (found->server)
        state = found->runs ? EVALUATION_RUNS : EVALUATION_WAITS;
    else if (all && !self->exchange->service->cluster)
        state = sv_evaluations_state(all, found->id);
    self->doubtful = self->doubtful || state == EVALUATION_NONE;
    sa_buffer_format(out, "\"state\": \"%s\"",
                     state == EVALUATION_RUNS    ? "running"
                     : state == EVALUATION_WAITS ? "waiting"
                                                 : "interrupted");
    if (found->server) {
        sa_buffer_text(out, ", \"server\": ");
        sa_buffer_quote(out, found->server);
    }
    sa_buffer_text(out, "}");
}

static void write_one(void *user, const sv_store_evaluation *found) {
    sv_listing *self = user;
    sa_buffer *out = &self->exchange->answer;
    sa_buffer_format(out, "%s{\"id\": %lld, ", self->count++ ? ",\n " : "", (long long)found->id);
    write_time(out, "time", found->time);
    sa_buffer_format(out, ", \"request\": %s, ", found->request);
    if (found->result) /* an object, whose first field is its state */
        sa_buffer_text(out, found->result + 1);
    else
        write_state(self, found);
}

static bool read_id(const sv_exchange *self, int64_t *out, sv_refusal *why) {
    size_t size = strlen(self->event);
    *out =
        size && size < 16 && strspn(self->event, "0123456789") == size ? strtoll(self->event, NULL, 10) : 0;
    return *out > 0 || sv_refuse(why, 404, "there is no evaluation %.64s", self->event);
}

/* false with 503; `count`: how many. */
static bool list(sv_exchange *self, int64_t id, size_t *count, sv_refusal *why) {
    sv_listing listing = {.exchange = self};
    size_t begin = self->answer.size;
    sv_store *reader = sv_readers_take(&self->service->readers, why);
    if (!reader) return false;
    sv_store_status status = sv_store_evaluations(reader, self->agent->id, id, write_one, &listing);
    if (status == STORE_OK && listing.doubtful && !self->answer.status) {
        self->answer.size = begin;
        listing.count = 0;
        status = sv_store_evaluations(reader, self->agent->id, id, write_one, &listing);
    }
    if (status != STORE_OK) sv_refuse(why, 503, "%s", sv_store_sentence(reader));
    sv_readers_give_back(&self->service->readers, reader);
    *count = listing.count;
    return status == STORE_OK;
}

void sv_route_evaluations(sv_exchange *self) {
    sv_refusal why = {0};
    size_t count;
    sa_buffer_text(&self->answer, "{\"evaluations\": [");
    bool good = list(self, 0, &count, &why);
    sa_buffer_text(&self->answer, "]}\n");
    if (good)
        sv_exchange_answer(self, 200);
    else
        sv_exchange_refuse(self, &why);
}

void sv_route_evaluation(sv_exchange *self) {
    sv_refusal why = {0};
    size_t count = 0;
    int64_t id;
    bool good = read_id(self, &id, &why) && list(self, id, &count, &why) &&
                (count || sv_refuse(&why, 404, "there is no evaluation %.64s", self->event));
    sa_buffer_text(&self->answer, "\n");
    if (good)
        sv_exchange_answer(self, 200);
    else
        sv_exchange_refuse(self, &why);
}

/* ---- DELETE: removes it, and then ends it, if it runs or waits ---- */

static sv_store_status run_delete(sv_job *base, sv_store *store) {
    sv_asking *self = (sv_asking *)base;
    sv_store_status status = sv_store_evaluation_delete(store, self->exchange->agent->id, self->id);
    self->removed = status == STORE_OK;
    return status;
}

static void end_delete(sv_job *base, sv_store_status status) {
    sv_asking *self = (sv_asking *)base;
    sv_exchange *exchange = self->exchange;
    sv_refusal why = {0};
    if (status != STORE_OK && status != STORE_NONE)
        sv_exchange_refuse_store(exchange, status);
    else if (self->removed) {
        if (exchange->service->evaluations)
            sv_evaluations_give_up(exchange->service->evaluations, self->id, NULL);
        sv_exchange_answer(exchange, 204);
    } else {
        sv_refuse(&why, 404, "there is no evaluation %.64s", exchange->event);
        sv_exchange_refuse(exchange, &why);
    }
    exchange->done(exchange);
}

void sv_route_delete_evaluation(sv_exchange *self) {
    sv_refusal why = {0};
    int64_t id;
    sv_asking *state = new_asking(self, &why);
    if (!state || !read_id(self, &id, &why)) {
        sv_exchange_refuse(self, &why);
        return;
    }
    state->id = id;
    state->job = (sv_job){.run = run_delete, .end = end_delete, .repeats = true};
    self->later = submit;
}

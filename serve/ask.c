#include "ask.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

/* ---- memory that a thread keeps for its next request ---- */

typedef struct kept {
    sa_json json;
    sa_request *request;
} kept;

enum { KEPT_NODES = 1 << 15, KEPT_NUMBERS = 1 << 16 }; /* half a megabyte of each */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

static void end_kept(void *user) {
    kept *self = user;
    sa_request_destroy(self->request);
    sa_json_clear(&self->json);
    free(self);
}

static void make_key(void) { has_key = pthread_key_create(&key, end_kept) == 0; }

/* Takes what the thread has, if anything. */
static void take_kept(sv_ask *self) {
    pthread_once(&once, make_key);
    kept *own = has_key ? pthread_getspecific(key) : NULL;
    if (!own) return;
    self->json = own->json;
    self->request = own->request;
    *own = (kept){0};
}

static bool keep(sv_ask *self) {
    if (!has_key || !self->request || self->json.capacity > KEPT_NODES ||
        self->arms * self->dim > KEPT_NUMBERS)
        return false;
    kept *own = pthread_getspecific(key);
    if (!own && ((own = calloc(1, sizeof *own))) && pthread_setspecific(key, own)) {
        free(own);
        own = NULL;
    }
    if (!own || own->request) return false;
    sa_request_contexts(self->request, NULL, 0); /* with all else that came by JSON */
    sa_request_problem(self->request, NULL);
    *own = (kept){self->json, self->request};
    return true;
}

void sv_ask_free(sv_ask *self) {
    free(self->stored);
    free(self->rows);
    free(self->names);
    sa_problem_destroy(self->own_problem);
    if (!keep(self)) {
        sa_request_destroy(self->request);
        sa_json_clear(&self->json);
    }
    *self = (sv_ask){0};
}

/* ---- reading ---- */

static bool check_arms(const sv_ask *self, const char *name, sv_refusal *why) {
    if (self->arms == 0 || self->arms > LIMIT_ITEMS)
        return sv_refuse(why, 400, "%s has %zu arms, and not 1 to %d", name, self->arms, LIMIT_ITEMS);
    if (self->arms * self->dim > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "%zu %s of %zu features are more than %d numbers", self->arms, name,
                         self->dim, LIMIT_NUMBERS);
    return true;
}

/* How many candidates there are, before memory is taken for them. */
static bool count_arms(sv_ask *self, size_t list, const char *name, sv_refusal *why) {
    if (!sv_value_is(&self->json, list, SA_JSON_ARRAY)) return sv_refuse(why, 400, "%s is no list", name);
    self->arms = sa_json_count(&self->json, list);
    return check_arms(self, name, why);
}

/* The items of the catalogue that the request is about. */
static bool find_stored(sv_ask *self, size_t items, size_t where, const sv_catalogue *stored, int64_t now,
                        sv_refusal *why) {
    self->catalogue = stored;
    if (!sv_catalogue_select(stored, &self->json, items, where, now, &self->stored, &self->arms, why) ||
        !check_arms(self, "items", why))
        return false;
    self->rows = calloc(self->arms, sizeof *self->rows);
    self->names = calloc(self->arms, sizeof *self->names);
    if (!self->rows || !self->names) return sv_refuse(why, 503, "memory could not be had");
    for (size_t i = 0; i < self->arms; i++) {
        self->rows[i] = stored->items[self->stored[i]]->row;
        self->names[i] = stored->items[self->stored[i]]->id;
    }
    return true;
}

/* Does the request leave its items to the catalogue? */
static bool wants_stored(const sv_ask *self, size_t items, size_t where) {
    return where || !items ||
           (sv_value_is(&self->json, items, SA_JSON_ARRAY) && sa_json_count(&self->json, items) &&
            sv_value_is(&self->json, items + 1, SA_JSON_STRING));
}

/* Either items or contexts, as the agent has it. */
static bool find_candidates(sv_ask *self, const sv_settings *settings, const sv_catalogue *stored,
                            const sv_refusal *without, int64_t now, sv_refusal *why) {
    size_t where = sa_json_find(&self->json, 0, "where");
    size_t contexts = sa_json_find(&self->json, 0, "contexts"), items = sa_json_find(&self->json, 0, "items");
    self->dim = settings->dim;
    if (settings->schema) {
        if (contexts) return sv_refuse(why, 400, "this agent has a schema: send \"items\", not \"contexts\"");
        if (wants_stored(self, items, where)) {
            if (stored) return find_stored(self, items, where, stored, now, why);
            if (without && without->status) return sv_refuse(why, without->status, "%s", without->message);
            if (items || where)
                return sv_refuse(why, 400,
                                 "the agent has no stored items, which items and where would name: PUT "
                                 "/v1/agents/NAME/items stores them");
            return sv_refuse(
                why, 400,
                "items is missing: a list of objects with the schema's fields, or, once they are "
                "stored, of ids");
        }
        return count_arms(self, items, "items", why);
    }
    if (items || where || sa_json_find(&self->json, 0, "context"))
        return sv_refuse(
            why, 400, "this agent has no schema: send \"contexts\", a list of %zu numbers an arm", self->dim);
    if (!contexts) return sv_refuse(why, 400, "contexts is missing: a list of %zu numbers an arm", self->dim);
    return count_arms(self, contexts, "contexts", why);
}

/* Whose side it is on, and what would have been shown without the agent. */
static bool read_side(sv_ask *self, sv_refusal *why) {
    const sa_json *json = &self->json;
    bool activate = true;
    size_t at;
    if ((at = sa_json_find(json, 0, "user")) && !sv_value_id(json, at, "user", self->user, why)) return false;
    if ((at = sa_json_find(json, 0, "activate")) && !sv_value_flag(json, at, "activate", &activate, why))
        return false;
    self->held = !activate;
    self->baseline = sa_json_find(json, 0, "baseline");
    if (self->baseline && !sv_value_is(json, self->baseline, SA_JSON_ARRAY))
        return sv_refuse(why, 400, "baseline is not a list: the slate that is shown without the agent");
    return true;
}

/* Names of the slate's places, by which feedback can name them. */
static bool read_places(sv_ask *self, sv_refusal *why) {
    const sa_json *json = &self->json;
    char names[2][LIMIT_ID + 1];
    size_t list = self->places, count = sa_json_count(json, list), i = 0;
    if (!sv_value_is(json, list, SA_JSON_ARRAY)) return sv_refuse(why, 400, "places is no list");
    if (count != self->slate || count > LIMIT_PLACES)
        return sv_refuse(why, 400, "places has %zu names, for a slate of %zu; %d are the most", count,
                         self->slate, LIMIT_PLACES);
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next, i++) {
        if (!sv_value_id(json, at, "a place", names[0], why)) return false;
        for (size_t other = list + 1; other < at; other = json->nodes[other].next)
            if (sv_value_id(json, other, "a place", names[1], why) && !strcmp(names[0], names[1]))
                return sv_refuse(why, 400, "places has %.64s twice", names[0]);
    }
    return true;
}

static bool read_rest(sv_ask *self, sv_refusal *why) {
    const sa_json *json = &self->json;
    size_t at;
    if ((at = sa_json_find(json, 0, "event")) && !sv_value_id(json, at, "event", self->event, why))
        return false;
    if ((at = sa_json_find(json, 0, "slate")) &&
        !sv_value_whole(json, at, "slate", 1, LIMIT_ITEMS, &self->slate, why))
        return false;
    if ((at = sa_json_find(json, 0, "explain")) && !sv_value_flag(json, at, "explain", &self->explain, why))
        return false;
    if (!read_side(self, why)) return false;
    if ((at = sa_json_find(json, 0, "ranking")) && !sv_value_flag(json, at, "ranking", &self->ranking, why))
        return false;
    if ((self->places = sa_json_find(json, 0, "places")) && !read_places(self, why)) return false;
    if (self->ranking && (self->slate != 1 || self->arms > LIMIT_RANKING))
        return sv_refuse(why, 400, "ranking is for slates of one arm of at most %d: this is %zu of %zu",
                         LIMIT_RANKING, self->slate, self->arms);
    self->rules = sa_json_find(json, 0, "problem");
    if (self->rules && self->arms * self->slate > LIMIT_NUMBERS)
        return sv_refuse(why, 400, "problem: rules for %zu of %zu arms are too many: at most %d, multiplied",
                         self->slate, self->arms, LIMIT_NUMBERS);
    return true;
}

/* One wild number would be in the agent's statistics for ever. */
static bool check_features(const sv_ask *self, const sv_settings *settings, sv_refusal *why) {
    const double *range = settings->feature_range;
    size_t arms, dim;
    const double *contexts = sa_request_candidates(self->request, &arms, &dim);
    if (dim != self->dim)
        return sv_refuse(why, 400, "contexts[0] has %zu numbers, and the agent's dim is %zu", dim, self->dim);
    double low = 0, high = 0;
    bool wild = false;
    for (size_t i = 0; i < arms * dim; i++) { /* without branches: there may be millions */
        low = contexts[i] < low ? contexts[i] : low;
        high = contexts[i] > high ? contexts[i] : high;
    }
    wild = low < range[0] || high > range[1] || range[0] > 0 || range[1] < 0;
    for (size_t i = 0; wild && i < arms * dim; i++)
        if (!(contexts[i] >= range[0] && contexts[i] <= range[1]))
            return sv_refuse(why, 400,
                             "feature %zu of arm %zu is %g, outside the agent's feature_range, %g to %g",
                             i % dim, i / dim, contexts[i], range[0], range[1]);
    return true;
}

static bool read_request(sv_ask *self, const sv_settings *settings, sv_refusal *why) {
    if (!self->request && !(self->request = sa_request_new()))
        return sv_refuse(why, 503, "memory could not be had");
    sa_request_slate(self->request, self->slate);
    sa_request_exactly(self->request, false);
    uint64_t before = sa_request_ignored(self->request);
    sa_status status = self->catalogue ? sa_request_stored(self->request, settings->schema, &self->json, 0,
                                                           self->rows, self->names, self->arms)
                                       : sa_request_parsed(self->request, settings->schema, &self->json, 0);
    if (status != SA_OK) return sv_refuse_library(why, status);
    self->ignored = sa_request_ignored(self->request) - before;
    self->problem = sa_request_rules(self->request);
    return check_features(self, settings, why);
}

bool sv_ask_read(sv_ask *self, const sv_settings *settings, const char *body, size_t size, uint8_t *digest,
                 sv_refusal *why) {
    return sv_ask_read_stored(self, settings, NULL, NULL, 0, body, size, digest, why);
}

bool sv_ask_read_stored(sv_ask *self, const sv_settings *settings, const sv_catalogue *items,
                        const sv_refusal *without, int64_t now, const char *body, size_t size,
                        uint8_t *digest, sv_refusal *why) {
    static const char *const fields[] = {"event",    "context", "items",   "contexts", "slate",
                                         "exclude",  "problem", "explain", "pin",      "at_most",
                                         "at_least", "exactly", "user",    "baseline", "activate",
                                         "ranking",  "places",  "where",   NULL};
    *self = (sv_ask){.slate = settings->slate};
    take_kept(self);
    self->json.deepest = 0;
    if (digest) {
        if (!sv_value_parse(&self->json, body, size, digest, why)) return false;
    } else {
        sa_status status = sa_json_parse(&self->json, body, size);
        if (status != SA_OK) return sv_refuse(why, 503, "it cannot be read: %s", sa_last_error());
    }
    return sv_value_fields(&self->json, 0, "decide", fields, why) &&
           find_candidates(self, settings, items, without, now, why) && read_rest(self, why) &&
           read_request(self, settings, why);
}

void sv_ask_write_arm(const sv_ask *self, size_t arm, sa_buffer *out) {
    const char *id = sa_request_id(self->request, arm);
    if (id)
        sa_buffer_quote(out, id);
    else
        sa_buffer_format(out, "%zu", arm);
}

void sv_ask_name_arm(const sv_ask *self, size_t arm, sa_buffer *out) {
    const char *id = sa_request_id(self->request, arm);
    char number[24];
    snprintf(number, sizeof number, "%zu", arm);
    sa_buffer_bytes(out, id ? id : number, strlen(id ? id : number) + 1);
}

bool sv_ask_arm(const sv_ask *self, size_t at, const char *path, size_t index, size_t *arm, sv_refusal *why) {
    char name[64];
    snprintf(name, sizeof name, "%s[%zu]", path, index);
    sa_status status = sa_request_arm(self->request, &self->json, at, name, arm);
    return status == SA_OK || sv_refuse_library(why, status);
}

/* Personalizer's multi-slot rank: each slot gets an action, no action is there twice. A candidate is an
 * action in a slot, with the features of both; rules say that a slot takes only its own, and that an action
 * is a group of which one is taken. So a slot's excluded actions are simply no candidates. */
#include <stdio.h>
#include <string.h>

#include "personalizer.h"
#include "routes.h"
#include "service.h"
#include "texts.h"
#include "values.h"

/* One request while it is translated. */
typedef struct slots {
    const sa_json *json;
    size_t slots, actions;   /* nodes of the lists */
    size_t places, kinds;    /* how many there are */
    sa_buffer items, groups; /* of the pairs, as JSON without brackets */
    sa_buffer names, baseline;
    sv_texts excluded;     /* of a slot */
    size_t pairs, *firsts; /* firsts: (places + 1) the number of a slot's first pair */
    bool bare;             /* a slot has no baselineAction */
} sv_slots;

/* An element of a list: an object with an id. */
static bool read_id(const sa_json *json, size_t at, const char *what, char id[LIMIT_ID + 1],
                    sv_refusal *why) {
    if (!sv_value_is(json, at, SA_JSON_OBJECT)) return sv_refuse(why, 400, "%s is no object", what);
    size_t named = sa_json_find(json, at, "id");
    if (!named) return sv_refuse(why, 400, "%s has no id", what);
    return sv_value_id(json, named, what, id, why);
}

static bool read_excluded(sv_slots *self, size_t at, const char *slot, sv_refusal *why) {
    const sa_json *json = self->json;
    size_t list = sa_json_find(json, at, "excludedActions");
    char action[LIMIT_ID + 1];
    sv_refusal unused;
    sv_texts_free(&self->excluded);
    if (!list || sv_value_is(json, list, SA_JSON_NULL)) return true;
    if (!sv_value_is(json, list, SA_JSON_ARRAY))
        return sv_refuse(why, 400, "excludedActions of slot %.64s is no list", slot);
    for (size_t each = list + 1; each < json->nodes[list].next; each = json->nodes[each].next)
        if (sv_value_id(json, each, "an action", action, &unused) && /* what is no id is that of no action */
            sv_texts_add(&self->excluded, action, strlen(action)) == TEXTS_NONE)
            return sv_refuse(why, 503, "memory could not be had");
    return true;
}

/* "SLOT/ACTION", as the log shows it. */
static bool write_pair(const char *slot, const char *action, sa_buffer *out, sv_refusal *why) {
    char pair[2 * LIMIT_ID + 2];
    int size = snprintf(pair, sizeof pair, "%s/%s", slot, action);
    if (size > LIMIT_ID)
        return sv_refuse(why, 400, "the ids of slot %.64s and action %.64s have more than %d bytes together",
                         slot, action, LIMIT_ID - 1);
    sa_buffer_quote(out, pair);
    return true;
}

static bool add_pair(sv_slots *self, const char *slot, size_t slot_at, const char *action, size_t action_at,
                     size_t kind, sv_refusal *why) {
    sa_buffer *out = &self->items;
    sa_buffer_text(out, self->pairs ? ", {\"id\": " : "{\"id\": ");
    if (!write_pair(slot, action, out, why)) return false;
    sa_buffer_text(out, ", ");
    size_t before = out->size;
    if (!sv_personalizer_features(self->json, action_at, "features", "features", out, why)) return false;
    sa_buffer_text(out, out->size > before ? ", \"slot\": {\"id\": " : "\"slot\": {\"id\": ");
    sa_buffer_quote(out, slot);
    sa_buffer_text(out, ", ");
    before = out->size;
    if (!sv_personalizer_features(self->json, slot_at, "features", "features", out, why)) return false;
    if (out->size == before) out->size -= 2; /* no features: no comma */
    sa_buffer_text(out, "}}");
    sa_buffer_format(&self->groups, "%s%zu", self->pairs ? ", " : "", kind);
    self->pairs++;
    return true;
}

static bool add_slot(sv_slots *self, size_t at, size_t place, sv_refusal *why) {
    static const char *const fields[] = {"id", "features", "excludedActions", "baselineAction", NULL},
                             *const of_action[] = {"id", "features", NULL};
    const sa_json *json = self->json;
    size_t kind = 0, baseline;
    char slot[LIMIT_ID + 1], action[LIMIT_ID + 1];
    if (!read_id(json, at, "a slot", slot, why) || !sv_value_fields(json, at, "a slot", fields, why) ||
        !read_excluded(self, at, slot, why))
        return false;
    for (size_t each = self->actions + 1; each < json->nodes[self->actions].next;
         each = json->nodes[each].next, kind++) {
        if (!read_id(json, each, "an action", action, why) ||
            !sv_value_fields(json, each, "an action", of_action, why))
            return false;
        if (sv_texts_find(&self->excluded, action, strlen(action)) != TEXTS_NONE) continue;
        if (!add_pair(self, slot, at, action, each, kind, why)) return false;
        if (self->items.size > LIMIT_BODY)
            return sv_refuse(why, 413,
                             "actions and slots with their features are more than %d bytes, multiplied",
                             LIMIT_BODY);
    }
    sa_buffer_text(&self->names, place ? ", " : "");
    sa_buffer_quote(&self->names, slot);
    baseline = sa_json_find(json, at, "baselineAction");
    if (!baseline || sv_value_is(json, baseline, SA_JSON_NULL)) {
        self->bare = true;
        return true;
    }
    sa_buffer_text(&self->baseline, place ? ", " : "");
    return sv_value_id(json, baseline, "baselineAction", action, why) &&
           write_pair(slot, action, &self->baseline, why);
}

static bool add_slots(sv_slots *self, sv_refusal *why) {
    const sa_json *json = self->json;
    size_t place = 0;
    for (size_t at = self->slots + 1; at < json->nodes[self->slots].next;
         at = json->nodes[at].next, place++) {
        self->firsts[place] = self->pairs;
        if (!add_slot(self, at, place, why)) return false;
    }
    self->firsts[place] = self->pairs;
    return true;
}

/* A flag for each slot and pair, and one of each action. */
static void write_rules(const sv_slots *self, sa_buffer *out) {
    sa_buffer_text(out, ", \"problem\": {\"groups\": [");
    sa_buffer_bytes(out, self->groups.text, self->groups.size);
    sa_buffer_text(out, "], \"capacities\": [");
    for (size_t i = 0; i < self->kinds; i++) sa_buffer_text(out, i ? ",1" : "1");
    sa_buffer_text(out, "], \"eligible\": [");
    for (size_t place = 0; place < self->places; place++) {
        sa_buffer_text(out, place ? ",[" : "[");
        for (size_t i = 0; i < self->pairs; i++) {
            bool own = i >= self->firsts[place] && i < self->firsts[place + 1];
            sa_buffer_text(out, i ? "," : "");
            sa_buffer_text(out, own ? "1" : "0");
        }
        sa_buffer_text(out, "]");
    }
    sa_buffer_text(out, "]}");
}

static bool write_all(const sv_slots *self, sa_buffer *out, sv_refusal *why) {
    sa_buffer_text(out, "{");
    if (!sv_personalizer_event(self->json, out, why)) return false;
    sa_buffer_text(out, "\"context\": {");
    if (!sv_personalizer_features(self->json, 0, "contextFeatures", "features", out, why)) return false;
    sa_buffer_text(out, "}, \"items\": [");
    sa_buffer_bytes(out, self->items.text, self->items.size);
    sa_buffer_format(out, "], \"slate\": %zu, \"places\": [", self->places);
    sa_buffer_bytes(out, self->names.text, self->names.size);
    sa_buffer_text(out, "]");
    if (!self->bare) {
        sa_buffer_text(out, ", \"baseline\": [");
        sa_buffer_bytes(out, self->baseline.text, self->baseline.size);
        sa_buffer_text(out, "]");
    }
    write_rules(self, out);
    if (!sv_personalizer_hold(self->json, out, why)) return false;
    sa_buffer_text(out, "}");
    return true;
}

static bool find_list(const sa_json *json, const char *name, size_t most, size_t *at, size_t *count,
                      sv_refusal *why) {
    *at = sa_json_find(json, 0, name);
    *count = *at && sv_value_is(json, *at, SA_JSON_ARRAY) ? sa_json_count(json, *at) : 0;
    if (!*count) return sv_refuse(why, 400, "%s is missing, or no list of %s", name, name);
    return *count <= most || sv_refuse(why, 400, "there are %zu %s, and at most %zu", *count, name, most);
}

static bool translate(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    static const char *const fields[] = {"contextFeatures", "actions",         "slots",
                                         "eventId",         "deferActivation", NULL};
    size_t firsts[LIMIT_PLACES + 1];
    sv_slots self = {.json = json, .firsts = firsts};
    bool good = sv_value_fields(json, 0, "a multi-slot rank", fields, why) &&
                find_list(json, "actions", LIMIT_ITEMS, &self.actions, &self.kinds, why) &&
                find_list(json, "slots", LIMIT_PLACES, &self.slots, &self.places, why) &&
                add_slots(&self, why);
    if (good && self.places * self.pairs > LIMIT_BODY)
        good = sv_refuse(why, 413, "%zu actions for %zu slots are too many", self.kinds, self.places);
    if (good && (self.items.status || self.groups.status || self.names.status || self.baseline.status))
        good = sv_refuse(why, 503, "memory could not be had");
    if (good && self.pairs == 0) good = sv_refuse(why, 400, "excludedActions leave no action for any slot");
    if (good) good = write_all(&self, out, why);
    sa_buffer_clear(&self.items);
    sa_buffer_clear(&self.groups);
    sa_buffer_clear(&self.names);
    sa_buffer_clear(&self.baseline);
    sv_texts_free(&self.excluded);
    return good;
}

/* ---- the answer: slot by slot ---- */

static void write_slots(const sa_json *answer, sa_buffer *out) {
    size_t slate = sa_json_find(answer, 0, "slate"), arm = slate + 1,
           places = sa_json_find(answer, 0, "places");
    char slot[LIMIT_ID + 1], pair[LIMIT_ID + 1];
    sv_refusal unused;
    for (size_t at = places + 1; slate && at < answer->nodes[places].next && arm < answer->nodes[slate].next;
         at = answer->nodes[at].next, arm = answer->nodes[arm].next) {
        if (!sv_value_id(answer, at, "a slot", slot, &unused) ||
            !sv_value_id(answer, arm, "an arm", pair, &unused))
            continue;
        sa_buffer_text(out, at == places + 1 ? "{\"id\": " : ", {\"id\": ");
        sa_buffer_quote(out, slot);
        sa_buffer_text(out, ", \"rewardActionId\": ");
        sa_buffer_quote(out, pair + strlen(slot) + 1);
        sa_buffer_text(out, "}");
    }
}

static void shape_slots(sv_exchange *self) {
    sa_json answer = {0};
    sa_buffer out = {0};
    if (sa_json_parse(&answer, self->answer.text, self->answer.size) == SA_OK) {
        sa_buffer_text(&out, "{\"slots\": [");
        write_slots(&answer, &out);
        sa_buffer_text(&out, "], \"eventId\": ");
        sa_buffer_value(&out, &answer, sa_json_find(&answer, 0, "event"));
        sa_buffer_text(&out, "}\n");
        self->status = 201;
    } else
        out.status = SA_OUT_OF_MEMORY;
    sa_json_clear(&answer);
    sa_buffer_clear(&self->answer);
    self->answer = out;
}

void sv_route_multislot_rank(sv_exchange *self) { sv_personalizer_decide(self, translate, shape_slots); }

/* ---- rewards by slot ---- */

static bool add_rewards(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    static const char *const whole[] = {"reward", NULL}, *const fields[] = {"slotId", "value", NULL};
    size_t list = sa_json_find(json, 0, "reward");
    char slot[LIMIT_ID + 1];
    if (!sv_value_fields(json, 0, "a multi-slot reward", whole, why)) return false;
    if (!list || !sv_value_is(json, list, SA_JSON_ARRAY) || !sa_json_count(json, list))
        return sv_refuse(why, 400, "reward is missing, or no list of slotId and value");
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next) {
        size_t id = sa_json_find(json, at, "slotId"), value = sa_json_find(json, at, "value");
        if (!id || !value || !sv_value_is(json, value, SA_JSON_NUMBER))
            return sv_refuse(why, 400, "a reward has no slotId, or no value that is a number");
        if (!sv_value_fields(json, at, "a reward", fields, why) ||
            !sv_value_id(json, id, "slotId", slot, why))
            return false;
        sa_buffer_text(out, at == list + 1 ? "" : ", ");
        sa_buffer_quote(out, slot);
        sa_buffer_text(out, ": ");
        sa_buffer_value(out, json, value);
    }
    return true;
}

static bool translate_reward(const sv_exchange *self, const sa_json *json, sa_buffer *out, sv_refusal *why) {
    sa_buffer_text(out, "{\"event\": ");
    sa_buffer_quote(out, self->event);
    sa_buffer_text(out, ", \"by\": \"place\", \"feedback\": {");
    if (!add_rewards(json, out, why)) return false;
    sa_buffer_text(out, "}");
    if (!sv_personalizer_request(self, out, why)) return false;
    sa_buffer_text(out, "}");
    return true;
}

void sv_route_multislot_reward(sv_exchange *self) { sv_personalizer_feedback(self, translate_reward); }

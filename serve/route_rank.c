/* Personalizer's rank, and the reward of its events: one action of those that are given, and the others in
 * order. */
#include <string.h>

#include "personalizer.h"
#include "routes.h"
#include "service.h"
#include "values.h"

static bool is_in(const sa_json *json, size_t list, const char *id) {
    for (size_t at = list + 1; list && at < json->nodes[list].next; at = json->nodes[at].next)
        if (sa_json_equals(json, at, id)) return true;
    return false;
}

/* ---- the request becomes a decide ---- */

static bool add_actions(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    static const char *const fields[] = {"id", "features", NULL};
    size_t list = sa_json_find(json, 0, "actions");
    char id[LIMIT_ID + 1];
    if (!list || !sv_value_is(json, list, SA_JSON_ARRAY) || !sa_json_count(json, list))
        return sv_refuse(why, 400, "actions is missing, or no list of actions");
    if (sa_json_count(json, list) > LIMIT_RANKING)
        return sv_refuse(why, 400, "there are %zu actions, and at most %d", sa_json_count(json, list),
                         LIMIT_RANKING);
    sa_buffer_text(out, "\"items\": [");
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next) {
        if (!sv_value_is(json, at, SA_JSON_OBJECT)) return sv_refuse(why, 400, "an action is no object");
        size_t named = sa_json_find(json, at, "id");
        if (!named) return sv_refuse(why, 400, "an action has no id");
        if (!sv_value_id(json, named, "the id of an action", id, why) ||
            !sv_value_fields(json, at, "an action", fields, why))
            return false;
        sa_buffer_text(out, at == list + 1 ? "{" : ", {");
        size_t before = out->size;
        if (!sv_personalizer_features(json, at, "features", "features", out, why)) return false;
        sa_buffer_text(out, out->size > before ? ", \"id\": " : "\"id\": ");
        sa_buffer_quote(out, id);
        sa_buffer_text(out, "}");
    }
    sa_buffer_text(out, "]");
    return true;
}

static bool add_excluded(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    size_t at = sa_json_find(json, 0, "excludedActions");
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(json, at, SA_JSON_ARRAY)) return sv_refuse(why, 400, "excludedActions is no list");
    if (sa_json_count(json, at) > LIMIT_RANKING)
        return sv_refuse(why, 400, "excludedActions has %zu actions, and at most %d", sa_json_count(json, at),
                         LIMIT_RANKING);
    sa_buffer_text(out, ", \"exclude\": ");
    sa_buffer_value(out, json, at);
    return true;
}

/* The first action that is not excluded is what the caller would have shown. */
static bool add_baseline(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    size_t list = sa_json_find(json, 0, "actions"), excluded = sa_json_find(json, 0, "excludedActions");
    char id[LIMIT_ID + 1];
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next) {
        if (!sv_value_id(json, sa_json_find(json, at, "id"), "the id of an action", id, why)) return false;
        if (is_in(json, excluded, id)) continue;
        sa_buffer_text(out, ", \"baseline\": [");
        sa_buffer_quote(out, id);
        sa_buffer_text(out, "]");
        return true;
    }
    return sv_refuse(why, 400, "excludedActions has all of the actions");
}

static bool translate(const sa_json *json, sa_buffer *out, sv_refusal *why) {
    static const char *const fields[] = {"contextFeatures", "actions",         "excludedActions",
                                         "eventId",         "deferActivation", NULL};
    if (!sv_value_fields(json, 0, "a rank", fields, why)) return false;
    sa_buffer_text(out, "{");
    if (!sv_personalizer_event(json, out, why)) return false;
    sa_buffer_text(out, "\"context\": {");
    if (!sv_personalizer_features(json, 0, "contextFeatures", "features", out, why)) return false;
    sa_buffer_text(out, "}, ");
    if (!add_actions(json, out, why) || !add_excluded(json, out, why) || !add_baseline(json, out, why) ||
        !sv_personalizer_hold(json, out, why))
        return false;
    sa_buffer_text(out, ", \"slate\": 1, \"ranking\": true}");
    return true;
}

/* ---- and the answer a ranking ---- */

static void write_one(const char *id, double probability, bool first, sa_buffer *out) {
    sa_buffer_text(out, first ? "{\"id\": " : ", {\"id\": ");
    sa_buffer_quote(out, id);
    sa_buffer_text(out, ", \"probability\": ");
    sa_buffer_number(out, probability, 0);
    sa_buffer_text(out, "}");
}

/* Excluded actions have the place that they have in the request; the others fill the rest, best first. */
static void write_ranking(const sa_json *asked, const sa_json *answer, sa_buffer *out) {
    size_t items = sa_json_find(asked, 0, "items"), excluded = sa_json_find(asked, 0, "exclude");
    size_t ranking = sa_json_find(answer, 0, "ranking"), next = ranking + 1;
    size_t chosen = sa_json_find(answer, 0, "slate") + 1;
    char id[LIMIT_ID + 1];
    sv_refusal unused;
    for (size_t at = items + 1; at < asked->nodes[items].next; at = asked->nodes[at].next) {
        bool first = at == items + 1;
        if (!sv_value_id(asked, sa_json_find(asked, at, "id"), "id", id, &unused)) continue;
        bool out_of_play = is_in(asked, excluded, id);
        if (out_of_play || !ranking) { /* without a ranking, the baseline is shown: all are as they were */
            write_one(id, !out_of_play && sa_json_equals(answer, chosen, id), first, out);
            continue;
        }
        while (next < answer->nodes[ranking].next) {
            size_t each = next, chance = sa_json_find(answer, each, "probability");
            next = answer->nodes[each].next;
            if (!sv_value_id(answer, sa_json_find(answer, each, "id"), "id", id, &unused) ||
                is_in(asked, excluded, id))
                continue;
            write_one(id, sa_json_number(answer, chance), first, out);
            break;
        }
    }
}

static void shape_rank(sv_exchange *self) {
    sa_json asked = {0}, answer = {0};
    sa_buffer out = {0};
    bool good = sa_json_parse(&asked, self->body.text, self->body.size) == SA_OK &&
                sa_json_parse(&answer, self->answer.text, self->answer.size) == SA_OK;
    size_t slate = good ? sa_json_find(&answer, 0, "slate") : 0;
    if (slate) {
        sa_buffer_text(&out, "{\"ranking\": [");
        write_ranking(&asked, &answer, &out);
        sa_buffer_text(&out, "], \"eventId\": ");
        sa_buffer_value(&out, &answer, sa_json_find(&answer, 0, "event"));
        sa_buffer_text(&out, ", \"rewardActionId\": ");
        sa_buffer_value(&out, &answer, slate + 1);
        sa_buffer_text(&out, "}\n");
        self->status = 201; /* its clients take no other; a retry has the same answer */
    } else
        out.status = SA_OUT_OF_MEMORY;
    sa_json_clear(&asked);
    sa_json_clear(&answer);
    sa_buffer_clear(&self->answer);
    self->answer = out;
}

void sv_route_rank(sv_exchange *self) { sv_personalizer_decide(self, translate, shape_rank); }

/* ---- a reward is feedback ---- */

static bool translate_reward(const sv_exchange *self, const sa_json *json, sa_buffer *out, sv_refusal *why) {
    static const char *const fields[] = {"value", NULL};
    size_t at = sa_json_find(json, 0, "value");
    if (!sv_value_fields(json, 0, "a reward", fields, why)) return false;
    if (!at || !sv_value_is(json, at, SA_JSON_NUMBER)) return sv_refuse(why, 400, "value is no number");
    sa_buffer_text(out, "{\"event\": ");
    sa_buffer_quote(out, self->event);
    sa_buffer_text(out, ", \"feedback\": [");
    sa_buffer_value(out, json, at);
    sa_buffer_text(out, "]");
    if (!sv_personalizer_request(self, out, why)) return false;
    sa_buffer_text(out, "}");
    return true;
}

void sv_route_reward(sv_exchange *self) { sv_personalizer_feedback(self, translate_reward); }

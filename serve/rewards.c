#include "rewards.h"

#include <stdio.h>
#include <string.h>

#include "bounds.h"
#include "values.h"

static bool read_kind(sv_rewards *self, const sa_json *json, size_t key, sv_refusal *why) {
    char name[LIMIT_ID + 1], what[LIMIT_ID + 16];
    sv_reward_kind *kind = &self->kinds[self->count];
    if (!sv_value_id(json, key, "rewards: a name", name, why)) return false;
    if (strlen(name) > REWARD_NAME)
        return sv_refuse(why, 400, "rewards: the name %.16s... has more than %d bytes", name, REWARD_NAME);
    snprintf(what, sizeof what, "rewards: %s", name);
    strcpy(kind->name, name);
    self->count++;
    return sv_value_number(json, key + 1, what, &kind->weight, why);
}

bool sv_rewards_read(sv_rewards *self, const sa_json *json, size_t at, sv_refusal *why) {
    *self = (sv_rewards){0};
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (!sv_value_is(json, at, SA_JSON_OBJECT) || sa_json_count(json, at) == 0)
        return sv_refuse(why, 400,
                         "rewards is no object with what each kind is worth, {\"click\": 1, \"order\": 20}");
    if (sa_json_count(json, at) > REWARD_KINDS)
        return sv_refuse(why, 400, "rewards has %zu kinds, and at most %d can be told apart",
                         sa_json_count(json, at), REWARD_KINDS);
    for (size_t key = at + 1; key < json->nodes[at].next; key = json->nodes[key + 1].next)
        if (!read_kind(self, json, key, why)) return false;
    return true;
}

void sv_rewards_write(const sv_rewards *self, sa_buffer *out) {
    if (!self->count) sa_buffer_text(out, "null");
    for (size_t i = 0; i < self->count; i++) {
        sa_buffer_text(out, i ? ", " : "{");
        sa_buffer_quote(out, self->kinds[i].name);
        sa_buffer_text(out, ": ");
        sa_buffer_number(out, self->kinds[i].weight, 0);
    }
    if (self->count) sa_buffer_text(out, "}");
}

bool sv_rewards_same(const sv_rewards *self, const sv_rewards *other) {
    if (self->count != other->count) return false;
    for (size_t i = 0; i < self->count; i++) {
        size_t k = 0;
        while (k < other->count && strcmp(self->kinds[i].name, other->kinds[k].name)) k++;
        if (k == other->count || self->kinds[i].weight != other->kinds[k].weight) return false;
    }
    return true;
}

size_t sv_rewards_find(const sv_rewards *self, const sa_json *json, size_t key) {
    size_t i = 0;
    while (i < self->count && !sa_json_equals(json, key, self->kinds[i].name)) i++;
    return i;
}

static bool refuse_number(const sv_rewards *self, sv_refusal *why) {
    return sv_refuse(
        why, 400,
        "a value of feedback is no object of kinds, {\"%s\": 1}: the agent's rewards say what each kind "
        "is worth",
        self->kinds[0].name);
}

static bool refuse_kind(const sv_rewards *self, const sa_json *json, size_t key, sv_refusal *why) {
    char shown[SA_PRINTABLE], kinds[300] = "";
    for (size_t i = 0, size = 0; i < self->count && size < sizeof kinds - 1; i++) {
        int more = snprintf(kinds + size, sizeof kinds - size, "%s%s", i ? ", " : "", self->kinds[i].name);
        size += more > 0 ? (size_t)more : 0;
    }
    return sv_refuse(why, 400, "feedback has the kind %.80s, and the agent's rewards are %s",
                     sa_json_printable(json, key, shown), kinds);
}

bool sv_rewards_check(const sv_rewards *self, const sa_json *json, size_t at, double *worth,
                      sv_refusal *why) {
    double number;
    *worth = 0;
    if (!self->count) return sv_value_number(json, at, "a value of feedback", worth, why);
    if (!sv_value_is(json, at, SA_JSON_OBJECT)) return refuse_number(self, why);
    for (size_t key = at + 1; key < json->nodes[at].next; key = json->nodes[key + 1].next) {
        size_t kind = sv_rewards_find(self, json, key);
        if (kind == self->count) return refuse_kind(self, json, key, why);
        if (!sv_value_number(json, key + 1, self->kinds[kind].name, &number, why)) return false;
        *worth += self->kinds[kind].weight * number;
    }
    return true;
}

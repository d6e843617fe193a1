/* A value of any shape, without knowing its fields beforehand. It is walked to its ends, each of which has a
 * path: ".key" for the key of an object; nothing for an element of a list, "[i]" if it is a number.
 *
 *   text, true, false   "path=value", with 1
 *   number x            "path", with sign(x) log(1 + |x|), so that a price beside a flag is not all there is
 *   null                nothing
 *
 * Each goes, with the sign of its hash, to the column of it (schema.h), and the sum of n of them is over
 * sqrt(n): what has many fields has no longer vector than what has few. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/functions.h"
#include "base/hash.h"
#include "features/schema.h"

typedef struct walk {
    const sa_field *field;
    const sa_json *json;
    char *scratch;
    double *to;
    size_t count;
} walk;

static void add(walk *self, uint64_t path, double by) {
    uint64_t hash = sa_hash_end(path);
    self->to[hash % self->field->buckets] += hash >> 63 ? -by : by;
    self->count++;
}

static uint64_t text_of(uint64_t path, const char *mark, sa_span text) {
    return sa_hash_bytes(sa_hash_bytes(path, mark, 1), text.start, text.size);
}

static bool add_number(walk *self, size_t at, uint64_t path) {
    double x = sa_json_number(self->json, at);
    if (!isfinite(x)) return false;
    add(self, path, x < 0 ? -sa_log1p(-x) : sa_log1p(x));
    return true;
}

/* Objects are no deeper than the reader of JSON lets them be. */
static bool take(walk *self, size_t at, uint64_t path) {
    const sa_json *json = self->json;
    const sa_json_node *nodes = json->nodes;
    sa_span text;
    bool good = true;
    size_t i = 0;
    switch ((sa_json_kind)nodes[at].kind) {
    case SA_JSON_NULL: return true;
    case SA_JSON_NUMBER: return add_number(self, at, path);
    case SA_JSON_OBJECT:
        for (size_t key = at + 1; good && key < nodes[at].next; key = nodes[key + 1].next)
            good = sa_field_name_of(json, key, self->scratch, &text) &&
                   take(self, key + 1, text_of(path, ".", text));
        return good;
    case SA_JSON_ARRAY:
        for (size_t each = at + 1; good && each < nodes[at].next; each = nodes[each].next, i++) {
            char place[32] = "";
            if (nodes[each].kind == SA_JSON_NUMBER) snprintf(place, sizeof place, "[%zu]", i);
            good = take(self, each, sa_hash_bytes(path, place, strlen(place)));
        }
        return good;
    default:
        if (!sa_field_name_of(json, at, self->scratch, &text)) return false;
        add(self, text_of(path, "=", text), 1);
        return true;
    }
}

bool sa_field_encode_any(const sa_field *field, const sa_json *json, size_t at, char *scratch, double *to) {
    walk all = {field, json, scratch, to, 0};
    if (!take(&all, at, field->hash)) return false;
    double by = all.count ? 1 / sqrt((double)all.count) : 0;
    for (size_t i = 0; i < field->width; i++) to[i] *= by;
    return true;
}

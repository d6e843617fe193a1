#include "shown.h"

#include <math.h>

#include "values.h"

static bool read_propensity(const sa_json *json, double *out, sv_refusal *why) {
    size_t at = sa_json_find(json, 0, "propensity");
    *out = NAN;
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    return sv_value_number(json, at, "propensity", out, why) &&
           ((*out > 0 && *out <= 1) ||
            sv_refuse(why, 400, "propensity is %g, and not above 0 and at most 1", *out));
}

static void rewrite(const sa_json *json, size_t slate, sa_buffer *out) {
    sa_buffer_format(out, "{\"slate\":%zu,\"baseline\":", sa_json_count(json, slate));
    sa_buffer_value(out, json, slate);
    for (size_t key = 1; key < json->nodes[0].next; key = json->nodes[key + 1].next) {
        if (key + 1 == slate || sa_json_equals(json, key, "propensity")) continue;
        sa_buffer_text(out, ",");
        sa_buffer_value(out, json, key);
        sa_buffer_text(out, ":");
        sa_buffer_value(out, json, key + 1);
    }
    sa_buffer_text(out, "}");
}

static bool read_body(const sa_json *json, sa_buffer *out, double *propensity, sv_refusal *why) {
    static const char *const fields[] = {"event",      "context",  "items",   "contexts", "slate",
                                         "propensity", "exclude",  "problem", "user",     "pin",
                                         "at_most",    "at_least", "where",   "exactly",  NULL};
    if (!sv_value_fields(json, 0, "shown", fields, why) || !read_propensity(json, propensity, why))
        return false;
    size_t slate = sa_json_find(json, 0, "slate");
    if (!slate || !sv_value_is(json, slate, SA_JSON_ARRAY) || sa_json_count(json, slate) == 0)
        return sv_refuse(why, 400, "slate is no list of what was shown: ids of items, or numbers from 0");
    rewrite(json, slate, out);
    return !out->status || sv_refuse(why, 503, "memory could not be had");
}

bool sv_shown_read(const sa_buffer *body, sa_buffer *out, uint8_t *digest, double *propensity,
                   sv_refusal *why) {
    sa_json json = {0};
    bool good =
        sv_value_parse(&json, body->text, body->size, digest, why) && read_body(&json, out, propensity, why);
    sa_json_clear(&json);
    return good;
}

#include "values.h"

#include <math.h>
#include <string.h>

#include "bounds.h"

bool sv_value_parse(sa_json *json, const char *bytes, size_t size, uint8_t *digest, sv_refusal *why) {
    if (size == 0) return sv_refuse(why, 400, "the body is empty, where a JSON object is expected");
    json->deepest = LIMIT_NESTING;
    sa_status status = sa_json_parse(json, bytes, size);
    if (status == SA_OK && !sv_value_is(json, 0, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "the body is no JSON object");
    if (status == SA_OK) status = digest ? sa_json_digest(json, digest) : sa_json_check_keys(json);
    if (status == SA_FORMAT) return sv_refuse(why, 400, "the body is no JSON: %s", sa_last_error());
    return status == SA_OK || sv_refuse_library(why, status);
}

static bool is_one_of(const sa_json *json, size_t key, const char *const *names) {
    for (size_t i = 0; names[i]; i++)
        if (sa_json_equals(json, key, names[i])) return true;
    return false;
}

bool sv_value_fields(const sa_json *json, size_t object, const char *what, const char *const *names,
                     sv_refusal *why) {
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        if (is_one_of(json, key, names)) continue;
        sa_buffer list = {0};
        char shown[SA_PRINTABLE];
        for (size_t i = 0; names[i]; i++) sa_buffer_format(&list, "%s%s", i ? ", " : "", names[i]);
        sv_refuse(why, 400, "%s is not a field of %s, which has %s", sa_json_printable(json, key, shown),
                  what, list.status ? "others" : list.text);
        sa_buffer_clear(&list);
        return false;
    }
    return true;
}

bool sv_value_flag(const sa_json *json, size_t at, const char *name, bool *out, sv_refusal *why) {
    *out = sv_value_is(json, at, SA_JSON_TRUE);
    return *out || sv_value_is(json, at, SA_JSON_FALSE) ||
           sv_refuse(why, 400, "%s is neither true nor false", name);
}

bool sv_value_number(const sa_json *json, size_t at, const char *name, double *out, sv_refusal *why) {
    if (!sv_value_is(json, at, SA_JSON_NUMBER)) return sv_refuse(why, 400, "%s is no number", name);
    *out = sa_json_number(json, at);
    return isfinite(*out) || sv_refuse(why, 400, "%s is not finite", name);
}

bool sv_value_whole(const sa_json *json, size_t at, const char *name, double least, double most, size_t *out,
                    sv_refusal *why) {
    double number = 0;
    if (!sv_value_number(json, at, name, &number, why)) return false;
    if (number != floor(number)) return sv_refuse(why, 400, "%s %g is no whole number", name, number);
    if (number < least || number > most)
        return sv_refuse(why, 400, "%s %.15g is not between %g and %.15g", name, number, least, most);
    *out = (size_t)number;
    return true;
}

bool sv_value_id(const sa_json *json, size_t at, const char *name, char *out, sv_refusal *why) {
    const sa_json_node *node = &json->nodes[at];
    enum { LONGEST = 6 * LIMIT_ID }; /* no escape is longer than six times what it stands for */
    char plain[LONGEST];
    if (node->kind != SA_JSON_STRING) return sv_refuse(why, 400, "%s is no string", name);
    size_t size = node->size <= LONGEST ? sa_json_unescape(json, at, plain) : node->size;
    if (size == 0 || size > LIMIT_ID)
        return sv_refuse(why, 400, "%s has %zu bytes, and not 1 to %d", name, size, LIMIT_ID);
    memcpy(out, plain, size);
    out[size] = 0;
    return true;
}

bool sv_value_text(const sa_json *json, size_t at, sa_buffer *out) {
    const sa_json_node *node = &json->nodes[at];
    switch ((sa_json_kind)node->kind) {
    case SA_JSON_NUMBER: {
        double number = sa_json_number(json, at);
        if (number == floor(number) && fabs(number) < 9007199254740992.0)
            sa_buffer_format(out, "%lld", (long long)number);
        else
            sa_buffer_number(out, number, 0);
        return true;
    }
    case SA_JSON_FALSE: sa_buffer_text(out, "false"); return true;
    case SA_JSON_TRUE: sa_buffer_text(out, "true"); return true;
    case SA_JSON_STRING:
        sa_buffer_bytes(out, json->text + node->start, node->size); /* and in its place without escapes */
        if (node->escaped && !out->status) {
            out->size -= node->size;
            out->size += sa_json_unescape(json, at, out->text + out->size);
            out->text[out->size] = 0;
        }
        return true;
    default: return false;
    }
}

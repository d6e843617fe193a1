/* Kinds of fields: how they are written, and how their values are encoded. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/functions.h"
#include "base/hash.h"
#include "base/memory.h"
#include "features/schema.h"

static const double TWO_PI = 6.28318530717958647693;

const char *const sa_field_kind_names[SA_FIELD_KIND_COUNT] = {
#define SA_FIELD_NAME(name, text, takes) text,
    SA_FIELD_KINDS(SA_FIELD_NAME)
#undef SA_FIELD_NAME
};

const char *const sa_field_kind_takes[SA_FIELD_KIND_COUNT] = {
#define SA_FIELD_TAKES(name, text, takes) takes,
    SA_FIELD_KINDS(SA_FIELD_TAKES)
#undef SA_FIELD_TAKES
};

void sa_field_clear(sa_field *field) {
    for (size_t i = 0; i < field->value_count; i++) sa_free(field->values[i]);
    sa_free(field->values);
    sa_free(field->hashes);
    sa_free(field->name);
    *field = (sa_field){0};
}

uint64_t sa_schema_hash(const char *field, const char *value) {
    uint64_t hash = sa_hash_bytes(SA_HASH_BEGIN, field, strlen(field) + 1);
    return sa_hash_end(sa_hash_bytes(hash, value, strlen(value)));
}

/* ---- reading and writing a kind ---- */

static sa_status wrong(const char *path, const char *text, const char *wanted) {
    char shown[SA_PRINTABLE];
    return sa_fail(SA_INVALID, "%s is %s, and %s", path, sa_printable(text, shown), wanted);
}

static sa_status add_value(sa_field *field, const char *path, sa_span value) {
    char shown[SA_PRINTABLE], *copy;
    uint64_t hash = sa_hash_end(sa_hash_bytes(field->hash, value.start, value.size));
    if (value.size == 0) return sa_fail(SA_INVALID, "%s has an empty value", path);
    if (field->value_count == SA_VALUES_MOST)
        return sa_fail(SA_INVALID, "%s has more than %d values: take hashed", path, SA_VALUES_MOST);
    for (size_t i = 0; i < field->value_count; i++)
        if (sa_span_equals(value, field->values[i]))
            return sa_fail(SA_INVALID, "%s has %s twice", path, sa_span_printable(value, shown));
    size_t room = field->value_room;
    SA_TRY(sa_grow_array(&field->hashes, &room, field->value_count + 1, sizeof *field->hashes));
    SA_TRY(sa_grow_array(&field->values, &field->value_room, field->value_count + 1, sizeof *field->values));
    SA_TRY(sa_format(&copy, "%.*s", (int)value.size, value.start));
    field->values[field->value_count] = copy;
    field->hashes[field->value_count++] = hash;
    return SA_OK;
}

/* One value of a category, in quotes or not; goes behind it. `plain` has room for it. */
static sa_span take_value(const char **at, char *plain) {
    const char *from = *at;
    if (*from == '"' || *from == '\'') {
        char quote = *from++;
        size_t size = 0;
        for (; *from && (*from != quote || (quote == '\'' && from[1] == quote)); from++) {
            from += (quote == '"' && *from == '\\' && from[1]) || *from == quote;
            plain[size++] = *from;
        }
        *at = from + (*from == quote);
        return (sa_span){plain, size};
    }
    const char *end = from + strcspn(from, ",]");
    *at = end;
    while (end > from && isspace((unsigned char)end[-1])) end--;
    return (sa_span){from, (size_t)(end - from)};
}

static sa_status read_values(sa_field *field, const char *path, const char *text) {
    const char *at = text + strspn(text, " \t"),
               *sentence = "a list is wanted, as in category [phone, desktop]";
    char *plain;
    if (*at++ != '[') return wrong(path, text, sentence);
    SA_TRY(sa_alloc_array(strlen(text) + 1, 1, &plain));
    sa_status status = SA_OK;
    for (bool more = true; more && status == SA_OK;) {
        at += strspn(at, " \t\n\r");
        sa_span value = take_value(&at, plain);
        status = add_value(field, path, value);
        at += strspn(at, " \t\n\r");
        more = *at == ',';
        at += more;
    }
    sa_free(plain);
    SA_TRY(status);
    if (*at != ']' || at[1 + strspn(at + 1, " \t")]) return wrong(path, text, sentence);
    field->width = field->value_count + 1;
    return SA_OK;
}

static sa_status read_buckets(sa_field *field, const char *path, const char *text) {
    int64_t buckets;
    text += strspn(text, " ");
    if (!sa_text_to_integer(text, &buckets, NULL) || buckets < 1 || buckets > SA_BUCKETS_MOST) {
        char wanted[96];
        snprintf(wanted, sizeof wanted, "a count of columns from 1 to %d is wanted, as in %s 16",
                 SA_BUCKETS_MOST, sa_field_kind_names[field->kind]);
        return wrong(path, text, wanted);
    }
    field->width = field->buckets = (size_t)buckets;
    return SA_OK;
}

static sa_status read_period(sa_field *field, const char *path, const char *text) {
    text += strspn(text, " ");
    if (!sa_text_to_number(text, &field->period) || !isfinite(field->period) || field->period <= 0)
        return wrong(path, text, "a period above 0 is wanted, as in cyclic 24");
    field->width = 2;
    return SA_OK;
}

sa_status sa_field_read(sa_field *field, const char *path, const char *text) {
    size_t word = strcspn(text, " \t[");
    int kind = 0;
    while (kind < SA_FIELD_KIND_COUNT && !sa_span_equals((sa_span){text, word}, sa_field_kind_names[kind]))
        kind++;
    if (kind == SA_FIELD_KIND_COUNT)
        return wrong(
            path, text,
            "one of number, log, cyclic P, flag, category [a, b], hashed B, tags B, any B is wanted");
    const char *rest = text + word;
    field->kind = (sa_field_kind)kind;
    field->width = 1;
    field->hash = sa_hash_bytes(SA_HASH_BEGIN, field->name, strlen(field->name) + 1);
    switch (field->kind) {
    case SA_FIELD_CYCLIC: return read_period(field, path, rest);
    case SA_FIELD_CATEGORY: return read_values(field, path, rest);
    case SA_FIELD_HASHED:
    case SA_FIELD_TAGS:
    case SA_FIELD_ANY: return read_buckets(field, path, rest);
    default: return rest[strspn(rest, " \t")] ? wrong(path, text, "nothing may follow this kind") : SA_OK;
    }
}

void sa_field_write(const sa_field *field, sa_buffer *buffer) {
    char number[SA_NUMBER_TEXT];
    sa_buffer_text(buffer, sa_field_kind_names[field->kind]);
    if (field->kind == SA_FIELD_CYCLIC)
        sa_buffer_format(buffer, " %s", sa_number_to_text(field->period, number));
    if (field->buckets) sa_buffer_format(buffer, " %zu", field->buckets);
    if (field->kind != SA_FIELD_CATEGORY) return;
    for (size_t i = 0; i < field->value_count; i++) {
        sa_buffer_text(buffer, i ? ", " : " [");
        const char *value = field->values[i];
        bool plain =
            !strpbrk(value, ",[]{}\"'\\#:&*!|>%@`\n\t") && *value != ' ' && value[strlen(value) - 1] != ' ';
        if (!plain) sa_buffer_text(buffer, "\"");
        for (const char *c = value; *c; c++) {
            if (!plain && (*c == '"' || *c == '\\')) sa_buffer_text(buffer, "\\");
            sa_buffer_bytes(buffer, c, 1);
        }
        if (!plain) sa_buffer_text(buffer, "\"");
    }
    sa_buffer_text(buffer, "]");
}

/* ---- encoding ---- */

bool sa_field_name_of(const sa_json *json, size_t at, char *scratch, sa_span *name) {
    const sa_json_node *node = &json->nodes[at];
    switch ((sa_json_kind)node->kind) {
    case SA_JSON_STRING:
        *name = sa_json_span(json, at);
        if (node->escaped) *name = (sa_span){scratch, sa_json_unescape(json, at, scratch)};
        return true;
    case SA_JSON_FALSE:
    case SA_JSON_TRUE: *name = sa_json_span(json, at); return true;
    case SA_JSON_NUMBER: {
        double number = sa_json_number(json, at);
        char text[SA_NUMBER_TEXT];
        if (!isfinite(number)) return false;
        if (number == floor(number) && fabs(number) < 9007199254740992.0)
            snprintf(text, sizeof text, "%lld", (long long)number);
        else
            sa_number_to_text(number, text);
        name->size = strlen(text);
        name->start = memcpy(scratch, text, name->size);
        return true;
    }
    default: return false;
    }
}

static void add_hashed(const sa_field *field, sa_span name, double by, double *to) {
    uint64_t hash = sa_hash_end(sa_hash_bytes(field->hash, name.start, name.size));
    to[hash % field->buckets] += hash >> 63 ? -by : by;
}

static bool encode_tags(const sa_field *field, const sa_json *json, size_t list, char *scratch, double *to) {
    sa_span name;
    if (json->nodes[list].kind != SA_JSON_ARRAY) return false;
    double by = 1 / sqrt((double)sa_json_count(json, list));
    for (size_t at = list + 1; at < json->nodes[list].next; at = json->nodes[at].next) {
        if (!sa_field_name_of(json, at, scratch, &name)) return false;
        add_hashed(field, name, by, to);
    }
    return true;
}

static bool encode_number(const sa_field *field, double x, double *to) {
    if (!isfinite(x)) return false;
    switch (field->kind) {
    case SA_FIELD_LOG: to[0] = sa_log1p(x); return x >= 0;
    case SA_FIELD_CYCLIC: {
        double angle = TWO_PI * (fmod(x, field->period) / field->period);
        to[0] = sa_cos(angle);
        to[1] = sa_sin(angle);
        return true;
    }
    case SA_FIELD_FLAG: to[0] = x; return x == 0 || x == 1;
    default: to[0] = x; return true;
    }
}

static size_t place_of(const sa_field *field, sa_span name) {
    uint64_t hash = sa_hash_end(sa_hash_bytes(field->hash, name.start, name.size));
    size_t i = 0;
    while (i < field->value_count && (field->hashes[i] != hash || !sa_span_equals(name, field->values[i])))
        i++;
    return i; /* after the last: any other value */
}

bool sa_field_encode(const sa_field *field, const sa_json *json, size_t at, char *scratch, double *to) {
    const sa_json_node *node = &json->nodes[at];
    sa_span name;
    switch (field->kind) {
    case SA_FIELD_TAGS: return encode_tags(field, json, at, scratch, to);
    case SA_FIELD_ANY: return sa_field_encode_any(field, json, at, scratch, to);
    case SA_FIELD_CATEGORY:
        if (!sa_field_name_of(json, at, scratch, &name)) return false;
        to[place_of(field, name)] = 1;
        return true;
    case SA_FIELD_HASHED:
        if (!sa_field_name_of(json, at, scratch, &name)) return false;
        add_hashed(field, name, 1, to);
        return true;
    case SA_FIELD_FLAG:
        to[0] = node->kind == SA_JSON_TRUE;
        if (node->kind == SA_JSON_TRUE || node->kind == SA_JSON_FALSE) return true;
        break;
    default: break;
    }
    return node->kind == SA_JSON_NUMBER && encode_number(field, sa_json_number(json, at), to);
}

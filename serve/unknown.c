#include "unknown.h"

#include <stdio.h>
#include <string.h>

static const char OTHERS[] = "others";

/* The field of this name, made where it is new. */
static sv_unknown_field *field_of(sv_unknown *self, const char *name) {
    size_t i = 0;
    while (i < self->count && strcmp(self->fields[i].name, name)) i++;
    if (i == self->count) {
        bool last = i >= UNKNOWN_FIELDS - 1;
        if (last) i = UNKNOWN_FIELDS - 1;
        if (i == self->count) {
            self->fields[i] = (sv_unknown_field){0};
            snprintf(self->fields[i].name, UNKNOWN_NAME, "%s", last ? OTHERS : name);
            self->count++;
        }
    }
    return &self->fields[i];
}

/* A name that is too long is cut, not inside a character. */
static void write_name(const char *part, const char *field, char out[UNKNOWN_NAME]) {
    if (snprintf(out, UNKNOWN_NAME, "%s.%s", part, field) < UNKNOWN_NAME) return;
    size_t length = UNKNOWN_NAME - 1;
    while (length && ((unsigned char)out[length - 1] & 0xc0) == 0x80) length--;
    out[length - 1] = 0;
}

static bool is_known(const sa_schema *schema, const char *part, const sa_json *json, size_t key) {
    sa_schema_column column;
    if (sa_json_equals(json, key, "id")) return true;
    for (size_t i = 0; sa_schema_column_at(schema, i, &column); i++)
        if (!strcmp(column.part, part) && sa_json_equals(json, key, column.field)) return true;
    return false;
}

/* A rule that names a field looks at it. */
static bool is_ruled(const sa_json *json, size_t key) {
    static const char *const rules[] = {"at_most", "at_least", NULL};
    for (size_t i = 0; rules[i]; i++) {
        size_t object = sa_json_find(json, 0, rules[i]);
        if (!object || json->nodes[object].kind != SA_JSON_OBJECT) continue;
        for (size_t at = object + 1; at < json->nodes[object].next; at = json->nodes[at + 1].next)
            if (json->nodes[at].size == json->nodes[key].size &&
                !memcmp(json->text + json->nodes[at].start, json->text + json->nodes[key].start,
                        json->nodes[key].size))
                return true;
    }
    return false;
}

static void read_name(const sa_json *json, size_t key, char *out, size_t room) {
    const sa_json_node *node = &json->nodes[key];
    size_t size = 0;
    if (node->size < room)
        size = sa_json_unescape(json, key, out);
    else
        memcpy(out, json->text + node->start, size = room - 1);
    out[size] = 0;
}

static void look(sv_unknown *self, const sa_schema *schema, const char *part, const char *shown,
                 const sa_json *json, size_t object) {
    char name[UNKNOWN_NAME], field[6 * UNKNOWN_NAME + 1]; /* cut, where it is longer */
    if (!object || json->nodes[object].kind != SA_JSON_OBJECT) return;
    for (size_t key = object + 1; key < json->nodes[object].next; key = json->nodes[key + 1].next) {
        if (is_known(schema, part, json, key) || is_ruled(json, key)) continue;
        read_name(json, key, field, sizeof field);
        write_name(shown, field, name);
        sv_unknown_field *at = field_of(self, name);
        at->values++;
        at->requests = 1;
    }
}

void sv_unknown_find(sv_unknown *self, const sv_ask *ask, const sa_schema *schema) {
    const sa_json *json = &ask->json;
    size_t items = sa_json_find(json, 0, "items");
    self->count = 0;
    look(self, schema, "context", "context", json, sa_json_find(json, 0, "context"));
    for (size_t at = items + 1; items && at < json->nodes[items].next; at = json->nodes[at].next)
        look(self, schema, "item", "items", json, at);
}

void sv_unknown_add(sv_unknown *self, const sv_unknown *request) {
    for (size_t i = 0; i < request->count; i++) {
        sv_unknown_field *at = field_of(self, request->fields[i].name);
        at->values += request->fields[i].values;
        at->requests += request->fields[i].requests;
    }
}

/* ---- did you mean? ---- */

enum { LONGEST = 64 };

/* Letters to add, leave out, change or swap with their neighbour. */
static size_t distance(const char *one, const char *other) {
    size_t rows[3][LONGEST + 1], n = strlen(one), m = strlen(other);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t least = last[j - 1] + (one[i - 1] != other[j - 1]);
            if (last[j] + 1 < least) least = last[j] + 1;
            if (now[j - 1] + 1 < least) least = now[j - 1] + 1;
            if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] &&
                before[j - 2] + 1 < least)
                least = before[j - 2] + 1;
            now[j] = least;
        }
    }
    return rows[n % 3][m];
}

/* A field of the same part that is at most two letters away; NULL: none. */
static const char *nearest(const sa_schema *schema, const char *part, const char *field) {
    sa_schema_column column;
    const char *found = NULL;
    size_t least = strlen(field) > 4 ? 3 : 2;
    for (size_t i = 0; sa_schema_column_at(schema, i, &column); i++) {
        size_t apart = strcmp(column.part, part) ? LONGEST : distance(field, column.field);
        if (apart >= least) continue;
        least = apart;
        found = column.field;
    }
    return found;
}

static void write_warning(const sv_unknown_field *field, const sa_schema *schema, sa_buffer *out) {
    sa_buffer sentence = {0};
    bool item = !strncmp(field->name, "items.", 6);
    const char *dot = strchr(field->name, '.');
    const char *near = dot ? nearest(schema, item ? "item" : "context", dot + 1) : NULL;
    sa_buffer_format(&sentence, "%s is not a field of the schema, and was not looked at", field->name);
    if (near) sa_buffer_format(&sentence, ": did you mean %s?", near);
    if (sentence.status) out->status = SA_OUT_OF_MEMORY;
    sa_buffer_quote(out, sentence.status ? "" : sentence.text);
    sa_buffer_clear(&sentence);
}

bool sv_unknown_warn(const sv_unknown *agent, const sv_unknown *request, const sa_schema *schema,
                     sa_buffer *out) {
    size_t written = 0;
    for (size_t i = 0; i < request->count; i++) {
        size_t k = 0;
        while (k < agent->count && strcmp(agent->fields[k].name, request->fields[i].name)) k++;
        bool enough = k < agent->count ? agent->fields[k].requests >= UNKNOWN_WARNINGS
                                       : agent->count == UNKNOWN_FIELDS; /* it is one of the others */
        if (enough) continue;
        sa_buffer_format(out, written++ ? ", " : "[");
        write_warning(&request->fields[i], schema, out);
    }
    if (written) sa_buffer_format(out, "]");
    return written;
}

void sv_unknown_write(const sv_unknown *self, sa_buffer *out) {
    sa_buffer_format(out, "{");
    for (size_t i = 0; i < self->count; i++) {
        if (i) sa_buffer_format(out, ", ");
        sa_buffer_quote(out, self->fields[i].name);
        sa_buffer_format(out, ": %llu", (unsigned long long)self->fields[i].values);
    }
    sa_buffer_format(out, "}");
}

#define _DEFAULT_SOURCE /* timegm */
#include "catalogue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "values.h"

/* ---- an item ---- */

void sv_item_retain(sv_item *self) { atomic_fetch_add(&self->owners, 1); }

void sv_item_release(sv_item *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    free(self);
}

/* Seconds since 1970, or 2026-12-01T00:00:00Z. */
static bool read_expiry(const sa_json *json, size_t at, int64_t *out) {
    char text[32] = "";
    struct tm day = {0};
    int end = 0;
    *out = 0;
    if (!at || sv_value_is(json, at, SA_JSON_NULL)) return true;
    if (sv_value_is(json, at, SA_JSON_NUMBER)) {
        double seconds = sa_json_number(json, at);
        *out = seconds > 0 && seconds < 1e11 ? (int64_t)(seconds * 1000) : -1;
        return *out > 0;
    }
    if (!sv_value_is(json, at, SA_JSON_STRING) || json->nodes[at].size > 30) return false;
    text[sa_json_unescape(json, at, text)] = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour,
               &day.tm_min, &day.tm_sec, &end) != 6 ||
        !end || text[end])
        return false;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    time_t seconds = timegm(&day);
    *out = seconds > 0 ? (int64_t)seconds * 1000 : 1;
    return true;
}

static sv_item *make_item(const char *id, const sa_buffer *text, size_t dim) {
    size_t room = (sizeof(sv_item) + strlen(id) + 8) / 8 * 8;
    sv_item *self = calloc(1, room + dim * sizeof(double) + text->size + 1);
    if (!self) return NULL;
    self->owners = 1;
    self->row = (double *)(void *)((char *)self + room);
    char *copy = (char *)(self->row + dim);
    memcpy(copy, text->text, text->size);
    strcpy(self->id, id);
    self->text = copy;
    self->size = text->size;
    return self;
}

static bool read_item(const sa_json *json, char id[LIMIT_ID + 1], sa_buffer *text, uint8_t *digest,
                      int64_t *expires, sv_refusal *why) {
    if (!sv_value_is(json, 0, SA_JSON_OBJECT)) return sv_refuse(why, 400, "it is no JSON object");
    size_t at = sa_json_find(json, 0, "id");
    if (sa_json_digest(json, digest) != SA_OK) return sv_refuse(why, 400, "%s", sa_last_error());
    if (!at) return sv_refuse(why, 400, "id is missing");
    if (!sv_value_id(json, at, "id", id, why)) return false;
    if (!read_expiry(json, sa_json_find(json, 0, "expires"), expires))
        return sv_refuse(why, 400,
                         "expires is neither seconds since 1970 nor a time such as \"2026-12-01T00:00:00Z\"");
    sa_buffer_value(text, json, 0);
    if (text->status) return sv_refuse(why, 503, "memory could not be had");
    return text->size <= LIMIT_STORED_ITEM ||
           sv_refuse(why, 400, "it has %zu bytes, and %d are the most", text->size, LIMIT_STORED_ITEM);
}

static bool say_line(sv_refusal *why, size_t line) {
    sv_refusal cause = *why;
    return line && cause.status == 400 ? sv_refuse(why, 400, "line %zu: %.440s", line, cause.message) : false;
}

sv_item *sv_item_new(const sa_schema *schema, const sa_json *json, size_t line, sa_encoding *encoding,
                     sv_refusal *why) {
    char id[LIMIT_ID + 1];
    sa_buffer text = {0};
    uint8_t digest[SA_SHA256_BYTES];
    int64_t expires = 0;
    sv_item *self = NULL;
    if (read_item(json, id, &text, digest, &expires, why)) {
        self = make_item(id, &text, schema ? sa_schema_dim(schema) : 0);
        if (!self) sv_refuse(why, 503, "memory could not be had");
    }
    sa_buffer_clear(&text);
    if (self) memcpy(self->digest, digest, sizeof self->digest);
    if (self) self->expires = expires;
    sa_status status = self && schema
                           ? sa_schema_encode_item(schema, json, 0, line ? line - 1 : 0, encoding, self->row)
                           : SA_OK;
    if (status != SA_OK) {
        sv_refuse_library(why, status);
        sv_item_release(self);
        self = NULL;
    }
    if (!self) say_line(why, line);
    return self;
}

/* ---- columns ---- */

static bool add_column(sv_catalogue *self) {
    sv_column *columns = realloc(self->columns, self->fields.count * sizeof *columns);
    if (!columns) return false;
    self->columns = columns;
    sv_column *added = &columns[self->fields.count - 1];
    *added = (sv_column){.of = malloc(self->count * sizeof *added->of)};
    if (added->of) memset(added->of, 0xff, self->count * sizeof *added->of); /* TEXTS_NONE */
    return added->of;
}

static bool add_value(sv_catalogue *self, const sa_json *json, size_t key, size_t index, sa_buffer *text) {
    text->size = 0;
    if (!sv_value_text(json, key, text) || text->status) return false;
    uint32_t field = sv_texts_find(&self->fields, text->text, text->size);
    if (field == TEXTS_NONE) {
        if (self->fields.count == LIMIT_STORED_FIELDS) return true; /* which rules cannot name */
        field = sv_texts_add(&self->fields, text->text, text->size);
        if (field == TEXTS_NONE || !add_column(self)) return false;
    }
    if (sv_value_is(json, key + 1, SA_JSON_NULL)) return true;
    text->size = 0;
    if (!sv_value_text(json, key + 1, text)) {
        sa_buffer_bytes(text, "\1", 1);
        sa_buffer_value(text, json, key + 1);
    }
    sv_column *column = &self->columns[field];
    if (text->status) return false;
    if (!text->text) sa_buffer_bytes(text, "", 0);
    column->of[index] = sv_texts_add(&column->values, text->text ? text->text : "", text->size);
    return column->of[index] != TEXTS_NONE;
}

static bool index_items(sv_catalogue *self) {
    sa_json json = {0};
    sa_buffer text = {0};
    bool good = true;
    for (size_t i = 0; good && i < self->count; i++) {
        const sv_item *item = self->items[i];
        good = sv_texts_add(&self->ids, item->id, strlen(item->id)) == i &&
               sa_json_parse(&json, item->text, item->size) == SA_OK;
        for (size_t key = 1; good && key < json.nodes[0].next; key = json.nodes[key + 1].next)
            if (!sa_json_equals(&json, key, "id")) good = add_value(self, &json, key, i, &text);
        self->bytes += item->size;
    }
    sa_json_clear(&json);
    sa_buffer_clear(&text);
    return good;
}

const sv_column *sv_catalogue_column(const sv_catalogue *self, const char *name) {
    uint32_t found = sv_texts_find(&self->fields, name, strlen(name));
    return found == TEXTS_NONE ? NULL : &self->columns[found];
}

/* ---- all of them ---- */

static void free_items(sv_item **items, size_t count) {
    for (size_t i = 0; i < count; i++) sv_item_release(items[i]);
    free(items);
}

sv_catalogue *sv_catalogue_new(sa_schema *schema, uint64_t version, sv_item **items, size_t count,
                               sv_refusal *why) {
    sv_catalogue *self = calloc(1, sizeof *self);
    if (!self) {
        free_items(items, count);
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    if (schema) sa_schema_retain(schema);
    self->owners = 1;
    self->schema = schema;
    self->dim = schema ? sa_schema_dim(schema) : 0;
    self->version = version;
    self->items = items;
    self->count = count;
    if (index_items(self)) return self;
    sv_refuse(why, 503, "memory could not be had");
    sv_catalogue_release(self);
    return NULL;
}

void sv_catalogue_retain(sv_catalogue *self) { atomic_fetch_add(&self->owners, 1); }

void sv_catalogue_release(sv_catalogue *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    for (size_t i = 0; self->columns && i < self->fields.count; i++) {
        sv_texts_free(&self->columns[i].values);
        free(self->columns[i].of);
    }
    free(self->columns);
    sv_texts_free(&self->fields);
    sv_texts_free(&self->ids);
    free_items(self->items, self->count);
    sa_schema_release(self->schema);
    sa_schema_release(self->misfit);
    free(self);
}

size_t sv_catalogue_memory(const sv_catalogue *self) {
    size_t bytes = sv_texts_bytes(&self->ids) + self->bytes +
                   self->count * (sizeof(sv_item) + 40 + self->dim * sizeof(double));
    for (size_t i = 0; i < self->fields.count; i++)
        bytes += sv_texts_bytes(&self->columns[i].values) + self->count * sizeof(uint32_t);
    return bytes;
}

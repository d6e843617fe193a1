#include "catalogue_change.h"

#include <stdlib.h>
#include <string.h>

#include "values.h"

static bool fail_memory(sv_refusal *why) { return sv_refuse(why, 503, "memory could not be had"); }

static void release_all(sv_item **items, size_t count) {
    for (size_t i = 0; items && i < count; i++) sv_item_release(items[i]);
    free(items);
}

void sv_change_free(sv_change *self) {
    sv_catalogue_release(self->made);
    release_all(self->fresh, self->fresh_count);
    release_all(self->gone, self->gone_count);
    *self = (sv_change){0};
}

/* ---- what becomes of each ---- */

typedef struct draft {
    sv_change *change;
    const sv_catalogue *now;
    const sv_settings *settings;
    sv_item **next;  /* (present count) what an item becomes; NULL: it goes */
    sv_item **added; /* (added_count) */
    size_t added_count, added_room;
    sv_texts seen; /* ids of the lines */
    sa_encoding *encoding;
    sa_json json, merged;
    sa_buffer text;
    bool some, fits; /* fits: the present items have rows of the agent's schema */
    sv_refusal *why;
} draft;

static size_t present(const draft *self) { return self->now ? self->now->count : 0; }

static bool add_fresh(draft *self, sv_item *item) {
    if (self->added_count == self->added_room) {
        size_t room = self->added_room ? 2 * self->added_room : 256;
        sv_item **added = realloc(self->added, room * sizeof *added);
        if (!added) {
            sv_item_release(item);
            return fail_memory(self->why);
        }
        self->added = added;
        self->added_room = room;
    }
    self->added[self->added_count++] = item;
    return true;
}

/* A wild number would be in the agent's statistics for ever. */
static bool check_range(const draft *self, const sv_item *item, size_t line) {
    const double *range = self->settings->feature_range;
    size_t dim = sa_schema_dim(self->settings->schema);
    for (size_t i = 0; i < dim; i++)
        if (item->row[i] != 0 && !(item->row[i] >= range[0] && item->row[i] <= range[1]))
            return sv_refuse(self->why, 400,
                             "line %zu: feature %zu is %g, outside the agent's feature_range, %g to %g", line,
                             i, item->row[i], range[0], range[1]);
    return true;
}

static void put_pair(sa_buffer *out, const sa_json *json, size_t key) {
    if (sv_value_is(json, key + 1, SA_JSON_NULL)) return;
    if (out->size > 1) sa_buffer_bytes(out, ",", 1);
    sa_buffer_value(out, json, key);
    sa_buffer_bytes(out, ":", 1);
    sa_buffer_value(out, json, key + 1);
}

/* Keys compare without their escapes. */
static bool has_key(const sa_json *json, const sa_json *other, size_t key) {
    sa_buffer name = {0};
    bool found = sv_value_text(other, key, &name) && !name.status && sa_json_find(json, 0, name.text);
    sa_buffer_clear(&name);
    return found;
}

/* The fields of an item with those of a line in their place. */
static bool merge(draft *self, const sv_item *old, size_t line) {
    sa_json before = {0};
    sa_buffer *out = &self->text;
    out->size = 0;
    sa_buffer_bytes(out, "{", 1);
    bool good = !old || sa_json_parse(&before, old->text, old->size) == SA_OK;
    for (size_t key = 1; good && old && key < before.nodes[0].next; key = before.nodes[key + 1].next)
        if (!has_key(&self->json, &before, key)) put_pair(out, &before, key);
    for (size_t key = 1; good && key < self->json.nodes[0].next; key = self->json.nodes[key + 1].next)
        put_pair(out, &self->json, key);
    sa_buffer_bytes(out, "}", 1);
    sa_json_clear(&before);
    self->merged.deepest = LIMIT_NESTING;
    if (!good || out->status || sa_json_parse(&self->merged, out->text, out->size) != SA_OK)
        return sv_refuse(self->why, 503, "line %zu could not be put together: memory may be short", line);
    return true;
}

static bool take_item(draft *self, sv_item *item, uint32_t old, size_t line) {
    const sv_item *before = old == TEXTS_NONE ? NULL : self->now->items[old];
    if (!check_range(self, item, line)) {
        sv_item_release(item);
        return false;
    }
    if (!before) return add_fresh(self, item);
    sv_item_release(self->next[old]);
    self->next[old] = NULL;
    if (self->fits && !memcmp(before->digest, item->digest, sizeof item->digest)) {
        sv_item_release(item);
        item = self->now->items[old];
        sv_item_retain(item);
    } else
        item->number = before->number;
    self->next[old] = item;
    return true;
}

static bool take_line(draft *self, const char *text, size_t size, size_t line) {
    sv_refusal *why = self->why;
    char id[LIMIT_ID + 1];
    self->json.deepest = LIMIT_NESTING;
    sa_status status = sa_json_parse(&self->json, text, size);
    if (status == SA_OK) status = sa_json_check_keys(&self->json);
    if (status != SA_OK)
        return status == SA_FORMAT ? sv_refuse(why, 400, "line %zu is no JSON: %s", line, sa_last_error())
                                   : sv_refuse_library(why, status);
    if (!sv_value_is(&self->json, 0, SA_JSON_OBJECT))
        return sv_refuse(why, 400, "line %zu is no JSON object", line);
    size_t at = sa_json_find(&self->json, 0, "id"), before = self->seen.count;
    if (!at) return sv_refuse(why, 400, "line %zu: id is missing", line);
    if (!sv_value_id(&self->json, at, "id", id, why)) {
        sv_refusal cause = *why;
        return sv_refuse(why, 400, "line %zu: %.400s", line, cause.message);
    }
    uint32_t seen = sv_texts_add(&self->seen, id, strlen(id));
    if (seen == TEXTS_NONE) return fail_memory(why);
    if (self->seen.count == before)
        return sv_refuse(why, 400, "line %zu: the id %.64s is there twice", line, id);
    uint32_t old = self->now ? sv_texts_find(&self->now->ids, id, strlen(id)) : TEXTS_NONE;
    if (self->some && !merge(self, old == TEXTS_NONE ? NULL : self->now->items[old], line)) return false;
    sv_item *item = sv_item_new(self->settings->schema, self->some ? &self->merged : &self->json, line,
                                self->encoding, why);
    return item && take_item(self, item, old, line);
}

static bool take_lines(draft *self, const char *body, size_t size) {
    size_t line = 0;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(body + at, '\n', size - at);
        size_t length = end ? (size_t)(end - body) - at : size - at, blank = 0;
        line++;
        while (blank < length && strchr(" \t\r", body[at + blank])) blank++;
        if (blank < length && !take_line(self, body + at, length, line)) return false;
        at += length + 1;
    }
    return self->seen.count ||
           sv_refuse(self->why, 400, "the body has no items: DELETE is what removes all of them");
}

/* ---- the next version ---- */

static bool check_size(const draft *self, size_t count, size_t bytes) {
    size_t dim = sa_schema_dim(self->settings->schema);
    if (count > LIMIT_STORED)
        return sv_refuse(self->why, 400, "these would be %zu items, and %d are the most", count,
                         LIMIT_STORED);
    if (bytes > LIMIT_STORED_BYTES)
        return sv_refuse(self->why, 400, "the items would have %zu bytes, and %d are the most", bytes,
                         LIMIT_STORED_BYTES);
    return count * dim <= LIMIT_STORED_NUMBERS ||
           sv_refuse(self->why, 400, "%zu items of %zu features are more than %d numbers", count, dim,
                     LIMIT_STORED_NUMBERS);
}

/* Which rows are new, and which end. */
static bool list_rows(draft *self) {
    sv_change *change = self->change;
    change->fresh = calloc(present(self) + self->added_count + 1, sizeof *change->fresh);
    change->gone = calloc(present(self) + 1, sizeof *change->gone);
    if (!change->fresh || !change->gone) return fail_memory(self->why);
    for (size_t i = 0; i < present(self); i++) {
        sv_item *old = self->now->items[i], *next = self->next[i];
        change->same += next == old;
        if (next == old) continue;
        sv_item_retain(change->gone[change->gone_count++] = old);
        if (next) sv_item_retain(change->fresh[change->fresh_count++] = next);
        change->changed += next != NULL;
        change->removed += next == NULL;
    }
    for (size_t i = 0; i < self->added_count; i++) {
        self->added[i]->number = (uint32_t)++change->number;
        sv_item_retain(change->fresh[change->fresh_count++] = self->added[i]);
    }
    change->added = self->added_count;
    return true;
}

static bool make_next(draft *self) {
    sv_change *change = self->change;
    size_t count = 0, bytes = 0;
    if (!list_rows(self)) return false;
    if (!change->fresh_count && !change->gone_count) return true;
    sv_item **items = calloc(change->same + change->fresh_count + 1, sizeof *items);
    if (!items) return fail_memory(self->why);
    for (size_t i = 0; i < present(self); i++)
        if (self->next[i]) sv_item_retain(items[count++] = self->next[i]);
    for (size_t i = 0; i < self->added_count; i++) sv_item_retain(items[count++] = self->added[i]);
    for (size_t i = 0; i < count; i++) bytes += items[i]->size;
    if (!check_size(self, count, bytes)) {
        release_all(items, count);
        return false;
    }
    change->made = sv_catalogue_new(self->settings->schema, 0, items, count, self->why);
    return change->made;
}

static bool run_draft(draft *self, const char *body, size_t size, int64_t time) {
    self->next = calloc(present(self) + 1, sizeof *self->next);
    self->encoding = sa_encoding_new();
    if (!self->next || !self->encoding) return fail_memory(self->why);
    for (size_t i = 0; self->some && i < present(self); i++)
        if (sv_item_is_open(self->now->items[i], time)) sv_item_retain(self->next[i] = self->now->items[i]);
    return take_lines(self, body, size) && make_next(self);
}

bool sv_change_lines(sv_change *self, const sv_catalogue *now, uint64_t number, const sv_settings *settings,
                     const char *body, size_t size, bool some, int64_t time, sv_refusal *why) {
    draft made = {.change = self, .now = now, .settings = settings, .some = some, .why = why};
    *self = (sv_change){.number = number};
    made.fits = now && now->schema && !strcmp(sa_schema_text(now->schema), sa_schema_text(settings->schema));
    bool good = run_draft(&made, body, size, time);
    release_all(made.next, made.next ? present(&made) : 0);
    release_all(made.added, made.added_count);
    sv_texts_free(&made.seen);
    sa_encoding_destroy(made.encoding);
    sa_json_clear(&made.json);
    sa_json_clear(&made.merged);
    sa_buffer_clear(&made.text);
    if (!good) sv_change_free(self);
    return good;
}

bool sv_change_remove(sv_change *self, const sv_catalogue *now, uint64_t number, const char *id,
                      sv_refusal *why) {
    size_t count = now ? now->count : 0, kept = 0;
    uint32_t found = now && id ? sv_texts_find(&now->ids, id, strlen(id)) : TEXTS_NONE;
    *self = (sv_change){.number = number};
    if (id && found == TEXTS_NONE) return sv_refuse(why, 404, "there is no stored item %.64s", id);
    if (!count) return true;
    sv_item **items = calloc(count, sizeof *items);
    self->gone = calloc(count, sizeof *self->gone);
    if (!items || !self->gone) {
        free(items);
        sv_change_free(self);
        return fail_memory(why);
    }
    for (size_t i = 0; i < count; i++) {
        bool goes = !id || i == found;
        sv_item_retain(now->items[i]);
        if (goes)
            self->gone[self->gone_count++] = now->items[i];
        else
            items[kept++] = now->items[i];
    }
    self->removed = self->gone_count;
    self->same = kept;
    self->made = sv_catalogue_new(now->schema, 0, items, kept, why);
    if (!self->made) sv_change_free(self);
    return self->made;
}

sv_store_status sv_change_write(sv_change *self, sv_store *store, int64_t agent) {
    uint64_t version = 0;
    sv_store_item *rows = calloc(self->gone_count + self->fresh_count + 1, sizeof *rows);
    if (!rows) return STORE_LATER;
    sv_store_item *fresh = rows + self->gone_count;
    for (size_t i = 0; i < self->gone_count; i++)
        rows[i] = (sv_store_item){.number = self->gone[i]->number, .since = self->gone[i]->since};
    for (size_t i = 0; i < self->fresh_count; i++) {
        const sv_item *item = self->fresh[i];
        fresh[i] = (sv_store_item){.number = item->number,
                                   .expires = item->expires,
                                   .id = item->id,
                                   .fields = item->text,
                                   .size = item->size};
    }
    const sv_store_change change = {rows, fresh, self->gone_count, self->fresh_count, self->number};
    sv_store_status status = sv_store_items_change(store, agent, &change, &version);
    free(rows);
    for (size_t i = 0; i < self->fresh_count; i++) self->fresh[i]->since = version;
    self->made->version = version;
    return status;
}

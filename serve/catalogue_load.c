/* A catalogue from the journal, whole or what has changed since, and for another schema. */
#include <stdlib.h>

#include "catalogue.h"

typedef struct reading {
    sv_item **items; /* (count) by number */
    size_t count, room;
    uint32_t *ended; /* (ended_count) numbers of rows that have, by number */
    size_t ended_count, ended_room;
    sa_schema *schema;
    sa_encoding *encoding;
    sa_json json;
    bool unfit; /* some item does not fit the schema */
    sv_refusal *why;
} reading;

static void end_reading(reading *self) {
    for (size_t i = 0; i < self->count; i++) sv_item_release(self->items[i]);
    free(self->items);
    free(self->ended);
    sa_encoding_destroy(self->encoding);
    sa_json_clear(&self->json);
}

/* Room for one more; false when memory is short. */
static bool grow(void **list, size_t size, size_t count, size_t *room) {
    if (count < *room) return true;
    size_t more = *room ? 2 * *room : 256;
    void *grown = realloc(*list, more * size);
    if (!grown) return false;
    *list = grown;
    *room = more;
    return true;
}

static bool keep(reading *self, sv_item *item) {
    if (!grow((void **)&self->items, sizeof *self->items, self->count, &self->room)) {
        sv_item_release(item);
        return sv_refuse(self->why, 503, "memory could not be had");
    }
    self->items[self->count++] = item;
    return true;
}

static bool keep_ended(reading *self, uint64_t number) {
    if (!grow((void **)&self->ended, sizeof *self->ended, self->ended_count, &self->ended_room))
        return sv_refuse(self->why, 503, "memory could not be had");
    self->ended[self->ended_count++] = (uint32_t)number;
    return true;
}

static bool read_stored(void *user, const sv_store_item *from) {
    reading *self = user;
    sv_refusal misfit = {0};
    if (from->until) return keep_ended(self, from->number);
    if (sa_json_parse(&self->json, from->fields, from->size) != SA_OK)
        return sv_refuse(self->why, 503, "item %.64s of the journal is no JSON", from->id);
    sv_item *item = sv_item_new(self->schema, &self->json, 0, self->encoding, &misfit);
    if (!item && misfit.status == 400) {
        self->unfit = true;
        item = sv_item_new(NULL, &self->json, 0, self->encoding, self->why);
    }
    if (!item) return sv_refuse(self->why, 503, "item %.64s: %.300s", from->id, misfit.message);
    item->number = (uint32_t)from->number;
    item->since = from->since;
    return keep(self, item);
}

/* What there is now of `before`, and what has come, by number. */
static bool merge(reading *self, const sv_catalogue *before) {
    sv_item **fresh = self->items;
    size_t count = self->count, ended = 0, next = 0;
    self->items = NULL;
    self->count = self->room = 0;
    for (size_t i = 0; i < before->count || next < count;) {
        sv_item *old = i < before->count ? before->items[i] : NULL;
        if (next < count && (!old || fresh[next]->number <= old->number)) {
            i += old && fresh[next]->number == old->number;
            if (!keep(self, fresh[next++])) break;
            continue;
        }
        while (ended < self->ended_count && self->ended[ended] < old->number) ended++;
        i++;
        if (ended < self->ended_count && self->ended[ended] == old->number) continue;
        sv_item_retain(old);
        if (!keep(self, old)) break;
    }
    for (; next < count; next++) sv_item_release(fresh[next]);
    free(fresh);
    return !self->why->status;
}

static sv_store_status read_rows(reading *self, sv_store *store, int64_t agent, uint64_t after,
                                 sv_store_catalogue *about) {
    self->encoding = sa_encoding_new();
    if (!self->encoding) return sv_refuse(self->why, 503, "memory could not be had"), STORE_LATER;
    sv_store_status status = sv_store_items(store, agent, after, about, read_stored, self);
    if (status != STORE_OK && status != STORE_NONE && !self->why->status)
        sv_refuse(self->why, 503, "%s", sv_store_sentence(store));
    return status;
}

static bool stop(void *user, const sv_store_item *item) { return (void)user, (void)item, false; }

/* Is there nothing after it? Where its rows fit no schema, all would be read to know that. */
static bool is_last(sv_store *store, int64_t agent, const sv_catalogue *self, sv_store_catalogue *about) {
    return sv_store_items(store, agent, self->version, about, stop, NULL) == STORE_OK &&
           about->version <= self->version;
}

bool sv_catalogue_load(sv_store *store, int64_t agent, const sv_catalogue *before, sa_schema *schema,
                       sv_catalogue **out, sv_store_catalogue *about, sv_refusal *why) {
    const sv_catalogue *base = before && before->schema ? before : NULL; /* else all are read again */
    reading self = {.schema = base ? base->schema : schema, .why = why};
    *out = NULL;
    if (!base && before && is_last(store, agent, before, about)) return true;
    sv_store_status status = read_rows(&self, store, agent, base ? base->version : 0, about);
    if (status == STORE_NONE) {
        end_reading(&self);
        base = NULL;
        self = (reading){.schema = schema, .why = why};
        status = read_rows(&self, store, agent, 0, about);
    }
    bool newer = !why->status && about->version && (!before || about->version > before->version);
    if (newer && (!base || merge(&self, base))) {
        *out = sv_catalogue_new(self.unfit ? NULL : self.schema, about->version, self.items, self.count, why);
        self.items = NULL; /* taken over */
        self.count = 0;
    }
    end_reading(&self);
    return !why->status;
}

sv_catalogue *sv_catalogue_encode(const sv_catalogue *from, sa_schema *schema, sv_refusal *why) {
    reading self = {.schema = schema, .why = why, .encoding = sa_encoding_new()};
    sv_catalogue *made = NULL;
    for (size_t i = 0; !why->status && i < from->count; i++) {
        const sv_item *old = from->items[i];
        sv_item *item = NULL;
        if (!self.encoding || sa_json_parse(&self.json, old->text, old->size) != SA_OK)
            sv_refuse(why, 503, "memory could not be had");
        else if (!(item = sv_item_new(schema, &self.json, 0, self.encoding, why))) {
            sv_refusal cause = *why;
            sv_refuse(why, cause.status, "the stored item %.64s does not fit the agent's schema: %.300s",
                      old->id, cause.message);
        } else {
            item->number = old->number;
            item->since = old->since;
            keep(&self, item);
        }
    }
    if (!why->status) {
        made = sv_catalogue_new(schema, from->version, self.items, self.count, why);
        self.items = NULL;
        self.count = 0;
    }
    end_reading(&self);
    return made;
}

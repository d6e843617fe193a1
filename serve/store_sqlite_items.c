/* Items of catalogues: what they are now, and what they were when decisions named them. */
#include <stdio.h>

#include "expand.h"
#include "store_sqlite.h"

static void read_item(sqlite3_stmt *from, sv_store_item *out) {
    *out = (sv_store_item){.number = (uint64_t)sqlite3_column_int64(from, 0),
                           .since = (uint64_t)sqlite3_column_int64(from, 1),
                           .until = (uint64_t)sqlite3_column_int64(from, 2),
                           .id = (const char *)sqlite3_column_text(from, 3),
                           .expires = sqlite3_column_int64(from, 4),
                           .fields = (const char *)sqlite3_column_text(from, 5),
                           .size = (size_t)sqlite3_column_bytes(from, 5)};
}

/* ---- what is known of a catalogue: facts, as the last item of the past may have gone ---- */

static void name_facts(int64_t agent, char version[40], char number[40]) {
    snprintf(version, 40, "items_version_%lld", (long long)agent);
    snprintf(number, 40, "items_number_%lld", (long long)agent);
}

static sv_store_status ask_two(sv_store *self, int which, int64_t agent, uint64_t *first, uint64_t *second) {
    sqlite3_stmt *ask = sv_sqlite_use(self, which);
    if (!ask) return STORE_FAILED;
    sqlite3_bind_int64(ask, 1, agent);
    sv_store_status status = sv_sqlite_step(self, ask);
    *first = (uint64_t)sqlite3_column_int64(ask, 0);
    if (second) *second = (uint64_t)sqlite3_column_int64(ask, 1);
    sqlite3_reset(ask);
    return status;
}

/* Journals of before have no such facts: there the rows say. */
static sv_store_status find_last(sv_store *self, int64_t agent, sv_store_catalogue *out) {
    char version[40], number[40];
    int64_t last = 0, largest = 0;
    *out = (sv_store_catalogue){0};
    name_facts(agent, version, number);
    sv_store_status status = sv_sqlite_get_number(self, version, &last);
    if (status == STORE_OK) status = sv_sqlite_get_number(self, number, &largest);
    if (status == STORE_NONE) return ask_two(self, SQL_ITEMS_LAST, agent, &out->version, &out->number);
    out->version = (uint64_t)last;
    out->number = (uint64_t)largest;
    return status;
}

static sv_store_status find_catalogue(sv_store *self, int64_t agent, sv_store_catalogue *out) {
    sv_store_status status = find_last(self, agent, out);
    return status == STORE_OK ? ask_two(self, SQL_ITEMS_COUNT, agent, &out->past, NULL) : status;
}

sv_store_status sv_sqlite_items_keep(sv_store *self, int64_t agent, uint64_t version, uint64_t number) {
    char first[40], second[40];
    name_facts(agent, first, second);
    sv_store_status status = sv_sqlite_put_number(self, first, (int64_t)version);
    return status == STORE_OK ? sv_sqlite_put_number(self, second, (int64_t)number) : status;
}

/* Nobody else writes. */
sv_store_status sv_sqlite_items_lock(sv_store *self, int64_t agent, sv_store_catalogue *out) {
    return find_catalogue(self, agent, out);
}

/* ---- changes ---- */

static sv_store_status put(sv_store *self, int64_t agent, const sv_store_item *item, uint64_t version) {
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_ITEM_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_int64(put, 1, agent);
    sqlite3_bind_int64(put, 2, (int64_t)item->number);
    sqlite3_bind_int64(put, 3, (int64_t)version);
    sqlite3_bind_text(put, 4, item->id, -1, SQLITE_STATIC);
    if (item->expires) sqlite3_bind_int64(put, 5, item->expires);
    sqlite3_bind_text(put, 6, item->fields, (int)item->size, SQLITE_STATIC);
    return sv_sqlite_run(self, put);
}

static sv_store_status end(sv_store *self, int64_t agent, const sv_store_item *item, uint64_t version) {
    sqlite3_stmt *end = sv_sqlite_use(self, SQL_ITEM_END);
    if (!end) return STORE_FAILED;
    sqlite3_bind_int64(end, 1, agent);
    sqlite3_bind_int64(end, 2, (int64_t)item->number);
    sqlite3_bind_int64(end, 3, (int64_t)item->since);
    sqlite3_bind_int64(end, 4, (int64_t)version);
    return sv_sqlite_run(self, end);
}

sv_store_status sv_sqlite_items_change(sv_store *self, int64_t agent, const sv_store_change *change,
                                       uint64_t *version) {
    sv_store_catalogue before;
    uint64_t now = self->clock.kept > 0 ? (uint64_t)self->clock.kept : 0;
    sv_store_status status = find_last(self, agent, &before);
    *version = now > before.version ? now : before.version + 1;
    for (size_t i = 0; status == STORE_OK && i < change->gone_count; i++)
        status = end(self, agent, &change->gone[i], *version);
    for (size_t i = 0; status == STORE_OK && i < change->fresh_count; i++)
        status = put(self, agent, &change->fresh[i], *version);
    return status == STORE_OK ? sv_sqlite_items_keep(self, agent, *version, change->number) : status;
}

/* ---- reading ---- */

sv_store_status sv_sqlite_items(sv_store *self, int64_t agent, uint64_t after, sv_store_catalogue *out,
                                bool (*each)(void *user, const sv_store_item *item), void *user) {
    sqlite3_stmt *list;
    sv_store_item item;
    sv_store_status status = find_catalogue(self, agent, out);
    if (status != STORE_OK || after) return status == STORE_OK ? STORE_NONE : status; /* nobody follows */
    if (!(list = sv_sqlite_use(self, SQL_ITEMS))) return STORE_FAILED;
    sqlite3_bind_int64(list, 1, agent);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        read_item(list, &item);
        if (!item.id || !item.fields || !each(user, &item)) break;
    }
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_items_at(sv_store *self, int64_t agent, uint64_t version, const uint32_t *numbers,
                                   size_t count, void (*each)(void *user, const sv_store_item *item),
                                   void *user) {
    sv_store_status status = STORE_OK;
    for (size_t i = 0; status == STORE_OK && i < count; i++) {
        sqlite3_stmt *find = sv_sqlite_use(self, SQL_ITEM_AT);
        sv_store_item item;
        if (!find) return STORE_FAILED;
        sqlite3_bind_int64(find, 1, agent);
        sqlite3_bind_int64(find, 2, numbers[i]);
        sqlite3_bind_int64(find, 3, (int64_t)version);
        if ((status = sv_sqlite_step(self, find)) != STORE_OK) break;
        read_item(find, &item);
        if (item.id && item.fields)
            each(user, &item);
        else
            status = STORE_LATER; /* memory is short */
        sqlite3_reset(find);
    }
    return status;
}

/* When the first decision that is there was made, or before that. */
static sv_store_status find_oldest(sv_store *self, int64_t agent, int64_t wait, int64_t *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ITEMS_OLDEST);
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, agent);
    sqlite3_bind_int64(find, 2, wait);
    sqlite3_bind_int64(find, 3, self->clock.kept);
    sv_store_status status = sv_sqlite_step(self, find);
    *out = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    return status;
}

sv_store_status sv_sqlite_items_purge(sv_store *self, int64_t agent, int64_t wait, uint64_t before,
                                      size_t most, uint64_t *count) {
    int64_t oldest = 0;
    *count = 0;
    sv_store_status status = find_oldest(self, agent, wait, &oldest);
    sqlite3_stmt *purge = status == STORE_OK ? sv_sqlite_use(self, SQL_ITEMS_PURGE) : NULL;
    if (!purge) return status == STORE_OK ? STORE_FAILED : status;
    if (oldest > 0 && (uint64_t)oldest > before) oldest = (int64_t)before;
    sqlite3_bind_int64(purge, 1, agent);
    sqlite3_bind_int64(purge, 2, oldest);
    sqlite3_bind_int64(purge, 3, (int64_t)most);
    status = sv_sqlite_run(self, purge);
    *count = status == STORE_OK ? (uint64_t)sqlite3_changes(self->database) : 0;
    return status;
}

sv_store_status sv_sqlite_expand(sv_store *self, sv_store_decision *of, bool body) {
    sv_store_status status = sv_expand(self, of, body ? &self->body : NULL, &self->answer);
    if (status != STORE_NONE) return status;
    snprintf(self->sentence, sizeof self->sentence, "event %.64s names an item that is not in the journal",
             of->event);
    return STORE_FAILED;
}

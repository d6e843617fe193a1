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

sv_store_status sv_sqlite_item_put(sv_store *self, int64_t agent, const sv_store_item *item) {
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_ITEM_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_int64(put, 1, agent);
    sqlite3_bind_int64(put, 2, (int64_t)item->number);
    sqlite3_bind_int64(put, 3, (int64_t)item->since);
    sqlite3_bind_text(put, 4, item->id, -1, SQLITE_STATIC);
    if (item->expires) sqlite3_bind_int64(put, 5, item->expires);
    sqlite3_bind_text(put, 6, item->fields, (int)item->size, SQLITE_STATIC);
    return sv_sqlite_run(self, put);
}

sv_store_status sv_sqlite_item_end(sv_store *self, int64_t agent, uint64_t number, uint64_t since,
                                   uint64_t until) {
    sqlite3_stmt *end = sv_sqlite_use(self, SQL_ITEM_END);
    if (!end) return STORE_FAILED;
    sqlite3_bind_int64(end, 1, agent);
    sqlite3_bind_int64(end, 2, (int64_t)number);
    sqlite3_bind_int64(end, 3, (int64_t)since);
    sqlite3_bind_int64(end, 4, (int64_t)until);
    return sv_sqlite_run(self, end);
}

sv_store_status sv_sqlite_items(sv_store *self, int64_t agent,
                                bool (*each)(void *user, const sv_store_item *item), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_ITEMS);
    sv_store_status status;
    sv_store_item item;
    if (!list) return STORE_FAILED;
    sqlite3_bind_int64(list, 1, agent);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        read_item(list, &item);
        if (!item.id || !item.fields || !each(user, &item)) break;
    }
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_item_at(sv_store *self, int64_t agent, uint64_t number, uint64_t version,
                                  void (*each)(void *user, const sv_store_item *item), void *user) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ITEM_AT);
    sv_store_item item;
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, agent);
    sqlite3_bind_int64(find, 2, (int64_t)number);
    sqlite3_bind_int64(find, 3, (int64_t)version);
    sv_store_status status = sv_sqlite_step(self, find);
    if (status != STORE_OK) return status;
    read_item(find, &item);
    if (item.id && item.fields) each(user, &item);
    sqlite3_reset(find);
    return STORE_OK;
}

sv_store_status sv_sqlite_items_count(sv_store *self, int64_t agent, uint64_t *version, uint64_t *number,
                                      uint64_t *past) {
    sqlite3_stmt *count = sv_sqlite_use(self, SQL_ITEMS_COUNT);
    if (!count) return STORE_FAILED;
    sqlite3_bind_int64(count, 1, agent);
    sv_store_status status = sv_sqlite_step(self, count);
    *version = (uint64_t)sqlite3_column_int64(count, 0);
    *number = (uint64_t)sqlite3_column_int64(count, 1);
    *past = (uint64_t)sqlite3_column_int64(count, 2);
    sqlite3_reset(count);
    return status;
}

uint64_t sv_sqlite_items_version(const sv_store *self, uint64_t after) {
    uint64_t now = self->clock.kept > 0 ? (uint64_t)self->clock.kept : 0;
    return now > after ? now : after + 1;
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
    self->body.size = self->answer.size = 0;
    if (sv_expand(self, of, body ? &self->body : NULL, &self->answer)) return STORE_OK;
    if (self->body.status || self->answer.status) {
        sa_buffer_clear(&self->body);
        sa_buffer_clear(&self->answer);
        return STORE_LATER;
    }
    snprintf(self->sentence, sizeof self->sentence, "event %.64s names an item that is not in the journal",
             of->event);
    return STORE_FAILED;
}

/* Sums by hour. */
#include "store_sqlite.h"

static sv_store_status keep_text(sv_store *self, const char *text, sv_store_hour *out) {
    sa_buffer *kept = &self->hour;
    kept->size = 0;
    sa_buffer_text(kept, text ? text : "");
    if (kept->status) {
        sa_buffer_clear(kept);
        *kept = (sa_buffer){0};
        return STORE_LATER;
    }
    out->data = kept->text;
    return STORE_OK;
}

sv_store_status sv_sqlite_hour_newest(sv_store *self, int64_t agent, sv_store_hour *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_HOUR_NEWEST);
    if (!find) return STORE_FAILED;
    *out = (sv_store_hour){.now = self->clock.kept};
    sqlite3_bind_int64(find, 1, agent);
    sv_store_status status = sv_sqlite_step(self, find);
    if (status == STORE_OK) {
        out->hour = sqlite3_column_int64(find, 0);
        status = keep_text(self, (const char *)sqlite3_column_text(find, 1), out);
    }
    sqlite3_reset(find);
    return status;
}

sv_store_status sv_sqlite_hour_put(sv_store *self, int64_t agent, int64_t hour, const char *data, bool left) {
    (void)left; /* nobody else has it */
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_HOUR_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_int64(put, 1, agent);
    sqlite3_bind_int64(put, 2, hour);
    sqlite3_bind_text(put, 3, data, -1, SQLITE_STATIC);
    return sv_sqlite_run(self, put);
}

sv_store_status sv_sqlite_hours(sv_store *self, int64_t agent, int64_t from, int64_t to,
                                bool (*each)(void *user, const sv_store_hour *hour), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_HOURS);
    sv_store_status status;
    if (!list) return STORE_FAILED;
    sqlite3_bind_int64(list, 1, agent);
    sqlite3_bind_int64(list, 2, from);
    sqlite3_bind_int64(list, 3, to);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_store_hour row = {.hour = sqlite3_column_int64(list, 0),
                             .data = (const char *)sqlite3_column_text(list, 1)};
        if (!row.data || !each(user, &row)) break;
    }
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_hours_delete(sv_store *self, int64_t agent, int64_t from, int64_t to) {
    sqlite3_stmt *remove = sv_sqlite_use(self, SQL_HOURS_REMOVE);
    if (!remove) return STORE_FAILED;
    sqlite3_bind_int64(remove, 1, agent);
    sqlite3_bind_int64(remove, 2, from);
    sqlite3_bind_int64(remove, 3, to);
    return sv_sqlite_run(self, remove);
}

sv_store_status sv_sqlite_hours_left(sv_store *self,
                                     bool (*each)(void *user, int64_t agent, const char *data), void *user) {
    return (void)self, (void)each, (void)user, STORE_OK; /* there is one server */
}

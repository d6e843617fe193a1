/* Retention, and copies of the journal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "store_sqlite.h"

enum { BATCH = 256 };

typedef struct candidate {
    int64_t id, time, decision, state;
} candidate;

static sv_store_status by_id(sv_store *self, int which, int64_t id) {
    sqlite3_stmt *statement = sv_sqlite_use(self, which);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, id);
    return sv_sqlite_run(self, statement);
}

/* The oldest, in order, up to the first that is too young: so the rest is not looked at. */
static sv_store_status list(sv_store *self, const sv_store_retention *what, int which, int state,
                            candidate out[BATCH], size_t *count) {
    sqlite3_stmt *find = sv_sqlite_use(self, which);
    sv_store_status status;
    size_t most = what->most < BATCH ? what->most : BATCH;
    int64_t before = self->clock.kept - what->age;
    *count = 0;
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, what->agent);
    if (which == SQL_OLDEST_OPEN) sqlite3_bind_int(find, 2, state);
    sqlite3_bind_int64(find, which == SQL_OLDEST_OPEN ? 3 : 2, (int64_t)most);
    while ((status = sv_sqlite_step(self, find)) == STORE_OK) {
        int64_t time = sqlite3_column_int64(find, 1), third = sqlite3_column_int64(find, 2);
        if (!what->deleted && time >= before) break;
        if (which == SQL_OLDEST_OPEN && state == DECISION_WAITS && third && !what->deleted)
            continue; /* its wait ends by itself */
        out[(*count)++] =
            (candidate){sqlite3_column_int64(find, 0), time, third, sqlite3_column_int64(find, 3)};
    }
    sqlite3_reset(find);
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status remove_decision(sv_store *self, int64_t id) {
    sv_store_status status = by_id(self, SQL_FEEDBACK_DELETE, id);
    return status == STORE_OK ? by_id(self, SQL_DECISION_DELETE, id) : status;
}

static bool goes_on(const sv_store_retention *what) {
    /* one at least, however slow the disk: else a pass would never end */
    return what->count < what->most && (what->count == 0 || sv_clock_seconds() < what->until);
}

static sv_store_status remove_rows(sv_store *self, sv_store_retention *what) {
    candidate found[BATCH];
    size_t count = 0;
    sv_store_status status = list(self, what, SQL_OLDEST_ROWS, 0, found, &count);
    for (size_t i = 0; status == STORE_OK && i < count && goes_on(what); i++) {
        if (found[i].decision) status = remove_decision(self, found[i].decision);
        if (status == STORE_OK) status = by_id(self, SQL_ROW_DELETE, found[i].id);
        what->count++;
    }
    return status;
}

static sv_store_status remove_open(sv_store *self, sv_store_retention *what, int state) {
    candidate found[BATCH];
    size_t count = 0;
    if (!goes_on(what)) return STORE_OK;
    sv_store_status status = list(self, what, SQL_OLDEST_OPEN, state, found, &count);
    for (size_t i = 0; status == STORE_OK && i < count && goes_on(what); i++) {
        status = remove_decision(self, found[i].id);
        what->count++;
        what->waited += state == DECISION_WAITS;
        what->held += state == DECISION_HELD;
    }
    return status;
}

sv_store_status sv_sqlite_retain(sv_store *self, sv_store_retention *what) {
    what->count = what->waited = what->held = 0;
    sv_store_status status = remove_rows(self, what);
    if (status == STORE_OK) status = remove_open(self, what, DECISION_WAITS);
    if (status == STORE_OK) status = remove_open(self, what, DECISION_HELD);
    if (status == STORE_OK) status = remove_open(self, what, DECISION_DROPPED);
    what->more = what->count > 0;
    return status;
}

sv_store_status sv_sqlite_held_remove(sv_store *self, int64_t agent, size_t keep, size_t most,
                                      uint64_t *count) {
    (void)keep;
    sv_store_retention what = {.agent = agent, .deleted = true, .most = most, .until = INFINITY};
    sv_store_status status = remove_open(self, &what, DECISION_HELD);
    *count = what.held;
    return status;
}

static int64_t pragma(sv_store *self, const char *sql) {
    sqlite3_stmt *ask = NULL;
    int64_t value = 0;
    if (sqlite3_prepare_v2(self->database, sql, -1, &ask, NULL) == SQLITE_OK &&
        sqlite3_step(ask) == SQLITE_ROW)
        value = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return value;
}

/* Free pages are used again; what is given back is what is too much for that: over a quarter of the file. */
sv_store_status sv_sqlite_give_back(sv_store *self, size_t most) {
    enum { FEW = 1024 };
    char sql[64];
    int64_t unused = pragma(self, "PRAGMA freelist_count"), all = pragma(self, "PRAGMA page_count");
    if (unused < FEW || unused < all / 4) return STORE_NONE;
    snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%zu)", most);
    return sv_sqlite_run_sql(self, sql) ? STORE_OK : sv_sqlite_result(self, sqlite3_errcode(self->database));
}

sv_store_status sv_sqlite_agent_remove(sv_store *self, int64_t agent) {
    sqlite3_stmt *any = sv_sqlite_use(self, SQL_ANY_DECISION);
    if (!any) return STORE_FAILED;
    sqlite3_bind_int64(any, 1, agent);
    sv_store_status status = sv_sqlite_step(self, any);
    sqlite3_reset(any);
    if (status != STORE_NONE) return status == STORE_OK ? STORE_NONE : status;
    static const int of_agent[] = {SQL_CHECKPOINT_DELETE, SQL_ITEMS_DELETE,       SQL_ITEMS_FORGET,
                                   SQL_HOURS_DELETE,      SQL_EVALUATIONS_DELETE, SQL_AGENT_REMOVE};
    status = STORE_OK;
    for (size_t i = 0; status == STORE_OK && i < sizeof of_agent / sizeof *of_agent; i++)
        status = by_id(self, of_agent[i], agent);
    return status;
}

sv_store_status sv_sqlite_copy(sv_store *self, const char *path) {
    sqlite3 *copy = NULL;
    int result = sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, sv_sqlite_vfs());
    sqlite3_backup *backup =
        result == SQLITE_OK ? sqlite3_backup_init(copy, "main", self->database, "main") : NULL;
    if (backup) {
        sqlite3_backup_step(backup, -1); /* all in one: one moment of the journal */
        result = sqlite3_backup_finish(backup);
    } else
        result = sqlite3_errcode(copy);
    sqlite3_close(copy);
    return sv_sqlite_result(self, result);
}

/* Evaluations of agents: what was asked, and what came of it. */
#include "store_sqlite.h"

enum { KEPT = 100 }; /* the last of each agent */

sv_store_status sv_sqlite_evaluation_add(sv_store *self, int64_t agent, int64_t now, const char *request,
                                         const char *server, int64_t *id) {
    (void)server;
    sv_store_status status = sv_sqlite_next_number(self, "last_evaluation", id);
    sqlite3_stmt *add = status == STORE_OK ? sv_sqlite_use(self, SQL_EVALUATION_ADD) : NULL;
    if (!add) return status == STORE_OK ? STORE_FAILED : status;
    sqlite3_bind_int64(add, 1, agent);
    sqlite3_bind_int64(add, 2, *id);
    sqlite3_bind_int64(add, 3, now);
    sqlite3_bind_text(add, 4, request, -1, SQLITE_STATIC);
    status = sv_sqlite_run(self, add);
    sqlite3_stmt *trim = status == STORE_OK ? sv_sqlite_use(self, SQL_EVALUATIONS_TRIM) : NULL;
    if (!trim) return status == STORE_OK ? STORE_FAILED : status;
    sqlite3_bind_int64(trim, 1, agent);
    sqlite3_bind_int64(trim, 2, KEPT);
    return sv_sqlite_run(self, trim);
}

/* STORE_NONE where no row was changed. */
static sv_store_status change_one(sv_store *self, sqlite3_stmt *statement, int64_t agent, int64_t id) {
    uint64_t before = sv_sqlite_changes(self);
    sqlite3_bind_int64(statement, 1, agent);
    sqlite3_bind_int64(statement, 2, id);
    sv_store_status status = sv_sqlite_run(self, statement);
    return status == STORE_OK && sv_sqlite_changes(self) == before ? STORE_NONE : status;
}

sv_store_status sv_sqlite_evaluation_put(sv_store *self, int64_t agent, int64_t id, const char *result) {
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_EVALUATION_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_text(put, 3, result, -1, SQLITE_STATIC);
    return change_one(self, put, agent, id);
}

sv_store_status sv_sqlite_evaluation_delete(sv_store *self, int64_t agent, int64_t id) {
    sqlite3_stmt *remove = sv_sqlite_use(self, SQL_EVALUATION_DELETE);
    return remove ? change_one(self, remove, agent, id) : STORE_FAILED;
}

sv_store_status sv_sqlite_evaluations(sv_store *self, int64_t agent, int64_t id,
                                      void (*each)(void *user, const sv_store_evaluation *evaluation),
                                      void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_EVALUATIONS);
    sv_store_status status;
    if (!list) return STORE_FAILED;
    sqlite3_bind_int64(list, 1, agent);
    sqlite3_bind_int64(list, 2, id);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_store_evaluation found = {.id = sqlite3_column_int64(list, 0),
                                     .time = sqlite3_column_int64(list, 1),
                                     .request = (const char *)sqlite3_column_text(list, 2),
                                     .result = (const char *)sqlite3_column_text(list, 3)};
        if (found.request) each(user, &found);
    }
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

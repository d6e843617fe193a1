/* How much feedback there is. */
#include "store_sqlite.h"

sv_store_status sv_sqlite_feedback_last(sv_store *self, int64_t *id) {
    sqlite3_stmt *last = sv_sqlite_use(self, SQL_FEEDBACK_LAST);
    if (!last) return STORE_FAILED;
    sv_store_status status = sv_sqlite_step(self, last);
    if (status == STORE_OK) *id = sqlite3_column_int64(last, 0); /* NULL, where there is none, is 0 */
    sqlite3_reset(last);
    return status;
}

sv_store_status sv_sqlite_feedback_tally(sv_store *self, int64_t from, int64_t to,
                                         void (*each)(void *user, int64_t agent, uint64_t count,
                                                      uint64_t late),
                                         void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_FEEDBACK_TALLY);
    sv_store_status status = STORE_FAILED;
    if (!list) return status;
    sqlite3_bind_int64(list, 1, from);
    sqlite3_bind_int64(list, 2, to);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK)
        each(user, sqlite3_column_int64(list, 0), (uint64_t)sqlite3_column_int64(list, 1),
             (uint64_t)sqlite3_column_int64(list, 2));
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

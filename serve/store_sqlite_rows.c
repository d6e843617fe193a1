/* The journal's rows: what an agent is a function of. */
#include <stdio.h>

#include "store_sqlite.h"

static sv_store_status last_seq(sv_store *self, int64_t agent, uint64_t *out) {
    sqlite3_stmt *last = sv_sqlite_use(self, SQL_ROW_LAST);
    if (!last) return STORE_FAILED;
    sqlite3_bind_int64(last, 1, agent);
    sv_store_status status = sv_sqlite_step(self, last);
    if (status == STORE_OK) *out = (uint64_t)sqlite3_column_int64(last, 0);
    sqlite3_reset(last);
    return status;
}

sv_store_status sv_sqlite_row_add(sv_store *self, int64_t agent, sv_store_row *row) {
    uint64_t last;
    sv_store_status status = last_seq(self, agent, &last);
    if (status != STORE_OK) return status;
    row->seq = last + 1;
    sqlite3_stmt *add = sv_sqlite_use(self, SQL_ROW_ADD);
    if (!add) return STORE_FAILED;
    sqlite3_bind_int64(add, 1, agent);
    sqlite3_bind_int64(add, 2, (int64_t)row->seq);
    sqlite3_bind_int(add, 3, row->kind);
    if (row->decision)
        sqlite3_bind_int64(add, 4, row->decision);
    else
        sqlite3_bind_null(add, 4);
    sqlite3_bind_int64(add, 5, row->time = self->clock.kept);
    sqlite3_bind_blob64(add, 6, row->data, row->size, SQLITE_STATIC);
    status = sv_sqlite_run(self, add);
    if (status != STORE_OK || row->kind != ROW_LEARN) return status;
    sqlite3_stmt *mark = sv_sqlite_use(self, SQL_DECISION_LEARNT);
    if (!mark) return STORE_FAILED;
    sqlite3_bind_int64(mark, 1, row->decision);
    sqlite3_bind_int64(mark, 2, (int64_t)(row->seq + ((uint64_t)1 << SEQ_SHIFT)));
    return sv_sqlite_run(self, mark);
}

sv_store_status sv_sqlite_rows(sv_store *self, int64_t agent, uint64_t from, size_t most,
                               bool (*each)(void *user, const sv_store_row *row), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_ROWS);
    sv_store_status status = STORE_FAILED;
    if (!list) return status;
    sqlite3_bind_int64(list, 1, agent);
    sqlite3_bind_int64(list, 2, (int64_t)from);
    sqlite3_bind_int64(list, 3, (int64_t)most);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_store_row row = {0};
        bool sound = sqlite3_column_int(list, STORE_DECISION_COLUMNS + 5);
        sv_sqlite_read_decision(list, &row.of);
        row.seq = (uint64_t)sqlite3_column_int64(list, STORE_DECISION_COLUMNS);
        row.kind = (sv_row_kind)sqlite3_column_int(list, STORE_DECISION_COLUMNS + 1);
        row.time = sqlite3_column_int64(list, STORE_DECISION_COLUMNS + 2);
        row.data = sqlite3_column_blob(list, STORE_DECISION_COLUMNS + 3);
        row.size = (size_t)sqlite3_column_bytes(list, STORE_DECISION_COLUMNS + 3);
        row.decision = sqlite3_column_int64(list, STORE_DECISION_COLUMNS + 4);
        if (!sound) {
            snprintf(self->sentence, sizeof self->sentence,
                     "row %llu is damaged: it does not have its checksum; superarm serve --check lists all",
                     (unsigned long long)row.seq);
            status = STORE_FAILED;
            break;
        }
        if ((status = sv_sqlite_expand(self, &row.of, true)) != STORE_OK || !each(user, &row)) break;
    }
    sqlite3_reset(list); /* a read that is left open would keep the log from being folded in */
    return status == STORE_NONE ? STORE_OK : status;
}

static sv_store_status find_row(sv_store *self, sqlite3_stmt *find, sv_store_row *out) {
    sv_store_status status = sv_sqlite_step(self, find);
    if (status == STORE_OK) {
        self->revised.size = 0;
        out->seq = (uint64_t)sqlite3_column_int64(find, 0);
        out->size = (size_t)sqlite3_column_bytes(find, 1);
        sa_buffer_bytes(&self->revised, sqlite3_column_blob(find, 1), out->size);
        out->data = self->revised.text;
        if (self->revised.status) status = STORE_LATER;
    }
    sqlite3_reset(find);
    return status;
}

sv_store_status sv_sqlite_row_revised(sv_store *self, int64_t agent, int64_t decision, uint64_t learnt,
                                      sv_store_row *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ROW_REVISED);
    if (!find) return STORE_FAILED;
    *out = (sv_store_row){.kind = ROW_REVISE, .decision = decision};
    sqlite3_bind_int64(find, 1, agent);
    sqlite3_bind_int64(find, 2, decision);
    sqlite3_bind_int64(find, 3, (int64_t)learnt);
    return find_row(self, find, out);
}

sv_store_status sv_sqlite_row_at(sv_store *self, int64_t agent, uint64_t seq, sv_store_row *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ROW_AT);
    if (!find) return STORE_FAILED;
    *out = (sv_store_row){.kind = ROW_LEARN};
    sqlite3_bind_int64(find, 1, agent);
    sqlite3_bind_int64(find, 2, (int64_t)seq);
    return find_row(self, find, out);
}

sv_store_status sv_sqlite_row_reset(sv_store *self, int64_t agent, uint64_t from, bool models,
                                    uint64_t *seq) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ROW_RESET);
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, agent);
    sqlite3_bind_int64(find, 2, (int64_t)from);
    sqlite3_bind_int(find, 3, models ? ROW_MODEL : ROW_NEW);
    sv_store_status status = sv_sqlite_step(self, find);
    if (status == STORE_OK) *seq = (uint64_t)sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    return status;
}

sv_store_status sv_sqlite_waiting(sv_store *self, int64_t agent, size_t most,
                                  bool (*each)(void *user, const sv_store_decision *decision), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_WAITING);
    sv_store_status status = STORE_FAILED;
    if (!list) return status;
    sqlite3_bind_int64(list, 1, agent);
    sqlite3_bind_int64(list, 2, (int64_t)most);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_store_decision decision;
        sv_sqlite_read_decision(list, &decision);
        if ((status = sv_sqlite_expand(self, &decision, true)) != STORE_OK || !each(user, &decision)) break;
    }
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_checkpoint(sv_store *self, int64_t agent, uint64_t seq, const char *file,
                                     const char *settings, bool keep, bool spare, int64_t now) {
    sv_store_status named = keep && !spare ? sv_sqlite_leftover_older(self, agent, file) : STORE_OK;
    if (named != STORE_OK) return named;
    sqlite3_stmt *older = keep ? sv_sqlite_use(self, SQL_CHECKPOINT_OLDER) : NULL;
    if (keep && !older) return STORE_FAILED;
    if (keep) sqlite3_bind_int64(older, 1, agent);
    sv_store_status status = keep ? sv_sqlite_run(self, older) : STORE_OK;
    if (status != STORE_OK) return status;
    sqlite3_stmt *add = sv_sqlite_use(self, SQL_CHECKPOINT);
    if (!add) return STORE_FAILED;
    sqlite3_bind_int64(add, 1, agent);
    sqlite3_bind_int64(add, 2, (int64_t)seq);
    sqlite3_bind_text(add, 3, file, -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 4, settings, -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 5, now);
    return sv_sqlite_run(self, add);
}

/* ---- one process numbers all rows ---- */

sv_store_status sv_sqlite_hold(sv_store *self, int64_t agent) { return (void)self, (void)agent, STORE_OK; }
void sv_sqlite_let_go(sv_store *self, int64_t agent) { (void)self, (void)agent; }
bool sv_sqlite_holds(const sv_store *self, int64_t agent) { return (void)agent, self->writes; }
sv_store_status sv_sqlite_inbox(sv_store *self, sv_store_entry *out) {
    return (void)self, (void)out, STORE_NONE;
}
sv_store_status sv_sqlite_inbox_done(sv_store *self, int64_t id, uint64_t seq) {
    return (void)self, (void)id, (void)seq, STORE_OK;
}

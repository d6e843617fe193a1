/* Retention, the check of a journal, and copies of it. */
#include <stdlib.h>

#include "store_sqlite.h"

enum { BATCH = 256 };

static store_status by_agent(sv_store *self, int which, int64_t agent) {
    sqlite3_stmt *statement = store_use(self, which);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, agent);
    return store_run(self, statement);
}

/* Up to `most` numbers, or pairs of them, that a statement of RETAIN_... gives. */
static store_status list(sv_store *self, int which, int64_t agent, int64_t before, size_t most,
                         int64_t (*out)[2], size_t *count) {
    sqlite3_stmt *statement = store_use(self, which);
    store_status status;
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, agent);
    sqlite3_bind_int64(statement, 2, before);
    sqlite3_bind_int64(statement, 3, (int64_t)most);
    *count = 0;
    while ((status = store_step(self, statement)) == STORE_OK && *count < most) {
        out[*count][0] = sqlite3_column_int64(statement, 0);
        out[*count][1] = sqlite3_column_int64(statement, 1);
        ++*count;
    }
    sqlite3_reset(statement);
    return status == STORE_NONE ? STORE_OK : status;
}

static store_status delete_row(sv_store *self, int64_t agent, int64_t seq, int64_t decision) {
    sqlite3_stmt *statement;
    store_status status = decision ? store_decision_erase(self, decision) : STORE_OK;
    if (status != STORE_OK) return status;
    if (!(statement = store_use(self, SQL_ROW_DELETE))) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, agent);
    sqlite3_bind_int64(statement, 2, seq);
    return store_run(self, statement);
}

store_status store_retain(sv_store *self, int64_t agent, int64_t before, size_t most, uint64_t *count,
                          uint64_t *waited) {
    int64_t found[BATCH][2];
    size_t rows = 0, others = 0;
    if (most > BATCH) most = BATCH;
    *count = *waited = 0;
    store_status status = list(self, SQL_RETAIN_ROWS, agent, before, most, found, &rows);
    for (size_t i = 0; status == STORE_OK && i < rows; i++)
        status = delete_row(self, agent, found[i][0], found[i][1]);
    if (status == STORE_OK && rows < most)
        status = list(self, SQL_RETAIN_OTHERS, agent, before, most - rows, found, &others);
    for (size_t i = 0; status == STORE_OK && i < others; i++) {
        *waited += found[i][1] == DECISION_WAITS;
        status = store_decision_erase(self, found[i][0]);
    }
    *count = rows + others;
    return status;
}

store_status store_agent_remove(sv_store *self, int64_t agent) {
    sqlite3_stmt *any = store_use(self, SQL_ANY_DECISION);
    if (!any) return STORE_FAILED;
    sqlite3_bind_int64(any, 1, agent);
    store_status status = store_step(self, any);
    sqlite3_reset(any);
    if (status != STORE_NONE) return status == STORE_OK ? STORE_NONE : status;
    status = by_agent(self, SQL_CHECKPOINT_DELETE, agent);
    return status == STORE_OK ? by_agent(self, SQL_AGENT_REMOVE, agent) : status;
}

/* ---- the check ---- */

typedef struct question {
    const char *sql;      /* one line of text a finding */
    const char *sentence; /* before it */
} sv_question;

static const sv_question QUESTIONS[] = {
    {"SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "the database is damaged: "},
    {"SELECT 'agent ' || agent || ' has ' || count(*) || ' rows from ' || min(seq) || ' to ' || max(seq) "
     "FROM rows "
     "GROUP BY agent HAVING count(*) <> max(seq) - min(seq) + 1",
     "rows are missing: "},
    {"SELECT 'agent ' || r.agent || ', row ' || r.seq FROM rows r LEFT JOIN decisions d ON d.id = r.decision "
     "WHERE r.kind = 3 AND r.decision IS NOT NULL AND (d.id IS NULL OR d.seq <> r.seq OR d.state <> 1 OR "
     "d.agent <> "
     "r.agent)",
     "a learnt row without its decision: "},
    {"SELECT 'event ' || d.event FROM decisions d LEFT JOIN rows r ON r.agent = d.agent AND r.seq = d.seq "
     "WHERE d.state = 1 AND (r.id IS NULL OR r.decision <> d.id)",
     "a learnt decision without its row: "},
    {"SELECT 'feedback ' || f.id FROM feedback f LEFT JOIN decisions d ON d.id = f.decision WHERE d.id IS "
     "NULL",
     "feedback without its decision: "},
    {"SELECT 'agent ' || abs(c.agent) || ' at row ' || c.seq FROM checkpoints c WHERE c.seq > "
     "coalesce((SELECT max(seq) FROM rows r WHERE r.agent = abs(c.agent)), 0)",
     "a checkpoint of rows that are not there: "},
    {"SELECT 'agent ' || a.id FROM agents a LEFT JOIN checkpoints c ON c.agent = a.id WHERE a.deleted IS "
     "NULL AND "
     "(SELECT min(seq) FROM rows r WHERE r.agent = a.id) > coalesce(c.seq, 1)",
     "rows that no checkpoint has are missing: "},
};

store_status store_check(sv_store *self, sv_text *findings) {
    for (size_t i = 0; i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        sqlite3_stmt *ask = NULL;
        int result = sqlite3_prepare_v2(self->database, QUESTIONS[i].sql, -1, &ask, NULL), lines = 0;
        while (result == SQLITE_OK && (result = sqlite3_step(ask)) == SQLITE_ROW) {
            result = SQLITE_OK;
            if (lines++ < 5)
                text_put(findings, "%s%s\n", QUESTIONS[i].sentence,
                         (const char *)sqlite3_column_text(ask, 0));
        }
        if (lines > 5) text_put(findings, "%s%d more\n", QUESTIONS[i].sentence, lines - 5);
        sqlite3_finalize(ask);
        if (result != SQLITE_DONE) return store_result(self, result);
    }
    return STORE_OK;
}

store_status store_copy(sv_store *self, const char *path) {
    sqlite3 *copy = NULL;
    int result = sqlite3_open_v2(path, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, store_vfs());
    sqlite3_backup *backup =
        result == SQLITE_OK ? sqlite3_backup_init(copy, "main", self->database, "main") : NULL;
    if (backup) {
        sqlite3_backup_step(backup, -1); /* all in one: one moment of the journal */
        result = sqlite3_backup_finish(backup);
    } else
        result = sqlite3_errcode(copy);
    sqlite3_close(copy);
    return store_result(self, result);
}

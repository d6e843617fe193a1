/* The journal's tables. Their format has a number (user_version): a journal of another is not opened.
 *
 * 1: version 0.1.0. 2: version 0.2.0; checksums, the journal's own clock, leftovers, space that is given
 * back. 3: sides, items of a catalogue, sums by hour, evaluations. */
#include <stdio.h>
#include <string.h>

#include "store_sqlite.h"

enum { FORMAT = STORE_FORMAT, APPLICATION = 0x53415231 /* "SAR1" */ };

/* Of checkpoints the newest is under its agent's id, and the one before it under minus that. */
static const char *const TABLES[] = {
    "CREATE TABLE agents (id INTEGER PRIMARY KEY, name TEXT NOT NULL, settings TEXT NOT NULL, created "
    "INTEGER "
    "NOT NULL, deleted INTEGER, sum INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX agent_names ON agents (name) WHERE deleted IS NULL",
    "CREATE TABLE decisions (id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, event TEXT NOT NULL, time "
    "INTEGER "
    "NOT NULL, kept INTEGER NOT NULL, due INTEGER NOT NULL, side INTEGER NOT NULL, state INTEGER NOT NULL, "
    "model INTEGER NOT NULL, "
    "seq INTEGER NOT NULL, hash BLOB NOT NULL, arms BLOB NOT NULL, answer TEXT NOT NULL, body BLOB NOT NULL, "
    "sum INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX decision_events ON decisions (agent, event)",
    "CREATE INDEX decisions_due ON decisions (due) WHERE state = 0 AND due > 0",
    "CREATE INDEX decisions_open ON decisions (agent, state, kept) WHERE state <> 1",
    "CREATE TABLE feedback (id INTEGER PRIMARY KEY, decision INTEGER NOT NULL, key TEXT NOT NULL, time "
    "INTEGER "
    "NOT NULL, late INTEGER NOT NULL, value TEXT NOT NULL, sum INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX feedback_keys ON feedback (decision, key)",
    "CREATE TABLE rows (id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, seq INTEGER NOT NULL, kind INTEGER "
    "NOT "
    "NULL, decision INTEGER, time INTEGER NOT NULL, data BLOB, sum INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX row_seqs ON rows (agent, seq)",
    "CREATE INDEX rows_revised ON rows (decision, seq) WHERE kind = 5",
    "CREATE TABLE checkpoints (agent INTEGER PRIMARY KEY, seq INTEGER NOT NULL, file TEXT NOT NULL, settings "
    "TEXT NOT NULL, time INTEGER NOT NULL, sum INTEGER NOT NULL)",
    "CREATE TABLE leftovers (file TEXT PRIMARY KEY, agent INTEGER NOT NULL, sum INTEGER NOT NULL)",
    /* an item's fields as they were from catalogue version `since` until before `until`; NULL: they still
     * are */
    "CREATE TABLE items (agent INTEGER NOT NULL, number INTEGER NOT NULL, since INTEGER NOT NULL, until "
    "INTEGER, id TEXT NOT NULL, expires INTEGER, fields TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY "
    "(agent, number, since)) WITHOUT ROWID",
    "CREATE INDEX items_past ON items (agent, until) WHERE until IS NOT NULL",
    "CREATE TABLE hours (agent INTEGER NOT NULL, hour INTEGER NOT NULL, data TEXT NOT NULL, sum INTEGER NOT "
    "NULL, PRIMARY KEY (agent, hour)) WITHOUT ROWID",
    "CREATE TABLE evaluations (agent INTEGER NOT NULL, id INTEGER NOT NULL, time INTEGER NOT NULL, request "
    "TEXT NOT NULL, result TEXT, sum INTEGER NOT NULL, PRIMARY KEY (agent, id)) WITHOUT ROWID",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value, sum INTEGER NOT NULL)",
};
enum { TABLE_COUNT = sizeof TABLES / sizeof *TABLES };

static int whole(sv_store *self, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int value = -1;
    if (sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool make_tables(sv_store *self) {
    char numbers[120];
    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION,
             FORMAT);
    bool good = sv_sqlite_run_sql(self, "PRAGMA auto_vacuum = INCREMENTAL; BEGIN") &&
                sv_sqlite_run_sql(self, numbers);
    for (size_t i = 0; good && i < TABLE_COUNT; i++) good = sv_sqlite_run_sql(self, TABLES[i]);
    return good && sv_sqlite_run_sql(self, "COMMIT");
}

/* A new database gets its tables; an old one must be ours, and of the format that we know. */
bool sv_sqlite_prepare_tables(sv_store *self) {
    int application = whole(self, "PRAGMA application_id"), format = whole(self, "PRAGMA user_version");
    if (application == -1 || format == -1)
        return sv_sqlite_result(self, sqlite3_errcode(self->database)), false;
    if (self->writes && application == 0 && format == 0 &&
        whole(self, "SELECT count(*) FROM sqlite_master") == 0)
        return make_tables(self);
    const char *sentence = NULL;
    if (application != APPLICATION)
        sentence = "it is not a journal of superarm serve";
    else if (format > FORMAT)
        sentence = "its format is %d, of a newer version of superarm, and this one knows %d";
    else if (format < FORMAT && !self->old)
        sentence =
            "its format is %d, of an older version of superarm, and this one's is %d: superarm serve --dir "
            "DIR --migrate makes a backup and changes it";
    if (!sentence) return true;
    snprintf(self->sentence, sizeof self->sentence, sentence, format, FORMAT);
    return false;
}

bool sv_sqlite_format(const char *folder, int *format, sa_buffer *sentence) {
    sv_store *store = sv_sqlite_open_old(folder, sentence);
    if (!store) return false;
    *format = whole(store, "PRAGMA user_version");
    sv_sqlite_abandon(store);
    return true;
}

/* The text of a table decides how its rows are read. */
sv_store_status sv_sqlite_check_tables(sv_store *self, sa_buffer *findings) {
    sqlite3_stmt *ask = NULL;
    bool good = sqlite3_prepare_v2(self->database, "SELECT count(*) FROM sqlite_master WHERE sql = ?1", -1,
                                   &ask, NULL) == SQLITE_OK;
    for (size_t i = 0; good && i < TABLE_COUNT; i++) {
        sqlite3_bind_text(ask, 1, TABLES[i], -1, SQLITE_STATIC);
        if (sqlite3_step(ask) != SQLITE_ROW || sqlite3_column_int(ask, 0) != 1)
            sa_buffer_format(findings, "the database is damaged: it does not have: %.60s...\n", TABLES[i]);
        sqlite3_reset(ask);
    }
    sqlite3_finalize(ask);
    return good ? STORE_OK : sv_sqlite_result(self, sqlite3_errcode(self->database));
}

/* SQLite in WAL mode with synchronous = FULL: a commit returns once its pages are in the log and the log
 * is synced. */
#include "store_sqlite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAGES = 10000, KEPT_BYTES = 16 << 20 }; /* of the log: 41 MB; its file after it was folded */
enum { FORMAT = 1, APPLICATION = 0x53415231 /* "SAR1" */, BUSY_MILLISECONDS = 5000, SHORT_MILLISECONDS = 50 };

/* Of checkpoints the newest is under its agent's id, and the one before it under minus that. */
static const char TABLES[] =
    "CREATE TABLE IF NOT EXISTS agents (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, settings "
    "TEXT NOT NULL,"
    " created INTEGER NOT NULL, deleted INTEGER);"
    "CREATE UNIQUE INDEX IF NOT EXISTS agent_names ON agents (name) WHERE deleted IS NULL;"
    "CREATE TABLE IF NOT EXISTS decisions (id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, event TEXT NOT "
    "NULL,"
    " time INTEGER NOT NULL, due INTEGER NOT NULL, state INTEGER NOT NULL, model INTEGER NOT NULL, seq "
    "INTEGER,"
    " hash BLOB NOT NULL, arms BLOB NOT NULL, answer TEXT NOT NULL, body BLOB NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS decision_events ON decisions (agent, event);"
    "CREATE INDEX IF NOT EXISTS decisions_due ON decisions (due) WHERE state = 0 AND due > 0;"
    "CREATE INDEX IF NOT EXISTS decisions_open ON decisions (agent, state, time) WHERE state <> 1;"
    "CREATE TABLE IF NOT EXISTS feedback (id INTEGER PRIMARY KEY, decision INTEGER NOT NULL, key TEXT NOT "
    "NULL,"
    " time INTEGER NOT NULL, late INTEGER NOT NULL, value TEXT NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS feedback_keys ON feedback (decision, key);"
    "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, agent INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, decision INTEGER, time INTEGER NOT NULL, data BLOB);"
    "CREATE UNIQUE INDEX IF NOT EXISTS row_seqs ON rows (agent, seq);"
    "CREATE TABLE IF NOT EXISTS checkpoints (agent INTEGER PRIMARY KEY, seq INTEGER NOT NULL, file TEXT NOT "
    "NULL,"
    " settings TEXT NOT NULL, time INTEGER NOT NULL);";

static const char *const SQL[] = {
#define STORE_SQL(name, sql) sql,
    STORE_STATEMENTS(STORE_SQL)
#undef STORE_SQL
};

store_status store_result(sv_store *self, int result) {
    if (result == SQLITE_OK || result == SQLITE_ROW) return STORE_OK;
    if (result == SQLITE_DONE) return STORE_NONE;
    snprintf(self->sentence, sizeof self->sentence, "the database cannot be used: %s (SQLite %d)",
             sqlite3_errmsg(self->database), sqlite3_extended_errcode(self->database));
    int kind = result & 0xff;
    return kind == SQLITE_FULL || kind == SQLITE_NOMEM || kind == SQLITE_BUSY ? STORE_LATER : STORE_FAILED;
}

const char *store_sentence(const sv_store *self) { return self->sentence; }

sqlite3_stmt *store_use(sv_store *self, int which) {
    sqlite3_stmt **statement = &self->statements[which];
    if (*statement) {
        sqlite3_reset(*statement);
        return *statement;
    }
    int result =
        sqlite3_prepare_v3(self->database, SQL[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    store_result(self, result);
    return result == SQLITE_OK ? *statement : NULL;
}

store_status store_step(sv_store *self, sqlite3_stmt *statement) {
    if (!statement) return STORE_FAILED;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) return STORE_OK;
    store_status status = store_result(self, result);
    sqlite3_reset(statement);
    return status;
}

store_status store_run(sv_store *self, sqlite3_stmt *statement) {
    store_status status = store_step(self, statement);
    if (status == STORE_OK) sqlite3_reset(statement);
    return status == STORE_NONE ? STORE_OK : status;
}

store_status store_begin(sv_store *self) {
    return store_is_ruined(self) ? STORE_FAILED : store_run(self, store_use(self, SQL_BEGIN));
}
store_status store_commit(sv_store *self) { return store_run(self, store_use(self, SQL_COMMIT)); }

void store_rollback(sv_store *self) {
    char sentence[sizeof self->sentence];
    memcpy(sentence, self->sentence, sizeof sentence); /* why, and not what rolling back says */
    if (!sqlite3_get_autocommit(self->database)) store_run(self, store_use(self, SQL_ROLLBACK));
    memcpy(self->sentence, sentence, sizeof sentence);
}

/* After each commit. Folding is another thread's (folding.h); one that cannot keep up must not fill the
 * disk. */
static int see_commit(void *user, sqlite3 *database, const char *name, int pages) {
    sv_store *self = user;
    (void)database, (void)name;
    atomic_store(&self->log_pages, (unsigned)pages);
    if (pages >= MOST_PAGES && store_fold(self) == STORE_FAILED) store_ruin(self, self->sentence);
    return SQLITE_OK;
}

/* Written once; who reads `ruin` has seen `ruined` before. */
void store_ruin(sv_store *self, const char *sentence) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&self->ruined)) {
        snprintf(self->ruin, sizeof self->ruin, "%s", sentence);
        atomic_store(&self->ruined, true);
    }
    pthread_mutex_unlock(&lock);
}

bool store_is_ruined(sv_store *self) {
    if (!atomic_load(&self->ruined)) return false;
    memcpy(self->sentence, self->ruin, sizeof self->sentence);
    return true;
}

size_t store_log_pages(const sv_store *self) { return atomic_load(&self->log_pages); }

store_status store_fold(sv_store *self) {
    return store_result(
        self, sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
}

/* Most of it is folded while the writer goes on; what remains holds it up for at most SHORT_MILLISECONDS. */
store_status store_empty_log(sv_store *self) {
    store_status status = store_fold(self);
    if (status != STORE_OK) return status;
    sqlite3_busy_timeout(self->database, SHORT_MILLISECONDS);
    int result = sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    status = store_result(self, result);
    sqlite3_busy_timeout(self->database, BUSY_MILLISECONDS);
    return status;
}

uint64_t store_changes(const sv_store *self) { return (uint64_t)sqlite3_total_changes(self->database); }

store_status store_probe(sv_store *self) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", FORMAT);
    return store_result(self, sqlite3_exec(self->database, sql, NULL, NULL, NULL));
}

static int whole(sv_store *self, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int value = -1;
    if (sqlite3_prepare_v2(self->database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static bool run_sql(sv_store *self, const char *sql) {
    return store_result(self, sqlite3_exec(self->database, sql, NULL, NULL, NULL)) == STORE_OK;
}

/* A new database gets its tables; an old one must be ours, and of a format that we know. */
static bool prepare(sv_store *self, bool write) {
    char pragmas[300];
    sqlite3_busy_timeout(self->database, BUSY_MILLISECONDS);
    int application = whole(self, "PRAGMA application_id"), format = whole(self, "PRAGMA user_version");
    if (application == -1 || format == -1) return store_result(self, sqlite3_errcode(self->database)), false;
    bool fresh =
        write && application == 0 && format == 0 && whole(self, "SELECT count(*) FROM sqlite_master") == 0;
    if (!fresh && (application != APPLICATION || format != FORMAT)) {
        snprintf(self->sentence, sizeof self->sentence,
                 application == APPLICATION ? "its format is %d, and this version knows %d"
                                            : "it is not a journal of superarm serve",
                 format, FORMAT);
        return false;
    }
    if (!write) return true;
    sqlite3_wal_hook(self->database, see_commit, self);
    snprintf(pragmas, sizeof pragmas,
             "%s PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
             "PRAGMA journal_size_limit = %d; PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF",
             fresh ? "PRAGMA auto_vacuum = INCREMENTAL;" : "", KEPT_BYTES);
    if (!run_sql(self, pragmas)) return false;
    snprintf(pragmas, sizeof pragmas, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;",
             APPLICATION, FORMAT);
    return !fresh || (run_sql(self, pragmas) && run_sql(self, TABLES) && run_sql(self, "COMMIT"));
}

sv_store *store_open(const char *folder, bool write, sv_text *sentence) {
    sv_text path = {0};
    sv_store *self = calloc(1, sizeof *self);
    text_put(&path, "%s/journal.db", folder);
    if (!self || path.failed) goto fail;
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    int result = sqlite3_open_v2(path.data, &self->database, flags | SQLITE_OPEN_NOMUTEX, store_vfs());
    if (result != SQLITE_OK)
        snprintf(self->sentence, sizeof self->sentence, "it cannot be opened: %s",
                 self->database ? sqlite3_errmsg(self->database) : "memory could not be had");
    if (result != SQLITE_OK || !prepare(self, write)) goto fail;
    text_free(&path);
    return self;
fail:
    text_put(sentence, "%s: %s", path.failed ? folder : path.data,
             self ? self->sentence : "memory could not be had");
    store_close(self);
    text_free(&path);
    return NULL;
}

void store_close(sv_store *self) {
    if (!self) return;
    for (int i = 0; i < SQL_COUNT; i++) sqlite3_finalize(self->statements[i]);
    sqlite3_close(self->database);
    text_free(&self->found);
    free(self);
}

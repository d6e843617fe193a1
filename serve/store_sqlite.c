/* SQLite in WAL mode with synchronous = FULL: a commit returns once its pages are in the log and the log
 * is synced. */
#include "store_sqlite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PAGES = 10000, KEPT_BYTES = 16 << 20 }; /* of the log: 41 MB; its file after it was folded */
enum { IDLE_MILLISECONDS = 60000 }; /* between two times that are stored while nothing else is */
enum { BUSY_MILLISECONDS = 5000, SHORT_MILLISECONDS = 50 };

static const char *const SQL[] = {
#define STORE_SQL(name, sql) sql,
    STORE_STATEMENTS(STORE_SQL)
#undef STORE_SQL
};

const sv_store_calls sv_sqlite_calls = {
#define STORE_OWN(returned, name, parameters, arguments) .name = sv_sqlite_##name,
    STORE_CALLS(STORE_OWN)
#undef STORE_OWN
};

sv_store_status sv_sqlite_result(sv_store *self, int result) {
    if (result == SQLITE_OK || result == SQLITE_ROW) return STORE_OK;
    if (result == SQLITE_DONE) return STORE_NONE;
    snprintf(self->sentence, sizeof self->sentence, "the database cannot be used: %s (SQLite %d)",
             sqlite3_errmsg(self->database), sqlite3_extended_errcode(self->database));
    int kind = result & 0xff;
    return kind == SQLITE_FULL || kind == SQLITE_NOMEM || kind == SQLITE_BUSY ? STORE_LATER : STORE_FAILED;
}

const char *sv_sqlite_sentence(const sv_store *self) { return self->sentence; }

sqlite3_stmt *sv_sqlite_use(sv_store *self, int which) {
    sqlite3_stmt **statement = &self->statements[which];
    if (*statement) {
        sqlite3_reset(*statement);
        return *statement;
    }
    int result =
        sqlite3_prepare_v3(self->database, SQL[which], -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    sv_sqlite_result(self, result);
    return result == SQLITE_OK ? *statement : NULL;
}

sv_store_status sv_sqlite_step(sv_store *self, sqlite3_stmt *statement) {
    if (!statement) return STORE_FAILED;
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) return STORE_OK;
    sv_store_status status = sv_sqlite_result(self, result);
    sqlite3_reset(statement);
    return status;
}

sv_store_status sv_sqlite_run(sv_store *self, sqlite3_stmt *statement) {
    sv_store_status status = sv_sqlite_step(self, statement);
    if (status == STORE_OK) sqlite3_reset(statement);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_begin(sv_store *self) {
    sv_sqlite_clock_advance(self);
    self->changes = sqlite3_total_changes(self->database);
    return sv_sqlite_is_ruined(self) ? STORE_FAILED : sv_sqlite_run(self, sv_sqlite_use(self, SQL_BEGIN));
}

/* No need to sync it: what it says is true as soon as it says so. */
static void write_mark(sv_store *self) {
    char text[32];
    self->marked = self->clock_kept;
    int size = snprintf(text, sizeof text, "%020lld\n", (long long)self->clock_kept);
    if (self->mark >= 0 && pwrite(self->mark, text, (size_t)size, 0) != size) self->mark = -1;
}

int64_t sv_sqlite_written(const sv_store *self) { return self->clock_kept; }

void sv_sqlite_mark(sv_store *self, int file) { self->mark = file; }

sv_store_status sv_sqlite_commit(sv_store *self) {
    bool changed = sqlite3_total_changes(self->database) != self->changes ||
                   self->clock.waits - self->clock_kept > IDLE_MILLISECONDS;
    sv_store_status status = changed ? sv_sqlite_clock_keep(self, false) : STORE_OK;
    if (status == STORE_OK) status = sv_sqlite_run(self, sv_sqlite_use(self, SQL_COMMIT));
    if (status != STORE_OK)
        self->clock_kept = self->marked;
    else if (self->clock_kept != self->marked)
        write_mark(self);
    return status;
}

sv_store_status sv_sqlite_snapshot(sv_store *self) {
    sqlite3_stmt *first = sv_sqlite_use(self, SQL_AGENTS_DELETED);
    sv_store_status status = sv_sqlite_run(self, sv_sqlite_use(self, SQL_SNAPSHOT));
    if (status != STORE_OK || !first) return STORE_FAILED;
    sqlite3_bind_int64(first, 1, 1);
    return sv_sqlite_run(self, first); /* a transaction begins with the first read */
}

void sv_sqlite_rollback(sv_store *self) {
    char sentence[sizeof self->sentence];
    memcpy(sentence, self->sentence, sizeof sentence); /* why, and not what rolling back says */
    if (!sqlite3_get_autocommit(self->database)) sv_sqlite_run(self, sv_sqlite_use(self, SQL_ROLLBACK));
    memcpy(self->sentence, sentence, sizeof sentence);
}

/* After each commit. Folding is another thread's (folding.h); one that cannot keep up must not fill the
 * disk. */
static int see_commit(void *user, sqlite3 *database, const char *name, int pages) {
    sv_store *self = user;
    (void)database, (void)name;
    atomic_store(&self->log_pages, (unsigned)pages);
    if (pages >= MOST_PAGES && sv_sqlite_fold(self) == STORE_FAILED) sv_sqlite_ruin(self, self->sentence);
    return SQLITE_OK;
}

/* Written once; who reads `ruin` has seen `ruined` before. */
void sv_sqlite_ruin(sv_store *self, const char *sentence) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&self->ruined)) {
        snprintf(self->ruin, sizeof self->ruin, "%s", sentence);
        atomic_store(&self->ruined, true);
    }
    pthread_mutex_unlock(&lock);
}

/* There is one writer. */
bool sv_sqlite_is_deadlocked(const sv_store *self) { return (void)self, false; }
bool sv_sqlite_is_undone(const sv_store *self) { return (void)self, false; }
bool sv_sqlite_has_bad_data(const sv_store *self) { return (void)self, false; }

bool sv_sqlite_is_ruined(sv_store *self) {
    if (!atomic_load(&self->ruined)) return false;
    memcpy(self->sentence, self->ruin, sizeof self->sentence);
    return true;
}

size_t sv_sqlite_log_pages(const sv_store *self) { return atomic_load(&self->log_pages); }

sv_store_status sv_sqlite_fold(sv_store *self) {
    return sv_sqlite_result(
        self, sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
}

/* Most of it is folded while the writer goes on; what remains holds it up for at most SHORT_MILLISECONDS. */
sv_store_status sv_sqlite_empty_log(sv_store *self) {
    sv_store_status status = sv_sqlite_fold(self);
    if (status != STORE_OK) return status;
    sqlite3_busy_timeout(self->database, SHORT_MILLISECONDS);
    int result = sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    status = sv_sqlite_result(self, result);
    sqlite3_busy_timeout(self->database, BUSY_MILLISECONDS);
    return status;
}

uint64_t sv_sqlite_changes(const sv_store *self) { return (uint64_t)sqlite3_total_changes(self->database); }

bool sv_sqlite_run_sql(sv_store *self, const char *sql) {
    return sv_sqlite_result(self, sqlite3_exec(self->database, sql, NULL, NULL, NULL)) == STORE_OK;
}

sv_store_status sv_sqlite_probe(sv_store *self) {
    sv_store_status status = sv_sqlite_begin(self);
    if (status == STORE_OK) status = sv_sqlite_clock_keep(self, true);
    if (status == STORE_OK) status = sv_sqlite_commit(self);
    if (status != STORE_OK) sv_sqlite_rollback(self);
    return status;
}

/* How the writer's connection treats the disk. */
static bool prepare_writing(sv_store *self) {
    char pragmas[400]; /* fullfsync: on macOS to the disk itself, elsewhere nothing */
    sqlite3_wal_hook(self->database, see_commit, self);
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
             "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
             "PRAGMA journal_size_limit = %d; PRAGMA cache_size = -16384; PRAGMA foreign_keys = OFF",
             KEPT_BYTES);
    return sv_sqlite_run_sql(self, pragmas);
}

static bool prepare(sv_store *self) {
    sqlite3_busy_timeout(self->database, BUSY_MILLISECONDS);
    int result = sv_sqlite_add_sums(self->database);
    if (result != SQLITE_OK) return sv_sqlite_result(self, result), false;
    if (!sv_sqlite_prepare_tables(self)) return false;
    if (self->old) return true;
    return (!self->writes || prepare_writing(self)) && sv_sqlite_clock_open(self) == STORE_OK;
}

static sv_store *open_any(const char *folder, bool write, bool old, sa_buffer *sentence) {
    sa_buffer path = {0};
    sv_store *self = calloc(1, sizeof *self);
    struct stat about;
    sa_buffer_format(&path, "%s/journal.db-wal", folder);
    if (!self || path.status) goto fail;
    self->had_log = stat(path.text, &about) == 0 && about.st_size > 0;
    path.size -= 4;
    path.text[path.size] = 0;
    self->head.calls = &sv_sqlite_calls;
    self->writes = write;
    self->old = old;
    self->mark = -1;
    int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    int result = sqlite3_open_v2(path.text, &self->database, flags | SQLITE_OPEN_NOMUTEX, sv_sqlite_vfs());
    if (result != SQLITE_OK)
        snprintf(self->sentence, sizeof self->sentence, "it cannot be opened: %s",
                 self->database ? sqlite3_errmsg(self->database) : "memory could not be had");
    if (result != SQLITE_OK || !prepare(self)) goto fail;
    sa_buffer_clear(&path);
    return self;
fail:
    sa_buffer_format(sentence, "%s: %s", path.status ? folder : path.text,
                     self ? self->sentence : "memory could not be had");
    sv_sqlite_abandon(self);
    sa_buffer_clear(&path);
    return NULL;
}

sv_store *sv_sqlite_open(const char *folder, bool write, sa_buffer *sentence) {
    return open_any(folder, write, false, sentence);
}

sv_store *sv_sqlite_open_old(const char *folder, sa_buffer *sentence) {
    return open_any(folder, false, true, sentence);
}

void sv_sqlite_abandon(sv_store *self) {
    if (!self) return;
    if (self->had_log) sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    self->writes = false;
    sv_sqlite_close(self);
}

void sv_sqlite_close(sv_store *self) {
    if (!self) return;
    if (self->writes && self->clock.waits) sv_sqlite_probe(self); /* the time of the stop */
    for (int i = 0; i < SQL_COUNT; i++) sqlite3_finalize(self->statements[i]);
    sqlite3_finalize(self->copying);
    sqlite3_close(self->database);
    sa_buffer_clear(&self->found);
    sa_buffer_clear(&self->hour);
    sa_buffer_clear(&self->body);
    sa_buffer_clear(&self->answer);
    sa_buffer_clear(&self->revised);
    free(self);
}

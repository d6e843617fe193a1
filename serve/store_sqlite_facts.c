/* What the journal knows beside agents and events: its clock, the last agent's number, and files that may be
 * removed. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "store_sqlite.h"

static const int64_t KEEP_MILLISECONDS = 1000; /* between two times that are stored */

static sqlite3_stmt *ask_fact(sv_store *self, const char *name) {
    sqlite3_stmt *ask = sv_sqlite_use(self, SQL_FACT);
    if (ask) sqlite3_bind_text(ask, 1, name, -1, SQLITE_STATIC);
    return ask;
}

sv_store_status sv_sqlite_get_number(sv_store *self, const char *name, int64_t *out) {
    sqlite3_stmt *ask = ask_fact(self, name);
    sv_store_status status = sv_sqlite_step(self, ask);
    if (status == STORE_OK) *out = sqlite3_column_int64(ask, 0);
    if (ask) sqlite3_reset(ask);
    return status;
}

sv_store_status sv_sqlite_put_number(sv_store *self, const char *name, int64_t value) {
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_FACT_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_text(put, 1, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(put, 2, value);
    return sv_sqlite_run(self, put);
}

/* ---- the clock ---- */

/* With the time that a machine sleeps. */
static double steady_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

sv_store_status sv_sqlite_clock_open(sv_store *self) {
    sv_journal_clock *clock = &self->clock;
    sv_store_status status = sv_sqlite_get_number(self, "waits", &clock->waits);
    if (status == STORE_OK) status = sv_sqlite_get_number(self, "kept", &clock->kept);
    if (status == STORE_OK) status = sv_sqlite_get_number(self, "day", &clock->day);
    if (status == STORE_OK) self->clock_kept = self->marked = clock->waits;
    if (status == STORE_OK)
        sv_journal_clock_resume(clock, sv_clock_milliseconds(), steady_seconds());
    else if (status == STORE_NONE)
        sv_journal_clock_begin(clock, sv_clock_milliseconds(), steady_seconds());
    return status == STORE_NONE ? STORE_OK : status;
}

void sv_sqlite_clock_advance(sv_store *self) {
    sv_journal_clock_advance(&self->clock, sv_clock_milliseconds(), steady_seconds());
}

sv_store_status sv_sqlite_clock_keep(sv_store *self, bool now) {
    const sv_journal_clock *clock = &self->clock;
    if (!now && clock->waits - self->clock_kept < KEEP_MILLISECONDS) return STORE_OK;
    sv_store_status status = sv_sqlite_put_number(self, "waits", clock->waits);
    if (status == STORE_OK) status = sv_sqlite_put_number(self, "kept", clock->kept);
    if (status == STORE_OK) status = sv_sqlite_put_number(self, "day", clock->day);
    if (status == STORE_OK) self->clock_kept = clock->waits;
    return status;
}

/* ---- numbers that are never given twice: files are named after agents, clients keep ids ---- */

sv_store_status sv_sqlite_next_number(sv_store *self, const char *name, int64_t *out) {
    int64_t last = 0;
    sv_store_status status = sv_sqlite_get_number(self, name, &last);
    if (status != STORE_OK && status != STORE_NONE) return status;
    *out = last + 1;
    return sv_sqlite_put_number(self, name, *out);
}

/* ---- files ---- */

sv_store_status sv_sqlite_scratch(sv_store *self, char name[64]) {
    sqlite3_stmt *ask = ask_fact(self, "scratch");
    sv_store_status status = sv_sqlite_step(self, ask);
    const char *found = status == STORE_OK ? (const char *)sqlite3_column_text(ask, 0) : NULL;
    if (found) snprintf(name, 64, "%s", found);
    if (ask) sqlite3_reset(ask);
    return status;
}

sv_store_status sv_sqlite_scratch_put(sv_store *self, const char *name) {
    sqlite3_stmt *put = sv_sqlite_use(self, SQL_FACT_PUT);
    if (!put) return STORE_FAILED;
    sqlite3_bind_text(put, 1, "scratch", -1, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, name, -1, SQLITE_STATIC);
    return sv_sqlite_run(self, put);
}

static sv_store_status run_leftover(sv_store *self, int which, int64_t agent, const char *file) {
    sqlite3_stmt *statement = sv_sqlite_use(self, which);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, agent);
    if (file) sqlite3_bind_text(statement, 2, file, -1, SQLITE_STATIC);
    return sv_sqlite_run(self, statement);
}

sv_store_status sv_sqlite_leftover(sv_store *self, int64_t agent, const char *file) {
    sv_store_status status = run_leftover(self, SQL_LEFTOVERS_DELETE, agent, NULL);
    return status == STORE_OK ? run_leftover(self, SQL_LEFTOVER_ADD, agent, file) : status;
}

sv_store_status sv_sqlite_leftover_older(sv_store *self, int64_t agent, const char *file) {
    sv_store_status status = run_leftover(self, SQL_LEFTOVERS_DELETE, agent, NULL);
    return status == STORE_OK ? run_leftover(self, SQL_LEFTOVER_OLDER, agent, file) : status;
}

sv_store_status sv_sqlite_leftovers(sv_store *self, void (*each)(void *user, const char *file), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_LEFTOVERS);
    sv_store_status status;
    while ((status = sv_sqlite_step(self, list)) == STORE_OK)
        each(user, (const char *)sqlite3_column_text(list, 0));
    if (list) sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

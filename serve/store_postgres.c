/* PostgreSQL: one connection a store, which comes back by itself. What is lost with it is the transaction
 * that was open, and every lock of the session. */
#include "store_postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SQL[] = {
#define STORE_SQL(name, sql) sql,
    POSTGRES_STATEMENTS(STORE_SQL)
#undef STORE_SQL
};

static const sv_store_calls CALLS = {
#define STORE_OWN(returned, name, parameters, arguments) .name = sv_postgres_##name,
    STORE_CALLS(STORE_OWN)
#undef STORE_OWN
};

/* ---- parameters and columns ---- */

void sv_postgres_number(sv_postgres_values *self, int64_t number) {
    int at = self->count++;
    snprintf(self->numbers[at], sizeof self->numbers[at], "%lld", (long long)number);
    self->values[at] = self->numbers[at];
    self->formats[at] = 0;
}

void sv_postgres_text(sv_postgres_values *self, const char *text) {
    self->formats[self->count] = 0;
    self->values[self->count++] = text;
}

void sv_postgres_bytes(sv_postgres_values *self, const void *bytes, size_t size) {
    int at = self->count++;
    self->values[at] = bytes || size ? bytes : "";
    self->sizes[at] = (int)size;
    self->formats[at] = 1;
}

int64_t sv_postgres_get(const PGresult *result, int row, int column) {
    const unsigned char *bytes = (const unsigned char *)PQgetvalue(result, row, column);
    uint64_t value = 0;
    int size = PQgetlength(result, row, column);
    for (int i = 0; i < size && i < 8; i++) value = value << 8 | bytes[i];
    if (size == 4) return (int32_t)value;
    return size == 2 ? (int16_t)value : (int64_t)value;
}

const char *sv_postgres_get_text(const PGresult *result, int row, int column) {
    return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
}

/* ---- failures ---- */

static void forget_due(sv_store *self) {
    PQclear(self->due);
    self->due = NULL;
    self->due_at = 0;
}

/* For the sake of another session: deadlock_detected, lock_not_available, unique_violation. Or for one job's
 * own: class 22, of data exceptions. */
static void see_cause(sv_store *self, const PGresult *result) {
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!code) return;
    if (!strcmp(code, "40P01")) self->deadlocked = true;
    if (!strncmp(code, "22", 2)) self->bad_data = true;
    if (!strcmp(code, "40P01") || !strcmp(code, "55P03") || !strcmp(code, "23505") || self->bad_data)
        self->undone = true;
}

bool sv_postgres_is_deadlocked(const sv_store *self) { return self->deadlocked; }
bool sv_postgres_is_undone(const sv_store *self) { return self->undone; }
bool sv_postgres_has_bad_data(const sv_store *self) { return self->bad_data; }

/* Whatever failed, a later try may succeed: PostgreSQL undoes what was not committed. */
sv_store_status sv_postgres_fail(sv_store *self, const char *text) {
    sv_postgres_say(self, text);
    if (PQstatus(self->connection) == CONNECTION_BAD) sv_postgres_disconnect(self);
    return STORE_LATER;
}

const char *sv_postgres_sentence(const sv_store *self) { return self->sentence; }

/* ---- statements ---- */

/* A connection that went outside a transaction is made again, unseen. */
static sv_store_status ready(sv_store *self, int which) {
    sv_store_status status = STORE_LATER;
    char name[16];
    snprintf(name, sizeof name, "s%d", which);
    if (self->transaction && !self->connection) return STORE_LATER;
    for (int tries = 0; tries < 2; tries++) {
        status = self->transaction ? STORE_OK : sv_postgres_connect(self);
        if (status != STORE_OK || self->prepared[which]) break;
        PGresult *result = PQprepare(self->connection, name, SQL[which], 0, NULL);
        bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
        if (!good) status = sv_postgres_fail(self, PQerrorMessage(self->connection));
        PQclear(result);
        self->prepared[which] = good;
        if (self->connection || self->transaction) break;
    }
    return status;
}

static bool is_good(const PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

static const sv_postgres_values NO_VALUES;

PGresult *sv_postgres_run(sv_store *self, int which, const sv_postgres_values *values,
                          sv_store_status *status) {
    char name[16];
    if (!values) values = &NO_VALUES;
    for (int tries = 0; tries < 2; tries++) { /* the second on a new connection */
        if ((*status = ready(self, which)) != STORE_OK) return NULL;
        snprintf(name, sizeof name, "s%d", which);
        PGresult *result = PQexecPrepared(self->connection, name, values->count, values->values,
                                          values->sizes, values->formats, 1);
        if (is_good(result)) return result;
        see_cause(self, result);
        *status = sv_postgres_fail(self, PQerrorMessage(self->connection));
        PQclear(result);
        if (self->connection || self->transaction) break;
    }
    return NULL;
}

sv_store_status sv_postgres_do(sv_store *self, int which, const sv_postgres_values *values, uint64_t *count) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, which, values, &status);
    if (!result) return status;
    uint64_t changed = strtoull(PQcmdTuples(result), NULL, 10);
    PQclear(result);
    self->changes += changed;
    if (count) *count = changed;
    return STORE_OK;
}

sv_store_status sv_postgres_each(sv_store *self, int which, const sv_postgres_values *values,
                                 bool (*each)(void *user, const PGresult *row), void *user) {
    char name[16];
    bool more = true;
    sv_store_status status = ready(self, which);
    if (status != STORE_OK) return status;
    snprintf(name, sizeof name, "s%d", which);
    if (!PQsendQueryPrepared(self->connection, name, values->count, values->values, values->sizes,
                             values->formats, 1))
        return sv_postgres_fail(self, PQerrorMessage(self->connection));
    PQsetSingleRowMode(self->connection);
    for (PGresult *result; (result = PQgetResult(self->connection)); PQclear(result)) {
        if (!is_good(result)) status = STORE_LATER;
        if (PQresultStatus(result) == PGRES_SINGLE_TUPLE && more) more = each(user, result);
    }
    return status == STORE_OK ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
}

sv_store_status sv_postgres_gather(sv_store *self, int which, const sv_postgres_values *values, size_t most,
                                   size_t bytes, PGresult **out, size_t *count) {
    char name[16];
    size_t size = 0;
    sv_store_status status = ready(self, which);
    *count = 0;
    if (status != STORE_OK) return status;
    snprintf(name, sizeof name, "s%d", which);
    if (!PQsendQueryPrepared(self->connection, name, values->count, values->values, values->sizes,
                             values->formats, 1))
        return sv_postgres_fail(self, PQerrorMessage(self->connection));
    PQsetSingleRowMode(self->connection);
    for (PGresult *result; (result = PQgetResult(self->connection));) {
        bool row = PQresultStatus(result) == PGRES_SINGLE_TUPLE, wanted = *count < most && size < bytes;
        if (!is_good(result)) status = STORE_LATER;
        for (int i = 0; row && wanted && i < PQnfields(result); i++)
            size += (size_t)PQgetlength(result, 0, i);
        if (row && wanted)
            out[(*count)++] = result;
        else
            PQclear(result);
    }
    if (status == STORE_OK) return STORE_OK;
    while (*count) PQclear(out[--*count]);
    return sv_postgres_fail(self, PQerrorMessage(self->connection));
}

sv_store_status sv_postgres_copy_begin(sv_store *self, const char *sql) {
    if (!self->connection) return STORE_LATER;
    PGresult *result = PQexec(self->connection, sql);
    bool good = PQresultStatus(result) == PGRES_COPY_IN;
    PQclear(result);
    return good ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
}

sv_store_status sv_postgres_copy_end(sv_store *self, bool whole) {
    bool good = PQputCopyEnd(self->connection, whole ? NULL : "it was cut off") == 1;
    for (PGresult *result; (result = PQgetResult(self->connection)); PQclear(result)) {
        good = good && is_good(result);
        self->changes += strtoull(PQcmdTuples(result), NULL, 10);
    }
    return good ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
}

sv_store_status sv_postgres_send(sv_store *self, int which, const sv_postgres_values *values) {
    char name[16];
    if (self->pipeline && !self->prepared[which]) return STORE_LATER; /* no pipeline prepares a statement */
    sv_store_status status = self->pipeline ? STORE_OK : ready(self, which);
    if (status == STORE_OK && !self->pipeline) self->pipeline = PQenterPipelineMode(self->connection);
    if (!self->pipeline) return status == STORE_OK ? STORE_LATER : status;
    snprintf(name, sizeof name, "s%d", which);
    return PQsendQueryPrepared(self->connection, name, values->count, values->values, values->sizes,
                               values->formats, 1)
               ? STORE_OK
               : STORE_LATER;
}

sv_store_status sv_postgres_receive(sv_store *self, uint64_t *count) {
    PGresult *result = PQgetResult(self->connection);
    bool good = is_good(result);
    if (!good && result && PQresultStatus(result) == PGRES_FATAL_ERROR) {
        see_cause(self, result);
        sv_postgres_say(self, PQresultErrorMessage(result));
    }
    *count = good ? strtoull(PQcmdTuples(result), NULL, 10) : 0;
    PQclear(result);
    PQclear(PQgetResult(self->connection)); /* NULL: the end of this answer */
    return good ? STORE_OK : STORE_LATER;
}

/* After the last answer. */
static sv_store_status end_pipeline(sv_store *self, sv_store_status status) {
    PQclear(PQgetResult(self->connection)); /* PGRES_PIPELINE_SYNC */
    bool ended = PQexitPipelineMode(self->connection);
    self->pipeline = false;
    if (ended && PQstatus(self->connection) == CONNECTION_OK) return status;
    return sv_postgres_fail(self, PQerrorMessage(self->connection));
}

sv_store_status sv_postgres_settle(sv_store *self) {
    if (!self->pipeline) return STORE_OK;
    bool sent = PQpipelineSync(self->connection);
    sv_store_status status = sent ? STORE_OK : STORE_LATER;
    for (size_t i = 0; sent && i < self->ahead_count; i++) {
        uint64_t added;
        if (sv_postgres_receive(self, &added) != STORE_OK) status = STORE_LATER;
        self->ahead[i].added = added;
        self->changes += added;
    }
    if (!sent) {
        self->pipeline = false;
        sv_postgres_say(self, PQerrorMessage(self->connection));
        sv_postgres_disconnect(self);
        return STORE_LATER;
    }
    return end_pipeline(self, status);
}

sv_store_status sv_postgres_run_sql(sv_store *self, const char *sql) {
    PGresult *result = PQexec(self->connection, sql);
    bool good = is_good(result);
    sv_store_status status = good ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
    PQclear(result);
    return status;
}

/* ---- transactions ---- */

sv_store_status sv_postgres_begin(sv_store *self) {
    self->deadlocked = self->undone = self->bad_data = false;
    for (int tries = 0; tries < 2; tries++) {
        sv_store_status status = sv_postgres_connect(self);
        if (status != STORE_OK) return status;
        self->ahead_count = 0;
        forget_due(self);
        self->transaction = sv_postgres_run_sql(self, "BEGIN") == STORE_OK;
        if (self->transaction || self->connection) break;
    }
    return self->transaction ? STORE_OK : STORE_LATER;
}

/* An answer that never came says nothing about the commit. */
sv_store_status sv_postgres_commit(sv_store *self) {
    if (!self->transaction || !self->connection) return STORE_LATER;
    PGresult *result = PQexec(self->connection, "COMMIT");
    bool done = is_good(result) && !strcmp(PQcmdStatus(result), "COMMIT");
    self->transaction = false;
    forget_due(self);
    sv_store_status status = done ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
    PQclear(result);
    sv_postgres_end_leaving(self, done);
    if (!done && !self->connection) return STORE_LOST;
    return status;
}

void sv_postgres_rollback(sv_store *self) {
    char sentence[sizeof self->sentence];
    memcpy(sentence, self->sentence, sizeof sentence); /* why, and not what rolling back says */
    if (self->transaction && self->connection) sv_postgres_run_sql(self, "ROLLBACK");
    self->transaction = false;
    forget_due(self);
    sv_postgres_end_leaving(self, false);
    memcpy(self->sentence, sentence, sizeof sentence);
}

sv_store_status sv_postgres_snapshot(sv_store *self) {
    sv_store_status status = sv_postgres_connect(self);
    if (status == STORE_OK)
        status = sv_postgres_run_sql(self, "SET idle_in_transaction_session_timeout = 0; "
                                           "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT 1");
    self->transaction = status == STORE_OK;
    return status;
}

uint64_t sv_postgres_changes(const sv_store *self) { return self->changes; }

/* As much as a few large decisions: a disk that is full has no room for it. It is undone. */
static const char PROBE[] = "INSERT INTO chunks SELECT 0, decode(md5(random()::text), 'hex'), "
                            "convert_to(repeat('x', 65536), 'UTF8')";

sv_store_status sv_postgres_probe(sv_store *self) {
    sv_store_status status = sv_postgres_begin(self);
    if (status == STORE_OK) status = sv_postgres_run_sql(self, PROBE);
    sv_postgres_rollback(self);
    return status;
}

/* ---- what PostgreSQL sees to by itself ---- */

int64_t sv_postgres_written(const sv_store *self) { return (void)self, INT64_MAX; }
void sv_postgres_mark(sv_store *self, int file) { (void)self, (void)file; }
size_t sv_postgres_log_pages(const sv_store *self) { return (void)self, 0; }
sv_store_status sv_postgres_fold(sv_store *self) { return (void)self, STORE_OK; }
sv_store_status sv_postgres_empty_log(sv_store *self) { return (void)self, STORE_OK; }
void sv_postgres_ruin(sv_store *self, const char *sentence) { (void)self, (void)sentence; }
bool sv_postgres_is_ruined(sv_store *self) { return (void)self, false; }
sv_store_status sv_postgres_give_back(sv_store *self, size_t most) {
    return (void)self, (void)most, STORE_NONE;
}

/* ---- opening and closing ---- */

/* One that is not there may come, and is waited for. */
static bool is_awaited(sv_store *self) {
    return sv_postgres_is_absent() || sv_postgres_connect(self) == STORE_OK || !sv_postgres_is_refused(self);
}

sv_store *sv_postgres_open(const char *url, bool write, sa_buffer *sentence) {
    sv_store *self = calloc(1, sizeof *self);
    if (!self) return sa_buffer_format(sentence, "memory could not be had"), NULL;
    self->head.calls = &CALLS;
    self->writes = write;
    self->url = strdup(url);
    if (self->url && is_awaited(self)) return self;
    sa_buffer_format(sentence, "%s", self->url ? self->sentence : "memory could not be had");
    sv_postgres_close(self);
    return NULL;
}

void sv_postgres_close(sv_store *self) {
    if (!self) return;
    sv_postgres_disconnect(self);
    sa_buffer_clear(&self->row);
    sa_buffer_clear(&self->body);
    sa_buffer_clear(&self->answer);
    free(self->held);
    free(self->url);
    free(self);
}

void sv_postgres_abandon(sv_store *self) { sv_postgres_close(self); }

/* --copy: the rows of a database, and those of a new one, by COPY in its binary form: a row is the number of
 * its fields, and for each its size (-1: NULL) and its bytes; whole numbers have the highest byte first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compact.h"
#include "store_copy.h"
#include "store_postgres.h"

static const struct {
    const char *name, *columns, *types, *order;
} TABLES[] = {
#define TABLE(name, sqlite, postgres, columns, types, order) {postgres, columns, types, order},
    COPIED_TABLES(TABLE)
#undef TABLE
};

static const char HEADER[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"; /* with flags and the size of more: none */
enum { HEADER_SIZE = 19 };

/* ---- numbers ---- */

static void put_number(sa_buffer *out, int64_t number, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)((uint64_t)number >> 8 * (size - 1 - i));
    sa_buffer_bytes(out, bytes, size);
}

static int64_t get_number(const uint8_t *bytes, size_t size) {
    uint64_t number = size && bytes[0] >> 7 ? ~UINT64_C(0) : 0;
    for (size_t i = 0; i < size; i++) number = number << 8 | bytes[i];
    return (int64_t)number;
}

/* ---- out ---- */

static bool malformed(sv_store *self) {
    snprintf(self->sentence, sizeof self->sentence, "the database gives rows in a form that is not known");
    return false;
}

/* The cells of a row; false: it is none. */
static bool read_row(sv_store *self, const char *types, const uint8_t *at, const uint8_t *end,
                     sv_cell *cells) {
    if (end - at < 2 || get_number(at, 2) != (int64_t)strlen(types)) return malformed(self);
    at += 2;
    for (size_t i = 0; types[i]; i++) {
        int64_t size = end - at < 4 ? -2 : get_number(at, 4);
        at += 4;
        bool whole = types[i] != 't' && types[i] != 'b';
        if (size < -1 || size > end - at || (whole && size >= 0 && size != types[i] - '0'))
            return malformed(self);
        cells[i] = (sv_cell){.null = size < 0};
        if (size < 0) continue;
        if (whole) cells[i].number = get_number(at, (size_t)size);
        cells[i].bytes = (const char *)at;
        cells[i].size = (size_t)size;
        at += size;
    }
    return true;
}

/* All that comes is taken off the connection, also behind a failure. */
static sv_store_status read_rows(sv_store *self, const char *types, sv_take_row *each, void *user) {
    sv_store_status status = STORE_OK;
    size_t skip = HEADER_SIZE;
    char *bytes = NULL;
    for (int size; (size = PQgetCopyData(self->connection, &bytes, 0)) > 0; PQfreemem(bytes)) {
        sv_cell cells[COPIED_COLUMNS];
        const uint8_t *at = (const uint8_t *)bytes + skip, *end = (const uint8_t *)bytes + size;
        skip = 0;
        if (status != STORE_OK || (end - at == 2 && get_number(at, 2) == -1)) continue; /* the end of them */
        status = read_row(self, types, at, end, cells) ? each(user, cells) : STORE_FAILED;
    }
    return status;
}

/* The answer behind the rows. */
static sv_store_status end_rows(sv_store *self, sv_store_status status) {
    for (PGresult *result; (result = PQgetResult(self->connection)); PQclear(result))
        if (PQresultStatus(result) != PGRES_COMMAND_OK && status == STORE_OK)
            status = sv_postgres_fail(self, PQresultErrorMessage(result));
    return status;
}

/* A server may choose from a catalogue that another one has just changed. In a folder such a decision counts
 * as made at that change: what it names stays as long as it does. */
static const char DECISIONS[] =
    "(SELECT id, agent, event, time, CASE WHEN items IS NULL THEN kept ELSE least(kept, (SELECT min(until) "
    "FROM items i WHERE i.agent = d.agent AND i.until > d.items)) END kept, due, side, state, model, seq, "
    "hash, arms, answer, body FROM decisions d) d";

static sv_store_status copy_rows(sv_store *self, sv_copied_table table, sv_take_row *each, void *user) {
    sa_buffer sql = {0};
    sa_buffer_format(&sql, "COPY (SELECT %s FROM %s ORDER BY %s) TO STDOUT (FORMAT binary)",
                     TABLES[table].columns, table == COPIED_DECISIONS ? DECISIONS : TABLES[table].name,
                     TABLES[table].order);
    PGresult *result = sql.status ? NULL : PQexec(self->connection, sql.text);
    bool good = PQresultStatus(result) == PGRES_COPY_OUT;
    PQclear(result);
    sa_buffer_clear(&sql);
    if (!good) return sv_postgres_fail(self, PQerrorMessage(self->connection));
    return end_rows(self, read_rows(self, TABLES[table].types, each, user));
}

static const char POLICIES[] =
    "SELECT agent, version, time, settings, size, chunks, age = 1 FROM (SELECT p.*, row_number() OVER "
    "(PARTITION BY p.agent ORDER BY p.version DESC) age FROM policies p JOIN agents a ON a.id = p.agent AND "
    "a.deleted IS NULL) q WHERE age <= 2 ORDER BY agent, age";

static sv_store_status copy_policies(sv_store *self, sv_take_policy *each, void *user) {
    PGresult *list = PQexecParams(self->connection, POLICIES, 0, NULL, NULL, NULL, NULL, 1);
    sv_store_status status = PQresultStatus(list) == PGRES_TUPLES_OK
                                 ? STORE_OK
                                 : sv_postgres_fail(self, PQerrorMessage(self->connection));
    for (int i = 0; status == STORE_OK && i < PQntuples(list); i++) {
        sv_copied_policy policy = {.agent = sv_postgres_get(list, i, 0),
                                   .version = sv_postgres_get(list, i, 1),
                                   .time = sv_postgres_get(list, i, 2),
                                   .settings = PQgetvalue(list, i, 3),
                                   .size = (uint64_t)sv_postgres_get(list, i, 4),
                                   .hashes = (const uint8_t *)PQgetvalue(list, i, 5),
                                   .count = (size_t)PQgetlength(list, i, 5) / SA_SHA256_BYTES,
                                   .newest = sv_postgres_get(list, i, 6)};
        status = each(user, &policy);
    }
    PQclear(list);
    return status;
}

static sv_store_status copy_catalogues(sv_store *self, sv_take_catalogue *each, void *user) {
    static const char sql[] = "SELECT agent, version, number FROM catalogues WHERE version > 0";
    PGresult *list = PQexecParams(self->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
    sv_store_status status = PQresultStatus(list) == PGRES_TUPLES_OK
                                 ? STORE_OK
                                 : sv_postgres_fail(self, PQerrorMessage(self->connection));
    for (int i = 0; status == STORE_OK && i < PQntuples(list); i++) {
        sv_copied_catalogue catalogue = {.agent = sv_postgres_get(list, i, 0),
                                         .last.version = (uint64_t)sv_postgres_get(list, i, 1),
                                         .last.number = (uint64_t)sv_postgres_get(list, i, 2)};
        status = each(user, &catalogue);
    }
    PQclear(list);
    return status;
}

static sv_store_status copy_numbers(sv_store *self, sv_copied_numbers *out) {
    static const char sql[] =
        "SELECT " NOW ", coalesce(pg_sequence_last_value(pg_get_serial_sequence('agents', 'id')::regclass), "
        "0), coalesce(pg_sequence_last_value('evaluation_ids'::regclass), 0)";
    PGresult *found = PQexecParams(self->connection, sql, 0, NULL, NULL, NULL, NULL, 1);
    bool good = PQresultStatus(found) == PGRES_TUPLES_OK;
    if (good)
        *out = (sv_copied_numbers){.now = sv_postgres_get(found, 0, 0),
                                   .last_agent = sv_postgres_get(found, 0, 1),
                                   .last_evaluation = sv_postgres_get(found, 0, 2)};
    PQclear(found);
    return good ? STORE_OK : sv_postgres_fail(self, PQerrorMessage(self->connection));
}

/* ---- in ---- */

static sv_store_status copy_begin(sv_store *self, sv_copied_table table) {
    sa_buffer sql = {0};
    self->copied = (int)table;
    sa_buffer_format(&sql, "COPY %s (%s%s) FROM STDIN (FORMAT binary)", TABLES[table].name,
                     TABLES[table].columns, table == COPIED_DECISIONS ? ", items" : "");
    sv_store_status status = sv_postgres_copy_begin(self, sql.status ? "" : sql.text);
    sa_buffer_clear(&sql);
    if (status != STORE_OK || PQputCopyData(self->connection, HEADER, HEADER_SIZE) == 1) return status;
    return sv_postgres_fail(self, PQerrorMessage(self->connection));
}

/* The version of the catalogue that a decision names, which its body has. */
static void put_items(sa_buffer *row, const sv_cell *body) {
    uint64_t version = sv_compact_version(body->bytes, body->size);
    put_number(row, version ? 8 : -1, 4);
    if (version) put_number(row, (int64_t)version, 8);
}

static sv_store_status copy_row(sv_store *self, const sv_cell *cells) {
    const char *types = TABLES[self->copied].types;
    sa_buffer *row = &self->row;
    size_t more = self->copied == COPIED_DECISIONS;
    row->size = 0;
    put_number(row, (int64_t)(strlen(types) + more), 2);
    for (size_t i = 0; types[i]; i++) {
        const sv_cell *cell = &cells[i];
        bool whole = types[i] != 't' && types[i] != 'b';
        size_t size = whole ? (size_t)(types[i] - '0') : cell->size;
        put_number(row, cell->null ? -1 : (int64_t)size, 4);
        if (cell->null) continue;
        if (whole)
            put_number(row, cell->number, size);
        else
            sa_buffer_bytes(row, cell->bytes, size);
    }
    if (more) put_items(row, &cells[COPIED_BODY]);
    if (row->status || row->size > INT32_MAX) return sv_postgres_fail(self, "a row is too large");
    if (PQputCopyData(self->connection, row->text, (int)row->size) == 1) return STORE_OK;
    return sv_postgres_fail(self, PQerrorMessage(self->connection));
}

static sv_store_status copy_end(sv_store *self) {
    return sv_postgres_copy_end(self, PQputCopyData(self->connection, "\377\377", 2) == 1);
}

static sv_store_status copy_policy(sv_store *self, const sv_copied_policy *policy) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, policy->agent);
    sv_postgres_number(&values, policy->version);
    sv_postgres_text(&values, policy->settings);
    sv_postgres_number(&values, policy->time);
    sv_postgres_number(&values, (int64_t)policy->size);
    sv_postgres_bytes(&values, policy->hashes, policy->count * SA_SHA256_BYTES);
    return sv_postgres_do(self, SQL_POLICY_COPY, &values, NULL);
}

/* Nobody follows an older version: what was purged before does not matter. */
static sv_store_status copy_catalogue(sv_store *self, const sv_copied_catalogue *catalogue) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, catalogue->agent);
    sv_postgres_number(&values, (int64_t)catalogue->last.version);
    sv_postgres_number(&values, (int64_t)catalogue->last.number);
    sv_postgres_number(&values, (int64_t)catalogue->last.past);
    return sv_postgres_do(self, SQL_CATALOGUE_COPY, &values, NULL);
}

/* Numbers that are given from here on are new ones. */
static sv_store_status copy_put_numbers(sv_store *self, const sv_copied_numbers *numbers) {
    char sql[1000];
    snprintf(
        sql, sizeof sql,
        "SELECT setval(pg_get_serial_sequence('agents', 'id'), n) FROM (SELECT greatest(%lld, (SELECT "
        "max(id) FROM agents)) n) q WHERE n > 0;"
        "SELECT setval(pg_get_serial_sequence('decisions', 'id'), max(id)) FROM decisions HAVING max(id) "
        "> 0;"
        "SELECT setval(pg_get_serial_sequence('feedback', 'id'), max(id)) FROM feedback HAVING max(id) > "
        "0;"
        "SELECT setval('evaluation_ids', n) FROM (SELECT %lld::bigint n) q WHERE n > 0;"
        "ANALYZE decisions, feedback, journal, items",
        (long long)numbers->last_agent, (long long)numbers->last_evaluation);
    sv_store_status status = sv_postgres_run_sql(self, sql);
    return status == STORE_OK ? sv_shared_require(self, SHARED_ITEMS) : status; /* it may have such rows */
}

/* ---- alone ---- */

static bool refuse(sv_store *self, const char *sentence) {
    snprintf(self->sentence, sizeof self->sentence, "%s", sentence);
    return false;
}

/* Is the answer of the query true? Then it is refused with the sentence. */
static bool passes(sv_store *self, const char *sql, const char *sentence) {
    PGresult *found = PQexec(self->connection, sql);
    bool asked = PQresultStatus(found) == PGRES_TUPLES_OK;
    bool wrong = asked && !strcmp(PQgetvalue(found, 0, 0), "t");
    if (!asked) sv_postgres_fail(self, PQerrorMessage(self->connection));
    PQclear(found);
    return asked && (!wrong || refuse(self, sentence));
}

/* A server that starts reads agents first: it waits, and says that the database cannot be used. */
static const char BEGIN[] = "BEGIN ISOLATION LEVEL REPEATABLE READ; "
                            "SET LOCAL idle_in_transaction_session_timeout = 0; "
                            "LOCK TABLE agents, servers IN ACCESS EXCLUSIVE MODE";
static const char SERVED[] =
    "SELECT EXISTS (SELECT 1 FROM servers WHERE beat > now() - interval '5 s' AND (backend = 0 OR backend IN "
    "(SELECT pid FROM pg_stat_activity))) OR EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND "
    "classid = " LOCK_CLASS "::oid AND objsubid = 2 AND granted AND database = (SELECT oid FROM pg_database "
    "WHERE datname = current_database()))";
/* A server that is paused or cut off is silent, may hold nothing, and would go on. */
static const char CONNECTED[] =
    "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = "
    "'superarm serve' AND pid <> pg_backend_pid())";
static const char FILLED[] =
    "SELECT EXISTS (SELECT 1 FROM agents) OR EXISTS (SELECT 1 FROM decisions) OR EXISTS (SELECT 1 FROM "
    "feedback) OR EXISTS (SELECT 1 FROM journal) OR EXISTS (SELECT 1 FROM inbox) OR EXISTS (SELECT 1 FROM "
    "policies) OR EXISTS (SELECT 1 FROM chunks) OR EXISTS (SELECT 1 FROM items) OR EXISTS (SELECT 1 FROM "
    "hours) OR EXISTS (SELECT 1 FROM hours_left) OR EXISTS (SELECT 1 FROM evaluations) OR EXISTS (SELECT 1 "
    "FROM "
    "catalogues)";

/* A session that has just ended is there for a moment. */
static bool is_alone(sv_store *self) {
    static const struct timespec pause = {.tv_nsec = 100000000};
    for (int tries = 0; tries < 20; tries++) {
        if (tries) nanosleep(&pause, NULL);
        if (sv_postgres_run_sql(self, "SELECT pg_stat_clear_snapshot()") != STORE_OK) return false;
        if (passes(
                self, CONNECTED,
                "other sessions of superarm serve are in the database, perhaps of a server that is paused or "
                "cut off: end all of its servers; sessions that a lost machine has left are ended by "
                "pg_terminate_backend, as docs/SERVERS.md says"))
            return true;
    }
    return false;
}

bool sv_postgres_copy_alone(sv_store *self, bool into) {
    if (sv_postgres_connect(self) != STORE_OK || !sv_postgres_is_format(self) ||
        sv_postgres_run_sql(self, BEGIN) != STORE_OK)
        return false;
    self->transaction = true;
    return passes(self, SERVED, "the database is served: stop its servers first") && is_alone(self) &&
           (!into || passes(self, FILLED, "the database is not empty: a copy needs one without agents"));
}

const sv_copy_calls sv_postgres_copying = {
#define COPY_OWN(name, parameters) .name = name,
    COPY_CALLS(COPY_OWN)
#undef COPY_OWN
};

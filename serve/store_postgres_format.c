/* The tables, as numbered migrations. Each makes the format of its number out of the one before it. One that
 * adds tables, indexes, or columns with a default breaks nothing: servers of older versions go on beside it.
 * One that takes away, or changes what something means, breaks them: it is made only while none of them runs,
 * and from then on they are refused. The database has its format, and `readers`, the oldest format whose
 * programs can work with it; what is kept in tables may need newer ones, too (sv_shared_require). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_postgres.h"

enum { TRIES = 20 }; /* of a migration */
#define MARKER "superarm serve"

/* A decision's arms are 32-bit numbers, least significant byte first. */
static const char MAKE_1[] =
    "CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);"
    "CREATE TABLE agents (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, "
    "settings text NOT NULL, created bigint NOT NULL, deleted bigint, version bigint NOT NULL DEFAULT 1, "
    "broken text);"
    "CREATE UNIQUE INDEX agent_names ON agents (name) WHERE deleted IS NULL;"
    "CREATE TABLE decisions (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent bigint NOT NULL, "
    "event text COLLATE \"C\" NOT NULL, time bigint NOT NULL, kept bigint NOT NULL, due bigint NOT NULL, "
    "state smallint NOT NULL, side smallint NOT NULL, model bigint NOT NULL, seq bigint NOT NULL, "
    "hash bytea NOT NULL, arms bytea NOT NULL, answer text NOT NULL, body bytea NOT NULL);"
    "CREATE UNIQUE INDEX decision_events ON decisions (agent, event);"
    "CREATE INDEX decisions_due ON decisions (agent, due) WHERE state = 0 AND due > 0;"
    "CREATE INDEX decisions_open ON decisions (agent, state, kept) WHERE state <> 1;"
    "CREATE TABLE feedback (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, decision bigint NOT NULL, "
    "key text COLLATE \"C\" NOT NULL, time bigint NOT NULL, late integer NOT NULL, value text NOT NULL);"
    "CREATE UNIQUE INDEX feedback_keys ON feedback (decision, key);"
    "CREATE TABLE journal (agent bigint NOT NULL, seq bigint NOT NULL, kind smallint NOT NULL, decision "
    "bigint, time bigint NOT NULL, data bytea, PRIMARY KEY (agent, seq));"
    "CREATE TABLE inbox (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent bigint NOT NULL, kind "
    "smallint NOT NULL, data bytea, seq bigint NOT NULL DEFAULT 0, time timestamptz NOT NULL DEFAULT now());"
    "CREATE TABLE policies (agent bigint NOT NULL, version bigint NOT NULL, settings text NOT NULL, time "
    "bigint NOT NULL, size bigint NOT NULL, chunks bytea NOT NULL, "
    "PRIMARY KEY (agent, version));"
    "CREATE TABLE chunks (agent bigint NOT NULL, hash bytea NOT NULL, data bytea NOT NULL, "
    "PRIMARY KEY (agent, hash));"
    "ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTERNAL;"
    "CREATE TABLE servers (id text PRIMARY KEY, name text NOT NULL, version text NOT NULL, keys text NOT "
    "NULL, learns boolean NOT NULL, backend integer NOT NULL, beat timestamptz NOT NULL);"
    "CREATE TABLE items (agent bigint NOT NULL, number bigint NOT NULL, since bigint NOT NULL, until bigint, "
    "id text COLLATE \"C\" NOT NULL, expires bigint, fields text NOT NULL, PRIMARY KEY (agent, number, "
    "since));"
    "CREATE TABLE hours (agent bigint NOT NULL, hour bigint NOT NULL, data text NOT NULL, "
    "PRIMARY KEY (agent, hour));"
    "CREATE TABLE hours_left (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, agent bigint NOT NULL, "
    "data "
    "text NOT NULL);"
    "CREATE INDEX hours_left_agents ON hours_left (agent);"
    "CREATE SEQUENCE evaluation_ids;"
    "CREATE TABLE evaluations (agent bigint NOT NULL, id bigint NOT NULL, time bigint NOT NULL, request text "
    "NOT NULL, result text, PRIMARY KEY (agent, id));"
    "INSERT INTO facts VALUES ('application', '" MARKER "'), ('format', '0'), ('readers', '1')";

/* Stored catalogues and revisions. What a catalogue is now is a row: its last version and largest number,
 * how many items of the past there are, and the last version whose items of the past are not all there. A
 * decision with stored items has the catalogue's version in `items`, too: the oldest of these says which
 * items of the past are still named. */
static const char MAKE_2[] =
    "CREATE TABLE catalogues (agent bigint PRIMARY KEY, version bigint NOT NULL, number bigint NOT NULL, "
    "past bigint NOT NULL, purged bigint NOT NULL);"
    "CREATE INDEX items_past ON items (agent, until) WHERE until IS NOT NULL;"
    "CREATE INDEX items_fresh ON items (agent, since) WHERE until IS NULL;"
    "ALTER TABLE decisions ADD COLUMN items bigint;"
    "CREATE INDEX decisions_stored ON decisions (agent, items) WHERE items IS NOT NULL;"
    "CREATE INDEX journal_revised ON journal (decision, seq) WHERE kind = 5;"
    "ALTER TABLE inbox ADD COLUMN decision bigint;"
    "ALTER TABLE servers ADD COLUMN format integer NOT NULL DEFAULT 1";

/* Where an evaluation waits or runs, whether it runs, and why another server wants it to end. */
static const char MAKE_3[] =
    "ALTER TABLE evaluations ADD COLUMN server text, ADD COLUMN runs boolean NOT NULL "
    "DEFAULT false, ADD COLUMN stop text";

/* Decisions are compressed by lz4 where the database has it: by its own method that takes as long as all else
 * of a decision. And what waits in the inbox is found without what is done. */
static const char MAKE_4[] =
    "DO $$ BEGIN ALTER TABLE decisions ALTER COLUMN body SET COMPRESSION lz4, ALTER COLUMN answer SET "
    "COMPRESSION lz4; EXCEPTION WHEN feature_not_supported OR invalid_parameter_value OR syntax_error THEN "
    "NULL; END $$;"
    "CREATE INDEX inbox_open ON inbox (agent, id) WHERE seq = 0";

/* A PUT by which what is compared with the control begins again, once it is a row. */
static const char MAKE_5[] = "ALTER TABLE inbox ADD COLUMN restarts boolean NOT NULL DEFAULT false";

/* What is done in the inbox is found without what waits, at each publication. */
static const char MAKE_6[] = "CREATE INDEX inbox_done ON inbox (agent, time) WHERE seq > 0";

/* MAKE[n] leads from format n to n + 1. NEXT_MIGRATION: of the version after this one, in tests. */
static const struct migration {
    const char *sql;
    bool breaks; /* programs that know no more than format n */
} MAKE[] = {
    {MAKE_1, true}, {MAKE_2, false}, {MAKE_3, false}, {MAKE_4, false}, {MAKE_5, false}, {MAKE_6, false},
#ifdef NEXT_MIGRATION
    NEXT_MIGRATION,
#endif
};
enum { FORMAT = sizeof MAKE / sizeof *MAKE };
const int sv_postgres_format = FORMAT;

/* One number or text of a query; "" where there is none. */
static bool ask(sv_store *self, const char *sql, char out[64]) {
    PGresult *result = PQexec(self->connection, sql);
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK;
    snprintf(out, 64, "%s", good && PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
    if (!good)
        snprintf(self->sentence, sizeof self->sentence, "the database cannot be used: %.*s",
                 (int)strcspn(PQerrorMessage(self->connection), "\n"), PQerrorMessage(self->connection));
    PQclear(result);
    return good;
}

static bool refuse(sv_store *self, const char *sentence) {
    snprintf(self->sentence, sizeof self->sentence, "%s", sentence);
    return false;
}

typedef enum kind { KIND_EMPTY, KIND_OURS, KIND_OTHER } kind;

/* Another would refuse requests for their characters. SQL_ASCII keeps bytes as they come, which are UTF-8. */
static bool has_encoding(sv_store *self) {
    const char *encoding = PQparameterStatus(self->connection, "server_encoding");
    if (!encoding || !strcmp(encoding, "UTF8") || !strcmp(encoding, "SQL_ASCII")) return true;
    snprintf(self->sentence, sizeof self->sentence,
             "the database has the encoding %.20s, which lacks characters: make one with createdb -E UTF8 "
             "-T template0; pg_dump and pg_restore take along what this one has",
             encoding);
    return false;
}

static bool look(sv_store *self, kind *out) {
    char tables[64], facts[64], marker[64] = "";
    if (!has_encoding(self)) return false;
    if (!ask(self, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()", tables) ||
        !ask(self,
             "SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND "
             "table_name = 'facts' AND column_name IN ('name', 'value')",
             facts))
        return false;
    if (!strcmp(facts, "2") && !ask(self, "SELECT value FROM facts WHERE name = 'application'", marker))
        return false;
    *out = !strcmp(marker, MARKER) ? KIND_OURS : atoi(tables) ? KIND_OTHER : KIND_EMPTY;
    return true;
}

/* What a role may do is looked up before anything is served. */
static bool may_write(sv_store *self) {
    char table[64];
    if (!ask(self,
             "SELECT t FROM unnest(ARRAY['agents', 'decisions', 'feedback', 'journal', 'inbox', "
             "'policies', 'chunks', 'servers', 'items', 'catalogues', 'hours', 'hours_left', 'evaluations', "
             "'facts']) t "
             "WHERE NOT "
             "(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT') AND "
             "has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE')) UNION ALL "
             "SELECT 'evaluation_ids' WHERE NOT has_sequence_privilege('evaluation_ids', 'USAGE') LIMIT 1",
             table))
        return false;
    if (!*table) return true;
    snprintf(
        self->sentence, sizeof self->sentence,
        "the role %.64s may not read and write %s: GRANT ALL ON ALL TABLES IN SCHEMA public and GRANT ALL ON "
        "ALL SEQUENCES IN SCHEMA public TO it, or connect as the owner",
        PQuser(self->connection), table);
    return false;
}

bool sv_postgres_check_format(sv_store *self) {
    kind found;
    char format[64], readers[64];
    if (!look(self, &found)) return false;
    if (found == KIND_OTHER)
        return refuse(self, "the database has tables of another program: make one for superarm serve alone; "
                            "or, if they are its own, let this role read them (GRANT ALL ON ALL TABLES IN "
                            "SCHEMA public)");
    if (found == KIND_EMPTY)
        return refuse(self,
                      "the database has no tables yet: superarm serve --store URL --migrate makes them");
    if (!ask(self, "SELECT value FROM facts WHERE name = 'format'", format) ||
        !ask(self, "SELECT value FROM facts WHERE name = 'readers'", readers))
        return false;
    if (atoi(readers) > FORMAT)
        snprintf(self->sentence, sizeof self->sentence,
                 "the database has the format %.20s, of a newer version of superarm, and this one knows %d",
                 format, FORMAT);
    else if (atoi(format) < FORMAT)
        snprintf(self->sentence, sizeof self->sentence,
                 "the database has the format %.20s, of an older version of superarm, and this one's is %d: "
                 "superarm "
                 "serve --store URL --migrate changes it, while older servers go on",
                 format, FORMAT);
    else
        return !self->writes || may_write(self);
    return false;
}

bool sv_postgres_is_format(sv_store *self) {
    char format[64];
    if (!ask(self, "SELECT value FROM facts WHERE name = 'format'", format)) return false;
    if (atoi(format) == FORMAT) return true;
    snprintf(self->sentence, sizeof self->sentence,
             "the database has the format %.20s, of a newer version of superarm, and this one knows %d",
             format, FORMAT);
    return false;
}

/* ---- migrating ---- */

/* The oldest format whose programs can work with what the steps from `format` on make. */
static int readers_from(int format) {
    int readers = 0;
    for (int i = format; i < FORMAT; i++)
        if (MAKE[i].breaks) readers = i + 1;
    return readers;
}

/* Servers that could not go on are not there, and none connects before the end; sessions of those that are
 * stopped end, so that they ask again when they wake, and are refused. */
static bool exclude_older(sv_store *self, int readers) {
    char sql[400], servers[64];
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM servers s WHERE beat > now() - interval '" SHARED_SILENCE
             " s' AND coalesce((to_jsonb(s) ->> 'format')::int, 1) < %d",
             readers);
    if (sv_postgres_run_sql(self, "SELECT pg_advisory_xact_lock(" LOCK_CLASS ", 0)") != STORE_OK ||
        !ask(self, sql, servers))
        return false;
    if (strcmp(servers, "0")) {
        snprintf(self->sentence, sizeof self->sentence,
                 "%.20s servers of an older version run, which cannot work with the format %d: stop them "
                 "first; nothing "
                 "is changed",
                 servers, FORMAT);
        return false;
    }
    return ask(self,
               "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
               "current_database() AND application_name = 'superarm serve' AND pid <> pg_backend_pid()",
               servers);
}

static bool set_facts(sv_store *self, int readers) {
    char sql[240];
    snprintf(sql, sizeof sql,
             "UPDATE facts SET value = '%d' WHERE name = 'format'; "
             "UPDATE facts SET value = '%d' WHERE name = 'readers' AND value::int < %d",
             FORMAT, readers, readers);
    return sv_postgres_run_sql(self, sql) == STORE_OK;
}

/* `busy`: a table was in use for too long, or by one who waits for another that was taken before. */
static bool take_step(sv_store *self, const char *sql, bool *busy) {
    PGresult *result = PQexec(self->connection, sql);
    const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    *busy = !good && code &&
            (!strcmp(code, "55P03") || !strcmp(code, "40P01")); /* lock_not_available, deadlock_detected */
    if (!good) sv_postgres_say(self, PQerrorMessage(self->connection));
    PQclear(result);
    return good;
}

static bool migrate_from(sv_store *self, int format, bool *busy) {
    int readers = readers_from(format);
    if (format && readers && !exclude_older(self, readers)) return false;
    for (int i = format; i < FORMAT; i++)
        if (!take_step(self, MAKE[i].sql, busy)) return false;
    return set_facts(self, readers);
}

/* A second --migrate beside one waits, and then finds nothing to do; not for one that hangs. */
static bool take_turn(sv_store *self) {
    bool busy = false;
    if (take_step(self,
                  POSTGRES_NO_LIMITS
                  "BEGIN; SET LOCAL lock_timeout = '10s'; SELECT pg_advisory_xact_lock(x'53415231'::bigint); "
                  "SET LOCAL lock_timeout = '2s'",
                  &busy))
        return true;
    return busy &&
           refuse(self, "another --migrate of this database has not ended for ten seconds: nothing is "
                        "changed; try again later");
}

/* All steps in one transaction. */
static bool migrate(sv_store *self, int *before, bool *busy) {
    kind found;
    char format[64] = "0";
    if (!take_turn(self) || !look(self, &found)) return false;
    if (found == KIND_OTHER)
        return refuse(self, "the database has tables of another program: make one for superarm serve alone; "
                            "or, if they are its own, let this role read them (GRANT ALL ON ALL TABLES IN "
                            "SCHEMA public)");
    if (found == KIND_OURS && !ask(self, "SELECT value FROM facts WHERE name = 'format'", format))
        return false;
    *before = atoi(format);
    return (*before >= FORMAT || migrate_from(self, *before, busy)) &&
           sv_postgres_run_sql(self, "COMMIT") == STORE_OK;
}

/* Requests wait behind a migration that waits for a table: it lets them pass, and comes again. */
static bool migrate_patiently(sv_store *self, int *before) {
    for (int tries = 0;; tries++) {
        bool busy = false;
        if (migrate(self, before, &busy)) return true;
        if (!busy || tries == TRIES || sv_postgres_run_sql(self, "ROLLBACK") != STORE_OK) return false;
        sleep(1);
    }
}

/* Waits for no database that says nothing. */
static PGconn *connect_to(const char *url) {
    static const char *const names[] = {"connect_timeout", "tcp_user_timeout", "dbname", NULL};
    const char *values[] = {"5", "10000", url, NULL};
    return PQconnectdbParams(names, values, 1);
}

bool sv_postgres_migrate(const char *url, int *before, int *after, sa_buffer *sentence) {
    sv_store self = {.url = (char *)url};
    bool readable = sv_postgres_is_readable(&self);
    if (readable) self.connection = connect_to(url);
    *after = FORMAT;
    bool good = readable && PQstatus(self.connection) == CONNECTION_OK;
    if (readable && !good)
        snprintf(self.sentence, sizeof self.sentence, "the database cannot be used: %.*s",
                 (int)strcspn(PQerrorMessage(self.connection), "\n"), PQerrorMessage(self.connection));
    if (good) good = migrate_patiently(&self, before);
    if (!good) sa_buffer_format(sentence, "%s", self.sentence);
    PQfinish(self.connection);
    return good;
}

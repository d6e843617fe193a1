/* The tables, as numbered migrations. Each makes the format of its number out of the one before it, and adds
 * without taking away, so that servers of the version before go on beside those of the new one: a database
 * says which format it has, and from which on programs can work with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_postgres.h"

enum { FORMAT = 1 };
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

/* MAKE[n] leads from format n to n + 1. `readers`: the oldest format whose programs can work with it. */
static const char *const MAKE[FORMAT] = {MAKE_1};

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

static bool look(sv_store *self, kind *out) {
    char tables[64], facts[64], marker[64] = "";
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
             "'policies', 'chunks', 'servers', 'items', 'hours', 'hours_left', 'evaluations', 'facts']) t "
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
        return refuse(self, "the database has tables of another program: make one for superarm serve alone");
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

/* All steps in one transaction; a second --migrate beside it waits, and then finds nothing to do. */
static bool migrate_from(sv_store *self, int format) {
    char sql[80];
    for (int i = format; i < FORMAT; i++)
        if (sv_postgres_run_sql(self, MAKE[i]) != STORE_OK) return false;
    snprintf(sql, sizeof sql, "UPDATE facts SET value = '%d' WHERE name = 'format'", FORMAT);
    return sv_postgres_run_sql(self, sql) == STORE_OK;
}

static bool migrate(sv_store *self, int *before) {
    kind found;
    char format[64] = "0";
    if (sv_postgres_run_sql(self, "BEGIN; SELECT pg_advisory_xact_lock(x'53415231'::bigint)") != STORE_OK ||
        !look(self, &found))
        return false;
    if (found == KIND_OTHER)
        return refuse(self, "the database has tables of another program: make one for superarm serve alone");
    if (found == KIND_OURS && !ask(self, "SELECT value FROM facts WHERE name = 'format'", format))
        return false;
    *before = atoi(format);
    return (*before >= FORMAT || migrate_from(self, *before)) &&
           sv_postgres_run_sql(self, "COMMIT") == STORE_OK;
}

bool sv_postgres_migrate(const char *url, int *before, int *after, sa_buffer *sentence) {
    sv_store self = {.url = (char *)url};
    self.connection = PQconnectdb(url);
    *after = FORMAT;
    bool good = PQstatus(self.connection) == CONNECTION_OK;
    if (!good)
        snprintf(self.sentence, sizeof self.sentence, "the database cannot be used: %.*s",
                 (int)strcspn(PQerrorMessage(self.connection), "\n"), PQerrorMessage(self.connection));
    else
        good = migrate(&self, before);
    if (!good) sa_buffer_format(sentence, "%s", self.sentence);
    PQfinish(self.connection);
    return good;
}

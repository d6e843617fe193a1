/* Retention, and the check. Checkpoints are policies (store_shared.h): no files are named here. */
#include <stdio.h>

#include "clock.h"
#include "store_postgres.h"

enum { BATCH = 256 };

static sv_store_status by_two(sv_store *self, int which, int64_t one, int64_t other, bool both) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, one);
    if (both) sv_postgres_number(&values, other);
    return sv_postgres_do(self, which, &values, NULL);
}

static sv_store_status remove_decision(sv_store *self, int64_t id) {
    sv_store_status status = by_two(self, SQL_FEEDBACK_DELETE, id, 0, false);
    return status == STORE_OK ? by_two(self, SQL_DECISION_DELETE, id, 0, false) : status;
}

static bool goes_on(const sv_store_retention *what) {
    return what->count < what->most && (what->count == 0 || sv_clock_seconds() < what->until);
}

/* The oldest, in order; the caller stops at the first that is too young. */
static PGresult *list(sv_store *self, const sv_store_retention *what, int which, int state,
                      sv_store_status *status) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, what->agent);
    if (which == SQL_OLDEST_OPEN) sv_postgres_number(&values, state);
    sv_postgres_number(&values, what->most < BATCH ? (int64_t)what->most : BATCH);
    return sv_postgres_run(self, which, &values, status);
}

static sv_store_status clock_of(sv_store *self, int64_t *now) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, SQL_CLOCK, NULL, &status);
    if (result) *now = sv_postgres_get(result, 0, 0);
    PQclear(result);
    return status;
}

static sv_store_status remove_rows(sv_store *self, sv_store_retention *what, int64_t before) {
    sv_store_status status;
    PGresult *found = list(self, what, SQL_OLDEST_ROWS, 0, &status);
    for (int i = 0; found && status == STORE_OK && i < PQntuples(found) && goes_on(what); i++) {
        if (!what->deleted && sv_postgres_get(found, i, 1) >= before) break;
        int64_t decision = sv_postgres_get(found, i, 2);
        if (decision) status = remove_decision(self, decision);
        if (status == STORE_OK)
            status = by_two(self, SQL_ROW_DELETE, what->agent, sv_postgres_get(found, i, 0), true);
        what->count++;
    }
    PQclear(found);
    return status;
}

static sv_store_status remove_open(sv_store *self, sv_store_retention *what, int state, int64_t before) {
    sv_store_status status = STORE_OK;
    PGresult *found = goes_on(what) ? list(self, what, SQL_OLDEST_OPEN, state, &status) : NULL;
    for (int i = 0; found && status == STORE_OK && i < PQntuples(found) && goes_on(what); i++) {
        if (!what->deleted && sv_postgres_get(found, i, 1) >= before) break;
        bool ends = state == DECISION_WAITS && sv_postgres_get(found, i, 2); /* its wait, by itself */
        if (ends && !what->deleted) continue;
        status = remove_decision(self, sv_postgres_get(found, i, 0));
        what->count++;
        what->waited += state == DECISION_WAITS;
        what->held += state == DECISION_HELD;
    }
    PQclear(found);
    return status;
}

sv_store_status sv_postgres_retain(sv_store *self, sv_store_retention *what) {
    static const int states[] = {DECISION_WAITS, DECISION_DROPPED, DECISION_HELD};
    int64_t now = 0;
    what->count = what->waited = what->held = 0;
    sv_store_status status = clock_of(self, &now);
    if (status == STORE_OK) status = remove_rows(self, what, now - what->age);
    for (size_t i = 0; i < 3 && status == STORE_OK; i++)
        status = remove_open(self, what, states[i], now - what->age);
    return status;
}

sv_store_status sv_postgres_held_remove(sv_store *self, int64_t agent, size_t most, uint64_t *count) {
    sv_postgres_values values = {0};
    sv_store_status status;
    *count = 0;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)most);
    PGresult *found = sv_postgres_run(self, SQL_HELD_OLDEST, &values, &status);
    for (int i = 0; found && status == STORE_OK && i < PQntuples(found); i++, ++*count)
        status = remove_decision(self, sv_postgres_get(found, i, 0));
    PQclear(found);
    return status;
}

sv_store_status sv_postgres_agent_remove(sv_store *self, int64_t agent) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *any = sv_postgres_run(self, SQL_ANY_DECISION, &values, &status);
    if (!any) return status;
    bool left = PQntuples(any);
    PQclear(any);
    if (left) return STORE_NONE;
    status = by_two(self, SQL_PARTS_DELETE, agent, 0, false);
    return status == STORE_OK ? by_two(self, SQL_AGENT_REMOVE, agent, 0, false) : status;
}

/* ---- the check ---- */

#define KEPT(agent) agent " IN (SELECT id FROM agents WHERE deleted IS NULL)"

static const struct {
    const char *sql, *sentence;
} QUESTIONS[] = {
    {"SELECT 'agent ' || agent || ' has ' || count(*) || ' rows from ' || min(seq) || ' to ' || max(seq) "
     "FROM journal WHERE " KEPT("agent") " GROUP BY agent HAVING count(*) <> max(seq) - min(seq) + 1",
     "rows are missing: "},
    {"SELECT 'agent ' || r.agent || ', row ' || r.seq FROM journal r LEFT JOIN decisions d ON d.id = "
     "r.decision WHERE r.kind = 3 AND r.decision IS NOT NULL AND (d.id IS NULL OR d.seq <> r.seq OR d.state "
     "<> 1 OR d.agent <> r.agent)",
     "a learnt row without its decision: "},
    {"SELECT 'event ' || d.event FROM decisions d LEFT JOIN journal r ON r.agent = d.agent AND r.seq = d.seq "
     "WHERE d.state = 1 AND (r.seq IS NULL OR r.decision IS DISTINCT FROM d.id)",
     "a learnt decision without its row: "},
    {"SELECT 'feedback ' || f.id FROM feedback f LEFT JOIN decisions d ON d.id = f.decision WHERE d.id IS "
     "NULL",
     "feedback without its decision: "},
    {"SELECT 'agent ' || p.agent || ' at row ' || p.version FROM policies p WHERE " KEPT(
         "p.agent") " AND p.version > coalesce((SELECT max(seq) FROM journal r WHERE r.agent = p.agent), 0)",
     "a policy of rows that are not there: "},
    {"SELECT 'agent ' || a.id FROM agents a WHERE a.deleted IS NULL AND (SELECT min(seq) FROM journal r "
     "WHERE r.agent = a.id) > coalesce((SELECT max(version) FROM policies p WHERE p.agent = a.id), 1)",
     "rows that no policy has are missing: "},
};

sv_store_status sv_postgres_check(sv_store *self, sa_buffer *findings) {
    enum { LINES = 5 };
    sv_store_status status = sv_postgres_snapshot(self);
    for (size_t i = 0; status == STORE_OK && i < sizeof QUESTIONS / sizeof *QUESTIONS; i++) {
        PGresult *found = PQexec(self->connection, QUESTIONS[i].sql);
        if (PQresultStatus(found) != PGRES_TUPLES_OK) {
            snprintf(self->sentence, sizeof self->sentence, "the database cannot be used: %.250s",
                     PQerrorMessage(self->connection));
            status = STORE_LATER;
        }
        for (int k = 0; status == STORE_OK && k < PQntuples(found) && k < LINES; k++)
            sa_buffer_format(findings, "%s%s\n", QUESTIONS[i].sentence, PQgetvalue(found, k, 0));
        if (status == STORE_OK && PQntuples(found) > LINES)
            sa_buffer_format(findings, "%s%d more\n", QUESTIONS[i].sentence, PQntuples(found) - LINES);
        PQclear(found);
    }
    sv_postgres_rollback(self);
    return status;
}

/* ---- files, which there are none of ---- */

sv_store_status sv_postgres_checkpoint(sv_store *self, int64_t agent, uint64_t seq, const char *file,
                                       const char *settings, bool keep, bool spare, int64_t now) {
    (void)self, (void)agent, (void)seq, (void)file, (void)settings, (void)keep, (void)spare, (void)now;
    return STORE_OK;
}
sv_store_status sv_postgres_leftover(sv_store *self, int64_t agent, const char *file) {
    return (void)self, (void)agent, (void)file, STORE_OK;
}
sv_store_status sv_postgres_leftovers(sv_store *self, void (*each)(void *user, const char *file),
                                      void *user) {
    return (void)self, (void)each, (void)user, STORE_OK;
}
sv_store_status sv_postgres_scratch(sv_store *self, char name[64]) {
    return (void)self, (void)name, STORE_NONE;
}
sv_store_status sv_postgres_scratch_put(sv_store *self, const char *name) {
    return (void)self, (void)name, STORE_OK;
}
sv_store_status sv_postgres_copy(sv_store *self, const char *path) {
    (void)path;
    snprintf(self->sentence, sizeof self->sentence, "pg_dump makes backups of a PostgreSQL database");
    return STORE_FAILED;
}

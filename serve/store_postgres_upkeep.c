/* Retention, and the check. Checkpoints are policies (store_shared.h): no files are named here. */
#include <stdio.h>

#include "store_postgres.h"

enum { BATCH = 64 }; /* events of one call: three statements remove them, whatever their number */

/* ---- lists of decisions, "{1,2,3}" ---- */

static void add_id(sa_buffer *ids, int64_t id) {
    sa_buffer_format(ids, "%c%lld", ids->size ? ',' : '{', (long long)id);
}

/* The decisions first, which whoever adds feedback has locked: then all of that is there to be removed. */
static sv_store_status remove_decisions(sv_store *self, sa_buffer *ids) {
    sv_postgres_values values = {0};
    sv_store_status status = STORE_OK;
    if (ids->size == 0) return STORE_OK;
    sa_buffer_text(ids, "}");
    if (ids->status) return sv_postgres_fail(self, "memory could not be had");
    sv_postgres_text(&values, ids->text);
    status = sv_postgres_do(self, SQL_DECISIONS_DELETE, &values, NULL);
    return status == STORE_OK ? sv_postgres_do(self, SQL_FEEDBACKS_DELETE, &values, NULL) : status;
}

/* ---- retention ---- */

static int64_t batch(const sv_store_retention *what) {
    return what->most < BATCH ? (int64_t)what->most : BATCH;
}

/* The oldest, in order; the caller stops at the first that is too young. */
static PGresult *list_rows(sv_store *self, const sv_store_retention *what, sv_store_status *status) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, what->agent);
    sv_postgres_number(&values, batch(what));
    return sv_postgres_run(self, SQL_OLDEST_ROWS, &values, status);
}

/* The oldest of a state, each with how many there are of them. Waits that end by themselves are none of them,
 * however many there are. One that a server has in hand is left out: with the feedback or the activation that
 * it gets there it may be none of them any longer. */
static PGresult *list_open(sv_store *self, const sv_store_retention *what, int state, int64_t before,
                           sv_store_status *status) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, what->agent);
    sv_postgres_number(&values, state);
    sv_postgres_number(&values, what->deleted ? INT64_MAX : before);
    sv_postgres_number(&values, what->deleted || state != DECISION_WAITS ? INT64_MAX : 0);
    sv_postgres_number(&values, batch(what));
    return sv_postgres_run(self, SQL_OLDEST_OPEN, &values, status);
}

static sv_store_status clock_of(sv_store *self, int64_t *now) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, SQL_CLOCK, NULL, &status);
    if (result) *now = sv_postgres_get(result, 0, 0);
    PQclear(result);
    return status;
}

static sv_store_status remove_rows_to(sv_store *self, int64_t agent, int64_t seq) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, seq);
    return sv_postgres_do(self, SQL_ROWS_DELETE, &values, NULL);
}

static sv_store_status remove_rows(sv_store *self, sv_store_retention *what, int64_t before) {
    sv_store_status status;
    sa_buffer ids = {0};
    int64_t last = 0;
    PGresult *found = list_rows(self, what, &status);
    for (int i = 0; found && i < PQntuples(found); i++) {
        if (!what->deleted && sv_postgres_get(found, i, 1) >= before) break;
        if (sv_postgres_get(found, i, 2)) add_id(&ids, sv_postgres_get(found, i, 2));
        last = sv_postgres_get(found, i, 0);
        what->count++;
    }
    what->more = what->count == (uint64_t)batch(what);
    PQclear(found);
    if (status == STORE_OK) status = remove_decisions(self, &ids);
    if (status == STORE_OK && last) status = remove_rows_to(self, what->agent, last);
    sa_buffer_clear(&ids);
    return status;
}

static sv_store_status remove_open(sv_store *self, sv_store_retention *what, int state, int64_t before) {
    sv_store_status status = STORE_OK;
    sa_buffer ids = {0};
    uint64_t removed = 0;
    int64_t oldest = 0;
    PGresult *found = list_open(self, what, state, before, &status);
    for (int i = 0; found && i < PQntuples(found); i++) {
        oldest = sv_postgres_get(found, i, 1);
        if (!sv_postgres_get(found, i, 0)) continue; /* none is free */
        add_id(&ids, sv_postgres_get(found, i, 0));
        removed++;
    }
    PQclear(found);
    if (status == STORE_OK) status = remove_decisions(self, &ids);
    sa_buffer_clear(&ids);
    what->count += removed;
    what->more = what->more || (oldest == batch(what) && removed); /* else the next pass has them */
    if (state == DECISION_WAITS) what->waited += removed;
    if (state == DECISION_HELD) what->held += removed;
    return status;
}

/* A call is a batch of each kind, however many there are. */
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

sv_store_status sv_postgres_held_remove(sv_store *self, int64_t agent, size_t keep, size_t most,
                                        uint64_t *count) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sa_buffer ids = {0};
    *count = 0;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, (int64_t)keep);
    sv_postgres_number(&values, (int64_t)most);
    PGresult *found = sv_postgres_run(self, SQL_HELD_BEYOND, &values, &status);
    for (int i = 0; found && i < PQntuples(found); i++) add_id(&ids, sv_postgres_get(found, i, 0));
    if (found) *count = (uint64_t)PQntuples(found);
    PQclear(found);
    if (status == STORE_OK) status = remove_decisions(self, &ids);
    sa_buffer_clear(&ids);
    return status;
}

static sv_store_status of_agent(sv_store *self, int which, int64_t agent) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    return sv_postgres_do(self, which, &values, NULL);
}

sv_store_status sv_postgres_agent_remove(sv_store *self, int64_t agent) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *locked = sv_postgres_run(self, SQL_AGENT_LOCK, &values, &status);
    bool ours = locked && PQntuples(locked); /* else a decision is being added: the next pass */
    PQclear(locked);
    if (!ours) return status == STORE_OK ? STORE_NONE : status;
    PGresult *any = sv_postgres_run(self, SQL_ANY_DECISION, &values, &status);
    if (!any) return status;
    bool left = PQntuples(any);
    PQclear(any);
    if (left) return STORE_NONE;
    status = of_agent(self, SQL_PARTS_DELETE, agent);
    return status == STORE_OK ? of_agent(self, SQL_AGENT_REMOVE, agent) : status;
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
    {"SELECT 'agent ' || agent || ' has ' || count(*) FROM decisions WHERE agent NOT IN (SELECT id FROM "
     "agents) GROUP BY agent",
     "decisions of no agent: "},
    {"SELECT 'feedback ' || f.id FROM feedback f LEFT JOIN decisions d ON d.id = f.decision WHERE d.id IS "
     "NULL",
     "feedback without its decision: "},
    {"SELECT 'agent ' || p.agent || ' at row ' || p.version FROM policies p WHERE " KEPT(
         "p.agent") " AND p.version > coalesce((SELECT max(seq) FROM journal r WHERE r.agent = p.agent), 0)",
     "a policy of rows that are not there: "},
    {"SELECT 'agent ' || a.id FROM agents a WHERE a.deleted IS NULL AND (SELECT min(seq) FROM journal r "
     "WHERE r.agent = a.id) > coalesce((SELECT max(version) FROM policies p WHERE p.agent = a.id), 1)",
     "rows that no policy has are missing: "},
    {"SELECT 'agent ' || i.agent FROM (SELECT agent, count(until) past, greatest(max(since), max(until)) "
     "last "
     "FROM items GROUP BY agent) i LEFT JOIN catalogues c ON c.agent = i.agent WHERE " KEPT(
         "i.agent") " AND (c.past IS DISTINCT FROM i.past OR c.version < i.last)",
     "a catalogue and its items do not fit: "},
    {"SELECT 'event ' || d.event FROM decisions d JOIN catalogues c ON c.agent = d.agent WHERE d.items < "
     "c.purged",
     "a decision that names items which may be gone: "},
    {"SELECT 'event ' || d.event FROM decisions d LEFT JOIN catalogues c ON c.agent = d.agent WHERE " KEPT(
         "d.agent") " AND d.items > coalesce(c.version, 0)",
     "a decision that names a version which its catalogue has not had: "},
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

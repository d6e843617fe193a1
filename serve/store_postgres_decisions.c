/* Agents, decisions and feedback. */
#include <string.h>

#include "compact.h"
#include "expand.h"
#include "store_postgres.h"
#include "utf8.h"

/* ---- agents ---- */

sv_store_status sv_postgres_agent_add(sv_store *self, const char *name, const char *settings, int64_t now,
                                      int64_t *id) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_text(&values, name);
    sv_postgres_text(&values, settings);
    sv_postgres_number(&values, now);
    PGresult *result = sv_postgres_run(self, SQL_AGENT_ADD, &values, &status);
    if (!result) return status;
    bool made = PQntuples(result);
    if (made) *id = sv_postgres_get(result, 0, 0);
    self->changes += made;
    PQclear(result);
    return made ? STORE_OK : STORE_NONE;
}

sv_store_status sv_postgres_agent_change(sv_store *self, int64_t agent, uint64_t version,
                                         const char *settings) {
    sv_postgres_values values = {0};
    uint64_t changed = 0;
    sv_postgres_number(&values, agent);
    sv_postgres_text(&values, settings);
    sv_postgres_number(&values, (int64_t)version);
    sv_store_status status = sv_postgres_do(self, SQL_AGENT_CHANGE, &values, &changed);
    return status == STORE_OK && !changed ? STORE_NONE : status;
}

sv_store_status sv_postgres_agent_delete(sv_store *self, int64_t agent, int64_t now) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, now);
    sv_store_status status = sv_postgres_do(self, SQL_AGENT_DELETE, &values, NULL);
    return status == STORE_OK ? sv_shared_tell(self, "agents") : status;
}

sv_store_status sv_postgres_agents_deleted(sv_store *self, int64_t *ids, size_t most, size_t *count) {
    sv_postgres_values values = {0};
    sv_store_status status;
    *count = 0;
    sv_postgres_number(&values, (int64_t)most);
    PGresult *result = sv_postgres_run(self, SQL_AGENTS_DELETED, &values, &status);
    if (!result) return status;
    for (int i = 0; i < PQntuples(result) && *count < most; i++)
        ids[(*count)++] = sv_postgres_get(result, i, 0);
    PQclear(result);
    return STORE_OK;
}

sv_store_status sv_postgres_agents(sv_store *self, bool (*each)(void *user, const sv_store_agent *agent),
                                   void *user) {
    sv_store_status status;
    PGresult *list = sv_postgres_run(self, SQL_AGENTS, NULL, &status);
    if (!list) return status;
    for (int i = 0; i < PQntuples(list); i++) {
        sv_store_agent agent = {.id = sv_postgres_get(list, i, 0),
                                .name = sv_postgres_get_text(list, i, 1),
                                .settings = sv_postgres_get_text(list, i, 2),
                                .last_seq = (uint64_t)sv_postgres_get(list, i, 3),
                                .deleted = sv_postgres_get(list, i, 4),
                                .version = (uint64_t)sv_postgres_get(list, i, 5),
                                .broken = sv_postgres_get_text(list, i, 6),
                                .policy = (uint64_t)sv_postgres_get(list, i, 7),
                                .items = (uint64_t)sv_postgres_get(list, i, 8),
                                .past = (uint64_t)sv_postgres_get(list, i, 9)};
        if (!each(user, &agent)) break;
    }
    PQclear(list);
    return STORE_OK;
}

sv_store_status sv_postgres_agent_count(sv_store *self, int64_t agent, sv_store_counts *out) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, agent);
    PGresult *count = sv_postgres_run(self, SQL_AGENT_COUNT, &values, &status);
    if (!count) return status;
    out->decisions = (uint64_t)sv_postgres_get(count, 0, 0);
    out->waiting = (uint64_t)sv_postgres_get(count, 0, 1);
    out->held = (uint64_t)sv_postgres_get(count, 0, 2);
    out->learnt = out->decisions - (uint64_t)sv_postgres_get(count, 0, 3);
    PQclear(count);
    return STORE_OK;
}

/* ---- decisions ---- */

/* The values of the statement that is returned. */
static int set_values(sv_postgres_values *values, const sv_store_decision *decision) {
    uint64_t items = sv_compact_version(decision->body, decision->body_size);
    sv_postgres_number(values, decision->agent);
    sv_postgres_text(values, decision->event);
    sv_postgres_number(values, decision->time);
    sv_postgres_number(values, decision->wait);
    sv_postgres_number(values, (int64_t)decision->model);
    sv_postgres_bytes(values, decision->hash, SA_SHA256_BYTES);
    sv_postgres_bytes(values, decision->arms, decision->arm_count * sizeof *decision->arms);
    sv_postgres_text(values, decision->answer);
    sv_postgres_bytes(values, decision->body, decision->body_size);
    sv_postgres_number(values, decision->state);
    sv_postgres_number(values, decision->side);
    if (items)
        sv_postgres_number(values, (int64_t)items);
    else
        sv_postgres_text(values, NULL);
    return items ? SQL_DECISION_ADD_STORED : SQL_DECISION_ADD;
}

void sv_postgres_decision_ahead(sv_store *self, const sv_store_decision *decision) {
    sv_postgres_values values = {0};
    if (!self->transaction || !self->connection || self->ahead_count == POSTGRES_AHEAD) return;
    int add = set_values(&values, decision);
    if (sv_postgres_send(self, add, &values) != STORE_OK) return;
    self->ahead[self->ahead_count].decision = decision;
    self->ahead[self->ahead_count++].added = false;
}

sv_store_status sv_postgres_decision_add(sv_store *self, const sv_store_decision *decision) {
    sv_postgres_values values = {0};
    uint64_t added = 0;
    for (size_t i = 0; i < self->ahead_count; i++)
        if (self->ahead[i].decision == decision) return self->ahead[i].added ? STORE_OK : STORE_NONE;
    int add = set_values(&values, decision);
    sv_store_status status = sv_postgres_do(self, add, &values, &added);
    return status == STORE_OK && !added ? STORE_NONE : status;
}

void sv_postgres_read_decision(const PGresult *result, int row, sv_store_decision *out) {
    *out = (sv_store_decision){.id = sv_postgres_get(result, row, 0),
                               .agent = sv_postgres_get(result, row, 1),
                               .event = sv_postgres_get_text(result, row, 2),
                               .time = sv_postgres_get(result, row, 3),
                               .due = sv_postgres_get(result, row, 4),
                               .state = (sv_decision_state)sv_postgres_get(result, row, 5),
                               .model = (uint64_t)sv_postgres_get(result, row, 6),
                               .seq = (uint64_t)sv_postgres_get(result, row, 7),
                               .arms = (const uint32_t *)(const void *)PQgetvalue(result, row, 9),
                               .arm_count = (size_t)PQgetlength(result, row, 9) / sizeof(uint32_t),
                               .answer = sv_postgres_get_text(result, row, 10),
                               .side = (sv_decision_side)sv_postgres_get(result, row, 11),
                               .body = PQgetvalue(result, row, 12),
                               .body_size = (size_t)PQgetlength(result, row, 12)};
    if (PQgetlength(result, row, 8) == SA_SHA256_BYTES)
        memcpy(out->hash, PQgetvalue(result, row, 8), SA_SHA256_BYTES);
}

sv_store_status sv_postgres_decision_there(sv_store *self, int64_t id) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, id);
    PGresult *there = sv_postgres_run(self, SQL_DECISION_THERE, &values, &status);
    if (there && !PQntuples(there)) status = STORE_NONE;
    PQclear(there);
    return status;
}

/* One without its items has no answer: the learner says so of its agent, and the journal goes on. */
static sv_store_status complete(sv_store *self, sv_store_decision *out) {
    sv_store_status status = sv_expand(self, out, NULL, &self->answer);
    return status == STORE_NONE ? sv_postgres_decision_there(self, out->id) : status;
}

static sv_store_status find_one(sv_store *self, int which, const sv_postgres_values *values,
                                sv_store_decision *out) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, which, values, &status);
    PQclear(self->found);
    self->found = result;
    if (!result) return status;
    if (!PQntuples(result)) return STORE_NONE;
    sv_postgres_read_decision(result, 0, out);
    out->ended = PQnfields(result) > POSTGRES_DECISION_COLUMNS &&
                 sv_postgres_get(result, 0, POSTGRES_DECISION_COLUMNS);
    return complete(self, out);
}

/* In a transaction it stays as it is found: a learner cannot end its wait meanwhile. An event that came in a
 * path need not be text, and PostgreSQL takes text alone. */
sv_store_status sv_postgres_decision_find(sv_store *self, int64_t agent, const char *event,
                                          sv_store_decision *out) {
    sv_postgres_values values = {0};
    if (!sv_utf8_is_whole(event)) return STORE_NONE;
    sv_postgres_number(&values, agent);
    sv_postgres_text(&values, event);
    return find_one(self, self->transaction && self->writes ? SQL_DECISION_LOCK : SQL_DECISION_FIND, &values,
                    out);
}

/* In a transaction a batch is fetched, which nobody else can change meanwhile. Some more are looked at than
 * are wanted, since others may have locked the first. */
static PGresult *fetch_due(sv_store *self, sv_store_status *status) {
    enum { BATCH = 64, GLANCE = 8 };
    sv_postgres_values values = {0};
    sa_buffer held = {0};
    PGresult *result = NULL;
    sv_postgres_held(self, &held);
    sv_postgres_text(&values, held.text);
    sv_postgres_number(&values, self->transaction ? BATCH : GLANCE);
    sv_postgres_number(&values, self->transaction ? BATCH : 1);
    *status = STORE_LATER;
    if (!held.status) result = sv_postgres_run(self, SQL_DECISION_DUE, &values, status);
    sa_buffer_clear(&held);
    return result;
}

sv_store_status sv_postgres_decision_due(sv_store *self, sv_store_decision *out) {
    sv_store_status status;
    if (!self->held_count) return STORE_NONE;
    if (!self->transaction || !self->due || self->due_at == PQntuples(self->due)) {
        PGresult *result = fetch_due(self, &status);
        PQclear(self->due); /* NULL where the connection was lost */
        self->due = result;
        self->due_at = 0;
        if (!result) return status;
    }
    if (!PQntuples(self->due)) return STORE_NONE;
    sv_postgres_read_decision(self->due, self->due_at++, out);
    return complete(self, out);
}

sv_store_status sv_postgres_decision_take(sv_store *self, int64_t id, sv_store_decision *out) {
    sv_postgres_values values = {0};
    *out = (sv_store_decision){0};
    sv_postgres_number(&values, id);
    sv_store_status status = find_one(self, SQL_DECISION_TAKE, &values, out);
    if (status != STORE_NONE) return status;
    status = sv_postgres_decision_there(self, id);
    if (status == STORE_OK) out->id = id; /* somebody else has it */
    return status == STORE_OK ? STORE_NONE : status;
}

static sv_store_status drop(sv_store *self, int64_t agent, sv_decision_state state, uint64_t *count) {
    sv_postgres_values values = {0};
    *count = 0;
    sv_postgres_number(&values, agent);
    sv_postgres_number(&values, state);
    return sv_postgres_do(self, SQL_DECISIONS_DROP, &values, count);
}

sv_store_status sv_postgres_decisions_drop(sv_store *self, int64_t agent, uint64_t *waited, uint64_t *held) {
    sv_store_status status = drop(self, agent, DECISION_WAITS, waited);
    return status == STORE_OK ? drop(self, agent, DECISION_HELD, held) : status;
}

sv_store_status sv_postgres_decision_activate(sv_store *self, int64_t decision, int64_t wait) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, decision);
    sv_postgres_number(&values, wait);
    return sv_postgres_do(self, SQL_DECISION_ACTIVATE, &values, NULL);
}

static sv_store_status by_id(sv_store *self, int which, int64_t id) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, id);
    return sv_postgres_do(self, which, &values, NULL);
}

sv_store_status sv_postgres_decision_erase(sv_store *self, int64_t decision) {
    sv_store_status status = by_id(self, SQL_DECISION_FORGET, decision);
    if (status == STORE_OK) status = by_id(self, SQL_REVISIONS_FORGET, decision);
    if (status == STORE_OK) status = by_id(self, SQL_DECISION_DELETE, decision);
    return status == STORE_OK ? by_id(self, SQL_FEEDBACK_DELETE, decision) : status;
}

/* ---- feedback ---- */

sv_store_status sv_postgres_feedback_add(sv_store *self, int64_t decision, const char *key, int64_t now,
                                         bool late, const char *value) {
    sv_postgres_values values = {0};
    uint64_t added = 0;
    sv_postgres_number(&values, decision);
    sv_postgres_text(&values, key);
    sv_postgres_number(&values, now);
    sv_postgres_number(&values, late);
    sv_postgres_text(&values, value);
    sv_store_status status = sv_postgres_do(self, SQL_FEEDBACK_ADD, &values, &added);
    return status == STORE_OK && !added ? STORE_NONE : status;
}

sv_store_status sv_postgres_feedback_count(sv_store *self, int64_t decision, size_t *count) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, decision);
    PGresult *result = sv_postgres_run(self, SQL_FEEDBACK_COUNT, &values, &status);
    *count = result ? (size_t)sv_postgres_get(result, 0, 0) : 0;
    PQclear(result);
    return status;
}

sv_store_status sv_postgres_feedbacks(sv_store *self, int64_t decision, bool late,
                                      bool (*each)(void *user, const char *value), void *user) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, decision);
    sv_postgres_number(&values, late);
    PGresult *list = sv_postgres_run(self, SQL_FEEDBACKS, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++)
        if (!each(user, PQgetvalue(list, i, 0))) break;
    PQclear(list);
    return status;
}

sv_store_status sv_postgres_feedback_last(sv_store *self, int64_t *id) {
    sv_store_status status;
    PGresult *result = sv_postgres_run(self, SQL_FEEDBACK_LAST, NULL, &status);
    if (result) *id = sv_postgres_get(result, 0, 0);
    PQclear(result);
    return status;
}

sv_store_status sv_postgres_feedback_tally(sv_store *self, int64_t from, int64_t to,
                                           void (*each)(void *user, int64_t agent, uint64_t count,
                                                        uint64_t late),
                                           void *user) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, from);
    sv_postgres_number(&values, to);
    PGresult *list = sv_postgres_run(self, SQL_FEEDBACK_TALLY, &values, &status);
    for (int i = 0; list && i < PQntuples(list); i++)
        each(user, sv_postgres_get(list, i, 0), (uint64_t)sv_postgres_get(list, i, 1),
             (uint64_t)sv_postgres_get(list, i, 2));
    PQclear(list);
    return status;
}

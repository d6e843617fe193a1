/* Agents, decisions and feedback. */
#include <string.h>

#include "compact.h"
#include "expand.h"
#include "store_sqlite.h"

static void bind_text(sqlite3_stmt *statement, int at, const char *value) {
    sqlite3_bind_text(statement, at, value, -1, SQLITE_STATIC);
}

sv_store_status sv_sqlite_agent_add(sv_store *self, const char *name, const char *settings, int64_t now,
                                    int64_t *id) {
    sv_store_status status = sv_sqlite_next_number(self, "last_agent", id);
    sqlite3_stmt *add = status == STORE_OK ? sv_sqlite_use(self, SQL_AGENT_ADD) : NULL;
    if (!add) return status == STORE_OK ? STORE_FAILED : status;
    bind_text(add, 1, name);
    bind_text(add, 2, settings);
    sqlite3_bind_int64(add, 3, now);
    sqlite3_bind_int64(add, 4, *id);
    status = sv_sqlite_run(self, add);
    return status == STORE_OK && sqlite3_changes(self->database) == 0 ? STORE_NONE : status;
}

sv_store_status sv_sqlite_agent_change(sv_store *self, int64_t agent, uint64_t version,
                                       const char *settings) {
    (void)version; /* there is one server */
    sqlite3_stmt *change = sv_sqlite_use(self, SQL_AGENT_CHANGE);
    if (!change) return STORE_FAILED;
    sqlite3_bind_int64(change, 1, agent);
    bind_text(change, 2, settings);
    return sv_sqlite_run(self, change);
}

sv_store_status sv_sqlite_agent_delete(sv_store *self, int64_t agent, int64_t now) {
    sqlite3_stmt *change = sv_sqlite_use(self, SQL_AGENT_DELETE);
    if (!change) return STORE_FAILED;
    sqlite3_bind_int64(change, 1, agent);
    sqlite3_bind_int64(change, 2, now);
    return sv_sqlite_run(self, change);
}

sv_store_status sv_sqlite_agents_deleted(sv_store *self, int64_t *ids, size_t most, size_t *count) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_AGENTS_DELETED);
    sv_store_status status;
    *count = 0;
    if (!list) return STORE_FAILED;
    sqlite3_bind_int64(list, 1, (int64_t)most);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK && *count < most)
        ids[(*count)++] = sqlite3_column_int64(list, 0);
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_agents(sv_store *self, bool (*each)(void *user, const sv_store_agent *agent),
                                 void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_AGENTS);
    sv_store_status status;
    while ((status = sv_sqlite_step(self, list)) == STORE_OK) {
        sv_store_agent agent = {.id = sqlite3_column_int64(list, 0),
                                .name = (const char *)sqlite3_column_text(list, 1),
                                .settings = (const char *)sqlite3_column_text(list, 2),
                                .last_seq = (uint64_t)sqlite3_column_int64(list, 3),
                                .checkpoint_seq = (uint64_t)sqlite3_column_int64(list, 4),
                                .checkpoint = (const char *)sqlite3_column_text(list, 5),
                                .deleted = sqlite3_column_type(list, 6) != SQLITE_NULL,
                                .checkpoint_settings = (const char *)sqlite3_column_text(list, 7),
                                .older_seq = (uint64_t)sqlite3_column_int64(list, 8),
                                .older = (const char *)sqlite3_column_text(list, 9),
                                .older_settings = (const char *)sqlite3_column_text(list, 10),
                                .checkpoint_time = sqlite3_column_int64(list, 11)};
        if (!each(user, &agent)) break;
    }
    if (list) sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_agent_count(sv_store *self, int64_t agent, sv_store_counts *out) {
    sqlite3_stmt *count = sv_sqlite_use(self, SQL_AGENT_COUNT);
    if (!count) return STORE_FAILED;
    sqlite3_bind_int64(count, 1, agent);
    sv_store_status status = sv_sqlite_step(self, count);
    if (status != STORE_OK) return status;
    out->decisions = (uint64_t)sqlite3_column_int64(count, 0);
    out->waiting = (uint64_t)sqlite3_column_int64(count, 1);
    out->held = (uint64_t)sqlite3_column_int64(count, 2);
    out->learnt = out->decisions - (uint64_t)sqlite3_column_int64(count, 3);
    sqlite3_reset(count);
    return STORE_OK;
}

/* The journal's time of a decision. One that names a catalogue which has changed since counts as made at that
 * change: the items of before stay as long as decisions of their time. */
static sv_store_status find_kept(sv_store *self, const sv_store_decision *decision, int64_t *out) {
    uint64_t version = sv_compact_version(decision->body, decision->body_size);
    *out = self->clock.kept;
    if (!version) return STORE_OK;
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_ITEMS_CHANGED);
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, decision->agent);
    sqlite3_bind_int64(find, 2, (int64_t)version);
    sv_store_status status = sv_sqlite_step(self, find);
    int64_t changed = sqlite3_column_int64(find, 0); /* 0: it has not */
    if (changed > 0 && changed < *out) *out = changed;
    sqlite3_reset(find);
    return status;
}

sv_store_status sv_sqlite_decision_add(sv_store *self, const sv_store_decision *decision) {
    int64_t kept;
    sv_store_status found = find_kept(self, decision, &kept);
    if (found != STORE_OK) return found;
    sqlite3_stmt *add = sv_sqlite_use(self, SQL_DECISION_ADD);
    if (!add) return STORE_FAILED;
    sqlite3_bind_int64(add, 1, decision->agent);
    bind_text(add, 2, decision->event);
    sqlite3_bind_int64(add, 3, decision->time);
    sqlite3_bind_int64(
        add, 4, decision->wait && decision->state != DECISION_HELD ? self->clock.waits + decision->wait : 0);
    sqlite3_bind_int64(add, 5, (int64_t)decision->model);
    sqlite3_bind_blob(add, 6, decision->hash, SA_SHA256_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob(add, 7, decision->arms, (int)(decision->arm_count * sizeof *decision->arms),
                      SQLITE_STATIC);
    bind_text(add, 8, decision->answer);
    sqlite3_bind_blob(add, 9, decision->body, (int)decision->body_size, SQLITE_STATIC);
    sqlite3_bind_int64(add, 10, kept);
    sqlite3_bind_int(add, 11, (int)decision->side);
    sqlite3_bind_int(add, 12, (int)decision->state);
    sv_store_status status = sv_sqlite_run(self, add);
    return status == STORE_OK && sqlite3_changes(self->database) == 0 ? STORE_NONE : status;
}

void sv_sqlite_read_decision(sqlite3_stmt *statement, sv_store_decision *out) {
    *out = (sv_store_decision){.id = sqlite3_column_int64(statement, 0),
                               .agent = sqlite3_column_int64(statement, 1),
                               .event = (const char *)sqlite3_column_text(statement, 2),
                               .time = sqlite3_column_int64(statement, 3),
                               .due = sqlite3_column_int64(statement, 4),
                               .state = (sv_decision_state)sqlite3_column_int(statement, 5),
                               .model = (uint64_t)sqlite3_column_int64(statement, 6),
                               .seq = (uint64_t)sqlite3_column_int64(statement, 7),
                               .arms = sqlite3_column_blob(statement, 9),
                               .arm_count = (size_t)sqlite3_column_bytes(statement, 9) / sizeof(uint32_t),
                               .answer = (const char *)sqlite3_column_text(statement, 10),
                               .side = (sv_decision_side)sqlite3_column_int(statement, 11),
                               .body = sqlite3_column_blob(statement, 12),
                               .body_size = (size_t)sqlite3_column_bytes(statement, 12)};
    if (sqlite3_column_bytes(statement, 8) == SA_SHA256_BYTES)
        memcpy(out->hash, sqlite3_column_blob(statement, 8), SA_SHA256_BYTES);
}

/* The row that the statement finds. Its texts are copied and the statement ends: one that is left open would
 * keep its moment of the database, and with it the log, for ever. */
static sv_store_status find_one(sv_store *self, sqlite3_stmt *find, sv_store_decision *out) {
    sv_store_status status = sv_sqlite_step(self, find);
    if (status != STORE_OK) return status;
    sv_sqlite_read_decision(find, out);
    if (!out->event || !out->answer) return sqlite3_reset(find), STORE_LATER; /* memory is short */
    size_t arms = out->arm_count * sizeof *out->arms, event = strlen(out->event) + 1;
    sa_buffer *kept = &self->found;
    kept->size = 0;
    sa_buffer_bytes(kept, (const char *)out->arms, arms);
    sa_buffer_bytes(kept, out->event, event);
    sa_buffer_bytes(kept, out->answer, strlen(out->answer) + 1);
    sa_buffer_bytes(kept, out->body, out->body_size);
    sqlite3_reset(find);
    if (kept->status) {
        sa_buffer_clear(kept);
        *kept = (sa_buffer){0};
        return STORE_LATER;
    }
    out->arms = (const uint32_t *)(const void *)kept->text;
    out->event = kept->text + arms;
    out->answer = out->event + event;
    out->body = out->answer + strlen(out->answer) + 1;
    /* without its items it has no answer: the learner says so of its agent, and the journal goes on */
    status = sv_expand(self, out, NULL, &self->answer);
    return status == STORE_NONE ? STORE_OK : status;
}

sv_store_status sv_sqlite_decision_find(sv_store *self, int64_t agent, const char *event,
                                        sv_store_decision *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_DECISION_FIND);
    if (!find) return STORE_FAILED;
    sqlite3_bind_int64(find, 1, agent);
    bind_text(find, 2, event);
    return find_one(self, find, out);
}

sv_store_status sv_sqlite_decision_due(sv_store *self, sv_store_decision *out) {
    sqlite3_stmt *find = sv_sqlite_use(self, SQL_DECISION_DUE);
    if (!find) return STORE_FAILED;
    sv_sqlite_clock_advance(self);
    sqlite3_bind_int64(find, 1, self->clock.waits);
    return find_one(self, find, out);
}

static sv_store_status drop(sv_store *self, int64_t agent, sv_decision_state state, uint64_t *count) {
    sqlite3_stmt *drop = sv_sqlite_use(self, SQL_DECISIONS_DROP);
    if (!drop) return STORE_FAILED;
    sqlite3_bind_int64(drop, 1, agent);
    sqlite3_bind_int(drop, 2, (int)state);
    sv_store_status status = sv_sqlite_run(self, drop);
    *count = status == STORE_OK ? (uint64_t)sqlite3_changes(self->database) : 0;
    return status;
}

sv_store_status sv_sqlite_decisions_drop(sv_store *self, int64_t agent, uint64_t *waited, uint64_t *held) {
    sv_store_status status = drop(self, agent, DECISION_WAITS, waited);
    return status == STORE_OK ? drop(self, agent, DECISION_HELD, held) : status;
}

sv_store_status sv_sqlite_decision_activate(sv_store *self, int64_t decision, int64_t wait) {
    sqlite3_stmt *activate = sv_sqlite_use(self, SQL_DECISION_ACTIVATE);
    if (!activate) return STORE_FAILED;
    sqlite3_bind_int64(activate, 1, decision);
    sqlite3_bind_int64(activate, 2, wait ? self->clock.waits + wait : 0);
    return sv_sqlite_run(self, activate);
}

static sv_store_status by_id(sv_store *self, int which, int64_t id) {
    sqlite3_stmt *statement = sv_sqlite_use(self, which);
    if (!statement) return STORE_FAILED;
    sqlite3_bind_int64(statement, 1, id);
    return sv_sqlite_run(self, statement);
}

sv_store_status sv_sqlite_decision_erase(sv_store *self, int64_t decision) {
    sv_store_status status = by_id(self, SQL_DECISION_FORGET, decision);
    if (status == STORE_OK) status = by_id(self, SQL_REVISIONS_FORGET, decision);
    if (status == STORE_OK) status = by_id(self, SQL_FEEDBACK_DELETE, decision);
    return status == STORE_OK ? by_id(self, SQL_DECISION_DELETE, decision) : status;
}

sv_store_status sv_sqlite_feedback_add(sv_store *self, int64_t decision, const char *key, int64_t now,
                                       bool late, const char *value) {
    sqlite3_stmt *add = sv_sqlite_use(self, SQL_FEEDBACK_ADD);
    if (!add) return STORE_FAILED;
    sqlite3_bind_int64(add, 1, decision);
    bind_text(add, 2, key);
    sqlite3_bind_int64(add, 3, now);
    sqlite3_bind_int(add, 4, late);
    bind_text(add, 5, value);
    sv_store_status status = sv_sqlite_run(self, add);
    return status == STORE_OK && sqlite3_changes(self->database) == 0 ? STORE_NONE : status;
}

sv_store_status sv_sqlite_feedback_count(sv_store *self, int64_t decision, size_t *count) {
    sqlite3_stmt *ask = sv_sqlite_use(self, SQL_FEEDBACK_COUNT);
    if (!ask) return STORE_FAILED;
    sqlite3_bind_int64(ask, 1, decision);
    sv_store_status status = sv_sqlite_step(self, ask);
    *count = status == STORE_OK ? (size_t)sqlite3_column_int64(ask, 0) : 0;
    sqlite3_reset(ask);
    return status;
}

sv_store_status sv_sqlite_feedbacks(sv_store *self, int64_t decision, bool late,
                                    bool (*each)(void *user, const char *value), void *user) {
    sqlite3_stmt *list = sv_sqlite_use(self, SQL_FEEDBACKS);
    sv_store_status status = STORE_FAILED;
    if (!list) return status;
    sqlite3_bind_int64(list, 1, decision);
    sqlite3_bind_int(list, 2, late);
    while ((status = sv_sqlite_step(self, list)) == STORE_OK)
        if (!each(user, (const char *)sqlite3_column_text(list, 0))) break;
    sqlite3_reset(list);
    return status == STORE_NONE ? STORE_OK : status;
}

/* ---- nothing is far away ---- */

void sv_sqlite_decision_ahead(sv_store *self, const sv_store_decision *decision) {
    (void)self, (void)decision;
}
sv_store_status sv_sqlite_settle(sv_store *self) { return (void)self, STORE_OK; }

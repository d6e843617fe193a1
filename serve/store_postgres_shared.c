/* Locks, servers, and what they leave for each other. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "store_postgres.h"

/* ---- who holds an agent ---- */

static struct held *find_held(const sv_store *self, int64_t agent) {
    for (size_t i = 0; i < self->held_count; i++)
        if (self->held[i].agent == agent) return &self->held[i];
    return NULL;
}

bool sv_postgres_holds(const sv_store *self, int64_t agent) { return find_held(self, agent); }

void sv_postgres_held(const sv_store *self, sa_buffer *out) {
    sa_buffer_format(out, "{");
    for (size_t i = 0; i < self->held_count; i++)
        sa_buffer_format(out, "%s%lld", i ? "," : "", (long long)self->held[i].agent);
    sa_buffer_format(out, "}");
}

static bool has_room(sv_store *self) {
    if (self->held_count < self->held_room) return true;
    size_t room = self->held_room ? 2 * self->held_room : 16;
    struct held *more = realloc(self->held, room * sizeof *more);
    if (!more) return false;
    self->held = more;
    self->held_room = room;
    return true;
}

sv_store_status sv_postgres_hold(sv_store *self, int64_t agent) {
    sv_postgres_values values = {0};
    sv_store_status status;
    struct held *held = find_held(self, agent);
    if (held) return held->leaves = false, STORE_OK;
    if (!has_room(self)) return STORE_LATER;
    sv_postgres_number(&values, agent);
    PGresult *result = sv_postgres_run(self, SQL_HOLD, &values, &status);
    if (!result) return status;
    bool got = sv_postgres_get(result, 0, 0);
    PQclear(result);
    if (got) self->held[self->held_count++] = (struct held){.agent = agent};
    return got ? STORE_OK : STORE_NONE;
}

/* A lock that cannot be released goes with its session: nobody else could take it while this one thinks that
 * it is free. */
static void release(sv_store *self, struct held *held) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, held->agent);
    *held = self->held[--self->held_count];
    if (sv_postgres_do(self, SQL_LET_GO, &values, NULL) != STORE_OK) sv_postgres_disconnect(self);
}

/* Whoever takes the lock must see all that was written under it: rows and sums of a transaction are seen once
 * it is committed. */
void sv_postgres_let_go(sv_store *self, int64_t agent) {
    struct held *held = find_held(self, agent);
    if (held && self->transaction)
        held->leaves = true;
    else if (held)
        release(self, held);
}

/* What is undone has let nothing go. From the last on, since the last takes the place of one that leaves; all
 * are gone with the session. */
void sv_postgres_end_leaving(sv_store *self, bool kept) {
    for (size_t i = self->held_count; i > 0; i--) {
        if (i > self->held_count || !self->held[i - 1].leaves) continue;
        self->held[i - 1].leaves = false;
        if (kept) release(self, &self->held[i - 1]);
    }
}

sv_store_status sv_shared_unseat(sv_store *self, int64_t agent) {
    sv_postgres_values values = {0};
    uint64_t count = 0;
    sv_postgres_number(&values, agent);
    sv_store_status status = sv_postgres_do(self, SQL_UNSEAT, &values, &count);
    return status == STORE_OK && !count ? STORE_NONE : status;
}

/* ---- servers ---- */

int sv_shared_backend(sv_store *self) { return self->connection ? PQbackendPID(self->connection) : 0; }

sv_store_status sv_shared_beat(sv_store *self, const sv_shared_server *server) {
    sv_postgres_values values = {0};
    sv_postgres_text(&values, server->id);
    sv_postgres_text(&values, server->name);
    sv_postgres_text(&values, server->version);
    sv_postgres_text(&values, server->keys);
    sv_postgres_number(&values, server->learns);
    sv_postgres_number(&values, server->backend);
    sv_postgres_number(&values, sv_postgres_format);
    return sv_postgres_do(self, SQL_BEAT, &values, NULL);
}

sv_store_status sv_shared_join(sv_store *self) { return sv_postgres_do(self, SQL_JOIN, NULL, NULL); }

sv_store_status sv_shared_leave(sv_store *self, const char *id) {
    sv_postgres_values values = {0};
    sv_postgres_text(&values, id);
    return sv_postgres_do(self, SQL_LEAVE, &values, NULL);
}

sv_store_status sv_shared_servers(sv_store *self, void (*each)(void *user, const sv_shared_server *server),
                                  void *user) {
    sv_store_status status;
    PGresult *list = sv_postgres_run(self, SQL_SERVERS, NULL, &status);
    for (int i = 0; list && i < PQntuples(list); i++) {
        sv_shared_server server = {.id = PQgetvalue(list, i, 0),
                                   .name = PQgetvalue(list, i, 1),
                                   .version = PQgetvalue(list, i, 2),
                                   .keys = PQgetvalue(list, i, 3),
                                   .learns = sv_postgres_get(list, i, 4),
                                   .backend = (int)sv_postgres_get(list, i, 5)};
        each(user, &server);
    }
    PQclear(list);
    return status;
}

sv_store_status sv_shared_require(sv_store *self, int format) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, format);
    PGresult *result = sv_postgres_run(self, SQL_REQUIRED, &values, &status);
    if (!result) return status;
    bool required = sv_postgres_get(result, 0, 0), older = sv_postgres_get(result, 0, 1);
    PQclear(result);
    if (required || older) return required ? STORE_OK : STORE_NONE;
    return sv_postgres_do(self, SQL_REQUIRE, &values, NULL);
}

sv_store_status sv_shared_agent(sv_store *self, const char *name, int64_t *id, uint64_t *version) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_text(&values, name);
    PGresult *result = sv_postgres_run(self, SQL_AGENT_NAMED, &values, &status);
    if (!result) return status;
    bool found = PQntuples(result);
    if (found) *id = sv_postgres_get(result, 0, 0);
    if (found) *version = (uint64_t)sv_postgres_get(result, 0, 1);
    PQclear(result);
    return found ? STORE_OK : STORE_NONE;
}

/* ---- waking each other ---- */

sv_store_status sv_shared_tell(sv_store *self, const char *what) {
    sv_postgres_values values = {0};
    sv_postgres_text(&values, what);
    return sv_postgres_do(self, SQL_NOTIFY, &values, NULL);
}

/* Was anything told; was it of agents? */
static bool heard(sv_store *self, bool *agents) {
    bool any = false;
    for (PGnotify *one; (one = PQnotifies(self->connection)); any = true) {
        *agents = *agents || !strcmp(one->extra, "agents");
        PQfreemem(one);
    }
    return any;
}

bool sv_shared_wait(sv_store *self, double seconds, int wake) {
    struct pollfd files[2] = {{.fd = wake, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
    bool agents = false;
    char bytes[64];
    if (sv_postgres_connect(self) == STORE_OK && !self->listens)
        self->listens = sv_postgres_run_sql(self, "LISTEN superarm") == STORE_OK;
    if (self->connection) {
        PQconsumeInput(self->connection);
        if (heard(self, &agents)) seconds = 0;
        files[1].fd = PQsocket(self->connection);
    }
    if (poll(files, 2, (int)(seconds * 1000)) <= 0) return agents;
    if (files[0].revents && read(wake, bytes, sizeof bytes) < 0) return agents;
    if (!files[1].revents || !self->connection) return agents;
    PQconsumeInput(self->connection);
    heard(self, &agents);
    return agents;
}

/* ---- the inbox ---- */

sv_store_status sv_postgres_inbox(sv_store *self, sv_store_entry *out) {
    sv_postgres_values values = {0};
    sa_buffer held = {0};
    sv_store_status status = STORE_LATER;
    if (!self->held_count) return STORE_NONE;
    sv_postgres_held(self, &held);
    sv_postgres_text(&values, held.text);
    sv_postgres_number(&values, self->entered);
    PGresult *result = held.status ? NULL : sv_postgres_run(self, SQL_INBOX, &values, &status);
    PQclear(self->found); /* NULL where the connection was lost */
    self->found = result;
    sa_buffer_clear(&held);
    if (!self->found) return status;
    if (!PQntuples(self->found)) return STORE_NONE;
    int64_t decision = sv_postgres_get(self->found, 0, 4);
    *out = (sv_store_entry){.id = sv_postgres_get(self->found, 0, 0),
                            .agent = sv_postgres_get(self->found, 0, 1),
                            .row = {.kind = (sv_row_kind)sv_postgres_get(self->found, 0, 2),
                                    .data = PQgetvalue(self->found, 0, 3),
                                    .size = (size_t)PQgetlength(self->found, 0, 3),
                                    .decision = decision,
                                    .restarts = sv_postgres_get(self->found, 0, 5)}};
    self->entered = out->agent;
    if (!decision) return STORE_OK;
    out->row.data = NULL; /* the decision takes the place of what was found */
    out->row.size = 0;
    status = sv_postgres_decision_take(self, decision, &out->row.of);
    return status == STORE_NONE && !out->row.of.id ? STORE_OK : status; /* else its turn comes later */
}

sv_store_status sv_postgres_inbox_done(sv_store *self, int64_t id, uint64_t seq) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, id);
    if (!seq) return sv_postgres_do(self, SQL_INBOX_DROP, &values, NULL); /* it has become none */
    sv_postgres_number(&values, (int64_t)seq);
    return sv_postgres_do(self, SQL_INBOX_DONE, &values, NULL);
}

sv_store_status sv_shared_inbox_row(sv_store *self, int64_t id, uint64_t *seq) {
    sv_postgres_values values = {0};
    sv_store_status status;
    sv_postgres_number(&values, id);
    PGresult *result = sv_postgres_run(self, SQL_INBOX_ROW, &values, &status);
    if (!result) return status;
    *seq = PQntuples(result) ? (uint64_t)sv_postgres_get(result, 0, 0) : 0;
    PQclear(result);
    return *seq ? STORE_OK : STORE_NONE;
}

sv_store_status sv_shared_break(sv_store *self, int64_t agent, const char *why) {
    sv_postgres_values values = {0};
    sv_postgres_number(&values, agent);
    sv_postgres_text(&values, why);
    return sv_postgres_do(self, SQL_BREAK, &values, NULL);
}

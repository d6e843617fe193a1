/* What the writer does by itself: it ends waits, and it removes what is older than retention_days. */
#include <stddef.h>

#include "clock.h"
#include "closing.h"
#include "service.h"

enum { REMOVALS = 200, DELETED = 64 };
static const double RETENTION_SECONDS = 60;

#define SERVICE_OF(field, pointer) ((sv_service *)((char *)(pointer)-offsetof(sv_service, field)))

/* ---- waits ---- */

static bool anything_due(sv_chore *self, sv_store *store) {
    store_decision first;
    (void)self;
    return store_decision_due(store, clock_milliseconds(), &first) == STORE_OK;
}

static store_status close_due(sv_job *base, sv_store *store) {
    sv_service *self = SERVICE_OF(closing.job, base);
    int64_t now = clock_milliseconds();
    store_decision decision;
    store_status status = STORE_OK;
    while (self->closed_count < SERVICE_CLOSINGS &&
           (status = store_decision_due(store, now, &decision)) == STORE_OK) {
        store_row row;
        sv_closed *at = &self->closed[self->closed_count];
        at->agent = agents_find_id(&self->agents, decision.agent);
        if (!at->agent) { /* deleted: its decisions wait for their removal */
            uint64_t dropped;
            if ((status = store_decisions_drop(store, decision.agent, &dropped)) != STORE_OK) break;
            continue;
        }
        self->closed_count++;
        sv_settings *settings = agent_settings(at->agent);
        status = closing_write(store, settings, &decision, now, &row, &at->reward);
        settings_release(settings);
        at->seq = row.seq;
        if (status != STORE_OK) break;
    }
    return status;
}

static void end_due(sv_job *base, store_status status) {
    sv_service *self = SERVICE_OF(closing.job, base);
    for (size_t i = 0; i < self->closed_count; i++) {
        if (status == STORE_OK) {
            atomic_store(&self->closed[i].agent->last_seq, self->closed[i].seq);
            agent_count_learnt(self->closed[i].agent, self->closed[i].reward);
            learner_wake(self->learner, self->closed[i].agent);
        }
        agent_release(self->closed[i].agent);
    }
    self->closed_count = 0;
}

/* ---- retention: one agent at a time, a few rows a commit ---- */

static int64_t before_of(sv_agent *agent) {
    sv_settings *settings = agent_settings(agent);
    double days = settings->retention_days;
    settings_release(settings);
    return days > 0 ? clock_milliseconds() - (int64_t)(days * 86400000) : 0;
}

static bool retention_wanted(sv_chore *base, sv_store *store) {
    (void)store;
    sv_service *self = SERVICE_OF(retention, base);
    double now = clock_seconds();
    if (self->retained == 0 && now < self->retention_next) return false;
    if (self->retained == 0) self->retention_next = now + RETENTION_SECONDS;
    return true;
}

/* The agent with the least id above `after`; 0: none. `*before`: what is older goes. */
static int64_t next_agent(sv_service *self, sv_store *store, int64_t after, int64_t *before) {
    sv_agent *all[LIMIT_AGENTS + 1];
    int64_t deleted[DELETED], next = 0;
    size_t count = agents_all(&self->agents, all), deleted_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i]->id > after && (!next || all[i]->id < next)) {
            next = all[i]->id;
            *before = before_of(all[i]);
        }
        agent_release(all[i]);
    }
    store_agents_deleted(store, deleted, DELETED, &deleted_count);
    for (size_t i = 0; i < deleted_count; i++)
        if (deleted[i] > after && (!next || deleted[i] < next)) {
            next = deleted[i];
            *before = INT64_MAX;
        }
    return next;
}

static store_status retain(sv_job *base, sv_store *store) {
    sv_service *self = SERVICE_OF(retention.job, base);
    self->waited = 0;
    int64_t before = 0, agent = next_agent(self, store, self->retained, &before);
    uint64_t removed = 0;
    store_status status =
        agent && before ? store_retain(store, agent, before, REMOVALS, &removed, &self->waited) : STORE_OK;
    if (status == STORE_OK && before == INT64_MAX && removed == 0) status = store_agent_remove(store, agent);
    self->retaining = agent;
    if (removed == 0) self->retained = agent; /* done with this one; 0: with all */
    return status;
}

static void end_retain(sv_job *base, store_status status) {
    sv_service *self = SERVICE_OF(retention.job, base);
    sv_agent *agent =
        status == STORE_OK && self->waited ? agents_find_id(&self->agents, self->retaining) : NULL;
    if (agent) atomic_fetch_sub(&agent->waiting, self->waited);
    agent_release(agent);
}

void service_add_chores(sv_service *self) {
    self->closing =
        (sv_chore){.wanted = anything_due, .job = {.run = close_due, .end = end_due}, .period = 0.05};
    self->retention =
        (sv_chore){.wanted = retention_wanted, .job = {.run = retain, .end = end_retain}, .period = 0.2};
}

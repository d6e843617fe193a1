/* What the writer does by itself: it ends waits, and it removes what is older than retention_days. */
#include <stddef.h>

#include "agent_items.h"
#include "clock.h"
#include "closing.h"
#include "service.h"

enum { REMOVALS = 256, PAGES = 128, DELETED = PASS_DELETED };
static const double ROUNDS_SECONDS = 1; /* for agents with much to remove, before all have a turn again */
static const double SUMS_SECONDS = 0.5; /* between two looks at what other servers have counted */
static const double BATCH_SECONDS = 0.0003, SHORTEST_PAUSE = 0.03, LONGEST_PAUSE = 8, PAUSE_FACTOR = 10;

#define SERVICE_OF(field, pointer) ((sv_service *)((char *)(pointer)-offsetof(sv_service, field)))

/* ---- waits ---- */

static bool anything_due(sv_maintenance *self, sv_store *store) {
    sv_store_decision first;
    sv_store_entry entry;
    sv_service *service = SERVICE_OF(closing, self);
    double now = sv_clock_seconds();
    bool due = sv_store_decision_due(store, &first) == STORE_OK || sv_store_inbox(store, &entry) == STORE_OK;
    if (!due && (!service->cluster || now - service->sums_time < SUMS_SECONDS)) return false;
    service->sums_time = now;
    return true;
}

/* Feedback that came late, to any server. Nothing is left to be done where the event or its agent is gone, or
 * a revision after it has taken this feedback in. */
static sv_store_status revise(sv_service *self, sv_store *store, sv_closed *at,
                              const sv_store_decision *decision) {
    if (!at->agent || !decision->id) return STORE_OK;
    sv_settings *settings = sv_agent_settings(at->agent);
    sv_store_status status = sv_closing_revise(store, &self->held_sums, settings, decision, &at->seq);
    sv_settings_release(settings);
    return status;
}

/* What other servers have left to become rows. It takes half of the room, however much there is: events whose
 * wait has ended come after it. Nobody waits for a revision's row. */
static sv_store_status number_entries(sv_service *self, sv_store *store) {
    sv_store_entry entry;
    sv_store_status status = STORE_OK;
    while (status == STORE_OK && self->closed_count < SERVICE_CLOSINGS / 2 &&
           (status = sv_store_inbox(store, &entry)) == STORE_OK) {
        sv_closed *at = &self->closed[self->closed_count++];
        *at = (sv_closed){.agent = sv_agents_find_id(&self->agents, entry.agent)};
        if (entry.row.decision)
            status = revise(self, store, at, &entry.row.of);
        else {
            status = sv_sums_row(&self->held_sums, store, entry.agent, &entry.row);
            at->seq = entry.row.seq;
        }
        if (status == STORE_OK)
            status = sv_store_inbox_done(store, entry.id, entry.row.decision ? 0 : at->seq);
    }
    return status == STORE_NONE ? STORE_OK : status;
}

/* What came late before the event was closed: its wait was over, and nobody was there to close it. */
static sv_store_status revise_learnt(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                     sv_store_decision *decision, sv_closed *at) {
    uint64_t seq = 0;
    decision->state = DECISION_LEARNT;
    decision->seq = at->seq;
    sv_store_status status = sv_closing_revise(store, sums, settings, decision, &seq);
    if (seq) at->seq = seq;
    return status;
}

static sv_store_status close_due(sv_job *base, sv_store *store) {
    sv_service *self = SERVICE_OF(closing.job, base);
    sv_store_decision decision;
    sv_sums *sums = self->cluster ? &self->held_sums : &self->sums;
    sv_store_status status = number_entries(self, store);
    if (status == STORE_OK && self->cluster) status = sv_sums_take_left(sums, store);
    while (status == STORE_OK && self->closed_count < SERVICE_CLOSINGS &&
           (status = sv_store_decision_due(store, &decision)) == STORE_OK) {
        sv_closed *at = &self->closed[self->closed_count];
        at->event = true;
        at->agent = sv_agents_find_id(&self->agents, decision.agent);
        if (!at->agent) { /* deleted: its decisions wait for their removal */
            uint64_t waited, held;
            if ((status = sv_store_decisions_drop(store, decision.agent, &waited, &held)) != STORE_OK) break;
            continue;
        }
        self->closed_count++;
        sv_settings *settings = sv_agent_settings(at->agent);
        status = sv_closing_write(store, sums, settings, &decision, &at->seq, &at->reward);
        if (status == STORE_OK && settings->revise_days > 0)
            status = revise_learnt(store, sums, settings, &decision, at);
        sv_settings_release(settings);
        if (status != STORE_OK) break;
    }
    return status;
}

static void end_due(sv_job *base, sv_store_status status) {
    sv_service *self = SERVICE_OF(closing.job, base);
    for (size_t i = 0; i < self->closed_count; i++) {
        if (status == STORE_OK && self->closed[i].agent && self->closed[i].seq) {
            if (self->closed[i].event) sv_agent_count_learnt(self->closed[i].agent, self->closed[i].reward);
            sv_agent_wrote(self->closed[i].agent, self->closed[i].seq);
            sv_learner_wake(self->learner, self->closed[i].agent);
        }
        sv_agent_release(self->closed[i].agent);
    }
    self->closed_count = 0;
}

/* ---- retention: passes over all agents, who take turns of a short batch ---- */

/* Is it being learnt from its first row, since none of its policies can be read? */
static bool needs_rows(const sv_service *self, const sv_agent *agent) {
    return self->cluster && !atomic_load(&agent->policy_there) && !atomic_load(&agent->broken);
}

/* What can go of it: decisions by their age, or else items of the past that none can name. */
static bool has_turn(const sv_service *self, sv_agent *agent, sv_store *store, sv_turn *out) {
    sv_settings *settings = sv_agent_settings(agent);
    *out = (sv_turn){.agent = agent->id,
                     .age = (int64_t)(settings->retention_days * 86400000),
                     .keeps = settings->retention_days <= 0};
    sv_settings_release(settings);
    return (!out->keeps || atomic_load(&agent->items_past)) &&
           !atomic_load(&agent->unreadable) && /* its own settings are not known */
           !needs_rows(self, agent) && sv_store_holds(store, agent->id);
}

/* The agents of a new pass; one that follows at once is of the same work. */
static void begin_pass(sv_service *self, sv_store *store) {
    sv_agent *all[LIMIT_AGENTS + 1];
    int64_t deleted[DELETED];
    sv_pass *pass = &self->pass;
    size_t count = sv_agents_all(&self->agents, all), deleted_count = 0;
    pass->count = pass->at = pass->rounds = 0;
    if (!pass->more) {
        pass->removed = 0;
        pass->seconds = 0;
    }
    for (size_t i = 0; i < count; i++) {
        pass->count += has_turn(self, all[i], store, &pass->turns[pass->count]);
        sv_agent_release(all[i]);
    }
    sv_store_agents_deleted(store, deleted, DELETED, &deleted_count);
    for (size_t i = 0; i < deleted_count; i++)
        pass->turns[pass->count++] = (sv_turn){.agent = deleted[i], .deleted = true};
}

static bool retention_wanted(sv_maintenance *base, sv_store *store) {
    sv_service *self = SERVICE_OF(retention, base);
    if (self->pass.runs) return true;
    if (sv_clock_seconds() < self->pass.next) return false;
    begin_pass(self, store);
    return self->pass.runs = true;
}

/* A batch of what one agent has to remove. */
static sv_store_status take_turn(sv_turn *turn, sv_store *store, double until) {
    sv_store_retention what = {
        .agent = turn->agent, .age = turn->age, .deleted = turn->deleted, .most = REMOVALS, .until = until};
    turn->more = false;
    turn->removed = 0;
    if (turn->keeps) return STORE_OK;
    sv_store_status status = turn->deleted ? sv_store_hold(store, turn->agent) : STORE_OK;
    if (status != STORE_OK) return status == STORE_NONE ? STORE_OK : status; /* none: another's turn */
    status = sv_store_retain(store, &what);
    turn->waited += what.waited;
    turn->held += what.held;
    turn->removed = what.count;
    turn->more = what.more;
    if (status == STORE_OK && !what.more && turn->deleted) status = sv_store_agent_remove(store, turn->agent);
    if (status == STORE_NONE) status = STORE_OK;
    if (!what.more && turn->deleted && status == STORE_OK) /* a transaction that failed can let nothing go */
        sv_store_let_go(store, turn->agent);
    return status;
}

/* How long after it was made a decision is learnt at most, in milliseconds. One that is kept for ever may get
 * its feedback at any time. */
static int64_t longest_wait(sv_agent *agent, const sv_turn *turn) {
    static const int64_t EVER = INT64_C(1) << 60;
    sv_settings *settings = sv_agent_settings(agent);
    int64_t wait = (int64_t)(settings->wait_seconds * 1000);
    sv_settings_release(settings);
    return turn->keeps ? EVER : wait > turn->age ? wait : turn->age;
}

/* Items of the past that no decision names any longer. */
static sv_store_status purge_items(sv_service *self, sv_turn *turn, sv_store *store) {
    sv_agent *agent = turn->deleted ? NULL : sv_agents_find_id(&self->agents, turn->agent);
    sv_store_status status = STORE_OK;
    uint64_t count = 0;
    if (agent && atomic_load(&agent->items_past))
        status = sv_store_items_purge(store, turn->agent, longest_wait(agent, turn),
                                      sv_agent_items_held(agent), REMOVALS, &count);
    sv_agent_release(agent);
    turn->purged += count;
    turn->removed += count;
    return status;
}

static bool has_more(const sv_pass *pass) {
    for (size_t i = 0; i < pass->count; i++)
        if (pass->turns[i].more) return true;
    return false;
}

static sv_store_status retain(sv_job *base, sv_store *store) {
    sv_service *self = SERVICE_OF(retention.job, base);
    sv_pass *pass = &self->pass;
    double begin = sv_clock_seconds(), until = begin + BATCH_SECONDS;
    sv_store_status status = STORE_OK;
    pass->first = pass->at;
    while (status == STORE_OK && pass->at < pass->count && sv_clock_seconds() < until) {
        sv_turn *turn = &pass->turns[pass->at++];
        status = take_turn(turn, store, until);
        if (status == STORE_OK && (!turn->more || !pass->rounds)) status = purge_items(self, turn, store);
        pass->removed += turn->removed;
    }
    pass->seconds += sv_clock_seconds() - begin;
    if (status != STORE_OK || pass->at < pass->count || has_more(pass)) return status;
    status = sv_store_give_back(store, PAGES);
    pass->runs = status == STORE_OK; /* there may be more to give back */
    return status == STORE_NONE ? STORE_OK : status;
}

/* After a round: another one of those that have more, or a pass of all. */
static void go_on(sv_pass *pass) {
    size_t left = 0;
    double now = sv_clock_seconds();
    for (size_t i = 0; i < pass->count; i++)
        if (pass->turns[i].more) pass->turns[left++] = pass->turns[i];
    if (!pass->rounds++) pass->until = now + ROUNDS_SECONDS;
    pass->more = left && now >= pass->until;
    if (!left) return;
    pass->runs = !pass->more;
    pass->count = left;
    pass->at = 0;
}

static void end_retain(sv_job *base, sv_store_status status) {
    sv_service *self = SERVICE_OF(retention.job, base);
    sv_pass *pass = &self->pass;
    for (size_t i = pass->first; i < pass->count && i <= pass->at; i++) {
        sv_turn *turn = &pass->turns[i];
        sv_agent *agent = status == STORE_OK && (turn->waited || turn->held || turn->purged)
                              ? sv_agents_find_id(&self->agents, turn->agent)
                              : NULL;
        if (agent) atomic_fetch_sub(&agent->waiting, turn->waited);
        if (agent) atomic_fetch_sub(&agent->held, turn->held);
        if (agent && !self->cluster) atomic_fetch_sub(&agent->items_past, turn->purged); /* else it is read */
        sv_agent_release(agent);
        turn->waited = turn->held = turn->purged = 0;
    }
    if (status != STORE_OK)
        pass->runs = pass->more = false;
    else if (pass->at == pass->count)
        go_on(pass);
    self->retention.more = pass->runs || pass->more;
    if (self->retention.more) return;
    /* Little by little costs decide the least: while there is something to remove, passes come often, but for
     * a tenth of the writer's time at most. */
    pass->pause = pass->removed ? pass->seconds * PAUSE_FACTOR : pass->pause * 2;
    if (pass->pause < SHORTEST_PAUSE) pass->pause = SHORTEST_PAUSE;
    if (pass->pause > LONGEST_PAUSE) pass->pause = LONGEST_PAUSE;
    pass->next = sv_clock_seconds() + pass->pause;
}

void sv_service_add_maintenance(sv_service *self) {
    self->closing =
        (sv_maintenance){.wanted = anything_due, .job = {.run = close_due, .end = end_due}, .period = 0.05};
    self->retention = (sv_maintenance){.wanted = retention_wanted, .job = {.run = retain, .end = end_retain}};
}

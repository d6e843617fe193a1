/* GET, PUT and DELETE of agents. A PUT is a row of the journal, and answered when the learner has taken
 * it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cluster.h"
#include "routes.h"
#include "service.h"
#include "values.h"

void sv_route_agents(sv_exchange *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = sv_agents_all(&self->service->agents, all);
    sa_buffer_format(&self->answer, "{\"agents\": [");
    for (size_t i = 0; i < count; i++) {
        if (i) sa_buffer_format(&self->answer, ",\n ");
        sv_agent_write(all[i], false, &self->answer);
        sv_agent_release(all[i]);
    }
    sa_buffer_format(&self->answer, "]}\n");
    sv_exchange_answer(self, 200);
}

void sv_route_agent(sv_exchange *self) {
    sv_agent_write(self->agent, true, &self->answer);
    sa_buffer_format(&self->answer, "\n");
    sv_exchange_answer(self, 200);
}

typedef struct put {
    sv_job job;
    sv_task task;
    sv_cluster_wait wait; /* where servers share the store */
    sv_exchange *exchange;
    sv_settings *settings;
    sa_buffer written;
    sv_row_kind kind;
    bool restarts;               /* what is compared with the control begins again */
    bool fresh, holds, reserves; /* a new agent; it has the agent's `changing`; and room for one more */
    int64_t id, inbox;
    uint64_t seq, dropped, held, version; /* dropped: that waited; held: that were not activated */
    size_t asked, promised;               /* bytes of memory */
    sv_refusal why;
} sv_put;

static void free_put(void *state) {
    sv_put *self = state;
    if (self->holds) atomic_store(&self->exchange->agent->changing, false);
    if (self->reserves) sv_agents_unreserve(&self->exchange->service->agents);
    if (self->promised) sv_memory_release(&self->exchange->service->memory, self->promised);
    sv_settings_release(self->settings);
    sa_buffer_clear(&self->written);
    free(self);
}

/* ---- the learner has it ---- */

static void answer_put(sv_put *self, sv_refusal *why) {
    sv_exchange *exchange = self->exchange;
    if (atomic_load(&exchange->agent->deleted)) sv_refuse(why, 404, "agent %s was deleted", exchange->name);
    if (why->status || !sv_agent_is_sound(exchange->agent, why))
        sv_exchange_refuse(exchange, why);
    else {
        sv_agent_write(exchange->agent, false, &exchange->answer);
        sa_buffer_format(&exchange->answer, "\n");
        sv_exchange_answer(exchange, self->fresh ? 201 : 200);
    }
    exchange->done(exchange);
}

/* In the learner's thread. */
static void end_task(sv_task *base, sv_learner *learner) {
    sv_put *self = (sv_put *)((char *)base - offsetof(sv_put, task));
    const sv_agent *agent = self->exchange->agent;
    sv_refusal why = {0};
    (void)learner;
    if (agent->stalled && agent->learnt_seq < self->seq)
        sv_refuse(&why, 503, "the change is in the journal, and takes effect once the disk has room for it");
    answer_put(self, &why);
}

/* A learner, here or elsewhere, has it. */
static void end_wait(sv_cluster_wait *base, bool done) {
    sv_put *self = (sv_put *)((char *)base - offsetof(sv_put, wait));
    sv_exchange *exchange = self->exchange;
    sv_refusal why = {0};
    if (done) {
        answer_put(self, &why);
        return;
    }
    sv_refuse(&why, 503, "the change is in the journal, and takes effect once a server learns this agent");
    sv_exchange_refuse(exchange, &why);
    exchange->done(exchange);
}

/* ---- in the writer ---- */

static sv_store_status run_put(sv_job *base, sv_store *store) {
    sv_put *self = (sv_put *)base;
    sv_exchange *exchange = self->exchange;
    sv_store_row row = {.kind = self->kind,
                        .time = sv_clock_milliseconds(),
                        .data = self->written.text,
                        .size = self->written.size,
                        .restarts = self->restarts};
    sv_store_status status = STORE_OK;
    self->id = exchange->agent ? exchange->agent->id : 0;
    if (exchange->service->cluster && self->settings->revise_days > 0 &&
        !sv_cluster_can_store(store, "revise_days cannot be set yet", &self->why))
        return self->why.status == 409 ? STORE_NONE : STORE_LATER;
    if (self->fresh) {
        status = sv_store_agent_add(store, exchange->name, self->written.text, row.time, &self->id);
        if (status == STORE_NONE)
            sv_refuse(&self->why, 409, "agent %s was made by another request at this moment", exchange->name);
        if (status != STORE_OK) return status;
    } else if (atomic_load(&exchange->agent->deleted)) {
        sv_refuse(&self->why, 404, "agent %s was deleted at this moment", exchange->name);
        return STORE_NONE;
    } else {
        status = sv_store_agent_change(store, self->id, self->version, self->written.text);
        if (status == STORE_NONE)
            sv_refuse(&self->why, 409, "agent %s was changed or deleted by another request at this moment",
                      exchange->name);
        if (status != STORE_OK) return status;
    }
    if (status == STORE_OK && !self->fresh && self->kind == ROW_NEW)
        status = sv_store_decisions_drop(store, self->id, &self->dropped, &self->held);
    if (status == STORE_OK) status = sv_sums_row(&exchange->service->sums, store, self->id, &row);
    self->seq = row.seq;
    self->inbox = row.inbox;
    return status;
}

static bool take_effect(sv_put *self) {
    sv_exchange *exchange = self->exchange;
    sv_service *service = exchange->service;
    if (self->fresh && service->cluster) exchange->agent = sv_agents_find_id(&service->agents, self->id);
    if (exchange->agent && self->inbox) {
        sv_agent_change_settings(exchange->agent, self->settings, self->version + 1);
    } else if (self->fresh) {
        exchange->agent = sv_agent_new(self->id, exchange->name, self->settings);
        if (exchange->agent) { /* the journal has nothing of it before */
            exchange->agent->checkpoint_time = sv_clock_seconds();
            exchange->agent->decisions_known = exchange->agent->feedbacks_known = true;
            exchange->agent->settings_version = self->inbox ? 1 : 0;
            atomic_store(&exchange->agent->asked, self->asked);
        }
        if (exchange->agent && !sv_agents_add(&service->agents, exchange->agent)) {
            sv_agent_release(exchange->agent); /* the cluster's thread may have seen it meanwhile */
            exchange->agent = sv_agents_find_id(&service->agents, self->id);
        }
        if (!exchange->agent) return false;
    } else
        sv_agent_change_settings(exchange->agent, self->settings, 0);
    sv_agent *agent = exchange->agent;
    atomic_fetch_sub(&agent->waiting, self->dropped);
    atomic_fetch_sub(&agent->held, self->held);
    if (self->inbox) {
        self->wait = (sv_cluster_wait){.end = end_wait, .agent = agent, .inbox = self->inbox};
        sv_cluster_await(service->cluster, &self->wait);
        return true;
    }
    sv_agent_wrote(agent, self->seq);
    sv_learner_wake(service->learner, agent);
    self->task = (sv_task){.run = end_task, .agent = agent, .seq = self->seq};
    sv_learner_do(service->learner, &self->task);
    return true;
}

static void end_put(sv_job *base, sv_store_status status) {
    sv_put *self = (sv_put *)base;
    sv_exchange *exchange = self->exchange;
    if (status == STORE_OK && !self->why.status && take_effect(self)) return;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else {
        if (!self->why.status)
            sv_refuse(&self->why, 503,
                      "the agent is in the journal, but memory is short: restart the service");
        sv_exchange_refuse(exchange, &self->why);
    }
    exchange->done(exchange);
}

static void submit_put(sv_exchange *self) { sv_exchange_submit(self, &((sv_put *)self->state)->job); }

/* ---- in the thread that reads ---- */

/* Can an agent of the old settings become one of the new ones without beginning again? Tried on agents
 * that know nothing. */
static bool can_change(const sv_exchange *self, const sv_settings *before, const sv_settings *after,
                       sv_refusal *why) {
    sa_buffer scratch = {0};
    sv_model *model = NULL;
    sa_buffer_format(&scratch, "%s-put-%llu.npz", self->service->folder.scratch, sv_service_number());
    bool good = !scratch.status && sv_model_create(before, &model, why) &&
                sv_model_change(model, before, after, scratch.text, why);
    if (scratch.text) unlink(scratch.text);
    if (!good && why->status == 400) why->status = 409;
    sv_model_destroy(model);
    sa_buffer_clear(&scratch);
    return good;
}

/* Of the agent as a file, about: what it has in memory. */
static double saved_bytes(sv_agent *agent) {
    pthread_mutex_lock(&agent->lock);
    double bytes = (double)agent->counts.bytes;
    pthread_mutex_unlock(&agent->lock);
    return bytes;
}

static bool compare(sv_exchange *self, sv_put *put, bool reset, sv_refusal *why) {
    sv_settings *before = sv_agent_settings(self->agent);
    bool good = reset || sv_agent_is_sound(self->agent, why);
    put->kind = reset ? ROW_NEW : ROW_CHANGE;
    put->restarts = reset || !sv_settings_same_control(before, put->settings);
    if (!good)
        why->status = 409;
    else if (!reset && sv_settings_same(before, put->settings))
        put->kind = 0;
    else if (!reset && !sv_settings_same_schema(before, put->settings))
        good = sv_refuse(why, 409, "another schema needs a new agent: send \"reset\": true with it");
    else if (!reset && !sv_settings_same_agent(before, put->settings))
        good = sv_folder_has_room(&self->service->folder, 2 * saved_bytes(self->agent), why) &&
               can_change(self, before, put->settings, why);
    sv_settings_release(before);
    return good;
}

static bool ask_for_memory(sv_exchange *self, sv_put *put, sv_refusal *why) {
    sv_service *service = self->service;
    bool room = sv_memory_promise(&service->memory, &service->agents, self->agent, put->asked, why);
    if (room) put->promised = put->asked;
    return room;
}

static bool prepare_put(sv_exchange *self, sv_put *put, sv_refusal *why) {
    bool reset = false;
    sv_model *tried = NULL;
    sa_json body = {0};
    sv_settings *before = self->agent ? sv_agent_settings_at(self->agent, &put->version) : NULL;
    if (sv_value_parse(&body, self->body.text, self->body.size, NULL, why))
        put->settings = sv_settings_read(&body, before, &reset, why);
    sv_settings_release(before);
    sa_json_clear(&body);
    if (!put->settings || !sv_model_create(put->settings, &tried, why)) return false;
    sa_agent_counts counts;
    sv_model_count(tried, &counts);
    put->asked = (size_t)counts.bytes;
    sv_model_destroy(tried);
    sv_settings_write(put->settings, &put->written);
    if (put->written.status) return sv_refuse(why, 503, "memory could not be had");
    put->fresh = !self->agent;
    put->kind = ROW_NEW;
    if (put->fresh) {
        put->reserves = sv_agents_reserve(&self->service->agents);
        if (!put->reserves)
            return sv_refuse(why, 409, "there are %d agents, which is the most", LIMIT_NEW_AGENTS);
        return ask_for_memory(self, put, why);
    }
    if (atomic_exchange(&self->agent->changing, true))
        return sv_refuse(why, 409, "agent %s is being changed by another request", self->name);
    put->holds = true;
    return compare(self, put, reset, why) && (put->kind != ROW_NEW || ask_for_memory(self, put, why));
}

/* What is written is kept only if it changes the settings that it was compared with. Where nothing is to be
 * written, they could be those of before another server's PUT. */
static bool is_known(sv_exchange *self, const sv_put *put, sv_refusal *why) {
    return put->kind || !self->service->cluster ||
           sv_cluster_has_settings(self->service, self->agent, put->version, why);
}

void sv_route_put_agent(sv_exchange *self) {
    sv_refusal why = {0};
    sv_put *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_put;
    if (!state) {
        sv_refuse(&why, 503, "memory could not be had");
        sv_exchange_refuse(self, &why);
        return;
    }
    state->exchange = self;
    if (!prepare_put(self, state, &why) || !is_known(self, state, &why))
        sv_exchange_refuse(self, &why);
    else if (!state->kind) { /* as it is already */
        sv_agent_write(self->agent, false, &self->answer);
        sv_exchange_answer(self, 200);
    } else {
        state->job = (sv_job){.run = run_put, .end = end_put};
        self->later = submit_put;
    }
}

/* ---- DELETE: the name is free at once, and the rows go in the background ---- */

typedef struct removal {
    sv_job job;
    sv_exchange *exchange;
} sv_removal;

static sv_store_status run_delete(sv_job *base, sv_store *store) {
    sv_removal *self = (sv_removal *)base;
    return sv_store_agent_delete(store, self->exchange->agent->id, sv_clock_milliseconds());
}

static void end_delete(sv_job *base, sv_store_status status) {
    sv_removal *self = (sv_removal *)base;
    sv_exchange *exchange = self->exchange;
    if (status == STORE_OK) {
        atomic_store(&exchange->agent->deleted, true);
        sv_agents_remove(&exchange->service->agents, exchange->agent);
        sv_learner_wake(exchange->service->learner, exchange->agent);
        sv_exchange_answer(exchange, 204);
    } else
        sv_exchange_refuse_store(exchange, status);
    exchange->done(exchange);
}

static void submit_delete(sv_exchange *self) { sv_exchange_submit(self, &((sv_removal *)self->state)->job); }

void sv_route_delete_agent(sv_exchange *self) {
    sv_refusal why = {0};
    sv_removal *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free;
    if (!state) {
        sv_refuse(&why, 503, "memory could not be had");
        sv_exchange_refuse(self, &why);
        return;
    }
    *state = (sv_removal){.job = {.run = run_delete, .end = end_delete}, .exchange = self};
    self->later = submit_delete;
}

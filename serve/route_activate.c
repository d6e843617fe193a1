/* POST /v1/agents/NAME/activate/EVENT: a decision that was held (decide with "activate": false) was shown
 * after all. Its wait begins now; what came for it so far counts. */
#include <stdlib.h>

#include "clock.h"
#include "closing.h"
#include "routes.h"
#include "service.h"

typedef struct activation {
    sv_job job;
    sv_exchange *exchange;
    sv_settings *settings;
    sv_refusal why;
    bool activated, closed;
    double reward;
    uint64_t seq;
} sv_activation;

static void free_activation(void *state) {
    sv_activation *self = state;
    sv_settings_release(self->settings);
    free(self);
}

static sv_store_status activate(sv_activation *self, sv_store *store, const sv_store_decision *found) {
    sv_sums *sums = &self->exchange->service->sums;
    size_t feedbacks = 0;
    sv_store_status status = sv_store_decision_activate(store, found->id, sv_settings_wait(self->settings));
    if (status == STORE_OK) status = sv_sums_activation(sums, store, found);
    self->activated = status == STORE_OK;
    if (status == STORE_OK) status = sv_store_feedback_count(store, found->id, &feedbacks);
    if (status != STORE_OK || self->settings->wait_seconds > 0 || !feedbacks) return status;
    self->closed = true; /* its feedback, which is what it would wait for, is there */
    return sv_closing_write(store, sums, self->settings, found, &self->seq, &self->reward);
}

static sv_store_status run_activate(sv_job *base, sv_store *store) {
    sv_activation *self = (sv_activation *)base;
    sv_exchange *exchange = self->exchange;
    sv_store_decision found;
    self->why.status = 0;
    self->activated = self->closed = false;
    self->seq = 0;
    sv_store_status status = sv_store_decision_find(store, exchange->agent->id, exchange->event, &found);
    if (status == STORE_NONE)
        sv_refuse(&self->why, 404, "there is no event %.64s: unknown, or older than retention_days",
                  exchange->event);
    if (status != STORE_OK || found.state != DECISION_HELD) return status;
    return activate(self, store, &found);
}

static void end_activate(sv_job *base, sv_store_status status) {
    sv_activation *self = (sv_activation *)base;
    sv_exchange *exchange = self->exchange;
    if (status != STORE_OK)
        sv_exchange_refuse_store(exchange, status);
    else if (self->why.status)
        sv_exchange_refuse(exchange, &self->why);
    else {
        if (self->activated) sv_agent_count_activation(exchange->agent);
        if (self->closed && self->seq) {
            sv_agent_wrote(exchange->agent, self->seq);
            sv_agent_count_learnt(exchange->agent, self->reward);
            sv_learner_wake(exchange->service->learner, exchange->agent);
        }
        sv_exchange_answer(exchange, 204);
    }
    exchange->done(exchange);
}

static void submit(sv_exchange *self) { sv_exchange_submit(self, &((sv_activation *)self->state)->job); }

void sv_route_activate(sv_exchange *self) {
    sv_refusal why = {0};
    sv_activation *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_activation;
    if (!state) {
        sv_refuse(&why, 503, "memory could not be had");
        sv_exchange_refuse(self, &why);
        return;
    }
    *state = (sv_activation){
        .job = {.run = run_activate, .end = end_activate, .queued = &self->agent->queued, .repeats = true},
        .exchange = self,
        .settings = sv_agent_settings(self->agent)};
    self->later = submit;
}

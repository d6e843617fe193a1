/* Choosing, and remembering what was chosen. A call that fails leaves the agent as it was: what it adds is
 * made beside it, and put in place when nothing can fail. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/memory.h"
#include "base/reals.h"
#include "learn/accumulators.h"
#include "policy/blocks.h"
#include "policy/select.h"

/* ---- what is kept of a decision until its feedback comes ---- */

/* Its gradients are those that feedback counts: psi_k g where discounts are learnt with. `scaled`: some are
 * not g itself. */
static sa_status keep_gradients(sa_agent *agent, const sa_selection *selection, sa_pending *pending,
                                bool *scaled) {
    const sa_policy *policy = agent->learner->policy;
    SA_TRY(sa_gradients_init_like(&pending->gradients, policy->none.precision, &policy->none));
    SA_TRY(sa_selection_gradients(policy, agent->chooser, selection, &pending->gradients));
    for (size_t k = 0; pending->discounts && k < selection->slate; k++) {
        if (pending->discounts[k] == 1) continue;
        sa_gradients_scale(&pending->gradients, k, pending->discounts[k]);
        *scaled = true;
    }
    return SA_OK;
}

static sa_status keep_contexts(sa_agent *agent, const sa_selection *selection, sa_pending *pending) {
    const sa_inputs *inputs = &agent->learner->policy->estimator.inputs;
    sa_block *block = agent->chooser->block;
    for (size_t k = 0; k < selection->slate; k++) {
        SA_TRY(sa_block_read(block, inputs, selection->request, selection->arms[k], 1));
        memcpy(sa_real_at(inputs->precision, pending->contexts, k * inputs->dim), block->raw,
               inputs->dim * sa_precision_bytes(inputs->precision));
    }
    return SA_OK;
}

static sa_status keep(sa_agent *agent, const sa_selection *selection, sa_pending *pending, bool *scaled) {
    const sa_policy *policy = agent->learner->policy;
    const sa_inputs *inputs = &policy->estimator.inputs;
    size_t longest = agent->past.pending.longest;
    if (longest && selection->slate > longest)
        return sa_fail(SA_INVALID, "--feedback total takes slates of at most %zu arms, and this one has %zu",
                       longest, selection->slate);
    SA_TRY(sa_pending_init(pending, selection->slate, inputs->dim, inputs->precision, policy->discounted));
    pending->event = selection->request->event;
    memcpy(pending->arms, selection->arms, selection->slate * sizeof *pending->arms);
    for (size_t k = 0; pending->discounts && k < selection->slate; k++)
        pending->discounts[k] = selection->discounts ? sa_selection_discount(selection, k) : 1;
    SA_TRY(sa_pending_set_propensities(pending, selection->prefix, selection->position));
    if (policy->confidence) SA_TRY(keep_gradients(agent, selection, pending, scaled));
    return keep_contexts(agent, selection, pending);
}

/* ---- decisions in the making ---- */

typedef struct batch {
    sa_agent *agent;
    size_t count;
    sa_pending *pending;   /* (count) */
    sa_decision **decided; /* (count) */
    sa_selection last;     /* in the chooser until it is used again */
    bool solved;           /* the chooser has solved for the widths of the last one */
} batch;

/* The last one is put into its decision when nothing can fail: it may be the caller's. */
static sa_status take_selection(void *user, size_t index, const sa_selection *selection) {
    batch *self = user;
    bool scaled = false;
    sa_decision *decision = self->decided[index];
    sa_pending_clear(&self->pending[index]);
    SA_TRY(keep(self->agent, selection, &self->pending[index], &scaled));
    SA_TRY(sa_decision_reserve(decision, selection->slate, selection->scores));
    if (index + 1 < self->count) return sa_selection_decide(self->agent->chooser, selection, decision);
    self->last = *selection;
    self->solved = !scaled;
    return SA_OK;
}

/* Widths that single precision may not hold are computed again, in double precision: from then on all are. */
static sa_status choose(batch *self, const sa_request *const *requests) {
    sa_agent *agent = self->agent;
    sa_learner *learner = agent->learner;
    SA_TRY(sa_choose(learner->policy, agent->chooser, requests, self->count, take_selection, self));
    if (!agent->chooser->widths.imprecise) return SA_OK;
    SA_TRY(sa_learner_unshare(learner));
    SA_TRY(sa_confidence_widen(learner->policy->confidence));
    return sa_choose(learner->policy, agent->chooser, requests, self->count, take_selection, self);
}

/* The statistics of --normalize standard take in what the chooser saw; a decision more, and what its widths
 * cost. */
static sa_status note(sa_agent *agent, size_t decisions, size_t asked) {
    sa_policy **policy = &agent->learner->policy;
    SA_TRY(sa_policy_unshare(policy));
    sa_estimator *estimator = &(*policy)->estimator;
    SA_TRY(sa_unshare(&estimator->statistics));
    if (estimator->statistics)
        memcpy(estimator->statistics, agent->chooser->statistics,
               sa_statistics_length(&estimator->inputs) * sizeof *estimator->statistics);
    agent->learner->asked = (double)asked;
    (*policy)->next += decisions;
    return SA_OK;
}

/* With --count-pending, Z takes the chosen arms now, and their gradients need not be kept. The policy is then
 * the agent's own: note cannot fail. */
static sa_status count_now(sa_agent *agent, sa_pending *pending, bool solved, size_t asked, bool *learning) {
    sa_learner *learner = agent->learner;
    size_t *label, slate = pending->slate;
    bool positions = learner->policy->estimator.inputs.positions > 0;
    if (!learner->policy->confidence || !learner->options->count_pending || slate == 0) return SA_OK;
    SA_TRY(sa_learner_unshare(learner));
    SA_TRY(SA_LAY(&learner->work.samples, {&label, slate, sizeof *label}));
    for (size_t k = 0; k < slate; k++) label[k] = positions ? pending->arms[k] * slate + k : pending->arms[k];
    learner->asked = (double)asked;
    *learning = true;
    SA_TRY(sa_learner_count(learner, &pending->gradients, solved ? label : NULL));
    *learning = false;
    sa_gradients_clear(&pending->gradients);
    return SA_OK;
}

static bool counts_now(const sa_agent *agent) {
    return agent->learner->options->count_pending && agent->learner->policy->confidence;
}

/* ---- select ---- */

/* All but the first of these can fail; then nothing has changed but the decisions, which are made to be
 * overwritten. */
static sa_status select_into(batch *self, const sa_request *const *requests, bool *learning) {
    sa_agent *agent = self->agent;
    sa_pending_ring *ring = &agent->past.pending;
    uint64_t id = ring->next;
    agent->solved_for = SA_NO_ID;
    SA_TRY(sa_ring_reserve(ring, self->count));
    SA_TRY(choose(self, requests));
    if (self->count == 1)
        SA_TRY(count_now(agent, &self->pending[0], self->solved, self->last.scores, learning));
    SA_TRY(note(agent, self->count, self->last.scores));
    /* nothing can fail from here on */
    SA_TRY(sa_selection_decide(agent->chooser, &self->last, self->decided[self->count - 1]));
    for (size_t i = 0; i < self->count; i++) {
        sa_ring_push(ring, &self->pending[i]);
        self->pending[i] = (sa_pending){0};
        self->decided[i]->id = id + i;
    }
    if (self->solved && !counts_now(agent)) agent->solved_for = id + self->count - 1;
    return SA_OK;
}

static sa_status select_entered(batch *self, const sa_request *const *requests) {
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(self->agent, &before));
    sa_status status = select_into(self, requests, &learning);
    return sa_agent_leave(self->agent, before, status, learning);
}

sa_status sa_agent_select(sa_agent *agent, const sa_request *request, sa_decision **decision) {
    if (!agent || !decision)
        return sa_fail(SA_INVALID, "sa_agent_select needs an agent and a place for the decision");
    sa_pending pending = {0};
    sa_decision *fresh = *decision;
    if (!fresh) SA_TRY(sa_alloc_array(1, sizeof *fresh, &fresh));
    sa_status status = select_entered(
        &(batch){.agent = agent, .count = 1, .pending = &pending, .decided = &fresh}, &request);
    if (status == SA_OK) {
        *decision = fresh;
    } else {
        sa_pending_clear(&pending);
        if (!*decision) sa_decision_destroy(fresh);
    }
    return status;
}

/* ---- many at once ---- */

static void batch_clear(batch *self) {
    for (size_t i = 0; self->pending && i < self->count; i++) sa_pending_clear(&self->pending[i]);
    for (size_t i = 0; self->decided && i < self->count; i++) sa_decision_destroy(self->decided[i]);
    sa_free(self->pending);
    sa_free(self->decided);
}

static sa_status batch_init(batch *self, sa_agent *agent, size_t count) {
    *self = (batch){.agent = agent, .count = count};
    SA_TRY(sa_alloc_array(count, sizeof *self->pending, &self->pending));
    SA_TRY(sa_alloc_array(count, sizeof *self->decided, &self->decided));
    for (size_t i = 0; i < count; i++) SA_TRY(sa_alloc_array(1, sizeof **self->decided, &self->decided[i]));
    return SA_OK;
}

/* The caller's decision becomes this one, and this one what is to be destroyed. */
static void hand_over(sa_decision **to, sa_decision **from) {
    if (!*to) {
        *to = *from;
        *from = NULL;
        return;
    }
    sa_decision older = **to;
    **to = **from;
    **from = older;
}

static int by_address(const void *a, const void *b) {
    uintptr_t one = (uintptr_t) * (sa_decision *const *)a, other = (uintptr_t) * (sa_decision *const *)b;
    return (one > other) - (one < other);
}

/* An older decision can be written over once. */
static sa_status check_places(size_t count, sa_decision *const *decisions) {
    sa_decision **sorted;
    SA_TRY(sa_alloc_array(count, sizeof(sa_decision *), &sorted));
    memcpy(sorted, decisions, count * sizeof(sa_decision *));
    qsort(sorted, count, sizeof(sa_decision *), by_address);
    bool twice = false;
    for (size_t i = 1; i < count; i++) twice = twice || (sorted[i] && sorted[i] == sorted[i - 1]);
    sa_free(sorted);
    if (!twice) return SA_OK;
    return sa_fail(SA_INVALID,
                   "sa_agent_select_many is given one decision twice: each request needs its own, or NULL");
}

sa_status sa_agent_select_many(sa_agent *agent, const sa_request *const *requests, size_t count,
                               sa_decision **decisions) {
    if (!agent || ((!requests || !decisions) && count > 0))
        return sa_fail(SA_INVALID,
                       "sa_agent_select_many needs an agent, requests and places for the decisions");
    if (count == 0) return SA_OK;
    if (count > 1 && counts_now(agent))
        return sa_fail(SA_INVALID,
                       "with --count-pending each slate changes what the next one sees: select one by one");
    SA_TRY(check_places(count, decisions));
    batch self;
    sa_status status = batch_init(&self, agent, count);
    if (status == SA_OK) status = select_entered(&self, requests);
    for (size_t i = 0; status == SA_OK && i < count; i++) hand_over(&decisions[i], &self.decided[i]);
    batch_clear(&self);
    return status;
}

/* ---- policies, and slates that were chosen elsewhere ---- */

sa_status sa_agent_policy(sa_agent *agent, sa_policy **out) {
    if (!agent || !out)
        return sa_fail(SA_INVALID, "sa_agent_policy needs an agent and a place for the policy");
    if (agent->closed) return sa_fail(SA_CLOSED, "this agent is closed: it has no policy");
    *out = sa_policy_retain(agent->learner->policy);
    return SA_OK;
}

static sa_status check_arms(const sa_selection *selection, const size_t *arms, size_t slate) {
    const bool *excluded = selection->request->excluded;
    for (size_t k = 0; k < slate; k++) {
        if (arms[k] >= selection->request->arms)
            return sa_fail(SA_INVALID, "the slate has arm %zu, and the request has %zu", arms[k],
                           selection->request->arms);
        if (excluded && excluded[arms[k]])
            return sa_fail(SA_INVALID, "the slate has arm %zu, which the request excludes", arms[k]);
        for (size_t i = 0; i < k; i++)
            if (arms[i] == arms[k]) return sa_fail(SA_INVALID, "the slate has arm %zu twice", arms[k]);
    }
    return SA_OK;
}

/* Reads the request as it was read when the slate was chosen; its arms, with the statistics that they are
 * seen by. */
static sa_status read_slate(sa_agent *agent, const sa_request *request, const size_t *arms, size_t slate,
                            sa_selection *selection) {
    const sa_policy *policy = agent->learner->policy;
    SA_TRY(sa_selection_prepare(policy, request, 0, selection));
    if (slate > selection->slate)
        return sa_fail(SA_INVALID, "the slate has %zu arms, and the request asks for %zu at most", slate,
                       selection->slate);
    selection->slate = slate;
    SA_TRY(check_arms(selection, arms, slate));
    SA_TRY(sa_chooser_begin(agent->chooser, policy));
    SA_TRY(sa_selections_lay(agent->chooser, policy, selection, 1));
    if (slate) memcpy(selection->arms, arms, slate * sizeof *arms);
    return sa_chooser_see(agent->chooser, policy, request);
}

sa_status sa_agent_keep(sa_agent *agent, const sa_request *request, const size_t *arms, size_t slate,
                        const double *prefix, const double *position, bool *learning) {
    sa_selection selection;
    sa_pending pending = {0};
    sa_status status;
    bool scaled;
    agent->solved_for = SA_NO_ID;
    SA_TRY_OR_FAIL(read_slate(agent, request, arms, slate, &selection));
    if (prefix && slate) memcpy(selection.prefix, prefix, slate * sizeof *prefix);
    if (position && slate) memcpy(selection.position, position, slate * sizeof *position);
    SA_TRY_OR_FAIL(keep(agent, &selection, &pending, &scaled));
    SA_TRY_OR_FAIL(sa_ring_reserve(&agent->past.pending, 1));
    SA_TRY_OR_FAIL(count_now(agent, &pending, false, selection.scores, learning));
    SA_TRY_OR_FAIL(note(agent, 1, selection.scores));
    sa_ring_push(&agent->past.pending, &pending);
    return SA_OK;
fail:
    sa_pending_clear(&pending);
    return status;
}

static sa_status record(sa_agent *agent, const sa_request *request, sa_decision *decision, bool *learning) {
    sa_learner *learner = agent->learner;
    if (decision->id != SA_NO_ID)
        return sa_fail(SA_INVALID, "the decision was recorded before: its id is %llu",
                       (unsigned long long)decision->id);
    if (request && decision->candidates != request->arms)
        return sa_fail(SA_INVALID, "the decision was made among %zu arms, and the request has %zu",
                       decision->candidates, request->arms);
    uint64_t id = agent->past.pending.next;
    if (decision->imprecise && learner->policy->confidence) { /* first, as a select does */
        SA_TRY(sa_learner_unshare(learner));
        SA_TRY(sa_confidence_widen(learner->policy->confidence));
    }
    SA_TRY(sa_agent_keep(agent, request, decision->arms, decision->slate, decision->prefix,
                         decision->position, learning));
    decision->id = id;
    return SA_OK;
}

sa_status sa_agent_record(sa_agent *agent, const sa_request *request, sa_decision *decision) {
    if (!agent || !request || !decision)
        return sa_fail(SA_INVALID, "sa_agent_record needs an agent, a request and a decision");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = record(agent, request, decision, &learning);
    return sa_agent_leave(agent, before, status, learning);
}

sa_status sa_agent_propensities(const sa_agent *agent, uint64_t decision, double *propensity,
                                const double **prefix, const double **position, size_t *slate) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_propensities needs an agent");
    const sa_pending *pending = sa_ring_find(&agent->past.pending, decision);
    if (!pending)
        return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was never made, or is forgotten",
                       (unsigned long long)decision);
    const double *known = pending->propensities;
    if (propensity) *propensity = known ? known[pending->slate - 1] : NAN;
    if (prefix) *prefix = known;
    if (position) *position = known ? known + pending->slate : NULL;
    if (slate) *slate = pending->slate;
    return SA_OK;
}

/* Feedback: what it adds to the history, to Z and to models that observe. Training: training.c. */
#include <math.h>
#include <string.h>

#include "agent/epochs.h"
#include "agent/learn.h"
#include "agent/reals.h"
#include "agent/rebuild.h"
#include "base/memory.h"

/* ---- looking at the history ---- */

void sa_learn_show(sa_agent *agent, size_t first, size_t count) {
    const sa_history *history = &agent->history;
    sa_inputs_apply_placed(&agent->inputs, sa_real_at(history->precision, history->contexts, first * history->dim),
                           history->position ? history->position + first : NULL, count, agent->training_inputs);
}

/* By the number of decisions answered before. */
bool sa_learn_is_due(const sa_agent *agent, size_t before) {
    return before < (size_t)agent->options->train_warmup || before % (size_t)agent->options->train_every == 0;
}

sa_status sa_learn_look(sa_agent *agent, const sa_samples *samples, size_t first, size_t count) {
    double mean[SA_LEARN_CHUNK];
    int64_t position[SA_LEARN_CHUNK];
    size_t row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision);
    for (size_t i = 0; i < count; i++)
        position[i] = samples->position ? samples->position[first + i] : (int64_t)(first + i);
    sa_inputs_apply_placed(&agent->inputs, (const char *)samples->raw + first * row, position, count,
                           agent->training_inputs);
    SA_TRY(agent->model->kind->evaluate(agent->model, agent->training_inputs, count, mean, &agent->observed));
    for (size_t i = 0; samples->discount && i < count; i++)
        sa_gradients_scale(&agent->observed, i, samples->discount[first + i]);
    return SA_OK;
}

sa_samples sa_learn_samples(const sa_history *history, size_t first) {
    return (sa_samples){.raw = sa_real_at(history->precision, history->contexts, first * history->dim),
                        .position = history->position ? history->position + first : NULL,
                        .discount = history->discount ? history->discount + first : NULL};
}

sa_status sa_learn_gradients(sa_agent *agent, const sa_samples *samples, size_t count, sa_gradients *to) {
    for (size_t first = 0; first < count; first += SA_LEARN_CHUNK) {
        size_t many = count - first < SA_LEARN_CHUNK ? count - first : SA_LEARN_CHUNK;
        SA_TRY(sa_learn_look(agent, samples, first, many));
        sa_gradients_append(to, &agent->observed, NULL, many);
    }
    return SA_OK;
}

/* A model that learns with each observation hears of them at once, in the units of the last training. */
void sa_learn_observe(sa_agent *agent, size_t first) {
    sa_model *model = agent->model;
    const sa_history *history = &agent->history;
    size_t count = history->count - first;
    if (!model || !model->kind->observe) return;
    sa_learn_show(agent, first, count);
    for (size_t i = 0; i < count; i++) {
        double psi = history->discount ? history->discount[first + i] : 1;
        agent->training_scores[i] = (history->scores[first + i] - psi * agent->centre) / agent->scale;
        if (!agent->training_psi) continue;
        double root = sqrt(sa_forgetting_weight(agent, first + i)); /* on both sides of a least-squares problem */
        agent->training_psi[i] = root * psi;
        agent->training_scores[i] *= root;
    }
    model->kind->observe(model, agent->training_inputs, agent->training_psi, agent->training_scores, count);
}

/* ---- feedback ---- */

/* Of the positions that were seen. */
static sa_status check_feedback(const sa_agent *agent, const sa_pending *pending, uint64_t id, const double *scores,
                                size_t count) {
    const size_t *positions = agent->positions;
    bool cascade = agent->options->feedback == SA_FEEDBACK_CASCADE;
    for (size_t i = 0; i < count; i++)
        if (pending->answered[positions[i]])
            return sa_fail(SA_ALREADY_ANSWERED, "arm %zu of decision %llu was answered before%s",
                           pending->arms[positions[i]], (unsigned long long)id,
                           cascade ? ", or lies behind a click: one call brings all that a user clicked" : "");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(scores[positions[i]]))
            return sa_fail(SA_INVALID, "feedback for arm %zu of decision %llu is %g", pending->arms[positions[i]],
                           (unsigned long long)id, scores[positions[i]]);
    return SA_OK;
}

/* Counts the gradients at the agent's first `count` positions into Z, unless that was done at selection. */
static sa_status count_observed(sa_agent *agent, const sa_pending *pending, size_t count) {
    bool first = pending->left == pending->slate;
    if (!agent->confidence || pending->gradients.count == 0) return SA_OK;
    agent->observed.count = 0;
    SA_TRY(sa_gradients_reserve(&agent->observed, count));
    sa_gradients_append(&agent->observed, &pending->gradients, agent->positions, count);
    for (size_t i = 0; i < count; i++) {
        size_t k = agent->positions[i];
        agent->rows[i] = sa_agent_row(agent, pending->slate, pending->arms[k], k);
    }
    return sa_forgetting_count(agent, &agent->observed, pending->ticket, agent->rows, agent->history.answered - !first);
}

/* Puts what was seen into the history. */
static void record(sa_agent *agent, sa_pending *pending, const double *scores, size_t count) {
    if (pending->left == pending->slate) {
        sa_history_begin_decision(&agent->history);
        agent->forgetting.moved = false;
    }
    for (size_t i = 0; i < count; i++) {
        size_t k = agent->positions[i];
        sa_history_add(&agent->history, sa_real_at(agent->inputs.precision, pending->contexts, k * agent->inputs.dim),
                       scores[k], k, pending->discounts ? pending->discounts[k] : 1);
        pending->answered[k] = true;
    }
    pending->left -= count;
}

static void take_back(sa_agent *agent, sa_pending *pending, size_t count) {
    for (size_t i = 0; i < count; i++) pending->answered[agent->positions[i]] = false;
    pending->left += count;
    sa_history_take_back(&agent->history, count, pending->left == pending->slate);
}

/* From position `end` on nothing will come. */
static void release(sa_agent *agent, sa_pending *pending, size_t end) {
    for (size_t k = end; k < pending->slate; k++) {
        pending->left -= !pending->answered[k];
        pending->answered[k] = true;
    }
    if (pending->left == 0) sa_ring_settle(&agent->pending, pending);
}

/* A slate chosen before the workspace last grew may be larger than the present one. */
static sa_status reserve_positions(sa_agent *agent, size_t slate) {
    size_t positions = agent->slate_capacity, rows = agent->slate_capacity, chosen = agent->slate_capacity;
    SA_TRY(sa_grow_array(&agent->positions, &positions, slate, sizeof *agent->positions));
    SA_TRY(sa_grow_array(&agent->rows, &rows, slate, sizeof *agent->rows));
    SA_TRY(sa_grow_array(&agent->slate, &chosen, slate, sizeof *agent->slate));
    agent->slate_capacity = chosen;
    return SA_OK;
}

/* The feedback that ends an epoch is learnt from with the rest of the history, when the next one begins. */
static sa_status end_epoch(sa_agent *agent, sa_pending *pending, const double *scores, sa_seen seen) {
    record(agent, pending, scores, seen.count);
    sa_status status = sa_epoch_begin(agent);
    if (status == SA_OK)
        release(agent, pending, seen.end);
    else
        take_back(agent, pending, seen.count);
    return status;
}

sa_status sa_agent_update(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed, size_t n) {
    if (!agent || !scores) return sa_fail(SA_INVALID, "sa_agent_update needs an agent and scores");
    sa_pending *pending = sa_ring_find(&agent->pending, decision);
    if (!pending && decision < agent->pending.next)
        return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was forgotten: at most %zu are kept (--pending-limit)",
                       (unsigned long long)decision, agent->pending.limit);
    if (!pending) return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was never made", (unsigned long long)decision);
    if (n != pending->slate)
        return sa_fail(SA_INVALID, "feedback for decision %llu has %zu scores, its slate has %zu",
                       (unsigned long long)decision, n, pending->slate);
    SA_TRY(reserve_positions(agent, n));
    sa_seen seen = agent->feedback->look(n, scores, observed, agent->positions);
    SA_TRY(check_feedback(agent, pending, decision, scores, seen.count));
    if (seen.count == 0) return SA_OK;
    bool first = pending->left == pending->slate, automatic = agent->options->train == SA_TRAIN_AUTO;
    bool due = first && automatic && sa_learn_is_due(agent, agent->history.answered);
    SA_TRY(sa_history_reserve(&agent->history, seen.count));
    if (automatic && sa_epoch_is_over(agent, agent->history.answered + first))
        return end_epoch(agent, pending, scores, seen);
    if (agent->model && agent->model->kind->reserve) SA_TRY(agent->model->kind->reserve(agent->model, seen.count));
    SA_TRY(sa_learn_reserve(agent, seen.count));
    if (due) SA_TRY(sa_learn_reserve_training(agent, agent->history.count + seen.count, 0));
    if (due) SA_TRY(sa_rebuild_reserve(agent, agent->history.count + seen.count));
    if (first) SA_TRY(sa_forgetting_move(agent));
    SA_TRY(count_observed(agent, pending, seen.count));
    record(agent, pending, scores, seen.count);
    sa_learn_observe(agent, agent->history.count - seen.count);
    release(agent, pending, seen.end);
    return due ? sa_learn_train(agent, 0) : SA_OK;
}

/* Feedback and training.
 *
 * An arm's score is v = centre + scale f. What comes back from position k is y = psi_k v, with psi_k = 1 but for cascade feedback
 * with discounts. So y is regressed on psi_k (centre + scale f), which in the network's terms is
 *
 *     residual   psi_k f - t,   t = (y - psi_k centre) / scale
 *     centre     sum psi_k y / sum psi_k^2, the constant that predicts best
 *     scale      by the deviation of y from it, the root of the mean of (y - psi_k centre)^2 where psi_k > 0: the widths, of a Z
 *                that has psi_k g, know how little a small psi_k tells, and want the noise of what is observed
 *
 * Nothing is divided by psi_k: a position with psi_k = 0 teaches nothing. A linear model takes psi_k x and y, which the same
 * residual stands for. */
#include <math.h>
#include <string.h>

#include "agent/epochs.h"
#include "agent/learn.h"
#include "agent/reals.h"
#include "agent/rebuild.h"
#include "base/clock.h"
#include "base/memory.h"

/* ---- training ---- */

sa_status sa_learn_reserve(sa_agent *agent, size_t observations) {
    size_t inputs = agent->training_capacity, targets = inputs, weights = inputs, scores = inputs;
    size_t bytes = sa_precision_bytes(agent->inputs.precision), width = agent->inputs.dim + agent->inputs.positions;
    SA_TRY(sa_grow_array(&agent->training_inputs, &inputs, observations, width * bytes));
    SA_TRY(sa_grow_array(&agent->training_scores, &scores, observations, sizeof(double)));
    if (agent->history.discounted) SA_TRY(sa_grow_array(&agent->training_weights, &weights, observations, bytes));
    SA_TRY(sa_grow_array(&agent->training_targets, &targets, observations, bytes));
    agent->training_capacity = targets;
    return SA_OK;
}

/* psi of an observation */
static double discount_of(const sa_history *history, size_t index) {
    return history->discount ? history->discount[index] : 1;
}

/* Puts observations from `first` on into training_inputs, as the model sees them. */
static void show(sa_agent *agent, size_t first, size_t count) {
    const sa_history *history = &agent->history;
    sa_inputs_apply_placed(&agent->inputs, sa_real_at(history->precision, history->contexts, first * history->dim),
                           history->position ? history->position + first : NULL, count, agent->training_inputs);
}

/* Mean and deviation of the scores learnt from, where the options ask for them. Scores that are all the same have no deviation,
 * though their mean is rounded: to scale by that would end all exploration. */
static void centre_and_scale(const sa_agent *agent, size_t first, double *centre, double *scale) {
    const sa_history *history = &agent->history;
    double mean = 0, squares = 0, weight = 0, count = 0;
    for (size_t i = first; i < history->count; i++) {
        double psi = discount_of(history, i);
        mean += psi * history->scores[i];
        weight += psi * psi;
        count += psi > 0;
    }
    if (count > 0) mean /= weight;
    for (size_t i = first; i < history->count; i++) {
        double psi = discount_of(history, i), rest = history->scores[i] - psi * mean;
        if (psi > 0) squares += rest * rest;
    }
    double deviation = count > 0 ? sqrt(squares / count) : 0;
    bool differ = deviation > 1e-10 * fabs(mean);
    *centre = agent->options->centre ? mean : 0;
    *scale = agent->options->scale && differ ? deviation / agent->options->scale_to : 1;
}

/* The companion hears of the i-th observation, whose input is in training_inputs, before the network learns from it. */
static void tell_companion(sa_agent *agent, size_t i, bool predicted, double network) {
    const sa_history *history = &agent->history;
    for (size_t j = 0; j < agent->companion.dim; j++)
        agent->row[j] = sa_real_get(history->precision, agent->training_inputs, j);
    sa_companion_hear(&agent->companion, &(sa_companion_case){.input = agent->row,
                                                              .score = history->scores[i],
                                                              .discount = discount_of(history, i),
                                                              .predicted = predicted,
                                                              .network = agent->centre + agent->scale * network});
}

void sa_learn_tell_rest(sa_agent *agent) {
    for (size_t i = agent->learnt; i < agent->history.count; i++) {
        show(agent, i, 1);
        tell_companion(agent, i, false, 0);
    }
    agent->learnt = agent->history.count;
}

/* Takes the observations since the last training into agent->error and the companion: the model has not seen them yet. The first
 * ones are predicted by their mean. Uses training_inputs. */
static sa_status judge_predictions(sa_agent *agent, double centre) {
    enum { LATEST = 200 };
    const sa_history *history = &agent->history;
    double predicted;
    for (size_t i = agent->learnt; i < history->count; i++) {
        show(agent, i, 1);
        SA_TRY(agent->model->kind->evaluate(agent->model, agent->training_inputs, 1, &predicted, NULL));
        tell_companion(agent, i, agent->learnt > 0, predicted);
        predicted = agent->learnt ? agent->centre + agent->scale * predicted : centre;
        double difference = history->scores[i] - discount_of(history, i) * predicted,
               share = 1.0 / (double)(i < LATEST ? i + 1 : LATEST);
        double square = difference * difference;
        if (isfinite(square))
            agent->error += share * (square - agent->error); /* what overflows tells nothing of the noise */
    }
    agent->learnt = history->count;
    return SA_OK;
}

/* Targets of the observations from `first` on, and their weights. */
static void set_targets(sa_agent *agent, size_t first, size_t count, double centre, double scale) {
    const sa_history *history = &agent->history;
    for (size_t i = 0; i < count; i++) {
        double psi = discount_of(history, first + i);
        sa_real_set(history->precision, agent->training_targets, i, (history->scores[first + i] - psi * centre) / scale);
        if (history->discounted) sa_real_set(history->precision, agent->training_weights, i, psi);
    }
}

sa_status sa_learn_train(sa_agent *agent, size_t steps) {
    const sa_history *history = &agent->history;
    size_t first = sa_history_window(history, (size_t)agent->options->train_window), count = history->count - first;
    double start = sa_seconds_now(), centre, scale;
    bool diverged = true;
    if (!agent->model || !agent->model->kind->train || count == 0) return SA_OK;
    centre_and_scale(agent, first, &centre, &scale);
    if (agent->options->error_decay > 0 || agent->companion.dim) SA_TRY(judge_predictions(agent, centre));
    show(agent, first, count);
    set_targets(agent, first, count, centre, scale);
    sa_training training = {.count = count,
                            .inputs = agent->training_inputs,
                            .targets = agent->training_targets,
                            .weights = history->discounted ? agent->training_weights : NULL,
                            .error = agent->error / (scale * scale),
                            .steps = steps,
                            .stream = sa_stream_at((uint64_t)agent->options->seed, SA_PURPOSE_TRAINING,
                                                   (uint64_t)agent->options->first_run, agent->trainings)};
    if (isfinite(centre) && isfinite(scale)) /* huge scores may have no finite mean or deviation */
        SA_TRY(agent->model->kind->train(agent->model, &training, &diverged));
    agent->trainings++;
    agent->diverged_trainings += diverged;
    if (!diverged) {
        agent->centre = centre;
        agent->scale = scale;
        sa_rebuild(agent);
        sa_companion_learn(&agent->companion);
    }
    sa_rebuild_cancel(agent);
    agent->train_seconds += sa_seconds_now() - start;
    return SA_OK;
}

sa_status sa_agent_train(sa_agent *agent) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_train needs an agent");
    if (sa_epoch_is_over(agent, agent->history.answered)) return sa_epoch_begin(agent); /* which trains */
    SA_TRY(sa_learn_reserve(agent, agent->history.count));
    SA_TRY(sa_rebuild_reserve(agent, agent->history.count));
    return sa_learn_train(agent, 0);
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
    show(agent, first, count);
    for (size_t i = 0; i < count; i++)
        agent->training_scores[i] =
            (history->scores[first + i] - discount_of(history, first + i) * agent->centre) / agent->scale;
    model->kind->observe(model, agent->training_inputs, history->discount ? history->discount + first : NULL,
                         agent->training_scores, count);
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
    if (!agent->confidence || pending->gradients.count == 0) return SA_OK;
    agent->observed.count = 0;
    SA_TRY(sa_gradients_reserve(&agent->observed, count));
    sa_gradients_append(&agent->observed, &pending->gradients, agent->positions, count);
    for (size_t i = 0; i < count; i++) {
        size_t k = agent->positions[i];
        agent->rows[i] = sa_agent_row(agent, pending->slate, pending->arms[k], k);
    }
    return agent->confidence->kind->count(agent->confidence, &agent->observed, pending->ticket, agent->rows);
}

/* Puts what was seen into the history. */
static void record(sa_agent *agent, sa_pending *pending, const double *scores, size_t count) {
    if (pending->left == pending->slate) sa_history_begin_decision(&agent->history);
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

/* From position `end` on nothing will come. A decision with no arm left is kept only to be recognised. */
static void release(sa_agent *agent, sa_pending *pending, size_t end) {
    for (size_t k = end; k < pending->slate; k++) {
        pending->left -= !pending->answered[k];
        pending->answered[k] = true;
    }
    if (pending->left > 0) return;
    agent->pending.unanswered--;
    sa_free(pending->contexts);
    pending->contexts = NULL;
    sa_gradients_clear(&pending->gradients);
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
    if (!pending && decision < agent->pending.first)
        return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was forgotten: only the last %zu are kept (--pending-limit)",
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
    SA_TRY(sa_learn_reserve(agent, due ? agent->history.count + seen.count : seen.count));
    if (due) SA_TRY(sa_rebuild_reserve(agent, agent->history.count + seen.count));
    SA_TRY(count_observed(agent, pending, seen.count));
    record(agent, pending, scores, seen.count);
    sa_learn_observe(agent, agent->history.count - seen.count);
    release(agent, pending, seen.end);
    return due ? sa_learn_train(agent, 0) : SA_OK;
}

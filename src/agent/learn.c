/* Feedback and training. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/epochs.h"
#include "agent/learn.h"
#include "agent/reals.h"
#include "base/memory.h"

/* ---- training ---- */

sa_status sa_learn_reserve(sa_agent *agent, size_t observations) {
    size_t inputs = agent->training_capacity, targets = agent->training_capacity;
    size_t bytes = sa_precision_bytes(agent->inputs.precision);
    SA_TRY(sa_grow_array(&agent->training_inputs, &inputs, observations, agent->inputs.dim * bytes));
    SA_TRY(sa_grow_array(&agent->training_targets, &targets, observations, bytes));
    agent->training_capacity = targets;
    return SA_OK;
}

/* Mean and deviation of the scores learnt from, where the options ask for them. Scores that are all the same have no deviation,
 * though their mean is rounded: to scale by that would end all exploration. */
static void centre_and_scale(const sa_agent *agent, const double *scores, size_t count, double *centre, double *scale) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++) mean += scores[i];
    mean /= (double)count;
    for (size_t i = 0; i < count; i++) squares += (scores[i] - mean) * (scores[i] - mean);
    double deviation = sqrt(squares / (double)count);
    bool differ = deviation > 1e-10 * fabs(mean);
    *centre = agent->options->centre ? mean : 0;
    *scale = agent->options->scale && differ ? deviation / agent->options->scale_to : 1;
}

double sa_learn_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Takes the observations since the last training into agent->error: the model has not seen them yet. The first ones are
 * predicted by their mean. Uses training_inputs. */
static sa_status judge_predictions(sa_agent *agent, double centre) {
    enum { LATEST = 200 };
    const sa_history *history = &agent->history;
    double predicted;
    for (size_t i = agent->learnt; i < history->count; i++) {
        sa_inputs_apply(&agent->inputs, sa_real_at(history->precision, history->contexts, i * history->dim), 1, false,
                        agent->training_inputs);
        SA_TRY(agent->model->kind->evaluate(agent->model, agent->training_inputs, 1, &predicted, NULL));
        predicted = agent->learnt ? agent->centre + agent->scale * predicted : centre;
        double difference = history->scores[i] - predicted, share = 1.0 / (double)(i < LATEST ? i + 1 : LATEST);
        double square = difference * difference;
        if (isfinite(square))
            agent->error += share * (square - agent->error); /* what overflows tells nothing of the noise */
    }
    agent->learnt = history->count;
    return SA_OK;
}

sa_status sa_learn_train(sa_agent *agent, size_t steps) {
    const sa_history *history = &agent->history;
    size_t first = sa_history_window(history, (size_t)agent->options->train_window), count = history->count - first;
    sa_precision precision = agent->inputs.precision;
    double start = sa_learn_seconds(), centre, scale;
    bool diverged = true;
    if (!agent->model || agent->model->kind->observe || count == 0) return SA_OK; /* what observes has learnt by now */
    centre_and_scale(agent, history->scores + first, count, &centre, &scale);
    if (agent->options->error_decay > 0) SA_TRY(judge_predictions(agent, centre));
    sa_inputs_apply(&agent->inputs, sa_real_at(precision, history->contexts, first * history->dim), count, false,
                    agent->training_inputs);
    for (size_t i = 0; i < count; i++)
        sa_real_set(precision, agent->training_targets, i, (history->scores[first + i] - centre) / scale);
    sa_training training = {.count = count,
                            .inputs = agent->training_inputs,
                            .targets = agent->training_targets,
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
    }
    agent->train_seconds += sa_learn_seconds() - start;
    return SA_OK;
}

sa_status sa_agent_train(sa_agent *agent) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_train needs an agent");
    if (sa_epoch_is_over(agent, agent->history.answered)) return sa_epoch_begin(agent); /* which trains */
    SA_TRY(sa_learn_reserve(agent, agent->history.count));
    return sa_learn_train(agent, 0);
}

/* By the number of decisions answered before. */
bool sa_learn_is_due(const sa_agent *agent, size_t before) {
    return before < (size_t)agent->options->train_warmup || before % (size_t)agent->options->train_every == 0;
}

sa_status sa_learn_gradients(sa_agent *agent, const void *raw, size_t count, sa_gradients *to) {
    enum { CHUNK = 256 };
    double mean[CHUNK];
    size_t row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision);
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t many = count - first < CHUNK ? count - first : CHUNK;
        sa_inputs_apply(&agent->inputs, (const char *)raw + first * row, many, false, agent->training_inputs);
        SA_TRY(agent->model->kind->evaluate(agent->model, agent->training_inputs, many, mean, &agent->observed));
        sa_gradients_append(to, &agent->observed, NULL, many);
    }
    return SA_OK;
}

/* ---- feedback ---- */

static sa_status check_feedback(const sa_pending *pending, uint64_t id, const double *scores, const bool *observed,
                                size_t n) {
    if (n != pending->slate)
        return sa_fail(SA_INVALID, "feedback for decision %llu has %zu scores, its slate has %zu", (unsigned long long)id,
                       n, pending->slate);
    for (size_t i = 0; i < n; i++)
        if ((!observed || observed[i]) && pending->answered[i])
            return sa_fail(SA_ALREADY_ANSWERED, "arm %zu of decision %llu was answered before", pending->arms[i],
                           (unsigned long long)id);
    for (size_t i = 0; i < n; i++)
        if ((!observed || observed[i]) && !isfinite(scores[i]))
            return sa_fail(SA_INVALID, "feedback for arm %zu of decision %llu is %g", pending->arms[i],
                           (unsigned long long)id, scores[i]);
    return SA_OK;
}

/* Counts the gradients at the agent's first `count` positions into Z, unless that was done at selection. */
static sa_status count_observed(sa_agent *agent, const sa_pending *pending, size_t count) {
    if (!agent->confidence || pending->gradients.count == 0) return SA_OK;
    agent->observed.count = 0;
    SA_TRY(sa_gradients_reserve(&agent->observed, count));
    sa_gradients_append(&agent->observed, &pending->gradients, agent->positions, count);
    for (size_t i = 0; i < count; i++) agent->rows[i] = pending->arms[agent->positions[i]];
    return agent->confidence->kind->count(agent->confidence, &agent->observed, pending->ticket, agent->rows);
}

/* A model that learns with each observation hears of them at once. */
static void teach(sa_agent *agent, size_t first) {
    sa_model *model = agent->model;
    const sa_history *history = &agent->history;
    if (!model || !model->kind->observe) return;
    sa_inputs_apply(&agent->inputs, sa_real_at(history->precision, history->contexts, first * history->dim),
                    history->count - first, false, agent->training_inputs);
    model->kind->observe(model, agent->training_inputs, history->scores + first, history->count - first);
}

/* Puts what was observed into the history. */
static void record(sa_agent *agent, sa_pending *pending, const double *scores, size_t count) {
    if (pending->left == pending->slate) sa_history_begin_decision(&agent->history);
    for (size_t i = 0; i < count; i++) {
        size_t position = agent->positions[i];
        sa_history_add(&agent->history,
                       sa_real_at(agent->inputs.precision, pending->contexts, position * agent->inputs.dim),
                       scores[position]);
        pending->answered[position] = true;
    }
    pending->left -= count;
}

static void take_back(sa_agent *agent, sa_pending *pending, size_t count) {
    for (size_t i = 0; i < count; i++) pending->answered[agent->positions[i]] = false;
    pending->left += count;
    sa_history_take_back(&agent->history, count, pending->left == pending->slate);
}

/* A decision with no arm left is kept only to be recognised. */
static void release(sa_agent *agent, sa_pending *pending) {
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
static sa_status end_epoch(sa_agent *agent, sa_pending *pending, const double *scores, size_t count) {
    record(agent, pending, scores, count);
    sa_status status = sa_epoch_begin(agent);
    if (status == SA_OK)
        release(agent, pending);
    else
        take_back(agent, pending, count);
    return status;
}

sa_status sa_agent_update(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed, size_t n) {
    if (!agent || !scores) return sa_fail(SA_INVALID, "sa_agent_update needs an agent and scores");
    sa_pending *pending = sa_ring_find(&agent->pending, decision);
    if (!pending && decision < agent->pending.first)
        return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was forgotten: only the last %zu are kept (--pending-limit)",
                       (unsigned long long)decision, agent->pending.limit);
    if (!pending) return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was never made", (unsigned long long)decision);
    SA_TRY(check_feedback(pending, decision, scores, observed, n));
    SA_TRY(reserve_positions(agent, n));
    size_t count = agent->feedback->learn(n, observed, agent->positions);
    if (count == 0) return SA_OK;
    bool first = pending->left == pending->slate, automatic = agent->options->train == SA_TRAIN_AUTO;
    bool due = first && automatic && sa_learn_is_due(agent, agent->history.answered);
    SA_TRY(sa_history_reserve(&agent->history, count));
    if (automatic && sa_epoch_is_over(agent, agent->history.answered + first))
        return end_epoch(agent, pending, scores, count);
    if (agent->model && agent->model->kind->reserve) SA_TRY(agent->model->kind->reserve(agent->model, count));
    SA_TRY(sa_learn_reserve(agent, due ? agent->history.count + count : count));
    SA_TRY(count_observed(agent, pending, count));
    record(agent, pending, scores, count);
    teach(agent, agent->history.count - count);
    release(agent, pending);
    return due ? sa_learn_train(agent, 0) : SA_OK;
}

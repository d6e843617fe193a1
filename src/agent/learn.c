/* Feedback and training. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/agent.h"
#include "agent/reals.h"
#include "base/memory.h"

/* ---- training ---- */

static sa_status reserve_training(sa_agent *agent, size_t observations) {
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

static double seconds(void) {
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
        predicted = agent->trainings ? agent->centre + agent->scale * predicted : centre;
        double difference = history->scores[i] - predicted, share = 1.0 / (double)(i < LATEST ? i + 1 : LATEST);
        double square = difference * difference;
        if (isfinite(square))
            agent->error += share * (square - agent->error); /* what overflows tells nothing of the noise */
    }
    agent->learnt = history->count;
    return SA_OK;
}

/* Memory was reserved. A training that diverges leaves the model, centre and scale as they were. */
static sa_status train(sa_agent *agent) {
    const sa_history *history = &agent->history;
    size_t first = sa_history_window(history, (size_t)agent->options->train_window), count = history->count - first;
    sa_precision precision = agent->inputs.precision;
    double start = seconds(), centre, scale;
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
    agent->train_seconds += seconds() - start;
    return SA_OK;
}

sa_status sa_agent_train(sa_agent *agent) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_train needs an agent");
    SA_TRY(reserve_training(agent, agent->history.count));
    return train(agent);
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

static void remember(sa_agent *agent, sa_pending *pending, const double *scores, size_t count) {
    bool first = pending->left == pending->slate;
    size_t before = agent->history.count;
    if (first) sa_history_begin_decision(&agent->history);
    for (size_t i = 0; i < count; i++) {
        size_t position = agent->positions[i];
        sa_history_add(&agent->history,
                       sa_real_at(agent->inputs.precision, pending->contexts, position * agent->inputs.dim),
                       scores[position]);
        pending->answered[position] = true;
    }
    teach(agent, before);
    pending->left -= count;
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

/* By the number of decisions answered before this one. */
static bool is_training_due(const sa_agent *agent) {
    size_t before = agent->history.answered;
    return before < (size_t)agent->options->train_warmup || before % (size_t)agent->options->train_every == 0;
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
    bool due = first && automatic && is_training_due(agent);
    SA_TRY(sa_history_reserve(&agent->history, count));
    SA_TRY(reserve_training(agent, due ? agent->history.count + count : count));
    SA_TRY(count_observed(agent, pending, count));
    remember(agent, pending, scores, count);
    return due ? train(agent) : SA_OK;
}

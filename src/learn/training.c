/* Training.
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
 * residual stands for.
 *
 * What a training costs does not grow with the history, where its steps take batches: only what is drawn is put together, from
 * wherever the history has it, unless there is so little that putting all of it together costs less. Without batches it is a pass
 * over all there is to learn from, or over --train-sample of them, drawn anew each time, that stand for all. With --discount a
 * batch is drawn by weight: first a decision, one of age a with the probability F^a / S, S = the sum of F^a, then one of its n_a
 * observations; so an observation that weighs F^a in the loss has the factor S n_a in the mean over the batch. */
#include <math.h>
#include <string.h>

#include "agent/epochs.h"
#include "agent/learn.h"
#include "agent/reals.h"
#include "agent/rebuild.h"
#include "base/clock.h"
#include "base/memory.h"

static const size_t PASS_LIMIT = 65536; /* scores up to which their mean and deviation are found by a pass over them */

/* ---- memory ---- */

sa_status sa_learn_reserve(sa_agent *agent, size_t observations) {
    size_t inputs = agent->training_capacity, targets = inputs, weights = inputs, scores = inputs, psi = inputs;
    size_t bytes = sa_precision_bytes(agent->inputs.precision), width = agent->inputs.dim + agent->inputs.positions;
    SA_TRY(sa_grow_array(&agent->training_inputs, &inputs, observations, width * bytes));
    SA_TRY(sa_grow_array(&agent->training_scores, &scores, observations, sizeof(double)));
    if (agent->history.discounted || agent->forgetting.factor < 1) {
        SA_TRY(sa_grow_array(&agent->training_weights, &weights, observations, bytes));
        SA_TRY(sa_grow_array(&agent->training_psi, &psi, observations, sizeof(double)));
    }
    SA_TRY(sa_grow_array(&agent->training_targets, &targets, observations, bytes));
    agent->training_capacity = targets;
    return SA_OK;
}

/* With more observations than this, only those of the batches that are drawn are put together; else all of them. */
static size_t most_shown(const sa_agent *agent, size_t steps) {
    size_t batch = (size_t)agent->options->train_batch, drawn;
    if (steps == 0) steps = (size_t)agent->options->train_steps;
    if (batch == 0 || __builtin_mul_overflow(batch, steps, &drawn)) return SIZE_MAX;
    return agent->forgetting.factor < 1 || drawn < batch ? batch : drawn;
}

sa_status sa_learn_reserve_training(sa_agent *agent, size_t observations, size_t steps) {
    size_t row = agent->inputs.dim * sa_precision_bytes(agent->inputs.precision), most = most_shown(agent, steps);
    size_t sample = (size_t)agent->options->train_sample;
    if (sample > 0) most = sample;
    if (observations <= most) return sa_learn_reserve(agent, observations);
    if (!agent->drawn_contexts) SA_TRY(sa_alloc_matrix(SA_TRAINING_CHUNK, row, 1, &agent->drawn_contexts));
    return sa_learn_reserve(agent, most > SA_TRAINING_CHUNK ? most : SA_TRAINING_CHUNK); /* or a window may be shown */
}

/* ---- scores ---- */

/* psi of an observation */
static double psi_of(const sa_history *history, size_t index) { return history->discount ? history->discount[index] : 1; }

static void look_over_scores(const sa_history *history, size_t first, double *centre, double *deviation) {
    double mean = 0, squares = 0, weight = 0, count = 0;
    for (size_t i = first; i < history->count; i++) {
        double psi = psi_of(history, i);
        mean += psi * history->scores[i];
        weight += psi * psi;
        count += psi > 0;
    }
    if (count > 0) mean /= weight;
    for (size_t i = first; i < history->count; i++) {
        double psi = psi_of(history, i), rest = history->scores[i] - psi * mean;
        if (psi > 0) squares += rest * rest;
    }
    *centre = mean;
    *deviation = count > 0 ? sqrt(squares / count) : 0;
}

/* Mean and deviation of the scores learnt from, where the options ask for them. Scores that are all the same have no deviation,
 * though their mean is rounded: to scale by that would end all exploration. */
static void centre_and_scale(sa_agent *agent, size_t first, double *centre, double *scale) {
    const sa_history *history = &agent->history;
    sa_moments *moments = &agent->moments;
    double mean, deviation;
    bool runs = agent->forgetting.factor < 1 || (first == 0 && history->count > PASS_LIMIT);
    if (runs) {
        sa_moments_follow(moments, history, agent->forgetting.factor);
        mean = moments->mean;
        deviation = moments->count > 0 ? sqrt(moments->squares / moments->count) : 0;
    } else {
        look_over_scores(history, first, &mean, &deviation);
    }
    bool differ = deviation > 1e-10 * fabs(mean);
    *centre = agent->options->centre ? mean : 0;
    *scale = agent->options->scale && differ ? deviation / agent->options->scale_to : 1;
}

/* ---- predictions ---- */

/* The companion hears of the i-th observation, whose input is in training_inputs, before the network learns from it. */
static void tell_companion(sa_agent *agent, size_t i, bool predicted, double network) {
    const sa_history *history = &agent->history;
    if (agent->forgetting.factor < 1 && agent->companion.dim &&
        history->start[sa_history_decision(history, i)] == (int64_t)i)
        sa_companion_discount(&agent->companion, agent->forgetting.factor);
    for (size_t j = 0; j < agent->companion.dim; j++)
        agent->row[j] = sa_real_get(history->precision, agent->training_inputs, j);
    sa_companion_hear(&agent->companion, &(sa_companion_case){.input = agent->row,
                                                              .score = history->scores[i],
                                                              .discount = psi_of(history, i),
                                                              .predicted = predicted,
                                                              .network = agent->centre + agent->scale * network});
}

static void tell(sa_agent *agent, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        sa_learn_show(agent, i, 1);
        tell_companion(agent, i, false, 0);
    }
}

void sa_learn_tell_rest(sa_agent *agent) {
    tell(agent, agent->learnt, agent->history.count);
    agent->learnt = agent->history.count;
}

void sa_learn_tell_again(sa_agent *agent, size_t first) {
    if (!agent->companion.dim) return;
    sa_companion_forget(&agent->companion);
    tell(agent, first, agent->learnt);
}

/* Takes the observations since the last training into agent->error and the companion: the model has not seen them yet. The first
 * ones are predicted by their mean. Uses training_inputs. */
static sa_status judge_predictions(sa_agent *agent, double centre) {
    enum { LATEST = 200 };
    const sa_history *history = &agent->history;
    double predicted;
    for (size_t i = agent->learnt; i < history->count; i++) {
        sa_learn_show(agent, i, 1);
        SA_TRY(agent->model->kind->evaluate(agent->model, agent->training_inputs, 1, &predicted, NULL));
        tell_companion(agent, i, agent->learnt > 0, predicted);
        predicted = agent->learnt ? agent->centre + agent->scale * predicted : centre;
        double difference = history->scores[i] - psi_of(history, i) * predicted,
               share = 1.0 / (double)(i < LATEST ? i + 1 : LATEST);
        double square = difference * difference;
        if (isfinite(square))
            agent->error += share * (square - agent->error); /* what overflows tells nothing of the noise */
    }
    agent->learnt = history->count;
    return SA_OK;
}

/* ---- samples ---- */

/* What a training's samples are made of. */
typedef struct lottery {
    sa_agent *agent;
    size_t first, count; /* observations to learn from */
    double centre, scale;
    sa_stream stream;
    double total; /* what they weigh */
    /* with --discount: */
    size_t oldest;                       /* decision */
    double log_factor, share, decisions; /* log F; 1 - F^n of the n decisions from there on; S = share / (1 - F) */
} lottery;

/* The target and weight of an observation, as sample `to`; its square is `weight` times as large. */
static void set_target(const lottery *self, size_t observation, double weight, size_t to) {
    sa_agent *agent = self->agent;
    const sa_history *history = &agent->history;
    double psi = psi_of(history, observation), root = weight == 1 ? 1 : sqrt(weight);
    double target = (history->scores[observation] - psi * self->centre) / self->scale;
    sa_real_set(history->precision, agent->training_targets, to, root * target);
    if (agent->training_weights) sa_real_set(history->precision, agent->training_weights, to, root * psi);
}

static sa_batch samples_of(const sa_agent *agent) {
    return (sa_batch){agent->training_inputs, agent->training_targets, agent->training_weights};
}

static void show_all(const lottery *self) {
    sa_learn_show(self->agent, self->first, self->count);
    for (size_t i = 0; i < self->count; i++)
        set_target(self, self->first + i, sa_forgetting_weight(self->agent, self->first + i), i);
}

/* The observation of a draw, and its factor beside total / batch. */
static size_t draw_one(const lottery *self, uint64_t draw, double *weight) {
    const sa_history *history = &self->agent->history;
    size_t newest = history->answered - 1;
    *weight = 1;
    if (self->log_factor == 0) return self->first + (size_t)sa_draw_below(&self->stream, draw, self->count);
    double age = floor(log1p(-self->share * sa_draw_uniform(&self->stream, 2 * draw)) / self->log_factor);
    size_t decision = age < (double)(newest - self->oldest) ? newest - (size_t)age : self->oldest;
    size_t start = (size_t)history->start[decision];
    size_t end = decision < newest ? (size_t)history->start[decision + 1] : history->count;
    *weight = self->decisions * (double)(end - start) / self->total;
    return start + (size_t)sa_draw_below(&self->stream, 2 * draw + 1, end - start);
}

/* Draws from number `first` on, at most SA_TRAINING_CHUNK, as samples from `to` on. */
static void draw_samples(const lottery *self, uint64_t first, size_t many, size_t to) {
    sa_agent *agent = self->agent;
    const sa_history *history = &agent->history;
    size_t row = history->dim * sa_precision_bytes(history->precision);
    int64_t position[SA_TRAINING_CHUNK];
    for (size_t i = 0; i < many; i++) {
        double weight;
        size_t observation = draw_one(self, first + i, &weight);
        memcpy((char *)agent->drawn_contexts + i * row, (const char *)history->contexts + observation * row, row);
        position[i] = history->position ? history->position[observation] : 0;
        set_target(self, observation, weight, to + i);
    }
    size_t width = agent->inputs.dim + agent->inputs.positions;
    sa_inputs_apply_placed(&agent->inputs, agent->drawn_contexts, position, many,
                           sa_real_at(history->precision, agent->training_inputs, to * width));
}

static sa_batch draw_batch(void *source, uint64_t first, size_t many) {
    const lottery *self = source;
    draw_samples(self, first, many, 0);
    return samples_of(self->agent);
}

/* --train-sample: the observations of one training, with replacement. */
static void show_some(const lottery *all, size_t count) {
    lottery self = *all;
    const sa_options *options = self.agent->options;
    self.stream =
        sa_stream_at((uint64_t)options->seed, SA_PURPOSE_SAMPLE, (uint64_t)options->first_run, self.agent->trainings);
    for (size_t first = 0; first < count; first += SA_TRAINING_CHUNK)
        draw_samples(&self, first, count - first < SA_TRAINING_CHUNK ? count - first : SA_TRAINING_CHUNK, first);
}

static void weigh(lottery *self) {
    const sa_history *history = &self->agent->history;
    double factor = self->agent->forgetting.factor, weight = 1;
    self->total = (double)self->count;
    if (factor == 1) return;
    self->oldest = sa_history_decision(history, self->first);
    self->log_factor = log(factor);
    self->share = -expm1((double)(history->answered - self->oldest) * self->log_factor);
    self->decisions = self->share / (1 - factor);
    self->total = 0;
    for (size_t i = history->answered, end = history->count; i-- > self->oldest; weight *= factor) {
        self->total += weight * (double)(end - (size_t)history->start[i]);
        end = (size_t)history->start[i];
    }
}

/* ---- training ---- */

sa_status sa_learn_train(sa_agent *agent, size_t steps) {
    double start = sa_seconds_now();
    bool diverged = true;
    lottery samples = {.agent = agent,
                       .first = sa_forgetting_first(agent),
                       .stream = sa_stream_at((uint64_t)agent->options->seed, SA_PURPOSE_TRAINING,
                                              (uint64_t)agent->options->first_run, agent->trainings)};
    samples.count = agent->history.count - samples.first;
    if (!agent->model || !agent->model->kind->train || samples.count == 0) return SA_OK;
    centre_and_scale(agent, samples.first, &samples.centre, &samples.scale);
    if (agent->options->error_decay > 0 || agent->companion.dim) SA_TRY(judge_predictions(agent, samples.centre));
    weigh(&samples);
    sa_training training = {.count = samples.count,
                            .total = samples.total,
                            .factor = 1,
                            .error = agent->error / (samples.scale * samples.scale),
                            .steps = steps,
                            .stream = samples.stream};
    size_t sample = (size_t)agent->options->train_sample;
    if (sample > 0 && samples.count > sample) {
        show_some(&samples, sample);
        training.all = samples_of(agent);
        training.count = sample;
        training.factor = samples.total / (double)sample;
    } else if (sample == 0 && samples.count > most_shown(agent, steps)) {
        training.draw = draw_batch;
        training.source = &samples;
    } else {
        show_all(&samples);
        training.all = samples_of(agent);
    }
    if (isfinite(samples.centre) && isfinite(samples.scale)) /* huge scores may have no finite mean or deviation */
        SA_TRY(agent->model->kind->train(agent->model, &training, &diverged));
    agent->trainings++;
    agent->diverged_trainings += diverged;
    if (!diverged) {
        agent->centre = samples.centre;
        agent->scale = samples.scale;
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
    SA_TRY(sa_learn_reserve_training(agent, agent->history.count, 0));
    SA_TRY(sa_rebuild_reserve(agent, agent->history.count));
    return sa_learn_train(agent, 0);
}

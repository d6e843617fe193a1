#include "learn/sampler.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/reals.h"
#include "learn/forgetting.h"

/* With more observations than this, only those of the batches that are drawn are put together; else all of
 * them. */
static size_t most_shown(const sa_options *options, size_t steps) {
    size_t batch = (size_t)options->train_batch, drawn;
    if (steps == 0) steps = (size_t)options->train_steps;
    if (batch == 0 || __builtin_mul_overflow(batch, steps, &drawn)) return SIZE_MAX;
    return options->discount < 1 || drawn < batch ? batch : drawn;
}

/* `rows` of inputs. */
static sa_status lay(sa_sampler *self, size_t samples, size_t rows, bool draws) {
    const sa_history *history = &self->learner->past->history;
    size_t bytes = sa_precision_bytes(history->precision), width = history->dim + history->positions;
    bool weighs = history->discounted || self->learner->options->discount < 1;
    SA_TRY(SA_LAY(&self->learner->work.samples, {&self->factor, history->dim, sizeof(double)},
                  {&self->targets, samples, bytes}, {&self->weights, weighs ? samples : 0, bytes},
                  {&self->contexts, draws ? SA_TRAINING_CHUNK * history->dim : 0, bytes},
                  {&self->end, history->totals ? samples : 0, sizeof *self->end},
                  {&self->inputs, rows * width, bytes}));
    if (!weighs) self->weights = NULL;
    if (!history->totals) self->end = NULL;
    return SA_OK;
}

/* The target and weight of the sample that has these rows, as sample `to`; its square is `weight` times as
 * large. */
static void set_target(const sa_sampler *self, size_t row, size_t rows, double weight, size_t to) {
    const sa_history *history = &self->learner->past->history;
    double psi = sa_history_psi(history, row), root = weight == 1 ? 1 : sqrt(weight);
    double target = (history->scores[row] - psi * (double)rows * self->centre) / self->scale;
    sa_real_set(history->precision, self->targets, to, root * target);
    if (self->weights) sa_real_set(history->precision, self->weights, to, root * psi);
}

static sa_batch samples_of(const sa_sampler *self) {
    return (sa_batch){self->inputs, self->targets, self->weights, self->end};
}

static void show_all(const sa_sampler *self) {
    const sa_history *history = &self->learner->past->history;
    sa_samples samples = sa_history_samples(history, self->first);
    sa_samples_inputs(self->learner, &samples, history->count - self->first, self->factor, self->inputs);
    for (size_t i = 0, row = self->first, end; i < self->count; i++, row = end) {
        end = self->end ? sa_history_end(history, self->oldest + i) : row + 1;
        set_target(self, row, end - row, sa_forgetting_weight(self->learner, row), i);
        if (self->end) self->end[i] = end - self->first;
    }
}

/* A decision, one of age a with the probability F^a / S. */
static size_t draw_decision(const sa_sampler *self, uint64_t draw) {
    size_t newest = self->learner->past->history.answered - 1;
    double age = floor(sa_log1p(-self->share * sa_draw_uniform(&self->stream, draw)) / self->log_factor);
    return age < (double)(newest - self->oldest) ? newest - (size_t)age : self->oldest;
}

/* The first row of a draw, how many it has, and its factor beside total / batch. */
static size_t draw_one(const sa_sampler *self, uint64_t draw, size_t *rows, double *weight) {
    const sa_history *history = &self->learner->past->history;
    bool ages = self->log_factor != 0;
    *weight = *rows = 1;
    if (!ages && !self->end) return self->first + (size_t)sa_draw_below(&self->stream, draw, self->count);
    size_t decision = ages ? draw_decision(self, 2 * draw)
                           : self->oldest + (size_t)sa_draw_below(&self->stream, draw, self->count);
    size_t start = (size_t)history->start[decision], many = sa_history_end(history, decision) - start;
    if (self->end) {
        *rows = many;
        *weight = ages ? self->decisions / self->total : 1;
        return start;
    }
    *weight = self->decisions * (double)many / self->total;
    return start + (size_t)sa_draw_below(&self->stream, 2 * draw + 1, many);
}

/* Draws from number `first` on, at most SA_TRAINING_CHUNK rows, as samples from `to` on; these begin at row
 * `from` of the inputs. Returns the row behind them. */
static size_t draw_samples(const sa_sampler *self, uint64_t first, size_t many, size_t to, size_t from) {
    const sa_history *history = &self->learner->past->history;
    size_t bytes = history->dim * sa_precision_bytes(history->precision),
           width = history->dim + history->positions, used = 0;
    int64_t position[SA_TRAINING_CHUNK];
    for (size_t i = 0; i < many; i++) {
        double weight;
        size_t rows, row = draw_one(self, first + i, &rows, &weight);
        memcpy((char *)self->contexts + used * bytes, (const char *)history->contexts + row * bytes,
               rows * bytes);
        position[used] = history->position ? history->position[row] : 0;
        set_target(self, row, rows, weight, to + i);
        used += rows;
        if (self->end) self->end[to + i] = from + used;
    }
    sa_samples drawn = {.raw = self->contexts, .position = history->position ? position : NULL};
    sa_samples_inputs(self->learner, &drawn, used, self->factor,
                      sa_real_at(history->precision, self->inputs, from * width));
    return from + used;
}

static sa_batch draw_batch(void *source, uint64_t first, size_t many) {
    const sa_sampler *self = source;
    draw_samples(self, first, many, 0, 0);
    return samples_of(self);
}

/* What the samples weigh, from the decision `oldest` on. */
static void weigh(sa_sampler *self) {
    const sa_history *history = &self->learner->past->history;
    double factor = self->learner->options->discount, weight = 1;
    self->total = (double)self->count;
    if (factor == 1) return;
    self->log_factor = sa_log(factor);
    self->share = -sa_expm1((double)(history->answered - self->oldest) * self->log_factor);
    self->decisions = self->share / (1 - factor);
    self->total = 0;
    for (size_t i = history->answered, end = history->count; i-- > self->oldest; weight *= factor) {
        self->total += weight * (history->totals ? 1 : (double)(end - (size_t)history->start[i]));
        end = (size_t)history->start[i];
    }
}

/* Which samples there are. */
static void look(sa_sampler *self) {
    const sa_history *history = &self->learner->past->history;
    self->oldest = sa_history_decision(history, self->first);
    self->count = history->totals ? history->answered - self->oldest : history->count - self->first;
    self->widest = 1;
    for (size_t i = self->oldest; history->totals && i < history->answered; i++) {
        size_t rows = sa_history_end(history, i) - (size_t)history->start[i];
        if (rows > self->widest) self->widest = rows;
    }
}

sa_status sa_sampler_begin(sa_sampler *self, sa_learner *learner, size_t first, double centre, double scale,
                           size_t steps, sa_training *training) {
    const sa_options *options = learner->options;
    *self = (sa_sampler){.learner = learner,
                         .first = first,
                         .centre = centre,
                         .scale = scale,
                         .stream = sa_stream_at((uint64_t)options->seed, SA_PURPOSE_TRAINING,
                                                (uint64_t)options->first_run, learner->trainings)};
    look(self);
    weigh(self);
    double stands_for = sa_forgetting_stands_for(learner);
    self->total *= stands_for;
    bool drawn = self->count > most_shown(options, steps);
    size_t rows = drawn ? SA_TRAINING_CHUNK : learner->past->history.count - first;
    *training = (sa_training){.count = self->count,
                              .widest = self->widest,
                              .total = self->total,
                              .factor = stands_for,
                              .steps = steps,
                              .stream = self->stream};
    SA_TRY(lay(self, drawn ? SA_TRAINING_CHUNK : training->count, rows, drawn));
    if (drawn) {
        training->draw = draw_batch;
        training->source = self;
        return SA_OK;
    }
    show_all(self);
    training->all = samples_of(self);
    return SA_OK;
}

#include "learn/sampler.h"

#include <math.h>
#include <string.h>

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

static sa_status lay(sa_sampler *self, size_t samples, bool draws) {
    const sa_history *history = &self->learner->memory->history;
    size_t bytes = sa_precision_bytes(history->precision), width = history->dim + history->positions;
    bool weighs = history->discounted || self->learner->options->discount < 1;
    SA_TRY(SA_LAY(&self->learner->work.samples, {&self->factor, history->dim, sizeof(double)},
                  {&self->targets, samples, bytes}, {&self->weights, weighs ? samples : 0, bytes},
                  {&self->contexts, draws ? SA_TRAINING_CHUNK * history->dim : 0, bytes},
                  {&self->inputs, samples * width, bytes}));
    if (!weighs) self->weights = NULL;
    return SA_OK;
}

/* The target and weight of an observation, as sample `to`; its square is `weight` times as large. */
static void set_target(const sa_sampler *self, size_t observation, double weight, size_t to) {
    const sa_history *history = &self->learner->memory->history;
    double psi = sa_history_psi(history, observation), root = weight == 1 ? 1 : sqrt(weight);
    double target = (history->scores[observation] - psi * self->centre) / self->scale;
    sa_real_set(history->precision, self->targets, to, root * target);
    if (self->weights) sa_real_set(history->precision, self->weights, to, root * psi);
}

static sa_batch samples_of(const sa_sampler *self) {
    return (sa_batch){self->inputs, self->targets, self->weights};
}

static void show_all(const sa_sampler *self) {
    sa_samples samples = sa_history_samples(&self->learner->memory->history, self->first);
    sa_samples_inputs(self->learner, &samples, self->count, self->factor, self->inputs);
    for (size_t i = 0; i < self->count; i++)
        set_target(self, self->first + i, sa_forgetting_weight(self->learner, self->first + i), i);
}

/* The observation of a draw, and its factor beside total / batch. */
static size_t draw_one(const sa_sampler *self, uint64_t draw, double *weight) {
    const sa_history *history = &self->learner->memory->history;
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
static void draw_samples(const sa_sampler *self, uint64_t first, size_t many, size_t to) {
    const sa_history *history = &self->learner->memory->history;
    size_t row = history->dim * sa_precision_bytes(history->precision),
           width = history->dim + history->positions;
    int64_t position[SA_TRAINING_CHUNK];
    for (size_t i = 0; i < many; i++) {
        double weight;
        size_t observation = draw_one(self, first + i, &weight);
        memcpy((char *)self->contexts + i * row, (const char *)history->contexts + observation * row, row);
        position[i] = history->position ? history->position[observation] : 0;
        set_target(self, observation, weight, to + i);
    }
    sa_samples drawn = {.raw = self->contexts, .position = position};
    sa_samples_inputs(self->learner, &drawn, many, self->factor,
                      sa_real_at(history->precision, self->inputs, to * width));
}

static sa_batch draw_batch(void *source, uint64_t first, size_t many) {
    const sa_sampler *self = source;
    draw_samples(self, first, many, 0);
    return samples_of(self);
}

/* `train-sample`: the observations of one training, with replacement. */
static void show_some(const sa_sampler *all, size_t count) {
    sa_sampler self = *all;
    const sa_options *options = self.learner->options;
    self.stream = sa_stream_at((uint64_t)options->seed, SA_PURPOSE_SAMPLE, (uint64_t)options->first_run,
                               self.learner->trainings);
    for (size_t first = 0; first < count; first += SA_TRAINING_CHUNK)
        draw_samples(&self, first, count - first < SA_TRAINING_CHUNK ? count - first : SA_TRAINING_CHUNK,
                     first);
}

static void weigh(sa_sampler *self) {
    const sa_history *history = &self->learner->memory->history;
    double factor = self->learner->options->discount, weight = 1;
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

sa_status sa_sampler_begin(sa_sampler *self, sa_learner *learner, size_t first, double centre, double scale,
                           size_t steps, sa_training *training) {
    const sa_options *options = learner->options;
    size_t sample = (size_t)options->train_sample;
    *self = (sa_sampler){.learner = learner,
                         .first = first,
                         .count = learner->memory->history.count - first,
                         .centre = centre,
                         .scale = scale,
                         .stream = sa_stream_at((uint64_t)options->seed, SA_PURPOSE_TRAINING,
                                                (uint64_t)options->first_run, learner->trainings)};
    weigh(self);
    bool some = sample > 0 && self->count > sample;
    bool drawn = sample == 0 && self->count > most_shown(options, steps);
    *training = (sa_training){.count = some ? sample : self->count,
                              .total = self->total,
                              .factor = some ? self->total / (double)sample : 1,
                              .error = learner->error / (scale * scale),
                              .steps = steps,
                              .stream = self->stream};
    SA_TRY(lay(self, drawn ? SA_TRAINING_CHUNK : training->count, some || drawn));
    if (drawn) {
        training->draw = draw_batch;
        training->source = self;
        return SA_OK;
    }
    if (some)
        show_some(self, sample);
    else
        show_all(self);
    training->all = samples_of(self);
    return SA_OK;
}

/* The library's own network as a regression: a model a fold, trained once by the preset `tuned`, on inputs
 * and targets that are standardised over what it learns from,
 *
 *     y = mean + deviation f([standardised features, 1]).
 *
 * At most MOST decisions are kept for it. When a fold's share of the room is full, every second of its
 * decisions goes, and so does every second that comes from then on. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/regression.h"
#include "evaluate/sum.h"
#include "model/model.h"
#include "model/standardize.h"
#include "options/options.h"

enum { MOST = 50000, STEPS = 500, HIDDEN = 32 };

/* What is kept of one fold's decisions. */
typedef struct kept {
    size_t count, room;
    uint64_t seen, stride; /* one of `stride` decisions is kept */
    double *samples;       /* (count, dim + folds): features, and a target for each model */
} kept;

typedef struct trained {
    sa_model *model;
    double *statistics, *factor; /* of the features but the first: model/standardize.h */
    double mean, deviation;      /* of the targets */
} trained;

typedef struct network {
    sa_regression base;
    sa_inputs inputs;
    uint64_t seed;
    kept *kept;      /* (folds) */
    trained *models; /* (folds) */
    sa_model_work work;
    double *shown; /* (rows, dim) what a network sees */
    size_t shown_room;
} network;

static size_t width_of(const sa_regression *base) { return base->dim + base->folds; }

static void let_go(network *self) {
    for (size_t fold = 0; self->kept && fold < self->base.folds; fold++) sa_free(self->kept[fold].samples);
    sa_free(self->kept);
    self->kept = NULL;
}

static void destroy(sa_regression *base) {
    network *self = (network *)base;
    if (!self) return;
    let_go(self);
    for (size_t i = 0; self->models && i < base->folds; i++) {
        sa_model_destroy(self->models[i].model);
        sa_free(self->models[i].statistics);
        sa_free(self->models[i].factor);
    }
    sa_free(self->models);
    sa_free(self->shown);
    sa_model_work_clear(&self->work);
    sa_free(self);
}

static sa_status create_models(network *self) {
    sa_options *options = sa_options_new("tuned");
    if (!options) return SA_OUT_OF_MEMORY;
    sa_model_settings settings = sa_options_model(options);
    settings.dim = (int64_t)self->base.dim;
    settings.hidden = HIDDEN;
    settings.seed = (int64_t)(self->seed & INT64_MAX);
    settings.precision = SA_PRECISION_DOUBLE;
    sa_status status = SA_OK;
    for (size_t i = 0; i < self->base.folds; i++) {
        trained *one = &self->models[i];
        SA_TRY_OR_FAIL(sa_model_create("mlp", &settings, &one->model));
        SA_TRY_OR_FAIL(sa_alloc_array(sa_statistics_length(&self->inputs), sizeof(double), &one->statistics));
        SA_TRY_OR_FAIL(sa_alloc_array(self->base.dim, sizeof(double), &one->factor));
    }
fail:
    sa_options_destroy(options); /* whose texts the settings borrow */
    return status;
}

static sa_status create(size_t folds, size_t dim, uint64_t seed, sa_regression **out) {
    network *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_regression){.kind = &sa_regression_network, .folds = folds, .dim = dim};
    self->seed = seed;
    self->inputs =
        (sa_inputs){.precision = SA_PRECISION_DOUBLE, .normalization = SA_NORMALIZE_STANDARD, .dim = dim - 1};
    SA_TRY_OR_FAIL(sa_alloc_array(folds, sizeof *self->kept, &self->kept));
    for (size_t fold = 0; fold < folds; fold++) self->kept[fold].stride = 1;
    SA_TRY_OR_FAIL(sa_alloc_array(folds, sizeof *self->models, &self->models));
    SA_TRY_OR_FAIL(create_models(self));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* ---- what it learns from ---- */

static bool takes(sa_regression *base, size_t fold) {
    kept *own = &((network *)base)->kept[fold];
    return own->seen++ % own->stride == 0;
}

static void thin(kept *own, size_t width) {
    for (size_t i = 0; 2 * i < own->count; i++)
        memmove(own->samples + i * width, own->samples + 2 * i * width, width * sizeof *own->samples);
    own->count = (own->count + 1) / 2;
    own->stride *= 2;
}

static sa_status add(sa_regression *base, size_t fold, const double *phi, const double *targets) {
    kept *own = &((network *)base)->kept[fold];
    size_t width = width_of(base);
    SA_TRY(sa_grow_array(&own->samples, &own->room, (own->count + 1) * width, sizeof *own->samples));
    double *sample = own->samples + own->count++ * width;
    memcpy(sample, phi, base->dim * sizeof *phi);
    memcpy(sample + base->dim, targets, base->folds * sizeof *targets);
    if (own->count >= MOST / base->folds + 2) thin(own, width);
    return SA_OK;
}

/* ---- fitting ---- */

/* shown (count, dim): features without the first, standardised, and 1. */
static sa_status show(network *self, const trained *one, const double *rows, size_t width, size_t count) {
    size_t dim = self->base.dim;
    SA_TRY(sa_grow_array(&self->shown, &self->shown_room, count * dim, sizeof *self->shown));
    for (size_t i = 0; i < count; i++) {
        double *to = self->shown + i * dim;
        sa_inputs_show(&self->inputs, one->statistics, one->factor, rows + i * width + 1, 1, to, dim);
        to[dim - 1] = 1;
    }
    return SA_OK;
}

/* The samples of all folds but the model's own, one after the other: rows (count, dim + folds). */
static sa_status gather(const network *self, size_t model, double **rows, size_t *count) {
    size_t width = width_of(&self->base);
    *count = 0;
    for (size_t fold = 0; fold < self->base.folds; fold++)
        if (fold != model) *count += self->kept[fold].count;
    SA_TRY(sa_alloc_matrix(*count, width, sizeof **rows, rows));
    size_t at = 0;
    for (size_t fold = 0; fold < self->base.folds; fold++) {
        const kept *own = &self->kept[fold];
        if (fold == model || own->count == 0) continue;
        memcpy(*rows + at * width, own->samples, own->count * width * sizeof **rows);
        at += own->count;
    }
    return SA_OK;
}

/* To mean 0 and deviation 1. */
static void standardise_targets(trained *one, double *targets, size_t count) {
    sa_sum sum = {0}, squares = {0};
    for (size_t i = 0; i < count; i++) sa_sum_add(&sum, targets[i]);
    one->mean = count ? sa_sum_value(&sum) / (double)count : 0;
    for (size_t i = 0; i < count; i++) {
        targets[i] -= one->mean;
        sa_sum_add(&squares, targets[i] * targets[i]);
    }
    one->deviation = count ? sqrt(sa_sum_value(&squares) / (double)count) : 0;
    for (size_t i = 0; i < count && one->deviation > 0; i++) targets[i] /= one->deviation;
}

/* A training that diverges, or that has nothing to learn, leaves the mean. */
static sa_status train(network *self, size_t model, const double *rows, double *targets, size_t count) {
    trained *one = &self->models[model];
    size_t width = width_of(&self->base);
    bool diverged = false;
    for (size_t i = 0; i < count; i++) {
        targets[i] = rows[i * width + self->base.dim + model];
        sa_statistics_see(&self->inputs, one->statistics, rows + i * width + 1, NULL, 1);
    }
    sa_statistics_factor(&self->inputs, one->statistics, one->factor);
    standardise_targets(one, targets, count);
    if (!(one->deviation > 0)) return SA_OK;
    SA_TRY(show(self, one, rows, width, count));
    sa_training training = {.count = count,
                            .total = (double)count,
                            .all = {.inputs = self->shown, .targets = targets},
                            .factor = 1,
                            .steps = STEPS,
                            .stream = sa_stream_at(self->seed & INT64_MAX, SA_PURPOSE_TRAINING, 0, model)};
    SA_TRY(one->model->kind->training->train(one->model, &training, &self->work, &diverged));
    if (diverged) one->deviation = 0;
    return SA_OK;
}

static sa_status fit(sa_regression *base) {
    network *self = (network *)base;
    for (size_t model = 0; model < base->folds; model++) {
        double *rows = NULL, *targets = NULL;
        size_t count;
        sa_status status;
        SA_TRY_OR_FAIL(gather(self, model, &rows, &count));
        SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *targets, &targets));
        status = train(self, model, rows, targets, count);
    fail:
        sa_free(targets);
        sa_free(rows);
        if (status != SA_OK) return status;
    }
    let_go(self);
    return SA_OK;
}

static sa_status predict(sa_regression *base, size_t model, const double *rows, size_t count, double *out) {
    network *self = (network *)base;
    const trained *one = &self->models[model];
    memset(out, 0, count * sizeof *out);
    if (one->deviation > 0) {
        SA_TRY(show(self, one, rows, base->dim, count));
        SA_TRY(one->model->kind->evaluate(one->model, self->shown, count, 0, &self->work, out, NULL));
    }
    for (size_t i = 0; i < count; i++) out[i] = one->mean + one->deviation * out[i];
    return SA_OK;
}

const sa_regression_class sa_regression_network = {.name = "network",
                                                   .create = create,
                                                   .destroy = destroy,
                                                   .takes = takes,
                                                   .add = add,
                                                   .fit = fit,
                                                   .predict = predict};

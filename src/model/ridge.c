/* The linear model as `tuned` has it (--linear-form fitted): ridge regression with an intercept, whose
 * lambda and noise come from the feedback. Wen et al. (2015) ask for them as parameters: with prior
 * variance tau^2 of a weight and noise variance s^2, lambda = s^2 / tau^2, and a score's posterior
 * deviation is s times the width,
 *
 *     phi(x) = [x, 10] / sqrt(ratio),   Z = lambda_0 I + sum phi phi',
 *     score = phi'theta,   width^2 = phi' Z^-1 phi
 *
 * with lambda_0 = --regularization, which makes lambda = ratio lambda_0 on the inputs themselves. A
 * training finds the most likely lambda,
 *
 *     evidence(lambda) = -n/2 log(left / n) - 1/2 log det(I + G / lambda) - log(ratio)^2 / 18,
 *     G = sum [x, 10][x, 10]',   b = sum t [x, 10],
 *     left = sum t^2 - b' (G + lambda I)^-1 b,   s^2 = left / n
 *
 * whose last term says that lambda is within a factor of e^3 = 20 of lambda_0 for a start: few observations
 * fit noise and signal alike, and with inputs of length 1, as standardising makes them, lambda = 1 is as
 * much of one as of the other. s becomes the unit of the targets t, so that a bonus of gamma widths is one
 * of gamma deviations. The constant 10 makes the prior of the intercept ten times as wide as that of the
 * rest: targets are centred, and it only has to make up for what the mean of the features adds.
 *
 * The regression itself is the linear model on phi: it learns with each observation, and observes all again
 * after a training. Always in double precision. */
#define SA_REAL_BITS 64

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/products.h"
#include "model/gram.h"
#include "model/model.h"

static const double CONSTANT = 10;
/* of the climb to the most likely lambda */
static const double STEP = 2, LEAST_RATIO = 1e-6, MOST_RATIO = 1e8;
static const double LEAST_LEFT = 1e-12; /* share of the squares: a fit is never perfect */
/* of the observations, from one training to the next: rebuilding costs all of them */
static const double GROWTH = 1.1;
enum { CHUNK = 256, DRAWN = 32 * SA_TRAINING_CHUNK }; /* rows at a time; samples that stand for more */

typedef struct ridge {
    sa_model base;
    sa_model *regression; /* of phi, (dim + 1) */
    double lambda;        /* lambda_0 */
    double ratio;
    double unit; /* s, of the last training's targets */
    double due;  /* observations, all told, that the next training waits for */
} ridge;

static void destroy(sa_model *model) {
    sa_model_destroy(((ridge *)model)->regression);
    sa_free(model);
}

static sa_status fork_model(sa_model *model, sa_model **out) {
    ridge *self = (ridge *)model, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    sa_status status = self->regression->kind->fork(self->regression, &copy->regression);
    if (status != SA_OK) {
        sa_free(copy);
        return status;
    }
    copy->base.shape = copy->regression->shape;
    *out = &copy->base;
    return SA_OK;
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    size_t positions = settings->positions, dim = (size_t)settings->dim + positions;
    sa_model_settings own = *settings;
    ridge *self;
    own.dim = (int64_t)(dim + 1);
    own.positions = 0; /* they are in phi */
    own.linear_form = SA_LINEAR_DEFINED;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    sa_status status = sa_model_create("linear", &own, &self->regression);
    if (status != SA_OK) {
        sa_free(self);
        return status;
    }
    self->base = *self->regression;
    self->base.kind = &sa_ridge;
    self->base.dim = dim;
    self->base.positions = positions;
    self->lambda = settings->regularization;
    self->ratio = self->unit = 1;
    *out = &self->base;
    return SA_OK;
}

/* phi (count, dim + 1), or with positions (count, positions, dim + 1), times sqrt(ratio) */
static void show(const ridge *self, const double *x, size_t count, size_t positions, double factor,
                 double *phi) {
    size_t dim = self->base.dim, features = positions ? dim - self->base.positions : dim;
    for (size_t i = 0; i < count * (positions ? positions : 1); i++, phi += dim + 1) {
        const double *row = x + (positions ? i / positions : i) * features;
        size_t place = positions ? i % positions : 0;
        for (size_t j = 0; j < features; j++) phi[j] = factor * row[j];
        for (size_t k = features; k < dim; k++) phi[k] = k - features == place ? factor : 0;
        phi[dim] = factor * CONSTANT;
    }
}

static double factor_of(const ridge *self) { return 1 / sqrt(self->ratio); }

static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *work, double *mean, sa_gradients *gradients) {
    const ridge *self = (const ridge *)model;
    const sa_model *inner = self->regression;
    size_t rows = count * (positions ? positions : 1);
    double *phi;
    SA_TRY(SA_LAY(&work->outer, {&phi, rows * (model->dim + 1), sizeof *phi}));
    show(self, inputs, count, positions, factor_of(self), phi);
    return inner->kind->evaluate(inner, phi, rows, 0, work, mean, gradients);
}

/* ---- learning ---- */

typedef sa_status observe_call(sa_model *model, const void *inputs, const double *discounts,
                               const double *scores, size_t count, sa_model_work *work);

static sa_status pass_on(ridge *self, observe_call *take, const double *x, const double *discounts,
                         const double *scores, size_t count, sa_model_work *work) {
    size_t dim = self->base.dim;
    double *phi;
    SA_TRY(SA_LAY(&work->outer, {&phi, CHUNK * (dim + 1), sizeof *phi}));
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t many = count - first < CHUNK ? count - first : CHUNK;
        show(self, x + first * dim, many, 0, factor_of(self), phi);
        SA_TRY(take(self->regression, phi, discounts ? discounts + first : NULL, scores + first, many, work));
    }
    return SA_OK;
}

static sa_status observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *work) {
    ridge *self = (ridge *)model;
    return pass_on(self, self->regression->kind->observing->observe, inputs, discounts, scores, count, work);
}

/* As many sums at a time as have CHUNK rows, and at least one. */
static sa_status observe_sums(sa_model *model, const void *inputs, const size_t *end, const double *discounts,
                              const double *scores, size_t count, sa_model_work *work) {
    ridge *self = (ridge *)model;
    size_t dim = model->dim, part_end[CHUNK];
    double *phi;
    SA_TRY(SA_LAY(&work->outer, {&phi, CHUNK * (dim + 1), sizeof *phi}));
    for (size_t first = 0, many, row = 0; first < count; first += many, row += part_end[many - 1]) {
        for (many = 0; first + many < count && many < CHUNK && end[first + many] - row <= CHUNK; many++)
            part_end[many] = end[first + many] - row;
        show(self, (const double *)inputs + row * dim, part_end[many - 1], 0, factor_of(self), phi);
        SA_TRY(self->regression->kind->observing->observe_sums(self->regression, phi, part_end,
                                                               discounts ? discounts + first : NULL,
                                                               scores + first, many, work));
    }
    return SA_OK;
}

static sa_status revise(sa_model *model, const void *inputs, const double *discounts,
                        const double *differences, size_t count, sa_model_work *work) {
    ridge *self = (ridge *)model;
    return pass_on(self, self->regression->kind->observing->revise, inputs, discounts, differences, count,
                   work);
}

static void fade(sa_model *model, double factor) {
    sa_model *inner = ((ridge *)model)->regression;
    inner->kind->observing->fade(inner, factor);
}

static void forget(sa_model *model) {
    sa_model *inner = ((ridge *)model)->regression;
    inner->kind->observing->forget(inner);
}

/* ---- the most likely lambda ---- */

/* Sums over the samples of a training; all with the constant. */
typedef struct sums {
    size_t dim;             /* with the constant */
    double *gram, *b;       /* (dim, dim) lower triangle; (dim) */
    double *factor, *u;     /* workspace of the same sizes */
    double *phi;            /* (SA_TRAINING_CHUNK, dim) workspace */
    double squares, weight; /* of the targets; of the samples */
} sums;

/* phi = psi times the sum of [x, 10] over the rows of a sample */
static void add_rows(const sa_batch *batch, size_t sample, double psi, size_t dim, double *phi) {
    size_t row = !batch->end ? sample : sample ? batch->end[sample - 1] : 0;
    size_t end = batch->end ? batch->end[sample] : sample + 1;
    const double *x = (const double *)batch->inputs + row * (dim - 1);
    memset(phi, 0, dim * sizeof *phi);
    for (; row < end; row++, x += dim - 1) {
        for (size_t j = 0; j + 1 < dim; j++) phi[j] += x[j];
        phi[dim - 1] += CONSTANT;
    }
    for (size_t j = 0; j < dim; j++) phi[j] *= psi;
}

static void add(const sa_batch *batch, size_t first, size_t count, sums *to) {
    const double *targets = batch->targets, *weights = batch->weights;
    for (size_t i = 0; i < count; i++) {
        double *row = to->phi + i * to->dim, psi = weights ? weights[first + i] : 1,
               target = targets[first + i];
        add_rows(batch, first + i, psi, to->dim, row);
        for (size_t j = 0; j < to->dim; j++) to->b[j] += target * row[j];
        to->squares += target * target;
        to->weight += psi * psi;
    }
    syrk_tn_f64(to->dim, count, 1, to->phi, to->dim, to->gram, to->dim);
}

/* Of all samples, or of as many draws as tell. */
static void add_up(const sa_training *training, sums *to) {
    size_t count = training->draw ? DRAWN : training->count;
    size_t chunk = training->widest > 1 ? SA_TRAINING_CHUNK / training->widest : SA_TRAINING_CHUNK;
    for (size_t first = 0; first < count; first += chunk) {
        size_t many = count - first < chunk ? count - first : chunk;
        sa_batch batch = training->draw ? training->draw(training->source, first, many) : training->all;
        add(&batch, training->draw ? 0 : first, many, to);
    }
    double share = training->total / (double)count;
    if (!training->draw) return;
    for (size_t i = 0; i < to->dim * to->dim; i++) to->gram[i] *= share;
    for (size_t i = 0; i < to->dim; i++) to->b[i] *= share;
    to->squares *= share;
    to->weight *= share;
}

static double evidence(const ridge *self, const sums *of, double lambda, double *left) {
    sa_gram_fit fit;
    if (!sa_gram_judge(of->dim, of->gram, of->b, lambda, of->factor, of->u, &fit)) return -INFINITY;
    *left = fmax(of->squares - fit.explained, LEAST_LEFT * of->squares);
    return sa_gram_evidence(of->weight, *left / of->weight, fit.log_det, lambda / self->lambda);
}

/* Climbs from the present lambda. */
static double climb(const ridge *self, const sums *of, double *left) {
    double ratio = self->ratio, best = evidence(self, of, self->lambda * ratio, left);
    for (int direction = 0; direction < 2; direction++) {
        double factor = direction ? STEP : 1 / STEP, other;
        for (bool better = true; better;) {
            double next = ratio * factor, found = evidence(self, of, self->lambda * next, &other);
            better = found > best && next >= LEAST_RATIO && next <= MOST_RATIO;
            if (!better) break;
            best = found;
            ratio = next;
            *left = other;
        }
    }
    return ratio;
}

static sa_status train(sa_model *model, const sa_training *training, sa_model_work *work, bool *diverged) {
    ridge *self = (ridge *)model;
    sums of = {.dim = model->dim + 1};
    double left = NAN;
    SA_TRY(SA_LAY(&work->outer, {&of.gram, of.dim * of.dim, sizeof(double)}, {&of.b, of.dim, sizeof(double)},
                  {&of.factor, of.dim * of.dim, sizeof(double)}, {&of.u, of.dim, sizeof(double)},
                  {&of.phi, SA_TRAINING_CHUNK * of.dim, sizeof(double)}));
    memset(of.gram, 0, of.dim * of.dim * sizeof *of.gram);
    memset(of.b, 0, of.dim * sizeof *of.b);
    add_up(training, &of);
    *diverged = false;
    self->due = (double)training->seen + (GROWTH - 1) * (double)training->within;
    self->unit = 1;
    if (!(of.squares > 0) || !(of.weight > 0)) return SA_OK; /* nothing to tell a unit by */
    double ratio = climb(self, &of, &left), unit = sqrt(left / of.weight);
    *diverged = !isfinite(unit) || !(unit > 0);
    if (*diverged) return SA_OK;
    self->ratio = ratio;
    self->unit = unit;
    return SA_OK;
}

static double unit_of(const sa_model *model) { return ((const ridge *)model)->unit; }

static bool wants(const sa_model *model, size_t seen) { return (double)seen >= ((const ridge *)model)->due; }

/* ---- the rest ---- */

static sa_status sample(const sa_model *model, const sa_gradients *gradients, double deviation,
                        const sa_stream *stream, sa_model_work *work, double *score) {
    const sa_model *inner = ((const ridge *)model)->regression;
    return inner->kind->exploring->sample(inner, gradients, deviation, stream, work, score);
}

static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    const ridge *self = (const ridge *)model;
    SA_TRY(sa_npz_add(writer, "ridge_ratio", SA_FLOAT64, 0, NULL, &self->ratio));
    SA_TRY(sa_npz_add(writer, "ridge_unit", SA_FLOAT64, 0, NULL, &self->unit));
    SA_TRY(sa_npz_add(writer, "ridge_due", SA_FLOAT64, 0, NULL, &self->due));
    return self->regression->kind->save(self->regression, writer);
}

static sa_status load(sa_model *model, sa_npz *archive) {
    ridge *self = (ridge *)model;
    SA_TRY(sa_npz_get_number(archive, "ridge_ratio", &self->ratio));
    SA_TRY(sa_npz_get_number(archive, "ridge_unit", &self->unit));
    SA_TRY(sa_npz_get_number(archive, "ridge_due", &self->due));
    if (!(self->ratio >= LEAST_RATIO && self->ratio <= MOST_RATIO) || !(self->unit > 0) ||
        !isfinite(self->unit) || !(self->due >= 0))
        return sa_fail(SA_FORMAT, "the agent's ridge regression makes no sense");
    return self->regression->kind->load(self->regression, archive);
}

static const sa_training_class training_class = {.train = train, .unit = unit_of, .wants = wants};
static const sa_observing_class observing = {
    .observe = observe, .observe_sums = observe_sums, .revise = revise, .fade = fade, .forget = forget};
static const sa_exploring_class exploring = {.sample = sample};

const sa_model_class sa_ridge = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .positional = true,
    .save = save,
    .load = load,
    .training = &training_class,
    .observing = &observing,
    .exploring = &exploring,
};

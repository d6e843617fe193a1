/* The linear model: score x'theta, with theta the ridge regression of all feedback,
 *
 *     Z = lambda I + sum x x',   b = sum v x,   theta = Z^-1 b,   Z = L L'
 *
 * so its gradient is the single pair (1, x), and m = 1. It learns with each observation; there is nothing to
 * train. A sample of the parameters from N(theta, nu^2 Z^-1) is theta + nu L'^-1 z with z standard normal
 * (Wen et al. 2015, CombLinTS).
 *
 * With --linear-form published the estimate lags one update, as in the published code of the paper's
 * experiments: theta comes from Z and b as they were before the newest feedback. Always in double
 * precision. */
#define SA_REAL_BITS 64

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/products.h"
#include "model/gram.h"
#include "model/model.h"

typedef struct linear {
    sa_model base;
    double lambda;
    bool lags;
    double *theta;  /* (dim) */
    double *factor; /* (dim, dim) L, of the z that theta came from */
    /* what only learning needs: */
    bool stale;         /* theta and factor are older than z and b */
    double *z;          /* (dim, dim), lower triangle */
    double *b;          /* (dim) */
    double *next;       /* (dim, dim) workspace: the factor to come */
    double *next_theta; /* (dim) workspace */
} linear;

static void destroy(sa_model *model) {
    linear *self = (linear *)model;
    sa_free(self->base.shape);
    sa_free(self->z);
    sa_free(self->b);
    sa_free(self->theta);
    sa_free(self->factor);
    sa_free(self->next);
    sa_free(self->next_theta);
    sa_free(self);
}

/* theta and factor are read by those who choose with the model before; all else goes over to the fork. */
static sa_status fork_model(sa_model *model, sa_model **out) {
    linear *self = (linear *)model, *copy;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    copy->z = copy->b = copy->next = copy->next_theta = NULL;
    sa_hold(copy->base.shape);
    sa_hold(copy->theta);
    sa_hold(copy->factor);
    SA_TRY_OR_FAIL(sa_unshare(&copy->theta));
    SA_TRY_OR_FAIL(sa_unshare(&copy->factor));
    copy->z = self->z;
    copy->b = self->b;
    copy->next = self->next;
    copy->next_theta = self->next_theta;
    self->z = self->b = self->next = self->next_theta = NULL;
    *out = &copy->base;
    return SA_OK;
fail:
    destroy(&copy->base);
    return status;
}

static void forget(sa_model *model) {
    linear *self = (linear *)model;
    size_t dim = model->dim;
    memset(self->z, 0, dim * dim * sizeof(double));
    memset(self->factor, 0, dim * dim * sizeof(double));
    memset(self->b, 0, dim * sizeof(double));
    memset(self->theta, 0, dim * sizeof(double));
    self->stale = false;
    for (size_t i = 0; i < dim; i++) {
        self->z[i * dim + i] = self->lambda;
        self->factor[i * dim + i] = sqrt(self->lambda);
    }
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    linear *self;
    sa_status status;
    size_t positions = settings->positions, dim = (size_t)settings->dim + positions;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_model){
        .kind = &sa_linear, .precision = SA_PRECISION_DOUBLE, .dim = dim, .positions = positions, .pairs = 1};
    self->lambda = settings->regularization;
    self->lags = settings->linear_form == SA_LINEAR_PUBLISHED;
    SA_TRY_OR_FAIL(sa_alloc_array(1, sizeof *self->base.shape, &self->base.shape));
    SA_TRY_OR_FAIL(sa_memory_check(dim, 3 * dim * sizeof(double)));
    SA_TRY_OR_FAIL(sa_alloc_matrix(dim, dim, sizeof(double), &self->z));
    SA_TRY_OR_FAIL(sa_alloc_matrix(dim, dim, sizeof(double), &self->factor));
    SA_TRY_OR_FAIL(sa_alloc_matrix(dim, dim, sizeof(double), &self->next));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &self->b));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &self->theta));
    SA_TRY_OR_FAIL(sa_alloc_array(dim, sizeof(double), &self->next_theta));
    self->base.shape[0] = (sa_pair_shape){.delta = 1, .input = dim};
    forget(&self->base);
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* theta = Z^-1 b. Z is at least lambda I; where rounding still says no, or b has overflowed, the estimate
 * before stays. */
static void refresh(linear *self) {
    size_t dim = self->base.dim;
    if (!self->stale) return;
    self->stale = false;
    if (!sa_gram_factor(dim, self->z, 0, self->next)) return; /* lambda is in z */
    memcpy(self->next_theta, self->b, dim * sizeof(double));
    sa_gram_lower(dim, self->next, self->next_theta);
    sa_gram_upper(dim, self->next, self->next_theta);
    for (size_t j = 0; j < dim; j++)
        if (!isfinite(self->next_theta[j])) return;
    double *theta = self->theta, *factor = self->factor;
    self->theta = self->next_theta;
    self->factor = self->next;
    self->next_theta = theta;
    self->next = factor;
}

static double dot(const double *x, const double *y, size_t dim) {
    double sum = 0;
    for (size_t j = 0; j < dim; j++) sum += x[j] * y[j];
    return sum;
}

/* [x, e_k]'theta = x'theta_x + theta_k, into score (count, positions) */
static void dot_positions(const linear *self, const double *x, size_t count, size_t positions,
                          double *score) {
    size_t features = self->base.dim - self->base.positions;
    for (size_t i = 0; i < count; i++) {
        double shared = dot(x + i * features, self->theta, features);
        for (size_t k = 0; k < positions; k++) score[i * positions + k] = shared + self->theta[features + k];
    }
}

/* rows (count, dim) of the inputs, or with positions (count, positions, dim), each with its one-hot
 * position */
static void write_rows(const linear *self, const double *x, size_t count, size_t positions, double *row) {
    size_t dim = self->base.dim, features = dim - self->base.positions;
    if (positions == 0) {
        memcpy(row, x, count * dim * sizeof *x);
        return;
    }
    memset(row, 0, count * positions * dim * sizeof *row);
    for (size_t i = 0; i < count * positions; i++, row += dim) {
        memcpy(row, x + i / positions * features, features * sizeof *row);
        row[features + i % positions] = 1;
    }
}

static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *work, double *mean, sa_gradients *gradients) {
    const linear *self = (const linear *)model;
    const double *x = inputs;
    size_t dim = model->dim, rows = positions ? count * positions : count;
    (void)work;
    if (positions)
        dot_positions(self, x, count, positions, mean);
    else
        for (size_t i = 0; i < count; i++) mean[i] = dot(x + i * dim, self->theta, dim);
    if (!gradients) return SA_OK;
    SA_TRY(sa_gradients_reserve(gradients, rows));
    double *delta = gradients->pair[0].delta;
    for (size_t i = 0; i < rows; i++) delta[i] = 1;
    write_rows(self, x, count, positions, gradients->pair[0].input);
    gradients->count = rows;
    return SA_OK;
}

/* Z += x x', b += y x */
static void take_in(linear *self, const double *x, const double *y, size_t count) {
    size_t dim = self->base.dim;
    syrk_tn_f64(dim, count, 1, x, dim, self->z, dim);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < dim; j++) self->b[j] += y[i] * x[i * dim + j];
}

/* A score psi x'theta is that of psi x; these are put together in `next`, as many at a time as it has rows.
 * Theta is ready when the call ends, so that choosing need not compute it. */
static sa_status observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *work) {
    linear *self = (linear *)model;
    const double *x = inputs;
    size_t dim = model->dim;
    (void)work;
    if (self->lags) refresh(self); /* from what was known before */
    if (!discounts) take_in(self, x, scores, count);
    for (size_t first = 0; discounts && first < count; first += dim) {
        size_t many = count - first < dim ? count - first : dim;
        for (size_t i = 0; i < many; i++)
            for (size_t j = 0; j < dim; j++)
                self->next[i * dim + j] = discounts[first + i] * x[(first + i) * dim + j];
        take_in(self, self->next, scores + first, many);
    }
    self->stale = true;
    if (!self->lags) refresh(self);
    return SA_OK;
}

/* A score of a sum is that of the sum of inputs. */
static sa_status observe_sums(sa_model *model, const void *inputs, const size_t *end, const double *discounts,
                              const double *scores, size_t count, sa_model_work *work) {
    linear *self = (linear *)model;
    const double *x = inputs;
    size_t dim = model->dim, row = 0;
    (void)work;
    if (self->lags) refresh(self);
    for (size_t first = 0; first < count; first += dim) {
        size_t many = count - first < dim ? count - first : dim;
        memset(self->next, 0, many * dim * sizeof *self->next);
        for (size_t i = 0; i < many; i++)
            for (; row < end[first + i]; row++)
                for (size_t j = 0; j < dim; j++)
                    self->next[i * dim + j] += (discounts ? discounts[first + i] : 1) * x[row * dim + j];
        take_in(self, self->next, scores + first, many);
    }
    self->stale = true;
    if (!self->lags) refresh(self);
    return SA_OK;
}

/* Z is that of the inputs, which stay: b += psi x (y' - y). Of a sum each row has that difference. */
static sa_status revise(sa_model *model, const void *inputs, const double *discounts,
                        const double *differences, size_t count, sa_model_work *work) {
    linear *self = (linear *)model;
    const double *x = inputs;
    size_t dim = model->dim;
    (void)work;
    for (size_t i = 0; i < count; i++) {
        double change = (discounts ? discounts[i] : 1) * differences[i];
        for (size_t j = 0; j < dim; j++) self->b[j] += change * x[i * dim + j];
    }
    self->stale = true;
    if (!self->lags) refresh(self);
    return SA_OK;
}

static void fade(sa_model *model, double factor) {
    linear *self = (linear *)model;
    size_t dim = model->dim;
    for (size_t i = 0; i < dim; i++) {
        for (size_t j = 0; j < i; j++) self->z[i * dim + j] *= factor;
        self->z[i * dim + i] = self->lambda + factor * (self->z[i * dim + i] - self->lambda);
        self->b[i] *= factor;
    }
    self->stale = true;
}

static sa_status sample(const sa_model *model, const sa_gradients *gradients, double deviation,
                        const sa_stream *stream, sa_model_work *work, double *score) {
    const linear *self = (const linear *)model;
    const double *x = gradients->pair[0].input; /* pairs (1, x) */
    size_t dim = model->dim;
    double *drawn;
    SA_TRY(SA_LAY(&work->inner, {&drawn, dim, sizeof *drawn}));
    sa_draw_normals(stream, 0, dim, drawn);
    sa_gram_upper(dim, self->factor, drawn);
    for (size_t j = 0; j < dim; j++) drawn[j] = self->theta[j] + deviation * drawn[j];
    for (size_t i = 0; i < gradients->count; i++) score[i] = dot(x + i * dim, drawn, dim);
    return SA_OK;
}

/* The factor is that of theta's Z, which is not always the newest: it is kept too. */
static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    const linear *self = (const linear *)model;
    static const int64_t yes = 1, no = 0;
    size_t square[2] = {model->dim, model->dim};
    SA_TRY(sa_npz_add(writer, "linear_z", SA_FLOAT64, 2, square, self->z));
    SA_TRY(sa_npz_add(writer, "linear_factor", SA_FLOAT64, 2, square, self->factor));
    SA_TRY(sa_npz_add(writer, "linear_b", SA_FLOAT64, 1, &model->dim, self->b));
    SA_TRY(sa_npz_add(writer, "theta", SA_FLOAT64, 1, &model->dim, self->theta));
    return sa_npz_add(writer, "linear_stale", SA_INT64, 0, NULL, self->stale ? &yes : &no);
}

static sa_status load(sa_model *model, sa_npz *archive) {
    linear *self = (linear *)model;
    size_t square[2] = {model->dim, model->dim};
    int64_t stale;
    SA_TRY(sa_npz_read_into(archive, "linear_z", SA_FLOAT64, 2, square, self->z));
    SA_TRY(sa_npz_read_into(archive, "linear_factor", SA_FLOAT64, 2, square, self->factor));
    SA_TRY(sa_npz_read_into(archive, "linear_b", SA_FLOAT64, 1, &model->dim, self->b));
    SA_TRY(sa_npz_read_into(archive, "theta", SA_FLOAT64, 1, &model->dim, self->theta));
    SA_TRY(sa_npz_get_integer(archive, "linear_stale", 0, 1, &stale));
    self->stale = stale;
    return SA_OK;
}

static const sa_observing_class observing = {
    .observe = observe, .observe_sums = observe_sums, .revise = revise, .fade = fade, .forget = forget};
static const sa_exploring_class exploring = {.sample = sample};

const sa_model_class sa_linear = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .positional = true,
    .save = save,
    .load = load,
    .observing = &observing,
    .exploring = &exploring,
};

/* Widths from the diagonal of Z alone (the approximation of Zhou et al. 2020 and Zhang et al. 2021 in their
 * experiments):
 *
 * Z_j = lambda + sum of g_j^2,   width^2 = sum_j g_j^2 / Z_j,   log det Z / det(lambda I) = sum_j log(Z_j
 *         / lambda)
 *
 * A pair (delta, input) of a gradient has the squares delta_i^2 input_j^2, an outer product again. So with
 * R the reciprocals 1 / Z of the pair's weights, (delta, input), its part of width^2 is (delta^2)' R
 * input^2: for many gradients one matrix product, and no gradient is ever written out. A round costs 2 p N
 * operations for widths and 2 p K for counting, whatever was counted before.
 *
 * Always in double precision, whatever the gradients': squares need twice their exponents, and a long sum
 * of small squares their digits. */
#define SA_REAL_BITS 64

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "confidence/confidence.h"
#include "linalg/products.h"

enum { ROWS = 64 }; /* gradients taken at a time, so that workspace stays bounded for any number of arms */

typedef struct diagonal {
    sa_confidence base;
    double lambda;
    size_t pairs, parameters;
    sa_pair_shape *shape; /* (pairs) */
    uint64_t counted;
    double *z;          /* (parameters) pair by pair, delta by delta; only counting needs it */
    double *reciprocal; /* (parameters) 1 / z */
    size_t longest_delta, longest_input;
} diagonal_t;

/* Workspace: squares of some gradients' pair, and the product of the inputs with R'. */
typedef struct squares {
    double *delta;   /* (ROWS, longest delta) */
    double *input;   /* (ROWS, longest input) */
    double *product; /* (ROWS, longest delta) */
} squares;

static sa_status lay(const diagonal_t *self, sa_width_work *work, squares *out) {
    return SA_LAY(&work->solution, {&out->delta, ROWS * self->longest_delta, sizeof(double)},
                  {&out->input, ROWS * self->longest_input, sizeof(double)},
                  {&out->product, ROWS * self->longest_delta, sizeof(double)});
}

static void destroy(sa_confidence *confidence) {
    diagonal_t *self = (diagonal_t *)confidence;
    sa_free(self->shape);
    sa_free(self->z);
    sa_free(self->reciprocal);
    sa_free(self);
}

static sa_status allocate(diagonal_t *self) {
    for (size_t l = 0; l < self->pairs; l++) {
        sa_pair_shape shape = self->shape[l];
        self->parameters += shape.delta * shape.input; /* the model has so many weights */
        if (shape.delta > self->longest_delta) self->longest_delta = shape.delta;
        if (shape.input > self->longest_input) self->longest_input = shape.input;
    }
    SA_TRY(sa_alloc_array(self->parameters, sizeof(double), &self->z));
    return sa_alloc_array(self->parameters, sizeof(double), &self->reciprocal);
}

static sa_status create(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out) {
    diagonal_t *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = &sa_confidence_diagonal;
    self->lambda = settings->regularization;
    self->pairs = pairs;
    SA_TRY_OR_FAIL(sa_alloc_array(pairs, sizeof *shape, &self->shape));
    memcpy(self->shape, shape, pairs * sizeof *shape);
    SA_TRY_OR_FAIL(allocate(self));
    for (size_t j = 0; j < self->parameters; j++) {
        self->z[j] = self->lambda;
        self->reciprocal[j] = 1 / self->lambda;
    }
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

static sa_status fork_engine(sa_confidence *confidence, sa_confidence **out) {
    diagonal_t *self = (diagonal_t *)confidence, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    copy->z = NULL;
    sa_hold(copy->shape);
    sa_hold(copy->reciprocal);
    sa_status status = sa_unshare(&copy->reciprocal);
    if (status != SA_OK) {
        destroy(&copy->base);
        return status;
    }
    copy->z = self->z;
    self->z = NULL;
    *out = &copy->base;
    return SA_OK;
}

static sa_status regularize(sa_confidence *confidence, double lambda) {
    diagonal_t *self = (diagonal_t *)confidence;
    for (size_t j = 0; j < self->parameters; j++) {
        self->z[j] = lambda + fmax(0, self->z[j] - self->lambda); /* at least lambda, rounded or not */
        self->reciprocal[j] = 1 / self->z[j];
    }
    self->lambda = lambda;
    return SA_OK;
}

/* ---- squares ---- */

/* out (count, length) = the squares of rows rows[0 .. count) of a matrix, or of [first, first + count) with
 * rows NULL */
static void square_rows(const void *matrix, sa_precision precision, size_t length, const size_t *rows,
                        size_t first, size_t count, double *out) {
    for (size_t k = 0; k < count; k++, out += length) {
        size_t start = (rows ? rows[k] : first + k) * length;
        if (precision == SA_PRECISION_SINGLE) {
            const float *from = (const float *)matrix + start;
            for (size_t i = 0; i < length; i++) out[i] = (double)from[i] * (double)from[i];
        } else {
            const double *from = (const double *)matrix + start;
            for (size_t i = 0; i < length; i++) out[i] = from[i] * from[i];
        }
    }
}

static void square_pair(const squares *to, const sa_gradients *batch, size_t l, const size_t *rows,
                        size_t first, size_t count) {
    const sa_pair *pair = &batch->pair[l];
    square_rows(pair->delta, batch->precision, pair->shape.delta, rows, first, count, to->delta);
    square_rows(pair->input, batch->precision, pair->shape.input, rows, first, count, to->input);
}

/* ---- widths and counting ---- */

static double dot(const double *a, const double *b, size_t length) {
    double sum = 0;
    for (size_t i = 0; i < length; i++) sum += a[i] * b[i];
    return sum;
}

static sa_status widths(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width) {
    const diagonal_t *self = (const diagonal_t *)confidence;
    squares part;
    (void)label; /* counting starts from the gradients themselves */
    SA_TRY(lay(self, work, &part));
    for (size_t first = 0; first < count; first += ROWS) {
        size_t many = count - first < ROWS ? count - first : ROWS;
        const size_t *taken = rows ? rows + first : NULL;
        const double *reciprocal = self->reciprocal;
        double squared[ROWS] = {0};
        for (size_t l = 0; l < self->pairs; l++) {
            sa_pair_shape shape = self->shape[l];
            square_pair(&part, batch, l, taken, first, many);
            gemm_nt_f64(many, shape.delta, shape.input, 1, part.input, shape.input, reciprocal, shape.input,
                        0, part.product, shape.delta);
            for (size_t k = 0; k < many; k++)
                squared[k] += dot(part.delta + k * shape.delta, part.product + k * shape.delta, shape.delta);
            reciprocal += shape.delta * shape.input;
        }
        for (size_t k = 0; k < many; k++) width[taken ? taken[k] : first + k] = sqrt(squared[k]);
    }
    return SA_OK;
}

/* z += the squares of a sum's numbers, pair by pair: they are not an outer product. */
static void count_sum(diagonal_t *self, const sa_gradients *batch, size_t index, double *written) {
    double *z = self->z;
    for (size_t l = 0; l < self->pairs; l++) {
        const sa_pair *pair = &batch->pair[l];
        size_t deltas = pair->shape.delta, inputs = pair->shape.input;
        memset(written, 0, deltas * inputs * sizeof *written);
        for (size_t row = sa_gradients_row(batch, index); row < sa_gradients_row(batch, index + 1); row++)
            for (size_t i = 0; i < deltas; i++)
                for (size_t j = 0; j < inputs; j++)
                    written[i * inputs + j] += sa_real_get(batch->precision, pair->delta, row * deltas + i) *
                                               sa_real_get(batch->precision, pair->input, row * inputs + j);
        for (size_t i = 0; i < deltas * inputs; i++) z[i] += written[i] * written[i];
        z += deltas * inputs;
    }
}

static sa_status count_sums(diagonal_t *self, const sa_gradients *batch, sa_width_work *work) {
    double *written;
    SA_TRY(SA_LAY(&work->solution, {&written, self->parameters, sizeof *written}));
    for (size_t i = 0; i < batch->sums; i++) count_sum(self, batch, i, written);
    return SA_OK;
}

static void refresh_reciprocals(diagonal_t *self) {
    for (size_t j = 0; j < self->parameters; j++) self->reciprocal[j] = 1 / self->z[j];
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work) {
    diagonal_t *self = (diagonal_t *)confidence;
    squares part;
    (void)label;
    if (batch->summed) SA_TRY(count_sums(self, batch, work));
    SA_TRY(lay(self, work, &part));
    for (size_t first = 0; !batch->summed && first < batch->count; first += ROWS) {
        size_t many = batch->count - first < ROWS ? batch->count - first : ROWS;
        double *z = self->z;
        for (size_t l = 0; l < self->pairs; l++) {
            sa_pair_shape shape = self->shape[l];
            square_pair(&part, batch, l, NULL, first, many);
            gemm_tn_f64(shape.delta, shape.input, many, 1, part.delta, shape.delta, part.input, shape.input,
                        1, z, shape.input);
            z += shape.delta * shape.input;
        }
    }
    refresh_reciprocals(self);
    self->counted += sa_gradients_many(batch);
    return SA_OK;
}

static sa_status fade(sa_confidence *confidence, double factor) {
    diagonal_t *self = (diagonal_t *)confidence;
    for (size_t j = 0; j < self->parameters; j++)
        self->z[j] = self->lambda + factor * (self->z[j] - self->lambda);
    refresh_reciprocals(self);
    return SA_OK;
}

/* ---- numbers about it, and files ---- */

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const diagonal_t *self = (const diagonal_t *)confidence;
    double log_det = 0;
    for (size_t j = 0; j < self->parameters; j++) log_det -= sa_log(self->reciprocal[j] * self->lambda);
    *state = (sa_confidence_state){.counted = self->counted, .log_det = log_det, .in_double = true};
}

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const diagonal_t *self = (const diagonal_t *)confidence;
    SA_TRY(sa_npz_add(writer, "diagonal_counted", SA_INT64, 0, NULL, &self->counted));
    return sa_npz_add(writer, "diagonal_z", SA_FLOAT64, 1, &self->parameters, self->z);
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    diagonal_t *self = (diagonal_t *)confidence;
    int64_t counted;
    SA_TRY(sa_npz_get_integer(archive, "diagonal_counted", 0, INT64_MAX, &counted));
    SA_TRY(sa_npz_read_into(archive, "diagonal_z", SA_FLOAT64, 1, &self->parameters, self->z));
    for (size_t j = 0; j < self->parameters; j++)
        if (!(self->z[j] >= self->lambda))
            return sa_fail(SA_FORMAT, "the array 'diagonal_z' has %g, below lambda = %g", self->z[j],
                           self->lambda);
    self->counted = (uint64_t)counted;
    refresh_reciprocals(self);
    return SA_OK;
}

const sa_confidence_class sa_confidence_diagonal = {
    .name = "diagonal",
    .sums = true,
    .summary = "of Z only its diagonal: 2 p (N + K) operations a round, whatever was counted before; widths "
               "are approximate",
    .create = create,
    .destroy = destroy,
    .fork = fork_engine,
    .widths = widths,
    .count = count,
    .fade = fade,
    .regularize = regularize,
    .state = state,
    .save = save,
    .load = load,
};

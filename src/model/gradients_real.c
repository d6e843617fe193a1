#include "model/gradients_real.h"

#include <float.h>
#include <string.h>

#include "linalg/products.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* out (rows, ld) = <left_i, right_j> for the gradients [first, first + rows) of left and `columns` of right
 * from `start` on */
static void inner_block(const sa_gradients *left, size_t first, size_t rows, const sa_gradients *right,
                        size_t start, size_t columns, real *out, size_t ld, real *work) {
    real *deltas = work, *inputs = work + rows * columns;
    for (size_t l = 0; l < left->pairs; l++) {
        sa_pair_shape shape = left->pair[l].shape;
        const real *left_delta = (const real *)left->pair[l].delta + first * shape.delta;
        const real *left_input = (const real *)left->pair[l].input + first * shape.input;
        const real *right_delta = (const real *)right->pair[l].delta + start * shape.delta;
        const real *right_input = (const real *)right->pair[l].input + start * shape.input;
        REAL(gemm_nt)
        (rows, columns, shape.delta, 1, left_delta, shape.delta, right_delta, shape.delta, 0, deltas,
         columns);
        REAL(gemm_nt)
        (rows, columns, shape.input, 1, left_input, shape.input, right_input, shape.input, 0, inputs,
         columns);
        for (size_t i = 0; i < rows; i++) {
            real *sum = out + i * ld;
            const real *a = deltas + i * columns, *b = inputs + i * columns;
            for (size_t j = 0; j < columns; j++) sum[j] = l == 0 ? a[j] * b[j] : sum[j] + a[j] * b[j];
        }
    }
}

void REAL(gradients_inner)(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld,
                           real *work) {
    for (size_t first = 0; first < left->count; first += SA_INNER_ROWS) {
        size_t rows = smaller(left->count - first, SA_INNER_ROWS);
        real *block = out + first * ld;
        for (size_t start = 0; start < right->count; start += SA_INNER_COLUMNS)
            inner_block(left, first, rows, right, start, smaller(right->count - start, SA_INNER_COLUMNS),
                        block + start, ld, work);
        for (size_t i = 0; i < rows; i++)
            memset(block + i * ld + right->count, 0, (ld - right->count) * sizeof *block);
    }
}

/* sums (gradients of left, ld) += block (rows, SA_INNER_COLUMNS), whose rows are those of left from `first`
 * on, and whose columns are rows of right from `start` on */
static void add_block(const sa_gradients *left, size_t first, size_t rows, const sa_gradients *right,
                      size_t start, const real *block, real *sums, size_t ld) {
    size_t columns = smaller(right->count - start, SA_INNER_COLUMNS), to[SA_INNER_COLUMNS], g = 0, h = 0;
    while (sa_gradients_row(right, h + 1) <= start) h++;
    for (size_t j = 0; j < columns; j++) {
        if (sa_gradients_row(right, h + 1) <= start + j) h++;
        to[j] = h;
    }
    for (size_t high = sa_gradients_many(left); high - g > 1;) { /* the gradient that has row `first` */
        size_t middle = g + (high - g) / 2;
        if (sa_gradients_row(left, middle) <= first)
            g = middle;
        else
            high = middle;
    }
    for (size_t i = 0; i < rows; i++) {
        if (sa_gradients_row(left, g + 1) <= first + i) g++;
        for (size_t j = 0; j < columns; j++) sums[g * ld + to[j]] += block[i * SA_INNER_COLUMNS + j];
    }
}

void REAL(gradients_inner_sums)(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld,
                                real *work) {
    real *block = work + 2 * SA_INNER_ROWS * SA_INNER_COLUMNS;
    memset(out, 0, sa_gradients_many(left) * ld * sizeof *out);
    for (size_t first = 0; first < left->count; first += SA_INNER_ROWS) {
        size_t rows = smaller(left->count - first, SA_INNER_ROWS);
        for (size_t start = 0; start < right->count; start += SA_INNER_COLUMNS) {
            inner_block(left, first, rows, right, start, smaller(right->count - start, SA_INNER_COLUMNS),
                        block, SA_INNER_COLUMNS, work);
            add_block(left, first, rows, right, start, block, out, ld);
        }
    }
}

static double dot(const real *a, const real *b, size_t length) {
    double sum = 0;
    for (size_t i = 0; i < length; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

static double row_dot(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j) {
    double sum = 0;
    for (size_t l = 0; l < left->pairs; l++) {
        const sa_pair *a = &left->pair[l], *b = &right->pair[l];
        sa_pair_shape shape = a->shape;
        sum += dot((const real *)a->delta + i * shape.delta, (const real *)b->delta + j * shape.delta,
                   shape.delta) *
               dot((const real *)a->input + i * shape.input, (const real *)b->input + j * shape.input,
                   shape.input);
    }
    return sum;
}

double REAL(gradients_dot)(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j) {
    double sum = 0;
    if (!left->summed && !right->summed) return row_dot(left, i, right, j);
    for (size_t a = sa_gradients_row(left, i); a < sa_gradients_row(left, i + 1); a++)
        for (size_t b = sa_gradients_row(right, j); b < sa_gradients_row(right, j + 1); b++)
            sum += row_dot(left, a, right, b);
    return sum;
}

void REAL(gradients_norms)(const sa_gradients *batch, double *squared) {
    for (size_t i = 0; i < sa_gradients_many(batch); i++)
        squared[i] = REAL(gradients_dot)(batch, i, batch, i);
}

/* <a, a> in this precision, in LANES sums; not below the true one. A sum of n positive terms is off by less
 * than n + 1 units in the last place, here of n / LANES + LANES; a square that underflows is off by less than
 * the smallest normal number. */
static double square_above(const real *a, size_t length) {
    enum { LANES = 16 };
    const double unit = SA_REAL_BITS == 32 ? FLT_EPSILON : DBL_EPSILON,
                 least = SA_REAL_BITS == 32 ? FLT_MIN : DBL_MIN;
    real sum[LANES] = {0}, rest = 0;
    size_t i = 0;
    for (; i + LANES <= length; i += LANES)
        for (size_t j = 0; j < LANES; j++) sum[j] += a[i + j] * a[i + j];
    for (; i < length; i++) rest += a[i] * a[i];
    for (size_t j = 0; j < LANES; j++) rest += sum[j];
    return ((double)rest + (double)length * least) * (1 + (double)(length / LANES + 2 * LANES + 4) * unit);
}

void REAL(gradients_norms_above)(const sa_gradients *batch, double *squared) {
    for (size_t i = 0; i < batch->count; i++) {
        double sum = 0;
        for (size_t l = 0; l < batch->pairs; l++) {
            const sa_pair *pair = &batch->pair[l];
            sum += square_above((const real *)pair->delta + i * pair->shape.delta, pair->shape.delta) *
                   square_above((const real *)pair->input + i * pair->shape.input, pair->shape.input);
        }
        squared[i] = sum * (1 + 1e-12);
    }
}

static void write_sum(const sa_gradients *batch, size_t index, real *out) {
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair_shape shape = batch->pair[l].shape;
        size_t first = sa_gradients_row(batch, index), rows = sa_gradients_row(batch, index + 1) - first;
        REAL(gemm_tn)
        (shape.delta, shape.input, rows, 1, (const real *)batch->pair[l].delta + first * shape.delta,
         shape.delta, (const real *)batch->pair[l].input + first * shape.input, shape.input, 0, out,
         shape.input);
        out += shape.delta * shape.input;
    }
}

void REAL(gradients_write_out)(const sa_gradients *batch, size_t index, real *out) {
    size_t row = index;
    if (batch->summed) {
        write_sum(batch, index, out);
        return;
    }
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair_shape shape = batch->pair[l].shape;
        const real *delta = (const real *)batch->pair[l].delta + row * shape.delta;
        const real *input = (const real *)batch->pair[l].input + row * shape.input;
        for (size_t i = 0; i < shape.delta; i++)
            for (size_t j = 0; j < shape.input; j++) *out++ = delta[i] * input[j];
    }
}

#include "model/gradients_real.h"

#include <string.h>

#include "linalg/blas.h"

/* out (rows, right->count) = <left_i, right_j> for the rows [first, first + rows) of left */
static void inner_block(const sa_gradients *left, size_t first, size_t rows, const sa_gradients *right, real *out, size_t ld,
                        real *deltas, real *inputs) {
    size_t columns = right->count;
    for (size_t l = 0; l < left->pairs; l++) {
        sa_pair_shape shape = left->pair[l].shape;
        const real *left_delta = (const real *)left->pair[l].delta + first * shape.delta;
        const real *left_input = (const real *)left->pair[l].input + first * shape.input;
        REAL(gemm_nt)(rows, columns, shape.delta, 1, left_delta, shape.delta, right->pair[l].delta, shape.delta, 0, deltas, ld);
        REAL(gemm_nt)(rows, columns, shape.input, 1, left_input, shape.input, right->pair[l].input, shape.input, 0, inputs, ld);
        for (size_t i = 0; i < rows; i++) {
            real *sum = out + i * ld;
            const real *a = deltas + i * ld, *b = inputs + i * ld;
            for (size_t j = 0; j < columns; j++) sum[j] = l == 0 ? a[j] * b[j] : sum[j] + a[j] * b[j];
        }
    }
}

void REAL(gradients_inner)(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld, real *work) {
    for (size_t first = 0; first < left->count; first += SA_INNER_ROWS) {
        size_t rows = left->count - first < SA_INNER_ROWS ? left->count - first : SA_INNER_ROWS;
        real *block = out + first * ld;
        inner_block(left, first, rows, right, block, ld, work, work + SA_INNER_ROWS * ld);
        for (size_t i = 0; i < rows; i++)
            memset(block + i * ld + right->count, 0, (ld - right->count) * sizeof *block);
    }
}

static double dot(const real *a, const real *b, size_t length) {
    double sum = 0;
    for (size_t i = 0; i < length; i++) sum += (double)a[i] * (double)b[i];
    return sum;
}

double REAL(gradients_dot)(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j) {
    double sum = 0;
    for (size_t l = 0; l < left->pairs; l++) {
        const sa_pair *a = &left->pair[l], *b = &right->pair[l];
        sa_pair_shape shape = a->shape;
        sum += dot((const real *)a->delta + i * shape.delta, (const real *)b->delta + j * shape.delta, shape.delta) *
               dot((const real *)a->input + i * shape.input, (const real *)b->input + j * shape.input, shape.input);
    }
    return sum;
}

void REAL(gradients_norms)(const sa_gradients *batch, double *squared) {
    for (size_t i = 0; i < batch->count; i++) squared[i] = REAL(gradients_dot)(batch, i, batch, i);
}

void REAL(gradients_write_out)(const sa_gradients *batch, size_t row, real *out) {
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair_shape shape = batch->pair[l].shape;
        const real *delta = (const real *)batch->pair[l].delta + row * shape.delta;
        const real *input = (const real *)batch->pair[l].input + row * shape.input;
        for (size_t i = 0; i < shape.delta; i++)
            for (size_t j = 0; j < shape.input; j++) *out++ = delta[i] * input[j];
    }
}

/* Ridge regression with a free intercept, by elimination: what the companion's part of an estimate is, and
 * what is open of it. */
#ifndef TEST_RIDGE_REFERENCE_H
#define TEST_RIDGE_REFERENCE_H

#include <string.h>

#include "test_elimination.h"

enum { RIDGE_MOST = 8 }; /* inputs */

typedef struct ridge_reference {
    size_t dim, count;
    const double *input; /* (count, dim) */
    const double *score; /* (count) */
    double lambda;
} ridge_reference;

/* b (dim) of (G + lambda I) b = right, with G of the deviations from `mean`. */
static inline void ridge_solve(const ridge_reference *of, const double *mean, const double *right,
                               double *b) {
    size_t dim = of->dim, w = dim + 1;
    double a[RIDGE_MOST * (RIDGE_MOST + 1)] = {0};
    for (size_t j = 0; j < dim; j++) {
        for (size_t i = 0; i < of->count; i++)
            for (size_t k = 0; k < dim; k++)
                a[j * w + k] += (of->input[i * dim + j] - mean[j]) * (of->input[i * dim + k] - mean[k]);
        a[j * w + j] += of->lambda;
        a[j * w + dim] = right[j];
    }
    eliminate(dim, a);
    for (size_t j = 0; j < dim; j++) b[j] = a[j * w + dim];
}

/* The regression's variance at x, s^2 x'(G + lambda I)^-1 x of deviations from the mean of what was seen,
 * with n s^2 what it leaves of the squares; r = its estimate. */
static inline double ridge_variance(const ridge_reference *of, const double *x, double *r) {
    size_t dim = of->dim;
    double mean[RIDGE_MOST] = {0}, off[RIDGE_MOST], product[RIDGE_MOST] = {0}, theta[RIDGE_MOST],
           solved[RIDGE_MOST], n = (double)of->count, centre = 0, square = 0, explained = 0, sum = 0;
    for (size_t i = 0; i < of->count; i++) {
        for (size_t j = 0; j < dim; j++) mean[j] += of->input[i * dim + j] / n;
        centre += of->score[i] / n;
    }
    for (size_t i = 0; i < of->count; i++) {
        double y = of->score[i] - centre;
        for (size_t j = 0; j < dim; j++) product[j] += (of->input[i * dim + j] - mean[j]) * y;
        square += y * y;
    }
    for (size_t j = 0; j < dim; j++) off[j] = x[j] - mean[j];
    ridge_solve(of, mean, product, theta);
    ridge_solve(of, mean, off, solved);
    *r = centre;
    for (size_t j = 0; j < dim; j++) {
        explained += product[j] * theta[j];
        sum += off[j] * solved[j];
        *r += off[j] * theta[j];
    }
    return fmax(square - explained, 1e-4 * square) / n * sum;
}

#endif

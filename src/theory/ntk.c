#include "theory/ntk.h"

#include <math.h>
#include <string.h>

#define SA_REAL_BITS 64
#include "base/functions.h"
#include "base/memory.h"
#include "base/reals.h"
#include "linalg/products.h"

enum { BLOCK = 128 };

/* Two directions: 1 - cos and 1 + cos of the angle, each without loss where it is small, as the angle hangs
 * on its root. */
typedef struct gap {
    double minus, plus;
} gap;

/* u and v of length 1; `cosine` is their inner product, whose rounding would be seen near 1 and -1. */
static gap gap_between(double cosine, const double *u, const double *v, size_t dim) {
    const double near_1 = 1 - 1e-3;
    gap g = {1 - cosine, 1 + cosine};
    if (fabs(cosine) < near_1) return g;
    double sign = cosine > 0 ? -1 : 1, squares = 0;
    for (size_t k = 0; k < dim; k++) squares += (u[k] + sign * v[k]) * (u[k] + sign * v[k]);
    if (cosine > 0)
        g = (gap){squares / 2, 2 - squares / 2};
    else
        g = (gap){2 - squares / 2, squares / 2};
    return g;
}

/* H / scale */
static double kernel_at(gap g, size_t depth) {
    double sigma = 1 - g.minus, tangent = sigma;
    for (size_t layer = 1; layer < depth; layer++) {
        double angle = 2 * sa_atan2(sqrt(g.minus), sqrt(g.plus)), sine = sqrt(g.minus * g.plus);
        g.minus -= (sine - angle * sigma) / SA_PI; /* 1 - k1, as k1 = sigma + (sin a - a cos a) / pi */
        if (g.minus < 0) g.minus = 0;
        g.plus = 2 - g.minus;
        sigma = 1 - g.minus;
        tangent = tangent * (1 - angle / SA_PI) + sigma;
    }
    return (tangent + sigma) / 2;
}

/* unit (count, dim), length (count) */
static void normalize(const double *contexts, size_t count, size_t dim, double *unit, double *length) {
    for (size_t i = 0; i < count; i++) {
        const double *x = contexts + i * dim;
        double *u = unit + i * dim, largest = 0, squares = 0;
        for (size_t k = 0; k < dim; k++) largest = fmax(largest, fabs(x[k]));
        length[i] = 0;
        if (largest == 0) continue;
        for (size_t k = 0; k < dim; k++)
            squares += (x[k] / largest) * (x[k] / largest); /* squares cannot overflow */
        length[i] = largest * sqrt(squares);
        for (size_t k = 0; k < dim; k++) u[k] = x[k] / largest / sqrt(squares);
    }
}

/* Rows [first, first + rows) of the lower triangle, from cosines to kernels. */
static void fill_rows(const double *unit, const double *length, size_t count, size_t dim, size_t depth,
                      size_t first, size_t rows, double *kernel) {
    double *start = kernel + first * count;
    gemm_nt_f64(rows, first + rows, dim, 1, unit + first * dim, dim, unit, dim, 0, start, count);
    for (size_t i = first; i < first + rows; i++) {
        double *row = kernel + i * count;
        for (size_t j = 0; j < i; j++) {
            gap g = gap_between(row[j], unit + i * dim, unit + j * dim, dim);
            row[j] = length[i] == 0 || length[j] == 0 ? 0 : length[i] * length[j] * kernel_at(g, depth);
        }
        row[i] = length[i] * length[i] * kernel_at((gap){0, 2}, depth);
    }
}

static void mirror(size_t count, double *kernel) {
    for (size_t i = 0; i < count; i += BLOCK)
        for (size_t j = 0; j <= i; j += BLOCK)
            for (size_t row = i; row < i + BLOCK && row < count; row++)
                for (size_t column = j; column < j + BLOCK && column < row; column++)
                    kernel[column * count + row] = kernel[row * count + column];
}

sa_status sa_ntk_fill(const double *contexts, size_t count, size_t dim, size_t depth, double *kernel) {
    double *unit = NULL, *length = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_matrix(count, dim, sizeof *unit, &unit));
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *length, &length));
    normalize(contexts, count, dim, unit, length);
    for (size_t first = 0; first < count; first += BLOCK)
        fill_rows(unit, length, count, dim, depth, first, count - first < BLOCK ? count - first : BLOCK,
                  kernel);
    mirror(count, kernel);
fail:
    sa_free(length);
    sa_free(unit);
    return status;
}

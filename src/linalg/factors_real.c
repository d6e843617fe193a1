/* Cholesky factors by halves: with A = [A11, .; A21, A22],
 *
 *     L11 L11' = A11,   L21 = A21 L11'^-1,   L22 L22' = A22 - L21 L21',
 *
 * and the solve for L21, and the inverse of L, go by halves, too. Nearly all is matrix products; the small
 * squares at the end are plain loops. */
#include "linalg/factors.h"

#include <math.h>
#include <string.h>

#include "linalg/product_kernel.h"
#include "linalg/products.h"

enum { SQUARE = SA_SOLVE_SQUARE, STRIP = 3 * SQUARE };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* About half of n, a multiple of SQUARE; n > SQUARE. */
static size_t half_of(size_t n) { return (n / 2 + SQUARE - 1) / SQUARE * SQUARE; }

/* X (rows, n) = X L'^-1 */
static void solve_below(size_t rows, size_t n, const real *l, size_t ldl, real *x, size_t ldx) {
    if (n <= SQUARE) {
        REAL(product_kernel_best)()->solve_rows(rows, n, l, ldl, x, ldx);
        return;
    }
    size_t first = half_of(n);
    solve_below(rows, first, l, ldl, x, ldx);
    REAL(gemm_nt)(rows, n - first, first, -1, x, ldx, l + first * ldl, ldl, 1, x + first, ldx);
    solve_below(rows, n - first, l + first * ldl + first, ldl, x + first, ldx);
}

/* Lower triangle of C (n, n) -= X X', X (n, inner), in strips of columns from the diagonal down; what a strip
 * has above the diagonal is formed aside and left out. */
static void subtract_square(size_t n, size_t inner, const real *x, size_t ldx, real *c, size_t ldc) {
    real square[STRIP * STRIP];
    for (size_t j = 0; j < n; j += STRIP) {
        size_t width = smaller(n - j, STRIP), below = j + width;
        const real *own = x + j * ldx;
        REAL(gemm_nt)(width, width, inner, 1, own, ldx, own, ldx, 0, square, STRIP);
        for (size_t i = 0; i < width; ++i)
            for (size_t k = 0; k <= i; ++k) c[(j + i) * ldc + j + k] -= square[i * STRIP + k];
        REAL(gemm_nt)
        (n - below, width, inner, -1, x + below * ldx, ldx, own, ldx, 1, c + below * ldc + j, ldc);
    }
}

/* Plain, column by column. The number of the first pivot that is not positive, counted from 1, or 0. */
static size_t factor_square(size_t n, real *a, size_t lda) {
    for (size_t j = 0; j < n; ++j) {
        real *row = a + j * lda, pivot = row[j];
        if (!(pivot > 0)) return j + 1;
        row[j] = pivot = real_sqrt(pivot);
        for (size_t i = j + 1; i < n; ++i) a[i * lda + j] /= pivot;
        for (size_t i = j + 1; i < n; ++i) {
            real by = a[i * lda + j];
            for (size_t k = j + 1; k <= i; ++k) a[i * lda + k] -= by * a[k * lda + j];
        }
    }
    return 0;
}

static size_t factor(size_t n, real *a, size_t lda) {
    if (n <= SQUARE) return factor_square(n, a, lda);
    size_t first = half_of(n), wrong = factor(first, a, lda);
    real *below = a + first * lda, *rest = below + first;
    if (wrong) return wrong;
    solve_below(n - first, first, a, lda, below, lda);
    subtract_square(n - first, first, below, lda, rest, lda);
    wrong = factor(n - first, rest, lda);
    return wrong ? first + wrong : 0;
}

sa_status REAL(cholesky)(size_t n, real *a, size_t lda) {
    size_t wrong = factor(n, a, lda);
    if (wrong == 0) return SA_OK;
    if (isnan(a[(wrong - 1) * lda + wrong - 1]))
        return sa_fail(SA_INVALID, "the %zu x %zu matrix to factorise holds a value that is not a number", n,
                       n);
    return sa_fail(SA_INVALID, "the matrix is not positive definite: its leading minor of order %zu is not",
                   wrong);
}

/* L^-1 of a lower triangle (n, n) with zeros above it, in place; false when it has none.
 *
 *     [L11, 0; L21, L22]^-1 = [L11^-1, 0; -L22^-1 L21 L11^-1, L22^-1] */
static int invert_lower(size_t n, real *l, size_t ld, real *work) {
    if (n <= SQUARE) {
        for (size_t j = 0; j < n; ++j) {
            if (!(l[j * ld + j] > 0) || !isfinite(l[j * ld + j])) return 0;
            l[j * ld + j] = 1 / l[j * ld + j];
            for (size_t i = j + 1; i < n; ++i) { /* the diagonal above i is inverted already */
                real sum = 0;
                for (size_t k = j; k < i; ++k) sum += l[i * ld + k] * l[k * ld + j];
                l[i * ld + j] = -sum / l[i * ld + i];
            }
        }
        return 1;
    }
    size_t first = half_of(n), rest = n - first;
    real *below = l + first * ld, *corner = below + first;
    if (!invert_lower(first, l, ld, work) || !invert_lower(rest, corner, ld, work)) return 0;
    REAL(gemm_nn)(rest, first, first, 1, below, ld, l, ld, 0, work, first);
    REAL(gemm_nn)(rest, first, rest, -1, corner, ld, work, first, 0, below, ld);
    return 1;
}

/* A^-1 = L'^-1 L^-1. Rows of L^-1 are 0 to the right of the diagonal, so that a strip of columns begins with
 * its own rows. */
sa_status REAL(cholesky_inverse)(size_t n, real *a, size_t lda, real *work) {
    for (size_t i = 0; i < n; ++i) memset(a + i * lda + i + 1, 0, (n - i - 1) * sizeof *a);
    int inverted = invert_lower(n, a, lda, work);
    for (size_t j = 0; inverted && j < n; j += STRIP) {
        size_t width = smaller(n - j, STRIP);
        const real *own = a + j * lda + j;
        for (size_t i = j; i < n; i += STRIP) {
            size_t tall = smaller(n - i, STRIP);
            REAL(gemm_tn)
            (tall, width, n - i, 1, a + i * lda + i, lda, own + (i - j) * lda, lda, 0, work + i * n + j, n);
        }
    }
    for (size_t i = 0; inverted && i < n; ++i)
        for (size_t j = 0; j <= i; ++j) a[i * lda + j] = a[j * lda + i] = work[i * n + j];
    return inverted ? SA_OK
                    : sa_fail(SA_INVALID, "the %zu x %zu Cholesky factor to invert is singular or not finite",
                              n, n);
}

/* x_i = (x_i - the rest of row i, or of column i) / u_ii */
void REAL(upper_solve)(size_t n, const real *u, size_t ldu, int transposed, real *x) {
    for (size_t step = 0; step < n; ++step) {
        size_t i = transposed ? step : n - 1 - step;
        const real *row = u + i * ldu;
        if (!transposed) REAL(dots)(1, n - i - 1, -1, row + i + 1, ldu, x + i + 1, 1, x + i, 1);
        x[i] /= row[i];
        if (transposed)
            for (size_t j = i + 1; j < n; ++j) x[j] -= row[j] * x[i];
    }
}

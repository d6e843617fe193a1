/* P' A P = U' U with the largest diagonal first (Higham, Accuracy and Stability of Numerical Algorithms,
 * section 10.3), BLOCK rows at a time: within a block a row is brought up to date when it is chosen,
 *
 *     u_j = (a_j - sum over the block's rows i before it of u_ij u_i) / sqrt(pivot),
 *
 * and what is left of A after the block, with one matrix product. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/factors.h"
#include "linalg/products.h"

enum { BLOCK = 64 };

static void swap(real *x, real *y) {
    real kept = *x;
    *x = *y;
    *y = kept;
}

/* Rows and columns j and p > j of the symmetric matrix whose upper triangle is in A (n, n) change places. */
static void swap_symmetric(size_t n, real *a, size_t lda, size_t j, size_t p) {
    swap(&a[j * lda + j], &a[p * lda + p]);
    for (size_t i = 0; i < j; ++i) swap(&a[i * lda + j], &a[i * lda + p]);
    for (size_t i = j + 1; i < p; ++i) swap(&a[j * lda + i], &a[i * lda + p]);
    for (size_t i = p + 1; i < n; ++i) swap(&a[j * lda + i], &a[p * lda + i]);
}

/* Upper triangle of A (n, n) -= U' U, U (rows, n), in strips of rows. */
static void subtract(size_t n, size_t rows, const real *u, size_t ldu, real *a, size_t lda) {
    real square[BLOCK * BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t tall = n - i < BLOCK ? n - i : BLOCK, right = i + tall;
        REAL(gemm_tn)(tall, tall, rows, 1, u + i, ldu, u + i, ldu, 0, square, BLOCK);
        for (size_t r = 0; r < tall; ++r)
            for (size_t c = r; c < tall; ++c) a[(i + r) * lda + i + c] -= square[r * BLOCK + c];
        REAL(gemm_tn)(tall, n - right, rows, -1, u + i, ldu, u + right, ldu, 1, a + i * lda + right, lda);
    }
}

/* Rows [first, end) of U; `left` (n) is the diagonal of what is left. The number of rows that were found. */
static size_t factor_block(size_t n, real *a, size_t lda, size_t first, size_t end, double tolerance,
                           size_t *pivot, real *left) {
    for (size_t j = first; j < end; ++j) {
        size_t p = j;
        for (size_t i = j + 1; i < n; ++i)
            if (left[i] > left[p]) p = i;
        real largest = left[p];
        if (!((double)largest > tolerance)) return j - first;
        if (p != j) {
            size_t kept = pivot[j];
            pivot[j] = pivot[p];
            pivot[p] = kept;
            swap_symmetric(n, a, lda, j, p);
            left[p] = left[j];
        }
        real *row = a + j * lda, root = real_sqrt(largest);
        REAL(gemm_tn)
        (1, n - j - 1, j - first, -1, a + first * lda + j, lda, a + first * lda + j + 1, lda, 1, row + j + 1,
         lda);
        row[j] = root;
        for (size_t i = j + 1; i < n; ++i) {
            row[i] /= root;
            left[i] -= row[i] * row[i];
        }
    }
    return end - first;
}

static int has_nan(size_t n, const real *a, size_t lda) {
    for (size_t i = 0; i < n; ++i)
        for (size_t j = i; j < n; ++j)
            if (isnan(a[i * lda + j])) return 1;
    return 0;
}

sa_status REAL(pivoted_cholesky)(size_t n, real *a, size_t lda, double tolerance, size_t *pivot,
                                 size_t *rank) {
    real *left;
    *rank = 0;
    if (has_nan(n, a, lda))
        return sa_fail(SA_INVALID, "the %zu x %zu matrix to factorise holds a value that is not a number", n,
                       n);
    SA_TRY(sa_alloc_array(n, sizeof *left, &left));
    for (size_t i = 0; i < n; ++i) pivot[i] = i;
    for (size_t first = 0, end; first < n; first = end) {
        end = n - first < BLOCK ? n : first + BLOCK;
        for (size_t i = first; i < n; ++i) left[i] = a[i * lda + i];
        size_t found = factor_block(n, a, lda, first, end, tolerance, pivot, left);
        *rank += found;
        if (found < end - first) break;
        subtract(n - end, found, a + first * lda + end, lda, a + end * lda + end, lda);
    }
    sa_free(left);
    return SA_OK;
}

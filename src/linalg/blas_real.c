/* Wrappers over CBLAS and LAPACKE. BLAS counts in int; sizes that do not fit, and empty inner products, for which some
 * BLAS refuse a leading dimension of 0, go to a plain loop instead, so that no call can fail. */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>

#if SA_REAL_BITS == 32
#define BLAS(name) cblas_s##name
#define POTRF LAPACKE_spotrf
#else
#define BLAS(name) cblas_d##name
#define POTRF LAPACKE_dpotrf
#endif

/* The one place that knows how large a BLAS integer is. */
static int fits_blas(size_t largest) { return largest <= INT_MAX; }

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

/* A matrix as BLAS sees it: element (i, j) at start[i ld + j], or at start[j ld + i] when transposed. */
typedef struct operand {
    const real *start;
    size_t ld;
    int transposed;
} operand;

static real element(operand m, size_t i, size_t j) { return m.transposed ? m.start[j * m.ld + i] : m.start[i * m.ld + j]; }

static void plain_gemm(size_t rows, size_t columns, size_t inner, real alpha, operand a, operand b, real beta, real *c,
                       size_t ldc) {
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
            real sum = 0;
            for (size_t k = 0; k < inner; ++k) sum += element(a, i, k) * element(b, k, j);
            real *out = &c[i * ldc + j];
            *out = alpha * sum + (beta == 0 ? 0 : beta * *out);
        }
}

static void gemm(size_t rows, size_t columns, size_t inner, real alpha, operand a, operand b, real beta, real *c,
                 size_t ldc) {
    if (rows == 0 || columns == 0) return;
    size_t largest = max_size(max_size(rows, columns), max_size(inner, max_size(ldc, max_size(a.ld, b.ld))));
    if (inner == 0 || !fits_blas(largest)) {
        plain_gemm(rows, columns, inner, alpha, a, b, beta, c, ldc);
        return;
    }
    BLAS(gemm)
    (CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, (int)rows,
     (int)columns, (int)inner, alpha, a.start, (int)a.ld, b.start, (int)b.ld, beta, c, (int)ldc);
}

void REAL(gemm_nt)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda, const real *b,
                   size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 0}, (operand){b, ldb, 1}, beta, c, ldc);
}

void REAL(gemm_nn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda, const real *b,
                   size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 0}, (operand){b, ldb, 0}, beta, c, ldc);
}

void REAL(gemm_tn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda, const real *b,
                   size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 1}, (operand){b, ldb, 0}, beta, c, ldc);
}

void REAL(syrk_tn)(size_t n, size_t inner, real alpha, const real *a, size_t lda, real *c, size_t ldc) {
    if (n == 0 || inner == 0) return;
    if (fits_blas(max_size(max_size(n, inner), max_size(lda, ldc)))) {
        BLAS(syrk)(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)inner, alpha, a, (int)lda, 1, c, (int)ldc);
        return;
    }
    for (size_t i = 0; i < n; ++i) /* row i of the lower triangle */
        plain_gemm(1, i + 1, inner, alpha, (operand){a + i, lda, 1}, (operand){a, lda, 0}, 1, c + i * ldc, ldc);
}

/* LAPACK counts columns first: our lower triangle is its upper one, A = U' U with U = L', so nothing is transposed. */
sa_status REAL(cholesky)(size_t n, real *a, size_t lda) {
    if (n == 0) return SA_OK;
    if (!fits_blas(max_size(n, lda)))
        return sa_fail(SA_UNSUPPORTED, "a Cholesky factor of %zu rows is too large for LAPACK", n);
    lapack_int info = POTRF(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda);
    if (info > 0)
        return sa_fail(SA_INVALID, "the matrix is not positive definite: its leading minor of order %d is not", (int)info);
    if (info < 0) return sa_fail(SA_INVALID, "the %zu x %zu matrix to factorise holds a value that is not a number", n, n);
    return SA_OK;
}

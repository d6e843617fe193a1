/* Wrappers over CBLAS and LAPACKE. BLAS counts in int; sizes that do not fit, and empty inner products, for
 * which some BLAS refuse a leading dimension of 0, go to a plain loop instead, so that no call can fail. */
#include "linalg/blas.h"

#include <cblas.h>
#include <lapacke.h>
#include <limits.h>

#include "base/memory.h"
#include "linalg/blas_gate.h"

#if SA_REAL_BITS == 32
#define BLAS(name) cblas_s##name
#define POTRF LAPACKE_spotrf
#define POTRI LAPACKE_spotri
#define PSTRF LAPACKE_spstrf
#define STERF LAPACKE_ssterf
#else
#define BLAS(name) cblas_d##name
#define POTRF LAPACKE_dpotrf
#define POTRI LAPACKE_dpotri
#define PSTRF LAPACKE_dpstrf
#define STERF LAPACKE_dsterf
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

static real element(operand m, size_t i, size_t j) {
    return m.transposed ? m.start[j * m.ld + i] : m.start[i * m.ld + j];
}

static void plain_gemm(size_t rows, size_t columns, size_t inner, real alpha, operand a, operand b, real beta,
                       real *c, size_t ldc) {
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
            real sum = 0;
            for (size_t k = 0; k < inner; ++k) sum += element(a, i, k) * element(b, k, j);
            real *out = &c[i * ldc + j];
            *out = alpha * sum + (beta == 0 ? 0 : beta * *out);
        }
}

static void gemm(size_t rows, size_t columns, size_t inner, real alpha, operand a, operand b, real beta,
                 real *c, size_t ldc) {
    if (rows == 0 || columns == 0) return;
    size_t largest = max_size(max_size(rows, columns), max_size(inner, max_size(ldc, max_size(a.ld, b.ld))));
    if (inner == 0 || !fits_blas(largest)) {
        plain_gemm(rows, columns, inner, alpha, a, b, beta, c, ldc);
        return;
    }
    sa_blas_enter();
    BLAS(gemm)
    (CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans,
     (int)rows, (int)columns, (int)inner, alpha, a.start, (int)a.ld, b.start, (int)b.ld, beta, c, (int)ldc);
    sa_blas_leave();
}

void REAL(gemm_nt)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 0}, (operand){b, ldb, 1}, beta, c, ldc);
}

void REAL(gemm_nn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 0}, (operand){b, ldb, 0}, beta, c, ldc);
}

void REAL(gemm_tn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm(rows, columns, inner, alpha, (operand){a, lda, 1}, (operand){b, ldb, 0}, beta, c, ldc);
}

void REAL(syrk_tn)(size_t n, size_t inner, real alpha, const real *a, size_t lda, real *c, size_t ldc) {
    if (n == 0 || inner == 0) return;
    if (fits_blas(max_size(max_size(n, inner), max_size(lda, ldc)))) {
        SA_IN_BLAS(BLAS(syrk)(CblasRowMajor, CblasLower, CblasTrans, (int)n, (int)inner, alpha, a, (int)lda,
                              1, c, (int)ldc));
        return;
    }
    for (size_t i = 0; i < n; ++i) /* row i of the lower triangle */
        plain_gemm(1, i + 1, inner, alpha, (operand){a + i, lda, 1}, (operand){a, lda, 0}, 1, c + i * ldc,
                   ldc);
}

/* LAPACK counts columns first: our lower triangle is its upper one, A = U' U with U = L', so nothing is
 * transposed. */
sa_status REAL(cholesky)(size_t n, real *a, size_t lda) {
    if (n == 0) return SA_OK;
    if (!fits_blas(max_size(n, lda)))
        return sa_fail(SA_UNSUPPORTED, "a Cholesky factor of %zu rows is too large for LAPACK", n);
    lapack_int info;
    SA_IN_BLAS(info = POTRF(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda));
    if (info > 0)
        return sa_fail(SA_INVALID,
                       "the matrix is not positive definite: its leading minor of order %d is not",
                       (int)info);
    if (info < 0)
        return sa_fail(SA_INVALID, "the %zu x %zu matrix to factorise holds a value that is not a number", n,
                       n);
    return SA_OK;
}

sa_status REAL(cholesky_inverse)(size_t n, real *a, size_t lda) {
    if (n == 0) return SA_OK;
    if (!fits_blas(max_size(n, lda)))
        return sa_fail(SA_UNSUPPORTED, "an inverse of %zu rows is too large for LAPACK", n);
    lapack_int info;
    SA_IN_BLAS(info = POTRI(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda));
    if (info != 0)
        return sa_fail(SA_INVALID, "the %zu x %zu Cholesky factor to invert is singular or not finite", n, n);
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j) a[j * lda + i] = a[i * lda + j];
    return SA_OK;
}

/* Our upper triangle is LAPACK's lower one. */
sa_status REAL(pivoted_cholesky)(size_t n, real *a, size_t lda, double tolerance, size_t *pivot,
                                 size_t *rank) {
    lapack_int *order, found = 0, info;
    *rank = 0;
    if (n == 0) return SA_OK;
    if (!fits_blas(max_size(n, lda)))
        return sa_fail(SA_UNSUPPORTED, "a Cholesky factor of %zu rows is too large for LAPACK", n);
    SA_TRY(sa_alloc_array(n, sizeof *order, &order));
    SA_IN_BLAS(info = PSTRF(LAPACK_COL_MAJOR, 'L', (lapack_int)n, a, (lapack_int)lda, order, &found,
                            (real)tolerance));
    for (size_t i = 0; info >= 0 && i < n; ++i) pivot[i] = (size_t)order[i] - 1; /* counted from 1 */
    sa_free(order);
    if (info == LAPACK_WORK_MEMORY_ERROR)
        return sa_fail(SA_OUT_OF_MEMORY, "no memory to factorise %zu rows", n);
    if (info < 0)
        return sa_fail(SA_INVALID, "the %zu x %zu matrix to factorise holds a value that is not a number", n,
                       n);
    *rank = (size_t)found;
    return SA_OK;
}

void REAL(upper_solve)(size_t n, const real *u, size_t ldu, int transposed, real *x) {
    if (n == 0) return;
    if (fits_blas(max_size(n, ldu))) {
        SA_IN_BLAS(BLAS(trsv)(CblasRowMajor, CblasUpper, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                              (int)n, u, (int)ldu, x, 1));
        return;
    }
    for (size_t step = 0; step < n; ++step) {
        size_t i = transposed ? step : n - 1 - step;
        real sum = x[i];
        if (transposed)
            for (size_t j = 0; j < i; ++j) sum -= u[j * ldu + i] * x[j];
        else
            for (size_t j = i + 1; j < n; ++j) sum -= u[i * ldu + j] * x[j];
        x[i] = sum / u[i * ldu + i];
    }
}

sa_status REAL(tridiagonal_eigenvalues)(size_t n, real *diagonal, real *beside) {
    if (n == 0) return SA_OK;
    if (!fits_blas(n)) return sa_fail(SA_UNSUPPORTED, "%zu eigenvalues are too many for LAPACK", n);
    lapack_int info;
    SA_IN_BLAS(info = STERF((lapack_int)n, diagonal, beside));
    return info == 0 ? SA_OK : sa_fail(SA_INVALID, "eigenvalues of %zu rows were not found", n);
}

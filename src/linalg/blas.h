/* The BLAS calls we need, under one name for both precisions. Row-major throughout; a leading dimension is
 * given where a matrix may be part of a larger one. Only src/linalg sees BLAS and LAPACK. */
#ifndef SA_LINALG_BLAS_H
#define SA_LINALG_BLAS_H

#include <stddef.h>

#include "base/status.h"
#include "linalg/real.h"

/* C (rows, columns) = alpha A B' + beta C; A (rows, inner), B (columns, inner). */
void REAL(gemm_nt)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* C (rows, columns) = alpha A B + beta C; A (rows, inner), B (inner, columns). */
void REAL(gemm_nn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* C (rows, columns) = alpha A' B + beta C; A (inner, rows), B (inner, columns). */
void REAL(gemm_tn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* Lower triangle of C (n, n) += alpha A' A; A (inner, n). */
void REAL(syrk_tn)(size_t n, size_t inner, real alpha, const real *a, size_t lda, real *c, size_t ldc);
/* Lower Cholesky factor of the symmetric matrix whose lower triangle is in A (n, n), in place. SA_INVALID
 * when A is not positive definite. */
sa_status REAL(cholesky)(size_t n, real *a, size_t lda);
/* A^-1, the whole matrix, from the lower Cholesky factor of A (n, n), in place. */
sa_status REAL(cholesky_inverse)(size_t n, real *a, size_t lda);
/* P' A P = U' U of the symmetric positive semidefinite matrix whose upper triangle is in A (n, n), in place:
 * row i of P' A P is row pivot[i] of A. The first `*rank` rows of U are the factor; the diagonal of what is
 * left is at most `tolerance`. */
sa_status REAL(pivoted_cholesky)(size_t n, real *a, size_t lda, double tolerance, size_t *pivot,
                                 size_t *rank);
/* x = U^-1 x, or U'^-1 x when transposed; U (n, n) upper triangular. */
void REAL(upper_solve)(size_t n, const real *u, size_t ldu, int transposed, real *x);
/* Eigenvalues of the symmetric tridiagonal matrix, rising, into `diagonal` (n); `beside` (n - 1) is
 * destroyed. */
sa_status REAL(tridiagonal_eigenvalues)(size_t n, real *diagonal, real *beside);

#endif

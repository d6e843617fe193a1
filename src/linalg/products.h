/* Matrix products, row-major throughout; a leading dimension is given where a matrix may be part of a larger
 * one. An element's bits depend on its row of A and its column of B alone: not on its place, not on how many
 * rows and columns there are, and not on the CPU (product_kernel.h says what an element is). */
#ifndef SA_LINALG_PRODUCTS_H
#define SA_LINALG_PRODUCTS_H

#include <stddef.h>

#include "linalg/real.h"

/* C (rows, columns) = alpha A B' + beta C; A (rows, inner), B (columns, inner). */
void REAL(gemm_nt)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* C (rows, columns) = alpha A B + beta C; A (rows, inner), B (inner, columns). */
void REAL(gemm_nn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* C (rows, columns) = max(A B, 0), element by element. */
void REAL(gemm_nn_relu)(size_t rows, size_t columns, size_t inner, const real *a, size_t lda, const real *b,
                        size_t ldb, real *c, size_t ldc);
/* C (rows, columns) = alpha A' B + beta C; A (inner, rows), B (inner, columns). */
void REAL(gemm_tn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc);
/* Lower triangle of C (n, n) += alpha A' A; A (inner, n). */
void REAL(syrk_tn)(size_t n, size_t inner, real alpha, const real *a, size_t lda, real *c, size_t ldc);
/* c_i = alpha <a_i, b> + beta c_i, for the rows a_i of A (rows, inner); c_i is c[i ldc]. A dot product is
 * formed in 16 sums, whatever the CPU, and has not the bits of a product's element. */
void REAL(dots)(size_t rows, size_t inner, real alpha, const real *a, size_t lda, const real *b, real beta,
                real *c, size_t ldc);

#endif

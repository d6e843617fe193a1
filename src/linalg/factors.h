/* Cholesky factors and what is solved with them, of dense row-major matrices. A leading dimension is given
 * where a matrix may be part of a larger one. */
#ifndef SA_LINALG_FACTORS_H
#define SA_LINALG_FACTORS_H

#include <stddef.h>

#include "base/status.h"
#include "linalg/real.h"

/* Lower Cholesky factor of the symmetric matrix whose lower triangle is in A (n, n), in place; what is above
 * the diagonal stays. SA_INVALID when A is not positive definite. */
sa_status REAL(cholesky)(size_t n, real *a, size_t lda);
/* A^-1, the whole matrix, from the lower Cholesky factor of A (n, n), in place; `work` (n, n). */
sa_status REAL(cholesky_inverse)(size_t n, real *a, size_t lda, real *work);
/* P' A P = U' U of the symmetric positive semidefinite matrix whose upper triangle is in A (n, n), in place:
 * row i of P' A P is row pivot[i] of A. The first `*rank` rows of U are the factor; the diagonal of what is
 * left is at most `tolerance`. */
sa_status REAL(pivoted_cholesky)(size_t n, real *a, size_t lda, double tolerance, size_t *pivot,
                                 size_t *rank);
/* x = U^-1 x, or U'^-1 x when transposed; U (n, n) upper triangular. */
void REAL(upper_solve)(size_t n, const real *u, size_t ldu, int transposed, real *x);

#endif

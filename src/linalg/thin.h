/* The product of a tall matrix and a thin one. BLAS packs both in an order of its own first, which for a thin
 * one takes as long as the product; here the thin one alone is packed. */
#ifndef SA_LINALG_THIN_H
#define SA_LINALG_THIN_H

#include <stddef.h>

#include "linalg/real.h"

enum {
    SA_THIN_ROWS = 8,     /* rows of A come in multiples of this */
    SA_THIN_COLUMNS = 16, /* columns at most */
    SA_THIN_INNER = 256,  /* terms of a sum at most: BLAS forms longer ones in parts */
};

/* C (rows, columns) = A B', for A (rows, inner) and B (columns, inner). Each sum is formed term by term with
 * fused operations, as the BLAS in use does: the bits are the same. */
void REAL(thin_nt)(size_t rows, size_t columns, size_t inner, const real *a, size_t lda, const real *b,
                   size_t ldb, real *c, size_t ldc);

#endif

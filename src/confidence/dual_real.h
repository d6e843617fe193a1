/* The dual factor's parts, for its files. */
#ifndef SA_CONFIDENCE_DUAL_REAL_H
#define SA_CONFIDENCE_DUAL_REAL_H

#include "confidence/factor.h"
#include "linalg/real.h"
#include "linalg/triangle.h"

typedef struct REAL(dual) {
    sa_factor base;
    sa_gradients counted;  /* the columns of G, perhaps as sums */
    REAL(triangle) factor; /* C */
} REAL(dual);

/* See sa_dual_from. */
sa_status REAL(dual_from)(double lambda, const sa_gradients *from, const size_t *rows, size_t many,
                          const double *lower, sa_factor **out);
/* Appends all of the batch, times `scale`, block by block: a Cholesky factorisation of many gradients at
 * once. Room was reserved. */
sa_status REAL(dual_append_blocks)(REAL(dual) * dual, const sa_gradients *batch, double scale,
                                   sa_width_work *work);

#endif

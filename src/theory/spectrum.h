/* What the theorems ask of the kernel matrix H beyond its determinant: lambda_0, its smallest eigenvalue, and
 * the norm S = sqrt(2 h' H^-1 h) of the expected scores h.
 *
 * A context that repeats another (or is parallel to it) makes H singular. By a Cholesky factorisation with
 * pivoting, P' H P = U' U, as many contexts are taken as are independent; lambda_0 is that of their part of
 * H, and S is the norm of the least function of the kernel's space that has their scores: for scores that
 * agree with each other, h' H^+ h with the pseudo-inverse. */
#ifndef SA_THEORY_SPECTRUM_H
#define SA_THEORY_SPECTRUM_H

#include <stddef.h>

#include "base/status.h"

typedef struct sa_spectrum {
    size_t rank;     /* independent contexts; less than their number when H is singular */
    double smallest; /* lambda_0 */
    double norm; /* S; NaN without scores; infinite when contexts that depend on others have other scores */
} sa_spectrum;

/* From the upper triangle of kernel (count, count), which is overwritten. scores (count) or NULL. */
sa_status sa_spectrum_find(double *kernel, size_t count, const double *scores, sa_spectrum *spectrum);
/* What rounding may add to an eigenvalue of a kernel matrix (count, count) whose largest element is this. */
double sa_spectrum_rounding(size_t count, double largest);

#endif

/* The neural tangent kernel matrix H of Definition 1 on a set of contexts. With rho the cosine of the angle a
 * between x and x', and scale = |x| |x'|, the ReLU expectations are the arc-cosine kernels (Cho and Saul
 * 2009)
 *
 *   2 E[s(y) s(z)]   = scale k1(rho),   k1(rho) = (sin a + (pi - a) cos a) / pi
 *   2 E[s'(y) s'(z)] = k0(rho),         k0(rho) = (pi - a) / pi
 *
 * and Sigma_ii stays |x|^2 in every layer, so that divided by scale
 *
 *   Sigma(1) = H~(1) = rho,   Sigma(l+1) = k1(Sigma(l)),   H~(l+1) = H~(l) k0(Sigma(l)) + Sigma(l+1),
 *   H = scale (H~(L) + Sigma(L)) / 2.
 *
 * The kernel of [x, x] / sqrt(2) is that of x, so contexts need not be doubled as Assumption 3 has it. A
 * context of length 0 has a row of zeros. */
#ifndef SA_THEORY_NTK_H
#define SA_THEORY_NTK_H

#include <stddef.h>

#include "base/status.h"

/* The whole symmetric matrix into kernel (count, count). contexts (count, dim). */
sa_status sa_ntk_fill(const double *contexts, size_t count, size_t dim, size_t depth, double *kernel);

#endif

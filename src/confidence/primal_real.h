/* What the two precisions of the primal factor share. */
#ifndef SA_CONFIDENCE_PRIMAL_REAL_H
#define SA_CONFIDENCE_PRIMAL_REAL_H

#include "confidence/factor.h"

/* See sa_primal_fade. */
sa_status primal_discount_f32(sa_factor *factor, double by);
sa_status primal_discount_f64(sa_factor *factor, double by);
/* See sa_primal_regularize. */
sa_status primal_regularize_f32(sa_factor *factor, double lambda);
sa_status primal_regularize_f64(sa_factor *factor, double lambda);
/* A double-precision factor with the panels (linalg/triangle.h) of a single one. */
sa_status primal_from_single(double lambda, size_t parameters, const float *const *panel, sa_factor **out);

#endif

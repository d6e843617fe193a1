/* The dual factor in either precision: dual_real.c. */
#include "confidence/factor.h"

#define SA_REAL_BITS 32
#include "confidence/dual_real.h"

sa_status dual_from_f64(double lambda, const sa_gradients *from, const size_t *rows, size_t many,
                        const double *lower, sa_factor **out);

sa_status sa_dual_from(sa_precision precision, double lambda, const sa_gradients *from, const size_t *rows,
                       size_t count, const double *lower, sa_factor **out) {
    return precision == SA_PRECISION_SINGLE ? dual_from_f32(lambda, from, rows, count, lower, out)
                                            : dual_from_f64(lambda, from, rows, count, lower, out);
}

/* They stand in the same place in both precisions. */
const sa_gradients *sa_dual_gradients(const sa_factor *dual) { return &((const dual_f32 *)dual)->counted; }

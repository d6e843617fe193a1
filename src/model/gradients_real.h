/* What is computed from factored gradients, per precision. All batches given must be of that precision. */
#ifndef SA_MODEL_GRADIENTS_REAL_H
#define SA_MODEL_GRADIENTS_REAL_H

#include "linalg/real.h"
#include "model/gradients.h"

/* out (left->count, ld), ld >= right->count: inner products <left_i, right_j>, and 0 in the columns past
 * right->count. A column has the same bits whatever the other columns are, and however many. `work` holds
 * 2 SA_INNER_ROWS SA_INNER_COLUMNS reals. */
void REAL(gradients_inner)(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld,
                           real *work);
/* out (gradients of left, ld): the same where one or both are summed. `work` holds 3 SA_INNER_ROWS
 * SA_INNER_COLUMNS reals. */
void REAL(gradients_inner_sums)(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld,
                                real *work);
/* <left_i, right_j> in double precision. */
double REAL(gradients_dot)(const sa_gradients *left, size_t i, const sa_gradients *right, size_t j);
/* squared (gradients) = <g, g>; what sa_gradients_norms calls. */
void REAL(gradients_norms)(const sa_gradients *batch, double *squared);
/* What sa_gradients_norms_above calls. */
void REAL(gradients_norms_above)(const sa_gradients *batch, double *squared);
/* Gradient `index` written out, (parameters): pair by pair, delta by delta. */
void REAL(gradients_write_out)(const sa_gradients *batch, size_t index, real *out);

#endif

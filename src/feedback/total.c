/* Total: only the sum of the slate's scores is known, and it is learnt as such. With f(x_k) the scores of the
 * slate's arms and y the total,
 *
 *     residual   sum_k f(x_k) - y,     gradient   G = sum_k g(x_k),   for training and for Z
 *
 * so that Z = lambda I + sum of G G' / m, one term a decision. All arms of a slate are answered at once: the
 * scores hold the total in the first place, and 0 in the others. */
#include "feedback/feedback.h"

static sa_observed observe(size_t slate, const double *scores, const bool *observed, size_t *positions) {
    if (observed && !observed[0]) return (sa_observed){.end = slate};
    return sa_feedback_observed(slate, scores, NULL, positions);
}

const sa_feedback sa_feedback_total = {
    .name = "total",
    .summary = "only the sum of the slate's scores is seen: feedback is one number a decision",
    .observe = observe};

/* Cascade: the user looks at one arm after the other, from the first position on, until one pleases; what
 * lies behind it was not looked at, and teaches nothing (the appendix on feedback models, second algorithm).
 * A score above 0 is a choice.
 *
 * The score at position k is psi_k v, with known discounts psi_k. What the agent makes of it is
 * --cascade-form:
 *
 *     discounted   psi_k f(x) predicts it: the residual is psi_k f - y, the gradient psi_k g, for training
 *                  and for Z
 *     literal      f(x) predicts it, as the paper is written
 *     unknown      f(x, k) predicts it, as with position feedback; nobody knows the discounts */
#include "feedback/feedback.h"

static sa_observed observe(size_t slate, const double *scores, const bool *observed, size_t *positions) {
    sa_observed seen = {.end = slate};
    for (size_t k = 0; k < slate; k++) {
        if (observed ? !observed[k] : k >= seen.end) continue;
        positions[seen.count++] = k;
        if (scores[k] > 0 && seen.end == slate) seen.end = k + 1;
    }
    return seen;
}

const sa_feedback sa_feedback_cascade = {
    .name = "cascade",
    .summary = "scores are seen from the first position to the one chosen (above 0); takes --discounts",
    .observe = observe};

/* Semi-bandit: the score of each arm in the slate, or of those that were seen. */
#include "feedback/feedback.h"

sa_observed sa_feedback_observed(size_t slate, const double *scores, const bool *observed,
                                 size_t *positions) {
    sa_observed seen = {.end = slate};
    (void)scores;
    for (size_t k = 0; k < slate; k++)
        if (!observed || observed[k]) positions[seen.count++] = k;
    return seen;
}

const sa_feedback sa_feedback_semi_bandit = {.name = "semi-bandit",
                                             .summary = "the score of every arm of the slate is seen",
                                             .observe = sa_feedback_observed};

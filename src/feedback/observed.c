#include "feedback/feedback.h"

sa_observed sa_feedback_observed(size_t slate, const double *scores, const bool *observed,
                                 size_t *positions) {
    sa_observed seen = {.end = slate};
    (void)scores;
    for (size_t k = 0; k < slate; k++)
        if (!observed || observed[k]) positions[seen.count++] = k;
    return seen;
}

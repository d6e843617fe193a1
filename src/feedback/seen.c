#include "feedback/feedback.h"

sa_seen sa_feedback_look(size_t slate, const double *scores, const bool *observed, size_t *positions) {
    sa_seen seen = {.end = slate};
    (void)scores;
    for (size_t k = 0; k < slate; k++)
        if (!observed || observed[k]) positions[seen.count++] = k;
    return seen;
}

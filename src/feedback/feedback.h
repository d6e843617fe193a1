/* A feedback model says what is learnt from what was seen of a slate. */
#ifndef SA_FEEDBACK_FEEDBACK_H
#define SA_FEEDBACK_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "feedback/options.h"

/* What feedback tells of a slate. */
typedef struct sa_observed {
    size_t count; /* positions that were seen */
    size_t end;   /* from here on nobody has looked, and nothing will come */
} sa_observed;

typedef struct sa_feedback {
    const char *name;
    const char *summary;
    /* Writes the positions in the slate whose scores were seen, in order. scores (slate), of which only those
     * seen need be numbers; observed (slate), NULL: what the model takes from the scores. */
    sa_observed (*observe)(size_t slate, const double *scores, const bool *observed, size_t *positions);
} sa_feedback;

/* NULL past the last. */
const sa_feedback *sa_feedback_of(sa_feedback_kind kind);

/* What the caller says was seen, NULL: all; more may come. */
sa_observed sa_feedback_observed(size_t slate, const double *scores, const bool *observed, size_t *positions);

extern const sa_feedback sa_feedback_semi_bandit, sa_feedback_position, sa_feedback_cascade,
    sa_feedback_total;

#endif

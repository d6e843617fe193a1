/* A feedback model says what is learnt from what was seen of a slate. */
#ifndef SA_FEEDBACK_FEEDBACK_H
#define SA_FEEDBACK_FEEDBACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"

typedef struct sa_feedback {
    const char *name;
    const char *summary;
    /* Writes the positions in the slate whose scores are learnt from, and returns how many; observed (slate), NULL: all. */
    size_t (*learn)(size_t slate, const bool *observed, size_t *positions);
} sa_feedback;

/* NULL past the last. */
const sa_feedback *sa_feedback_of(sa_feedback_kind kind);

extern const sa_feedback sa_feedback_semi_bandit, sa_feedback_document;

#endif

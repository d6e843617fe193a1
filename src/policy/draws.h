/* Slates drawn again: what the algorithm would have chosen with other random numbers. */
#ifndef SA_POLICY_DRAWS_H
#define SA_POLICY_DRAWS_H

#include "policy/selection.h"

enum { SA_DRAWS = 1000 };

typedef struct sa_draws {
    const sa_policy *policy;
    sa_selection selection; /* a copy with arrays of its own */
    sa_stream stream;       /* gives the round of each drawing's own stream */
    /* where scores come from a model that draws: its own, so that nobody else's is disturbed */
    sa_chooser *chooser;
    sa_workspace oracle;
    double *memory;
} sa_draws;

/* For a selection that is scored and solved, which is left as it is. */
sa_status sa_draws_begin(const sa_policy *policy, const sa_selection *selection, sa_draws *out);
/* slate (selection->oracle_slate or the most there can be). */
sa_status sa_draws_next(sa_draws *draws, size_t index, size_t *slate, size_t *length);
void sa_draws_clear(sa_draws *draws);

#endif

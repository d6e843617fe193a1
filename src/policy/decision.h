#ifndef SA_POLICY_DECISION_H
#define SA_POLICY_DECISION_H

#include <superarm/policy.h>

#define SA_NO_ID UINT64_MAX /* of a decision that was not recorded */

struct sa_decision {
    uint64_t id, event;
    size_t slate, candidates, positions; /* positions: as sa_decision_positions has them */
    double certificate, gap;
    bool explored;  /* by the floor */
    bool imprecise; /* its widths should have been computed in double precision */
    size_t slate_capacity, candidate_capacity;
    size_t *arms;                                 /* (slate) */
    double *estimate, *width, *score;             /* (slate) */
    double *prefix, *position;                    /* (slate) propensities, NaN where they are not known */
    double *all_estimate, *all_width, *all_score; /* (candidates), or (candidates, positions) */
};

/* Room for a decision with so many arms in the slate and scores in all; what it holds stays. */
sa_status sa_decision_reserve(sa_decision *decision, size_t slate, size_t scores);
/* Copies `from`, but for the slate's own estimate, width and score, which are found in those of all; there
 * must be room. */
void sa_decision_fill(sa_decision *decision, const sa_decision *from);

#endif

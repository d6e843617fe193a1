/* How likely a policy is to choose a slate: with a floor by page, or none, E (uniform) + (1 - E) (the
 * algorithm's own); place_propensity.c has the floor by place.
 *
 *   rules that do not draw                  the own slate has probability 1
 *   random, with top-k                      uniform
 *   ts with top-k                           quadrature (exploration/ts_propensity.h)
 *   all others                              the share of 1001 slates, the algorithm's own and 1000 that are
 *                                           drawn for it; not known where E = 0 */
#ifndef SA_POLICY_PROPENSITY_H
#define SA_POLICY_PROPENSITY_H

#include "policy/selection.h"

/* What is asked for; each may be NULL. N: arms of the request. */
typedef struct sa_propensities {
    double *prefix, *position; /* (slate) */
    double *all_positions;     /* (slate, N) */
    double *all_next;          /* (slate, N) of the first k - 1 arms, and then this one */
} sa_propensities;

/* Of the slate, arms (length), for a selection that is scored, with exact widths, and solved. */
sa_status sa_selection_propensities(const sa_policy *policy, const sa_selection *selection,
                                    const size_t *slate, size_t length, const sa_propensities *out);
/* Of the slate that was chosen, into the selection. */
sa_status sa_selection_find_propensities(const sa_policy *policy, sa_selection *selection);

#endif

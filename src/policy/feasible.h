/* The slates that a request allows, where they can be counted and drawn: exactly K arms of those that are not
 * excluded. */
#ifndef SA_POLICY_FEASIBLE_H
#define SA_POLICY_FEASIBLE_H

#include "exploration/floor.h"
#include "policy/selection.h"

typedef struct sa_eligible {
    size_t count;
    size_t *arms;             /* (count) which arms of the request */
    size_t *group, *capacity; /* of `feasible`, or NULL */
    size_t *place;            /* (arms of the request) where an arm is in the list; SIZE_MAX: excluded */
    sa_feasible feasible;     /* of the arms in the list */
} sa_eligible;

/* SA_INVALID, with what --floor needs, unless the oracle's slates can be counted; and unless this request's
 * can. */
sa_status sa_feasible_check(const sa_oracle *oracle);
sa_status sa_selection_check_floor(const sa_policy *policy, const sa_selection *selection);
/* Caller frees with sa_eligible_clear. */
sa_status sa_eligible_of(const sa_policy *policy, const sa_selection *selection, sa_eligible *out);
void sa_eligible_clear(sa_eligible *eligible);
/* Puts a uniformly random slate in the place of the oracle's, or such arms into it. */
sa_status sa_selection_draw(const sa_policy *policy, sa_selection *selection);

#endif

/* What the parts of propensity.c work on. */
#ifndef SA_POLICY_ASKED_H
#define SA_POLICY_ASKED_H

#include "policy/feasible.h"

/* Distributions over the eligible arms, (slate, count): of each arm next after the slate's first ones, and of
 * each at each position. */
typedef struct sa_table {
    double *next, *positions;
    bool has_next, has_positions; /* false: not known */
} sa_table;

typedef struct sa_asked {
    const sa_policy *policy;
    const sa_selection *selection;
    const sa_eligible *eligible;
    const size_t *arms;  /* (length) of the request */
    const size_t *slate; /* (length) their places in the list of eligible arms */
    size_t length;
    bool next, positions; /* of all arms are wanted */
} sa_asked;

/* Does the algorithm draw its scores? */
static inline bool sa_selection_draws(const sa_selection *selection) {
    return selection->exploration.kind->draw ||
           selection->exploration.kind->from == SA_SCORES_FROM_PARAMETERS;
}
static inline bool sa_selection_is_plain_top_k(const sa_policy *policy, const sa_selection *selection) {
    return policy->oracle == &sa_oracle_top_k && selection->positions == 0;
}

/* Thompson sampling under top-k, with a floor by place, or 0. */
sa_status sa_asked_thompson(const sa_asked *self, double floor, sa_table *out);
/* Uniformly random slates. */
sa_status sa_asked_uniform(const sa_asked *self, sa_table *out);
/* With the policy's floor by place: place_propensity.c. */
sa_status sa_asked_by_place(const sa_asked *self, sa_table *out);

#endif

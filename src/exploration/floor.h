/* The floor of exploration: with probability E the slate is a uniformly random one of the F feasible ordered
 * slates, else the algorithm's own. So any probability is E (uniform) + (1 - E) (own).
 *
 * A slate has exactly K of the arms, in any order; with groups, at most capacity_g of group g. Ordered slates
 * that begin with a_1 ... a_k are c(k) (K - k)!, where c(k) counts the sets of K - k further arms that the
 * capacities left over allow: the coefficient of x^(K - k) in prod_g sum_{j <= left_g} binomial(n_g, j) x^j.
 * Without groups F = A! / (A - K)!. */
#ifndef SA_EXPLORATION_FLOOR_H
#define SA_EXPLORATION_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "rng/stream.h"

typedef struct sa_feasible {
    size_t arms;            /* eligible ones alone */
    size_t slate;           /* K */
    size_t groups;          /* 0: there are none */
    const size_t *group;    /* (arms) */
    const size_t *capacity; /* (groups) */
} sa_feasible;

/* out (K, arms): of the first k - 1 arms of the slate, and then this one, under the uniform distribution.
 * SA_INVALID when there is no feasible slate, or when they are too many to count. */
sa_status sa_feasible_next(const sa_feasible *feasible, const size_t *slate, double *out);
/* out (arms): of each arm at a position, whichever. */
sa_status sa_feasible_position(const sa_feasible *feasible, double *out);
/* A uniformly random one, from draws first ... first + 2 K - 1. */
sa_status sa_feasible_draw(const sa_feasible *feasible, const sa_stream *stream, uint64_t first,
                           size_t *slate);

#endif

/* What was chosen in a round, and why, by one of our agents or by the caller's own algorithm. */
#ifndef SA_EXPERIMENT_CHOSEN_H
#define SA_EXPERIMENT_CHOSEN_H

#include <stddef.h>
#include <stdint.h>

typedef struct sa_chosen {
    uint64_t id;
    const size_t *arms; /* (slate) */
    size_t slate;
    size_t candidates, positions;       /* as those of a decision */
    const double *mean, *width, *score; /* of all candidates; NULL: nobody knows */
    double propensity;                  /* of the slate; NaN: nobody knows */
    const double *prefix, *position;    /* (slate) the same of its beginnings and places; NULL likewise */
} sa_chosen;

#endif

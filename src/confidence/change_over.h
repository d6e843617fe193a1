/* When to change over to another way of computing widths. The number of rounds to come is unknown, so the
 * rule is that of renting and buying: change when the rounds so far have cost, in excess of what they would
 * have cost after the change, what the change costs. Whatever comes, that is at most twice the cost of
 * knowing. Rounds are charged by the arms of their requests, whichever of them widths were computed for, so
 * that the change does not depend on what else is looked at. */
#ifndef SA_CONFIDENCE_CHANGE_OVER_H
#define SA_CONFIDENCE_CHANGE_OVER_H

#include <stdbool.h>

typedef struct sa_rent {
    /* operations that the rounds so far have cost more than they would have after the change */
    double excess;
} sa_rent;

/* A round has cost `more` operations more (less: below 0), and the change costs `price`: is it due? */
static inline bool sa_rent_is_up(sa_rent *rent, double more, double price) {
    rent->excess += more;
    if (rent->excess < 0) rent->excess = 0;
    return rent->excess > price;
}

#endif

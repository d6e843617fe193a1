/* Is one side better than the other? Rewards of two sides, the agent's and a control's say, and an interval
 * of the difference of their means that may be looked at every day.
 *
 * The usual interval holds for one look; who looks daily for a month finds a difference that is not there in
 * one of four months. This one holds for all looks together: with probability 0.95 it never leaves the
 * difference out. It is the normal mixture of Robbins (1970), for variances that are estimated: asymptotic,
 * and about 1.6 times as wide as the usual one at one look. */
#ifndef SUPERARM_SIDES_H
#define SUPERARM_SIDES_H

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins as {0}. */
typedef struct sa_side {
    double count, mean;
    double squares; /* sum of squared distances to the mean */
    double least, most;
} sa_side;

/* Takes in a reward, which must be finite. */
SA_API void sa_side_add(sa_side *side, double reward);

/* A reward that was taken in has become another. */
SA_API void sa_side_replace(sa_side *side, double before, double after);

typedef struct sa_difference {
    double value;          /* mean of the first less that of the second */
    double standard_error; /* at one look */
    double low, high;      /* at all looks; -infinity and infinity before there is anything to say */
} sa_difference;

SA_API sa_difference sa_side_difference(const sa_side *first, const sa_side *second);

#ifdef __cplusplus
}
#endif

#endif

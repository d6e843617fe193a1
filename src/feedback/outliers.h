/* Is a score one of those that come, or a mistake? A single 1e30 among clicks would be all that an agent
 * learns from.
 *
 * A score is wild when it is more than 100 times as far from the mean as any before it, and 20 or more came
 * before: then nothing is learnt from it. Where more than one in 200 of late are wild, the world has changed,
 * and they count. */
#ifndef SA_FEEDBACK_OUTLIERS_H
#define SA_FEEDBACK_OUTLIERS_H

#include <stdbool.h>

/* Saved as one array. */
typedef struct sa_outliers {
    double count, mean; /* of scores that count */
    double largest;     /* distance of one of them to the mean of those before it */
    double suspects;    /* wild scores of late: each weighs 1 - 1/1000 of the next */
    double wild;        /* in all */
} sa_outliers;

/* Does it count? Looks, and changes nothing. */
bool sa_outliers_would_take(const sa_outliers *outliers, double score);
/* The same, and takes the score in. */
bool sa_outliers_take(sa_outliers *outliers, double score);

#endif

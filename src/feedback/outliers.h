/* Is a score one of those that come, or a mistake? A single 1e30 among clicks would be all that an agent
 * learns from.
 *
 * A score is wild when it is more than 100 times as far from the mean as any before it, and 20 or more came
 * before: then nothing is learnt from it. Where more than one in 200 of late are wild, the world has changed,
 * and they count.
 *
 * The first scores of all may be the mistakes. So the newer half is looked at by itself, from 20, 40, 80 ...
 * scores on until there are twice as many: if one before it was more than 100 times as far off as any of the
 * newer half, mean and largest distance become those of the newer half, which is a change, after which the
 * history is to be cleaned and learnt from again (learn/relearn.h). */
#ifndef SA_FEEDBACK_OUTLIERS_H
#define SA_FEEDBACK_OUTLIERS_H

#include <stdbool.h>

/* Saved as one array. */
typedef struct sa_outliers {
    double count, mean; /* of scores that count */
    double largest;     /* distance of one of them to the mean of those before it */
    double suspects;    /* wild scores of late: each weighs 1 - 1/1000 of the next */
    double wild;        /* in all */
    double newer_count, newer_mean, newer_largest; /* the first three, of the newer half alone */
    double changes;
} sa_outliers;

/* Does it count? Looks, and changes nothing. */
bool sa_outliers_would_take(const sa_outliers *outliers, double score);
/* The same, and takes the score in. */
bool sa_outliers_take(sa_outliers *outliers, double score);
/* After a score was taken in: a change, where one is due. */
void sa_outliers_rejudge(sa_outliers *outliers);
/* Was it a mistake, of those that a change leaves behind? */
bool sa_outliers_is_mistake(const sa_outliers *outliers, double score);

#endif

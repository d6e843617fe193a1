/* The running mean and deviation of scores, with the discounts psi of their positions: of y = psi v,
 *
 *     mean     sum psi y / sum psi^2,   squares   sum (y - psi mean)^2 over psi > 0
 *
 * one observation at a time (recursive least squares of a constant), so that a training need not pass over
 * all of them. With --discount every sum is discounted as decisions are answered. */
#ifndef SA_LEARN_MOMENTS_H
#define SA_LEARN_MOMENTS_H

#include "past/history.h"

/* Saved as one array. */
typedef struct sa_moments {
    double taken, decisions; /* of the history, so far */
    double count, weight;    /* of observations with psi > 0: how many, and sum psi^2 */
    double mean, squares;
} sa_moments;

/* Takes in what the history has beyond what was taken; `factor` for each decision that begins. */
void sa_moments_follow(sa_moments *moments, const sa_history *history, double factor);
/* The history's score at `row` was `before`; by `factor` as above. */
void sa_moments_revise(sa_moments *moments, const sa_history *history, size_t row, double before,
                       double factor);
sa_status sa_moments_save(const sa_moments *moments, sa_npz_writer *writer);
sa_status sa_moments_load(sa_moments *moments, const sa_history *history, sa_npz *archive);

#endif

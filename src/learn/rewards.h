/* Feedback that would ruin what was learnt: refused outside --reward-range, and without one not learnt from
 * where it is wild (feedback/outliers.h). */
#ifndef SA_LEARN_REWARDS_H
#define SA_LEARN_REWARDS_H

#include "base/npy.h"
#include "feedback/outliers.h"
#include "options/options.h"

typedef struct sa_rewards {
    bool bounded;
    double low, high; /* of --reward-range */
    bool rejudges;    /* the first scores, with --normalize standard, which does so with contexts */
    sa_outliers outliers;
    double refused; /* scores outside the range */
} sa_rewards;

/* SA_INVALID for a range that is none. */
sa_status sa_rewards_init(sa_rewards *rewards, const sa_options *options);
#define SA_ALL_ARMS ((size_t)-1)
/* SA_INVALID, with a sentence, for a score outside the range, or not a number; the refused are counted. arm
 * SA_ALL_ARMS: it is the slate's total. */
sa_status sa_rewards_check(sa_rewards *rewards, size_t arm, uint64_t decision, double score);
/* Moves the places (count) with wild scores behind the others, each in its order, and returns how many are
 * not wild; `outliers` takes all of them in. */
size_t sa_rewards_sift(const sa_rewards *rewards, sa_outliers *outliers, const double *scores, size_t *places,
                       size_t count);
sa_status sa_rewards_save(const sa_rewards *rewards, sa_npz_writer *writer);
sa_status sa_rewards_load(sa_rewards *rewards, sa_npz *archive);

#endif

/* Learning all again, where what was learnt was of values that have turned out to be mistakes: first contexts
 * or scores that were far from all that came later (model/standardize.h, feedback/outliers.h). They had no
 * scale to be judged by, and stand in every sum: so the history is cleaned, and a learner that knows nothing
 * learns it. */
#ifndef SA_LEARN_RELEARN_H
#define SA_LEARN_RELEARN_H

#include "learn/learner.h"

/* Has the learner learnt through statistics of contexts that have changed since? */
bool sa_relearn_is_due(const sa_learner *learner);
/* `next`, which was made with the same options and has learnt nothing, learns the history of `now` as it is;
 * then it can stand in its place. */
sa_status sa_relearn(const sa_learner *now, sa_learner *next);

#endif

/* Feedback that is revised: a click, then a purchase. */
#ifndef SA_LEARN_REVISE_H
#define SA_LEARN_REVISE_H

#include "learn/learner.h"

/* SA_INVALID where what was learnt from a score cannot be taken back. */
sa_status sa_revise_check(const sa_learner *learner);
/* The observation's score is this one from now on: in the moments of scores, in models that learn with each
 * observation and in the companion at once, in the network with its next training. Z does not depend on
 * scores. */
sa_status sa_revise(sa_learner *learner, size_t row, double score);

#endif

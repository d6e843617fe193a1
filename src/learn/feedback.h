/* Feedback: into the history, and into all that takes it at once. */
#ifndef SA_LEARN_FEEDBACK_H
#define SA_LEARN_FEEDBACK_H

#include "learn/learner.h"

/* Feedback on a decision that waits. */
typedef struct sa_answer {
    sa_pending *pending;
    const double *scores; /* (slate) */
    const size_t *places; /* (count) of the slate, that were seen */
    size_t count, end;    /* from place `end` on nothing will come */
    size_t wild; /* places after those `count`, whose scores are mistakes: answered, and not learnt from */
    bool solved; /* work.widths has solved for the widths of this decision */
} sa_answer;

/* SA_ALREADY_ANSWERED, SA_INVALID: what is wrong with the places that were seen. */
sa_status sa_answer_check(const sa_answer *answer, bool cascade);
/* Writes it into the history, which has room (sa_history_reserve); the decision waits for the rest, if
 * anything is left. */
void sa_answer_record(sa_learner *learner, const sa_answer *answer);
/* Learns from it: time moves on, all that takes feedback at once takes it, and where one is due a training
 * follows. It is recorded on the way. */
sa_status sa_answer_learn(sa_learner *learner, const sa_answer *answer);

#endif

/* Learning from the history: what feedback (learn.c) and a new epoch (epochs.c) share. */
#ifndef SA_AGENT_LEARN_H
#define SA_AGENT_LEARN_H

#include "agent/agent.h"

/* Memory for what is done with so many observations at a time. */
sa_status sa_learn_reserve(sa_agent *agent, size_t observations);
/* One training on the history, in `steps` steps (0: as --train-steps says); memory was reserved. One that diverges leaves the
 * model, centre and scale as they were. */
sa_status sa_learn_train(sa_agent *agent, size_t steps);
/* Does the schedule train after the decision that was the (before + 1)-th to be answered? */
bool sa_learn_is_due(const sa_agent *agent, size_t before);
/* Contexts that were chosen. */
typedef struct sa_samples {
    const void *raw;         /* (count, dim) */
    const int64_t *position; /* (count) in their slates; NULL: they are a slate, from its first position on */
    const double *discount;  /* (count); NULL: all 1 */
} sa_samples;
/* Appends their gradients at the present model to `to`, which has room, times the discounts; memory was reserved. */
sa_status sa_learn_gradients(sa_agent *agent, const sa_samples *samples, size_t count, sa_gradients *to);
/* A clock. */
double sa_learn_seconds(void);

#endif

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
/* Appends the gradients of raw contexts (count, dim) at the present model to `to`, which has room; memory was reserved. */
sa_status sa_learn_gradients(sa_agent *agent, const void *raw, size_t count, sa_gradients *to);
/* A clock. */
double sa_learn_seconds(void);

#endif

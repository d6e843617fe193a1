/* Learning from the history: what feedback (learn.c), training (training.c), forgetting (forgetting.c), a new epoch (epochs.c)
 * and a rebuilt Z (rebuild.c) share. */
#ifndef SA_AGENT_LEARN_H
#define SA_AGENT_LEARN_H

#include "agent/agent.h"

/* Memory for what is done with so many observations at a time. */
sa_status sa_learn_reserve(sa_agent *agent, size_t observations);
/* Memory for a training on so many, in `steps` steps (0: as --train-steps says). */
sa_status sa_learn_reserve_training(sa_agent *agent, size_t observations, size_t steps);
/* Puts observations from `first` on into training_inputs, as the model sees them; memory was reserved. */
void sa_learn_show(sa_agent *agent, size_t first, size_t count);
/* One training on the history, in `steps` steps (0: as --train-steps says); memory was reserved. One that diverges leaves the
 * model, centre and scale as they were. */
sa_status sa_learn_train(sa_agent *agent, size_t steps);
/* The companion hears what was answered since the last training, of which nothing was predicted; memory for 1 was reserved. */
void sa_learn_tell_rest(sa_agent *agent);
/* The companion forgets what it has heard, and hears it again from `first` on; memory for 1 was reserved. */
void sa_learn_tell_again(sa_agent *agent, size_t first);
/* Does the schedule train after the decision that was the (before + 1)-th to be answered? */
bool sa_learn_is_due(const sa_agent *agent, size_t before);
/* Contexts that were chosen. */
typedef struct sa_samples {
    const void *raw;         /* (count, dim) */
    const int64_t *position; /* (count) in their slates; NULL: they are a slate, from its first position on */
    const double *discount;  /* (count); NULL: all 1 */
} sa_samples;
/* Those of the history from `first` on. */
sa_samples sa_learn_samples(const sa_history *history, size_t first);
enum { SA_LEARN_CHUNK = 256 }; /* samples looked at at a time */
/* agent->observed = the gradients of samples [first, first + count), at most SA_LEARN_CHUNK, at the present model, times the
 * discounts; memory was reserved, but for agent->observed. */
sa_status sa_learn_look(sa_agent *agent, const sa_samples *samples, size_t first, size_t count);
/* Appends the gradients of samples [0, count) to `to`, which has room. */
sa_status sa_learn_gradients(sa_agent *agent, const sa_samples *samples, size_t count, sa_gradients *to);
/* Shows the model all observations from the `first` on, if it takes them in at once; memory was reserved. */
void sa_learn_observe(sa_agent *agent, size_t first);

#endif

#ifndef SA_LEARN_TRAINING_H
#define SA_LEARN_TRAINING_H

#include "learn/learner.h"

/* Does the schedule train after the decision that was the (before + 1)-th to be answered? */
bool sa_training_is_due(const sa_learner *learner, size_t before);
/* One training on the history, in `steps` steps (0: as --train-steps says). One that diverges leaves the
 * model, centre and scale as they were. */
sa_status sa_learner_train(sa_learner *learner, size_t steps);

#endif

/* Things of the caller's own, as they are asked for, and as a plan takes them. */
#ifndef SA_EXPERIMENT_OWN_H
#define SA_EXPERIMENT_OWN_H

#include "experiment/plan_type.h"

/* The environment that the options name, which may be the experiment's own. */
sa_status sa_own_or_ours(sa_experiment *experiment, const sa_options *options, sa_environment **out);
/* The caller's oracle, for the plan to use. */
void sa_plan_take_oracle(sa_plan *plan, const sa_oracle_callbacks *oracle);

#endif

/* Options that no agent looks at: whoever gave one thinks that it matters. */
#ifndef SA_EXPERIMENT_PLAN_EFFECTS_H
#define SA_EXPERIMENT_PLAN_EFFECTS_H

#include "experiment/plan_type.h"

/* SA_INVALID for an option of agents that none of them reads. */
sa_status sa_plan_check_effects(const sa_spec *spec, const sa_plan *plan);

#endif

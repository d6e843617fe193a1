/* What oracles need beside the scores, the same for all rounds. */
#ifndef SA_EXPERIMENT_PLAN_PROBLEM_H
#define SA_EXPERIMENT_PLAN_PROBLEM_H

#include "experiment/plan_type.h"

/* The data that oracles need beside the scores, from --problem; caller destroys it. The paths in the options
 * become full ones. */
sa_status sa_plan_read_structure(sa_options *options, sa_problem **out);
/* SA_INVALID unless the agent's oracle finds a slate for the problem's data. */
sa_status sa_plan_check_structure(const sa_plan *plan, const sa_oracle *oracle);
/* SA_INVALID unless the discounts fit an agent that learns with them. */
sa_status sa_plan_check_discounts(const sa_plan *plan, const sa_agent_runs *agent);
/* SA_INVALID for data that no agent, feedback or user looks at: whoever gave it thinks that it matters. */
sa_status sa_plan_check_unused(const sa_plan *plan);
/* SA_INVALID where the best slate under the click model cannot be found. */
sa_status sa_plan_check_clicks(const sa_plan *plan);

#endif

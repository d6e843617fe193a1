/* --history in an experiment: a file for each agent and run. One that a run left is written over; all else
 * that is in the way is found before anything runs. */
#ifndef SA_EXPERIMENT_PLAN_HISTORIES_H
#define SA_EXPERIMENT_PLAN_HISTORIES_H

#include "experiment/plan_type.h"

/* The file of a run; caller frees. */
sa_status sa_plan_history(const sa_agent_runs *agent, uint64_t run, char **path);
/* Fails unless every run of every agent can have its own. */
sa_status sa_plan_check_histories(const sa_plan *plan);

#endif

/* All runs of all agents, spread over threads. A job is one run of one agent, from random numbers of its own
 * address, so that the results do not depend on the number of threads or on who was first. */
#ifndef SA_EXPERIMENT_RUNNER_H
#define SA_EXPERIMENT_RUNNER_H

#include "experiment/work_type.h"

/* Does all jobs of the shard that the table has not got. */
sa_status sa_runner_run(sa_work *work, sa_progress_call *call, void *user);

#endif

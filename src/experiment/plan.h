/* From what is asked for to a plan. Everything that can be wrong with the input is found here, before
 * anything is created on the disk. */
#ifndef SA_EXPERIMENT_PLAN_H
#define SA_EXPERIMENT_PLAN_H

#include "experiment/plan_type.h"

/* The plan of a group of the grid. */
sa_status sa_plan_make(sa_experiment *experiment, size_t group, sa_plan **out);
void sa_plan_destroy(sa_plan *plan); /* NULL is fine */
/* Everything that can be wrong with an agent of the plan. `named`: sentences begin with its label. */
sa_status sa_plan_check_agent(const sa_plan *plan, sa_agent_runs *agent, bool named);
/* SA_FILE unless a new file can be made at `path` later: its folder is there and open to writing, or is
 * --out, still to be made. */
sa_status sa_plan_check_place(const char *path, const char *out);
/* How many threads --threads means. */
size_t sa_plan_threads(const sa_options *options);
/* Can the machine hold a x b x c x d bytes? */
bool sa_plan_fits(size_t a, size_t b, size_t c, size_t d);

#endif

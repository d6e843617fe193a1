/* From what is asked for to the table's agents, without runs so far: one with all its options for each
 * algorithm and agent, in each cell of the grid. */
#ifndef SA_RESULTS_AGENTS_H
#define SA_RESULTS_AGENTS_H

#include "results/table.h"

enum { SA_EVERY_GROUP = -1 };
/* The agents of the spec's lists, in each cell of a group of its grid, with `base` below their own options;
 * of every group also with the options of its environment. Frees nothing of what *agents held. */
sa_status sa_spec_resolve(const sa_spec *spec, const sa_options *base, int group, sa_agent_runs **agents,
                          size_t *count);

#endif

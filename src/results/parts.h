/* DIR/parts/LABEL-RUN.npz: a finished run, until all are; beside it its trace (.jsonl) and its log (.log). */
#ifndef SA_RESULTS_PARTS_H
#define SA_RESULTS_PARTS_H

#include "results/table.h"

/* "PARTS/LABEL-RUN.ENDING"; caller frees. */
sa_status sa_part_path(const char *parts, const char *label, uint64_t run, const char *ending, char **path);
/* `session` is the process that made the run, and not that of the row's column. */
sa_status sa_part_write(const char *parts, const sa_agent_runs *agent, const sa_row *row,
                        const json_t *session);
/* Takes a run into the table, which has not got it. One that is damaged is left where it is, to be done
 * again; before the first the agent gets room for all. */
sa_status sa_part_take(const char *parts, sa_results *results, sa_agent_runs *agent, uint64_t run);

#endif

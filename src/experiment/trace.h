/* The trace: one JSON object a line and round. Every job writes a file of its own; they are joined at the
 * end, so that the order does not depend on which run was first. */
#ifndef SA_EXPERIMENT_TRACE_H
#define SA_EXPERIMENT_TRACE_H

#include "base/text_file.h"
#include "experiment/chosen.h"
#include "results/table.h"
#include <superarm/agent.h>

typedef struct sa_trace {
    sa_text_file out;
    char *label; /* in quotes; NULL: there is no trace */
    int digits;
} sa_trace;

/* sa_trace_clear also after a failure. */
sa_status sa_trace_begin(sa_trace *trace, const char *path, const char *label, int digits);
/* One line; feedback (chosen->slate). `mixture` is shown where there is one, `epoch`, which has the epoch
 * and the hidden units of the network that chose, unless it is NULL. */
sa_status sa_trace_round(sa_trace *trace, uint64_t run, uint64_t round, const sa_chosen *chosen,
                         const double *feedback, double expected_regret, double realised_regret,
                         const sa_mixture *mixture, const sa_agent_counts *epoch);
/* Frees what there is; the file is there once `out` is committed. */
void sa_trace_clear(sa_trace *trace);
/* Joins the parts with this ending of all runs that were asked for, in the order of agent, run, round. */
sa_status sa_trace_join(const sa_results *results, const char *parts, const char *ending, const char *path);

#endif

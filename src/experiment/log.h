/* The decision log of a run (--log), in a part of its own: what an agent saw, chose and was told, as
 * `superarm learn` reads it. */
#ifndef SA_EXPERIMENT_LOG_H
#define SA_EXPERIMENT_LOG_H

#include "base/text_file.h"
#include "env/environment.h"
#include "experiment/chosen.h"

typedef struct sa_run_log {
    sa_text_file out;
    const char *label; /* the agent's; NULL: there is no log */
    uint64_t run;
    size_t dim;
} sa_run_log;

/* One line; round from 0, feedback (chosen->slate); `totals`: only their sum is told. */
sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback, bool totals);

#endif

/* The decision log of a run (--log), in a part of its own: what an agent saw, chose and was told, as
 * `superarm learn` reads it. */
#ifndef SA_EXPERIMENT_LOG_H
#define SA_EXPERIMENT_LOG_H

#include "env/environment.h"
#include "experiment/chosen.h"

/* Without a path it is NULL, which is fine everywhere. */
typedef struct sa_run_log sa_run_log;
/* The label is borrowed. */
sa_status sa_run_log_begin(const char *path, const char *label, uint64_t run, size_t dim, sa_run_log **out);
/* One line; round from 0, feedback (chosen->slate); `totals`: only their sum is told. */
sa_status sa_run_log_round(sa_run_log *log, uint64_t round, const sa_round *drawn, const sa_chosen *chosen,
                           const double *feedback, bool totals);
/* Puts the file in its place; frees the log either way. */
sa_status sa_run_log_finish(sa_run_log *log);
void sa_run_log_abandon(sa_run_log *log);

#endif

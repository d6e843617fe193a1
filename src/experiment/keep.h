/* The folder of an experiment while it is worked in: locked, found again, kept run by run, finished
 * (results/folder.h has what is in it). */
#ifndef SA_EXPERIMENT_KEEP_H
#define SA_EXPERIMENT_KEEP_H

#include "experiment/work_type.h"

/* SA_INVALID unless --out can be used: new or empty, or with --resume or --shard. */
sa_status sa_keep_check(const sa_options *options);
/* Makes the folders, writes spec.yaml, or takes the runs that --resume goes on with into the table. */
sa_status sa_keep_begin(sa_work *work);
/* Keeps a finished run. */
sa_status sa_keep_run(const sa_work *work, const sa_agent_runs *agent, const sa_row *row);
/* Computes means, writes the files of --out, --trace and --log, removes the parts. A shard leaves that to
 * whoever merges. */
sa_status sa_keep_finish(sa_work *work);
/* Unlocks; removes what would be of no use after a failure: the parts of a trace without --out. */
void sa_keep_end(sa_work *work, bool failed);

#endif

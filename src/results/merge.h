/* Folders of one experiment that was split by runs, by agents or both, joined into one. */
#ifndef SA_RESULTS_MERGE_H
#define SA_RESULTS_MERGE_H

#include "results/table.h"

/* Joins tables (count), of which the first gives up its spec. SA_INVALID, naming the option that differs, the
 * input that changed or the run that is in both and not the same, where they cannot be. sa_results_clear also
 * after a failure. */
sa_status sa_results_merge(sa_results *parts, const char *const *folders, size_t count, sa_results *out);

#endif

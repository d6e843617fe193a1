/* DIR/spec.yaml: every option spelt out, so that `superarm run DIR/spec.yaml` repeats the experiment even
 * when presets have changed since. Agents list what differs from the options for all. A sweep is written as
 * it was asked for: what its cells have otherwise depends on their values. */
#ifndef SA_RESULTS_SPEC_FILE_H
#define SA_RESULTS_SPEC_FILE_H

#include "results/table.h"

sa_status sa_spec_write(const sa_results *results, const char *path);

#endif

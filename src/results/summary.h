/* DIR/summary.json: what came of the experiment, for people and scripts. */
#ifndef SA_RESULTS_SUMMARY_H
#define SA_RESULTS_SUMMARY_H

#include "results/table.h"

/* "format" in it: larger ones are refused. */
enum { SA_SUMMARY_FORMAT = 1 };

sa_status sa_summary_write(const sa_results *results, const char *path);

#endif

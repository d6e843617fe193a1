/* DIR/parts/LABEL-RUN.npz: a finished run. */
#ifndef SA_RESULTS_PARTS_H
#define SA_RESULTS_PARTS_H

#include "experiment/experiment.h"

/* curve (SA_CURVE_COUNT), each (rounds) or NULL; `session` is JSON. */
sa_status sa_part_write(const char *path, double *const *curve, size_t rounds, const sa_run_stats *stats,
                        const char *session);
/* Fills what curve has room for. */
sa_status sa_part_read(const char *path, double *const *curve, size_t rounds, sa_run_stats *stats,
                       char **session);
/* How many rounds the run had. */
sa_status sa_part_rounds(const char *path, size_t *rounds);
/* "FOLDER/parts/LABEL-RUN.ENDING"; caller frees. */
sa_status sa_part_path(const char *parts, const char *label, uint64_t run, const char *ending, char **path);

#endif

/* The table as a folder keeps it.
 *
 *   DIR/spec.yaml                      first of all: what is done here
 *   DIR/parts/LABEL-RUN.npz, .jsonl    a finished run, and its trace; the trace is written first
 *   DIR/LABEL/expected_regret.npy ...  (runs, rounds), and runs.npz: the columns
 *   DIR/summary.json                   last of all: where it is, the files of the labels are whole
 *
 * While summary.json is not there, the parts have every run; it is written last and, when more runs are to
 * come, removed first. So a process can be killed at any time and loses only the runs in flight. Every file
 * appears whole or not at all. */
#ifndef SA_RESULTS_FOLDER_H
#define SA_RESULTS_FOLDER_H

#include "results/table.h"

/* Reads all that is there. sa_results_clear also after a failure. */
sa_status sa_folder_read(const char *folder, sa_results *results);
/* Writes the files of the labels and summary.json, and removes the parts where no run is missing. */
sa_status sa_folder_write(const char *folder, const sa_results *results);
/* Writes all runs as parts, and removes summary.json: more are to come. */
sa_status sa_folder_reopen(const char *folder, const sa_results *results);
/* Is there a file of this name in it? */
bool sa_folder_has(const char *folder, const char *name);

#endif

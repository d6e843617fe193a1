/* Results as a folder keeps them: for each agent the runs that are done, which need not be all.
 *
 *   DIR/spec.yaml                      first of all: what is done here
 *   DIR/parts/LABEL-RUN.npz, .jsonl    a finished run, and its trace; the trace is written first
 *   DIR/LABEL/expected_regret.npy ...  (runs, rounds), and runs.npz: which runs, how long they took, which
 *       process did them
 *   DIR/summary.json                   last of all: where it is, the files of the labels are whole
 *
 * While summary.json is not there, the parts have every run; it is written last and, when more runs are to
 * come, removed first. So a process can be killed at any time and loses only the runs in flight. Every file
 * appears whole or not at all. */
#ifndef SA_RESULTS_FOLDER_H
#define SA_RESULTS_FOLDER_H

#include "experiment/experiment.h"

/* "format" in summary.json: larger ones are refused. */
enum { SA_SUMMARY_FORMAT = 1 };

typedef struct sa_stored_agent {
    char *label;
    sa_options *options; /* all of them, those of its environment included */
    size_t runs, rounds, cell;
    uint64_t *run;                 /* (runs) their numbers, increasing */
    double *curve[SA_CURVE_COUNT]; /* (runs, rounds), cumulative; clicks: NULL without */
    sa_run_stats *stats;           /* (runs) */
    size_t *session;               /* (runs) index into the sessions */
} sa_stored_agent;

typedef struct sa_stored {
    sa_experiment *spec;     /* as spec.yaml has it */
    sa_stored_agent *agents; /* (agent_count) */
    size_t agent_count;
    uint64_t first_run, wanted; /* runs that were asked for */
    json_t *sessions;           /* an array */
    bool has_parts;             /* runs that the files of the labels may not have */
} sa_stored;

sa_status sa_stored_read(const char *folder, sa_stored *out);
void sa_stored_clear(sa_stored *stored);
/* Runs that are asked for and not there, over all agents. */
size_t sa_stored_missing(const sa_stored *stored);
/* "cn-ucb: runs 3 and 5 to 9" for each agent, or the first few of them; caller frees. "" when nothing is
 * missing. */
sa_status sa_stored_missing_text(const sa_stored *stored, char **text);
/* Has the agent this run? At which row? */
bool sa_stored_row(const sa_stored_agent *agent, uint64_t run, size_t *row);

/* Makes room for so many runs of the agent, with the curves that its options call for. */
sa_status sa_stored_room(sa_stored_agent *agent, size_t runs, size_t rounds);
/* Writes the files of the labels and summary.json, and removes the parts where no run is missing. */
sa_status sa_stored_write(const sa_stored *stored, const char *folder);
/* Writes all runs as parts, and removes summary.json: more are to come. */
sa_status sa_stored_open(const sa_stored *stored, const char *folder);
/* The spec.yaml of a folder that was merged from others. */
sa_status sa_spec_write_stored(const sa_stored *stored, const char *path);
sa_status sa_summary_write(const sa_stored *stored, const char *path);

/* Joins the runs and agents of several folders of one experiment. SA_INVALID, naming the option that differs,
 * the input that changed or the run that is in both and not the same, where they cannot be. */
sa_status sa_stored_merge(sa_stored *parts, const char *const *folders, size_t count, sa_stored *out);

#endif

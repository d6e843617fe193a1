/* What sweep*.c share. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli.h"

extern const cli_command SWEEP;

/* What was asked for beside the options of the experiment. */
typedef struct sweep_request {
    int count;        /* of the other arguments */
    char **arguments; /* (count) */
    bool slurm;
    const char *judge;     /* NULL: not given */
    size_t tasks, at_once; /* 0: not given */
    int sbatch_count;
    char **sbatch; /* (sbatch_count) what stands behind -- */
} sweep_request;

/* Writes and submits the job array that does the sweep, and the job that merges (sweep_slurm.c). */
int sweep_submit(const sweep_request *request, sa_experiment *experiment);

#endif

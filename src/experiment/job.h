/* One run of one agent, while it is under way. */
#ifndef SA_EXPERIMENT_JOB_H
#define SA_EXPERIMENT_JOB_H

#include <stdatomic.h>

#include "experiment/benchmark.h"
#include "experiment/log.h"
#include "experiment/own_run.h"
#include "experiment/plan_type.h"
#include "experiment/trace.h"

/* A decision that waits for its feedback. */
typedef struct sa_waiting {
    uint64_t id;
    size_t slate; /* arms chosen, at most K */
} sa_waiting;

typedef struct sa_job {
    const sa_plan *plan;
    const sa_agent_runs *of;
    const sa_oracle *oracle;
    sa_run *run; /* its columns */
    sa_options *options;
    sa_agent *agent;
    sa_request *request;
    sa_decision *decision;
    sa_own_run own;   /* instead of these three: the caller's own algorithm */
    sa_chosen chosen; /* in this round */
    sa_trace trace;
    sa_run_log log;
    sa_round round;            /* as drawn */
    double *realised;          /* (arms) expected scores and noise */
    size_t slate;              /* K, or the round's arms where these are fewer and all of K are wanted */
    const sa_problem *problem; /* the oracle's data for this slate */
    sa_problem *shorter;       /* of a round with fewer arms than K */
    size_t own_most;           /* no slate that keeps the rules has more */
    size_t most;               /* arms of a slate: K, unless the oracle does not look at it */
    size_t delay;              /* at most all rounds */
    /* (delay + 1, most): row t mod (delay + 1) is what round t is answered with; NaN: not seen */
    double *feedback;
    bool *observed; /* (most) */
    size_t *last;   /* (last_slate) the arms of the round before */
    size_t last_slate;
    sa_waiting *asked; /* (delay + 1) the decisions they answer */
    sa_benchmark benchmark;
    bool knows;      /* the algorithm `best`, where it gets the best slate as it is */
    bool has_epochs; /* a trace shows them */
    bool totals;     /* the agent is told the sum of the slate's scores alone */
    bool mispaired;  /* as published: the slate's i-th arm is answered with the score of arm i */
} sa_job;

typedef struct sa_job_control {
    atomic_bool stop;            /* set by the caller: leave with SA_INTERRUPTED */
    atomic_uint_fast64_t rounds; /* counted up */
} sa_job_control;

/* Where a run is written down while it is done; NULL: nowhere. */
typedef struct sa_job_files {
    char *trace, *log;
} sa_job_files;

/* Makes the run of this number and fills the row, which has room for its curves. */
sa_status sa_job_run(const sa_plan *plan, const sa_agent_runs *agent, uint64_t number,
                     const sa_job_files *files, sa_job_control *control, sa_row *row);

/* ---- what comes of a slate (job_answer.c) ---- */

/* What the slate of this round is answered with: (most). */
double *sa_job_feedback(const sa_job *self, size_t round);
/* Before a slate is chosen: what `best` will choose. */
sa_status sa_job_find_best(sa_job *self);
/* What comes of the slate of this round: its feedback, and what it adds to the curves. */
sa_status sa_job_answer(sa_job *self, uint64_t run, size_t round, double gain[SA_CURVE_COUNT]);

#endif

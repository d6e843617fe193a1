/* All plans of an experiment, one for each environment of its grid, the table that their runs fill, and the
 * folder for it. */
#ifndef SA_EXPERIMENT_WORK_TYPE_H
#define SA_EXPERIMENT_WORK_TYPE_H

#include "base/lock.h"
#include "experiment/plan_type.h"
#include "results/display.h"

typedef struct sa_work {
    sa_experiment *experiment;
    sa_plan **plans; /* (plan_count) */
    size_t plan_count;
    sa_results results;        /* the agents of all plans, in their order */
    const sa_options *options; /* of the first plan: where to write, and how */
    size_t threads, shard, shards;
    char *parts; /* folder for the parts of finished runs; NULL: none */
    sa_lock lock, shard_lock;
    json_t *session; /* this process; NULL before it begins */
    sa_told *told;   /* (agents) once it is finished */
    bool finished;   /* all runs are done, and their means are there */
} sa_work;

/* The plan of the index-th agent of the table. */
static inline sa_plan *sa_work_plan(const sa_work *work, size_t index) {
    size_t i = 0;
    for (; index >= work->plans[i]->agent_count; i++) index -= work->plans[i]->agent_count;
    return work->plans[i];
}

/* The regret that tables and progress show. */
static inline sa_curve_kind sa_curve_shown(const sa_options *options) {
    return options->show_regret == SA_REGRET_REALISED ? SA_CURVE_REALISED : SA_CURVE_EXPECTED;
}

/* Is this run one of those that the shard does? `job` counts runs first and then agents. */
static inline bool sa_work_has(const sa_work *work, size_t job) { return job % work->shards == work->shard; }

#endif

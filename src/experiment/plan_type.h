/* What will be done in one environment: by which agents, with which data. */
#ifndef SA_EXPERIMENT_PLAN_TYPE_H
#define SA_EXPERIMENT_PLAN_TYPE_H

#include "env/clicks.h"
#include "env/environment.h"
#include "experiment/experiment.h"
#include "oracle/oracle.h"
#include "results/table.h"

typedef struct sa_plan {
    /* for all agents, with rounds, arms and dim as the environment has them, and full paths */
    sa_options *options;
    sa_environment *environment;
    sa_problem *problem;             /* data of the oracles, the same in every round */
    sa_oracle_callbacks own_oracle;  /* the caller's as it was given; with alpha 0 there is none */
    sa_oracle_callbacks oracle;      /* the same, but waits for its turn */
    sa_callback_lock *turns;         /* of all callbacks */
    const sa_experiment *experiment; /* who asks to be told of rounds */
    sa_clicks *clicks;               /* what users do; NULL: every score is seen */
    sa_agent_runs *agents;           /* (agent_count) the plan's, until the table of the work has them */
    size_t agent_count;
    bool in_table;
    size_t runs, rounds;
    uint64_t first_run;
} sa_plan;

static inline const sa_oracle *sa_oracle_of_agent(const sa_agent_runs *agent) {
    return sa_oracle_of((sa_oracle_kind)agent->options->oracle);
}

#endif

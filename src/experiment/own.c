#include "experiment/own.h"

#include <string.h>

#include "oracle/oracle.h"

void sa_experiment_one_at_a_time(sa_experiment *experiment, bool one_at_a_time) {
    experiment->turns.one_at_a_time = one_at_a_time;
}

void sa_experiment_on_round(sa_experiment *experiment, sa_round_call *call, void *user) {
    experiment->on_round = call;
    experiment->on_round_user = user;
}

sa_status sa_experiment_own_agent(sa_experiment *experiment, const char *label, const sa_own_agent *agent) {
    sa_spec *spec = &experiment->spec;
    size_t kept = spec->agent_count;
    experiment->checked = false;
    if (!label || !agent || !agent->select)
        return sa_fail(SA_INVALID, "an algorithm of your own needs a label and a select callback");
    SA_TRY(sa_spec_add_agent(spec, label));
    sa_status status = sa_options_set(spec->agents[kept].own, "algorithm", "own");
    if (status == SA_OK)
        spec->agents[kept].code = *agent;
    else
        sa_spec_drop_agents(spec, kept);
    return status;
}

sa_status sa_experiment_own_environment(sa_experiment *experiment, const sa_own_environment *environment) {
    if (!environment || !environment->contexts || !environment->expected)
        return sa_fail(SA_INVALID, "an environment of your own needs contexts and expected callbacks");
    if (environment->arms == 0 || environment->dim == 0)
        return sa_fail(SA_INVALID, "your environment has %zu arms of %zu features, and must have some",
                       environment->arms, environment->dim);
    SA_TRY(sa_experiment_set(experiment, "environment", "own"));
    experiment->environment = *environment;
    return SA_OK;
}

sa_status sa_experiment_own_oracle(sa_experiment *experiment, const sa_oracle_callbacks *oracle) {
    if (!oracle) return sa_fail(SA_INVALID, "an oracle of your own needs a solve callback");
    SA_TRY(sa_own_check(oracle));
    if (oracle->positions)
        return sa_fail(SA_INVALID,
                       "an experiment has one score an arm, and your oracle takes one for each position");
    SA_TRY(sa_experiment_set(experiment, "oracle", "own"));
    experiment->oracle = *oracle;
    return SA_OK;
}

sa_status sa_own_or_ours(sa_experiment *experiment, const sa_options *options, sa_environment **out) {
    if (strcmp(options->environment, "own") || !experiment->environment.contexts)
        return sa_environment_create(options, out);
    return sa_environment_create_own(options, &experiment->environment, &experiment->turns, out);
}

/* ---- the oracle waits for its turn ---- */

static int solve(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                 size_t *slate, size_t *length) {
    const sa_plan *plan = user;
    const sa_oracle_callbacks *own = &plan->own_oracle;
    int code;
    SA_TAKE_TURN(plan->turns, code = own->solve(own->user, scores, arms, excluded, most, slate, length));
    return code;
}

static double reward(void *user, const double *scores, size_t arms, const size_t *slate, size_t length) {
    const sa_plan *plan = user;
    const sa_oracle_callbacks *own = &plan->own_oracle;
    double found;
    SA_TAKE_TURN(plan->turns, found = own->reward(own->user, scores, arms, slate, length));
    return found;
}

static int solve_problem(void *user, const sa_problem *problem, size_t most, size_t *slate, size_t *length) {
    const sa_plan *plan = user;
    const sa_oracle_callbacks *own = &plan->own_oracle;
    int code;
    SA_TAKE_TURN(plan->turns, code = own->solve_problem(own->user, problem, most, slate, length));
    return code;
}

static double reward_problem(void *user, const sa_problem *problem, const size_t *slate, size_t length) {
    const sa_plan *plan = user;
    const sa_oracle_callbacks *own = &plan->own_oracle;
    double found;
    SA_TAKE_TURN(plan->turns, found = own->reward_problem(own->user, problem, slate, length));
    return found;
}

void sa_plan_take_oracle(sa_plan *plan, const sa_oracle_callbacks *oracle) {
    plan->own_oracle = plan->oracle = *oracle;
    if (!oracle->solve && !oracle->solve_problem) return;
    plan->oracle.user = plan;
    if (oracle->solve) plan->oracle.solve = solve;
    if (oracle->reward) plan->oracle.reward = reward;
    if (oracle->solve_problem) plan->oracle.solve_problem = solve_problem;
    if (oracle->reward_problem) plan->oracle.reward_problem = reward_problem;
}

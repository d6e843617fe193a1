#include "experiment/plan_problem.h"

#include "base/memory.h"
#include "spec/problem_option.h"

sa_status sa_plan_read_structure(sa_options *options, sa_problem **out) {
    sa_problem *problem = sa_problem_new();
    sa_status status;
    if (!problem) return SA_OUT_OF_MEMORY;
    SA_TRY_OR_FAIL(sa_problem_set(problem, "problem", options->problem));
    SA_TRY_OR_FAIL(sa_problem_text_resolve(&options->problem));
    *out = problem;
    return SA_OK;
fail:
    sa_problem_destroy(problem);
    return status;
}

/* Whether a slate fits depends on the data alone, so scores of 0 tell. */
sa_status sa_plan_check_structure(const sa_plan *plan, const sa_oracle *oracle) {
    sa_oracle_problem problem = {.arms = plan->environment->arms,
                                 .slate = (size_t)plan->options->slate,
                                 .data = sa_problem_data(plan->problem)};
    sa_workspace workspace = {0};
    double *scores = NULL;
    size_t *slate = NULL, length;
    sa_status status;
    if (oracle == &sa_oracle_own && plan->oracle.alpha > 0) return SA_OK; /* the caller knows what fits */
    if (plan->environment->varies && oracle->size != SA_EXACTLY_K)
        return sa_fail(SA_INVALID,
                       "--oracle %s needs data about each arm, and --environment %s has other arms, and "
                       "another number of "
                       "them, in every round",
                       oracle->name, plan->options->environment);
    SA_TRY_OR_FAIL(sa_alloc_array(problem.arms, sizeof *scores, &scores));
    SA_TRY_OR_FAIL(sa_alloc_array(problem.arms, sizeof *slate, &slate));
    problem.scores = scores;
    SA_TRY_OR_FAIL(sa_oracle_check(oracle, &problem));
    status = oracle->solve(&problem, &workspace, slate, &length);
fail:
    sa_workspace_clear(&workspace);
    sa_free(slate);
    sa_free(scores);
    return status;
}

/* What only the agent's feedback looks at. */
sa_status sa_plan_check_discounts(const sa_plan *plan, const sa_agent_runs *agent) {
    sa_oracle_problem problem = {.arms = plan->environment->arms,
                                 .slate = (size_t)plan->options->slate,
                                 .data = sa_problem_data(plan->problem)};
    if (!sa_options_discounted(agent->options) || !sa_problem_has(&problem, SA_DISCOUNTS)) return SA_OK;
    return sa_discounts_check(problem.data, &problem);
}

/* Data that somebody looks at. */
static unsigned used(const sa_plan *plan) {
    unsigned data = 0;
    for (size_t i = 0; i < plan->agent_count; i++) {
        const sa_oracle *oracle = sa_oracle_of_agent(&plan->agents[i]);
        data |= oracle->needs | oracle->takes;
        if (sa_options_discounted(plan->agents[i].options)) data |= SA_BIT(SA_DISCOUNTS);
    }
    if (plan->clicks && plan->clicks->kind == SA_CLICKS_CASCADE)
        data |= SA_BIT(SA_DISCOUNTS) | SA_BIT(SA_REWARD);
    return data;
}

sa_status sa_plan_check_unused(const sa_plan *plan) {
    unsigned unused = sa_problem_data(plan->problem)->given & ~used(plan);
    const sa_oracle *oracle = sa_oracle_of_agent(&plan->agents[0]);
    for (sa_datum datum = 0; datum < SA_DATUM_COUNT; datum++) {
        if (!(unused & SA_BIT(datum))) continue;
        if (plan->agent_count > 1)
            return sa_fail(SA_INVALID, "--%s is not for the oracle of any agent", sa_datum_name(datum));
        return sa_fail(SA_INVALID, "--%s is not for --oracle %s", sa_datum_name(datum), oracle->name);
    }
    return SA_OK;
}

/* What may be wrong is the same in every round, or nearly so: the first one tells. */
sa_status sa_plan_check_clicks(const sa_plan *plan) {
    sa_round round = {0};
    sa_workspace workspace = {0};
    size_t *slate = NULL;
    sa_status status;
    if (!plan->clicks) return SA_OK;
    SA_TRY_OR_FAIL(sa_round_init(&round, plan->environment));
    SA_TRY_OR_FAIL(sa_alloc_array(plan->clicks->slate, sizeof *slate, &slate));
    SA_TRY_OR_FAIL(sa_environment_begin(plan->environment, plan->first_run, &round));
    SA_TRY_OR_FAIL(sa_environment_draw(plan->environment, plan->first_run, 0, &round));
    size_t length = plan->clicks->slate < round.arms ? plan->clicks->slate : round.arms;
    status = sa_clicks_best(plan->clicks, &round, length, &workspace, slate);
fail:
    sa_workspace_clear(&workspace);
    sa_free(slate);
    sa_round_clear(&round);
    return status;
}

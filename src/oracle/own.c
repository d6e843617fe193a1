/* The caller's own oracle: its slate is checked before anyone believes it. The reward is the caller's own, or
 * the sum of the scores. */
#include "oracle/oracle.h"

#include <string.h>

sa_status sa_own_check(const sa_oracle_callbacks *own) {
    if (!own->solve && !own->solve_problem)
        return sa_fail(SA_INVALID, "an oracle of your own needs a solve callback, or solve_problem");
    if (own->alpha > 0 && own->alpha <= 1) return SA_OK;
    return sa_fail(SA_INVALID, "alpha of your oracle is %g, and must be more than 0 and at most 1",
                   own->alpha);
}

/* The problem as the caller sees it; what it points to stays the agent's. */
static sa_problem view_of(const sa_oracle_problem *problem) {
    sa_problem view = {.problem = *problem};
    if (problem->data) view.data = *problem->data;
    return view;
}

static sa_status check(const sa_oracle_problem *problem) {
    if (!problem->own || (!problem->own->solve && !problem->own->solve_problem))
        return sa_fail(
            SA_INVALID,
            "--oracle own is the caller's own code, which neither options nor a saved agent can bring back: "
            "sa_agent_oracle and sa_experiment_own_oracle do");
    if (problem->own->positions == (problem->positions > 0)) return SA_OK;
    return sa_fail(SA_INVALID, "your oracle takes %s, and there is %s",
                   problem->own->positions ? "a score for each position" : "one score an arm",
                   problem->own->positions ? "one an arm" : "one for each position");
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    const sa_oracle_callbacks *own = problem->own;
    size_t most = sa_oracle_most(&sa_oracle_own, problem), count = 0, *chosen;
    bool *taken;
    SA_TRY(SA_LAY(workspace, {&taken, problem->arms, sizeof *taken}, {&chosen, most, sizeof *chosen}));
    const sa_problem view = view_of(problem);
    int code = own->solve_problem ? own->solve_problem(own->user, &view, most, chosen, &count)
                                  : own->solve(own->user, problem->scores, problem->arms, problem->excluded,
                                               most, chosen, &count);
    if (code != 0) return sa_fail(SA_CALLBACK, "your oracle failed with code %d", code);
    if (count > most)
        return sa_fail(SA_INVALID, "your oracle's slate has %zu arms, and at most %zu are wanted", count,
                       most);
    if (problem->positions && count != problem->positions)
        return sa_fail(SA_INVALID, "your oracle chose %zu arms for %zu positions", count, problem->positions);
    if (sa_problem_wants_all(problem) && count != problem->slate)
        return sa_fail(SA_INVALID, "your oracle chose %zu arms, and exactly %zu are wanted", count,
                       problem->slate);
    memset(taken, 0, problem->arms * sizeof *taken);
    for (size_t i = 0; i < count; i++) {
        if (chosen[i] >= problem->arms)
            return sa_fail(SA_INVALID, "your oracle chose arm %zu, and there are %zu", chosen[i],
                           problem->arms);
        if (taken[chosen[i]]) return sa_fail(SA_INVALID, "your oracle chose arm %zu twice", chosen[i]);
        if (!sa_problem_allows(problem, chosen[i]))
            return sa_fail(SA_INVALID, "your oracle chose arm %zu, which is excluded", chosen[i]);
        taken[chosen[i]] = true;
    }
    memcpy(slate, chosen, count * sizeof *slate);
    *length = count;
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    const sa_oracle_callbacks *own = problem->own;
    const sa_problem view = view_of(problem);
    if (own->reward_problem) return own->reward_problem(own->user, &view, slate, length);
    if (!own->reward) return sa_reward_sum(problem, slate, length);
    return own->reward(own->user, problem->scores, problem->arms, slate, length);
}

const sa_oracle sa_oracle_own = {
    .name = "own",
    .summary = "your own, as C callbacks",
    .wants = "callbacks; exactly",
    .cost = "yours",
    .alpha = 1,
    .size = SA_AT_MOST_K,
    .takes = SA_EVERYTHING,
    .positions = true,
    .check = check,
    .solve = solve,
    .reward = reward,
};

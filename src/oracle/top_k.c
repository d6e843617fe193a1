/* The K arms with the largest scores, ties to the lower index: exact for a reward that is the sum of the
 * scores. */
#include "oracle/oracle.h"

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    size_t count = 0, *order;
    SA_TRY(SA_LAY(workspace, {&order, problem->arms, sizeof *order}));
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (sa_problem_allows(problem, arm)) order[count++] = arm;
    if (problem->slate < count) sa_arms_select(problem->scores, order, count, problem->slate);
    sa_arms_sort(problem->scores, order, problem->slate);
    for (size_t i = 0; i < problem->slate; i++) slate[i] = order[i];
    *length = problem->slate;
    return SA_OK;
}

const sa_oracle sa_oracle_top_k = {
    .name = "top-k",
    .summary = "the K arms with the largest scores; reward: their sum",
    .wants = "slate; exactly",
    .cost = "O(N + K log K)",
    .alpha = 1,
    .exact = true,
    .size = SA_EXACTLY_K,
    .takes = SA_BIT(SA_EXACTLY),
    .solve = solve,
    .reward = sa_reward_sum,
};

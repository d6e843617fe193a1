/* K arms in order, for a user who looks at one after the other. With psi_k the discount of position k (1
 * unless given):
 *
 *   click: R = 1 - prod_k (1 - psi_k v_k), scores in [0, 1];   sum: R = sum_k psi_k v_k
 *
 * Both are largest when the K best arms are taken, the better the arm the larger its discount: -log(1 - psi
 * v) and psi v have increasing differences, so swapping two arms towards that order never hurts. */
#include "oracle/oracle.h"

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    /* Clipped scores are in the same order as unclipped ones, but for ties, which optimism makes all too many
     * of at 1. */
    const double *scores = problem->unclipped ? problem->unclipped : problem->scores;
    size_t count = 0, positions = problem->slate, *order, *places;
    SA_TRY(SA_LAY(workspace, {&order, problem->arms, sizeof *order}, {&places, positions, sizeof *places}));
    for (size_t arm = 0; arm < problem->arms; arm++)
        if (sa_problem_allows(problem, arm)) order[count++] = arm;
    if (positions < count) sa_arms_select(scores, order, count, positions);
    sa_arms_sort(scores, order, positions);
    for (size_t k = 0; k < positions; k++) places[k] = k;
    if (sa_problem_has(problem, SA_DISCOUNTS)) sa_arms_sort(problem->data->discounts, places, positions);
    for (size_t k = 0; k < positions; k++) slate[places[k]] = order[k];
    *length = positions;
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    bool discounted = sa_problem_has(problem, SA_DISCOUNTS);
    double missed = 1, sum = 0;
    for (size_t k = 0; k < length; k++) {
        double seen = (discounted ? problem->data->discounts[k] : 1) * problem->scores[slate[k]];
        missed *= 1 - seen;
        sum += seen;
    }
    return problem->data && problem->data->sum ? sum : 1 - missed;
}

const sa_oracle sa_oracle_cascade = {
    .name = "cascade",
    .summary =
        "K arms in order; reward: the chance of a click, 1 - prod(1 - psi_k v_k), or the sum of psi_k v_k",
    .wants = "slate; discounts, reward, exactly",
    .cost = "O(N + K log K)",
    .alpha = 1,
    .exact = true,
    .size = SA_EXACTLY_K,
    .takes = SA_BIT(SA_DISCOUNTS) | SA_BIT(SA_REWARD) | SA_BIT(SA_EXACTLY),
    .low = 0,
    .high = 1,
    .solve = solve,
    .reward = reward,
};

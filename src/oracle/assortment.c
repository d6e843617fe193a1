/* Products to offer: a customer buys product i of the offer S with the multinomial logit's probability, w_i
 * = exp(score_i), and nothing with weight 1. The revenue is
 *
 *   R(S) = sum_{i in S} r_i w_i / (1 + sum_{i in S} w_i),   |S| <= K
 *
 * R(S) > x if and only if sum w_i (r_i - x) > x. So (Dinkelbach) from x = 0: take the K largest positive
 * w_i (r_i - x), let x be their revenue, until it grows no more; then no offer is better. A handful of
 * rounds of O(N). Where the offer must have exactly K products, the K largest of any sign, from the revenue
 * of any such offer on. */
#include "oracle/oracle.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"

static double revenue(const double *revenues, const double *weight, const size_t *slate, size_t length) {
    double above = 0, below = 1;
    for (size_t i = 0; i < length; i++) {
        above += revenues[slate[i]] * weight[slate[i]];
        below += weight[slate[i]];
    }
    return above / below;
}

/* The first K arms that may be chosen. */
static size_t first_allowed(const sa_oracle_problem *problem, size_t *slate) {
    size_t count = 0;
    for (size_t arm = 0; count < problem->slate; arm++)
        if (sa_problem_allows(problem, arm)) slate[count++] = arm;
    return count;
}

static sa_status solve(const sa_oracle_problem *problem, sa_workspace *workspace, size_t *slate,
                       size_t *length) {
    const double *revenues = problem->data->revenues;
    size_t arms = problem->arms, most = problem->slate ? problem->slate : arms, *order;
    double *weight, *gain, reached = 0;
    bool all = sa_problem_wants_all(problem);
    SA_TRY(SA_LAY(workspace, {&weight, arms, sizeof *weight}, {&gain, arms, sizeof *gain},
                  {&order, arms, sizeof *order}));
    for (size_t arm = 0; arm < arms; arm++) weight[arm] = sa_exp(problem->scores[arm]);
    *length = all ? first_allowed(problem, slate) : 0;
    if (all) reached = revenue(revenues, weight, slate, *length);
    for (;;) {
        size_t count = 0;
        for (size_t arm = 0; arm < arms; arm++) {
            gain[arm] = weight[arm] * (revenues[arm] - reached);
            if ((all || gain[arm] > 0) && sa_problem_allows(problem, arm)) order[count++] = arm;
        }
        if (count > most) {
            sa_arms_select(gain, order, count, most);
            count = most;
        }
        double more = revenue(revenues, weight, order, count);
        if (!(more > reached)) break;
        reached = more;
        memcpy(slate, order, count * sizeof *slate);
        *length = count;
    }
    sa_arms_sort(problem->scores, slate, *length);
    return SA_OK;
}

static double reward(const sa_oracle_problem *problem, const size_t *slate, size_t length) {
    double above = 0, below = 1;
    for (size_t i = 0; i < length; i++) {
        double weight = sa_exp(problem->scores[slate[i]]);
        above += problem->data->revenues[slate[i]] * weight;
        below += weight;
    }
    return above / below;
}

const sa_oracle sa_oracle_assortment = {
    .name = "assortment",
    .summary =
        "at most K products; reward: expected revenue under the multinomial logit, attraction exp(score)",
    .wants = "revenues; slate, exactly",
    .cost = "O(N) a round, a handful of rounds",
    .alpha = 1,
    .exact = true,
    .size = SA_AT_MOST_K,
    .needs = SA_BIT(SA_REVENUES),
    .takes = SA_BIT(SA_EXACTLY),
    .low = -500, /* so that sums and products with revenues stay finite */
    .high = 500,
    .solve = solve,
    .reward = reward,
};

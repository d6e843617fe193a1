/* The paper's alpha-regret: alpha R(S*) - R(S), S* the slate of the largest reward and alpha the share of
 * it that the agents' oracle is sure to reach. An exact oracle has alpha = 1 and finds S* itself. Where it
 * does not, and S* takes too long to find or is not known to be the best, its own slate S' takes the place:
 * R(S') - R(S), regret against the oracle's slate, is not less than alpha-regret, since R(S') >= alpha
 * R(S*). */
#include "experiment/benchmark.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

sa_status sa_benchmark_init(sa_benchmark *self, const sa_oracle *oracle, const sa_oracle_callbacks *own,
                            size_t arms, size_t most) {
    *self = (sa_benchmark){.oracle = oracle, .own = own};
    self->alpha = oracle == &sa_oracle_own ? own->alpha : oracle->alpha;
    SA_TRY(sa_alloc_array(most, sizeof *self->best, &self->best));
    return sa_alloc_array(arms, sizeof *self->clipped, &self->clipped);
}

void sa_benchmark_clear(sa_benchmark *self) {
    sa_workspace_clear(&self->workspace);
    sa_free(self->clipped);
    sa_free(self->best);
}

sa_oracle_problem sa_benchmark_problem(sa_benchmark *self, const double *scores, size_t arms, size_t slate,
                                       const sa_oracle_data *data) {
    sa_oracle_problem problem = {
        .scores = self->clipped, .arms = arms, .slate = slate, .data = data, .own = self->own};
    memcpy(self->clipped, scores, arms * sizeof *scores);
    sa_oracle_clip(self->oracle, &problem, self->clipped, arms);
    return problem;
}

sa_status sa_benchmark_best(sa_benchmark *self, const sa_oracle_problem *problem, double *worth) {
    const sa_oracle *oracle = self->oracle;
    bool proven = self->alpha >= 1;
    self->workspace.gap = 0;
    if (oracle->best)
        SA_TRY(oracle->best(problem, &self->workspace, self->best, &self->length, &proven));
    else
        SA_TRY(oracle->solve(problem, &self->workspace, self->best, &self->length));
    if (self->workspace.gap > 0) proven = false;
    if (!proven) self->unproven++;
    *worth = (proven ? self->alpha : 1) * oracle->reward(problem, self->best, self->length);
    return isfinite(*worth) ? SA_OK : sa_fail(SA_INVALID, "the reward of a slate is %g", *worth);
}

sa_status sa_benchmark_liked(sa_benchmark *self, const sa_clicks *clicks, const sa_round *round, size_t slate,
                             const sa_oracle_data *data) {
    const unsigned rules =
        SA_BIT(SA_GROUPS) | SA_BIT(SA_EXCLUSIONS) | SA_BIT(SA_ELIGIBLE) | SA_BIT(SA_MATRIX);
    if (clicks->kind != SA_CLICKS_POSITION || self->oracle != &sa_oracle_assignment || !(data->given & rules))
        return sa_clicks_best(clicks, round, slate, &self->workspace, self->best);
    sa_oracle_data weighted = *data;
    sa_oracle_problem problem = {
        .scores = self->clipped, .arms = round->arms, .slate = slate, .data = &weighted};
    for (size_t i = 0; i < round->arms; i++)
        self->clipped[i] = clicks->bernoulli ? sa_clicks_attraction(round, i) : round->expected[i];
    weighted.given |= SA_BIT(SA_DISCOUNTS);
    weighted.discounts = clicks->weights;
    return sa_oracle_assignment.solve(&problem, &self->workspace, self->best, &self->length);
}

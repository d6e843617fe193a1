#include "agent/contenders.h"

#include <math.h>
#include <string.h>

static double score_at(const sa_agent *agent, size_t arm, double width) {
    return sa_explore_score(&agent->exploration, agent->mean[arm], width, sa_agent_bonus(agent), agent->luck[arm]);
}

static double higher(double a, double b) { return a > b ? a : b; }
static double lower(double a, double b) { return a < b ? a : b; }

/* score = the highest that the width, an upper bound, allows */
static void bound_score(sa_agent *agent, size_t arm) {
    agent->score[arm] = higher(score_at(agent, arm, agent->width[arm]), score_at(agent, arm, 0));
}

static bool is_excluded(const sa_request *request, size_t arm) { return request->excluded && request->excluded[arm]; }

/* The slate-th highest of group_score (count). */
static sa_status place_score(sa_agent *agent, size_t count, size_t slate, double *score) {
    sa_oracle_problem problem = {.scores = agent->group_score, .arms = count, .slate = slate};
    SA_TRY(agent->oracle->solve(&problem, &agent->oracle_work, agent->slate, &slate));
    *score = agent->group_score[agent->slate[slate - 1]];
    return SA_OK;
}

/* Bounds from the gradients' norms, and tighter ones where these leave more than `group` arms in. */
static sa_status bound_scores(sa_agent *agent, const sa_request *request, size_t group) {
    size_t arms = request->arms, count = 0;
    sa_gradients_norms(&agent->gradients, agent->width);
    for (size_t i = 0; i < arms; i++) {
        agent->width[i] = sqrt(agent->width[i] / agent->options->regularization);
        bound_score(agent, i);
        double least = lower(score_at(agent, i, agent->width[i]), score_at(agent, i, 0));
        if (!is_excluded(request, i)) agent->group_score[count++] = least;
    }
    double beat;
    SA_TRY(place_score(agent, count, request->slate, &beat));
    count = 0;
    for (size_t i = 0; i < arms; i++)
        if (!is_excluded(request, i) && agent->score[i] >= beat) agent->contender[count++] = i;
    if (count <= group) return SA_OK;
    SA_TRY(agent->confidence->kind->tighten(agent->confidence, &agent->gradients, agent->contender, count, agent->width));
    for (size_t i = 0; i < count; i++) bound_score(agent, agent->contender[i]);
    return SA_OK;
}

static sa_status score_exactly(sa_agent *agent, const size_t *arms, size_t count, uint64_t *ticket) {
    if (count == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->widths(agent->confidence, &agent->gradients, arms, count, agent->width, ticket));
    for (size_t i = 0; i < count; i++) agent->score[arms[i]] = score_at(agent, arms[i], agent->width[arms[i]]);
    return SA_OK;
}

sa_status sa_score_contenders(sa_agent *agent, const sa_request *request, uint64_t *ticket) {
    size_t arms = request->arms, slate = request->slate, left = 0;
    for (size_t i = 0; i < arms; i++) left += !is_excluded(request, i);
    size_t group = slate + slate / 2 + 2; /* a few more than the slate, so that one group mostly does */
    if (group > left) group = left;
    SA_TRY(bound_scores(agent, request, group));
    sa_oracle_problem highest = {.scores = agent->score, .arms = arms, .slate = group, .excluded = request->excluded};
    SA_TRY(agent->oracle->solve(&highest, &agent->oracle_work, agent->contender, &group));
    SA_TRY(score_exactly(agent, agent->contender, group, ticket));
    memset(agent->is_contender, 0, arms * sizeof *agent->is_contender);
    for (size_t i = 0; i < group; i++) {
        agent->is_contender[agent->contender[i]] = true;
        agent->group_score[i] = agent->score[agent->contender[i]];
    }
    double beat;
    SA_TRY(place_score(agent, group, slate, &beat));
    size_t more = 0;
    for (size_t i = 0; i < arms; i++)
        if (!agent->is_contender[i] && !is_excluded(request, i) && agent->score[i] >= beat) agent->contender[more++] = i;
    return score_exactly(agent, agent->contender, more, ticket);
}

#include "agent/contenders.h"

#include <math.h>
#include <string.h>

static double score_at(const sa_agent *agent, size_t arm, double width) {
    return sa_explore_score(&agent->exploration, agent->mean[arm], width, agent->scale, agent->luck[arm]);
}

/* width = sqrt(g'g / lambda), score = the highest that it allows */
static void bound_scores(sa_agent *agent, size_t arms) {
    sa_gradients_norms(&agent->gradients, agent->width);
    for (size_t i = 0; i < arms; i++) {
        agent->width[i] = sqrt(agent->width[i] / agent->options->regularization);
        double widest = score_at(agent, i, agent->width[i]), narrowest = score_at(agent, i, 0);
        agent->score[i] = widest > narrowest ? widest : narrowest;
    }
}

static sa_status score_exactly(sa_agent *agent, const size_t *arms, size_t count, uint64_t *ticket) {
    if (count == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->widths(agent->confidence, &agent->gradients, arms, count, agent->width, ticket));
    for (size_t i = 0; i < count; i++) agent->score[arms[i]] = score_at(agent, arms[i], agent->width[arms[i]]);
    return SA_OK;
}

/* The slate-th highest exact score in the first group. */
static double score_to_beat(sa_agent *agent, size_t group, size_t slate) {
    for (size_t i = 0; i < group; i++) agent->group_score[i] = agent->score[agent->contender[i]];
    sa_oracle_problem problem = {.scores = agent->group_score, .arms = group, .slate = slate};
    agent->oracle->solve(&problem, agent->oracle_work, agent->slate);
    return agent->group_score[agent->slate[slate - 1]];
}

sa_status sa_score_contenders(sa_agent *agent, const sa_request *request, uint64_t *ticket) {
    size_t arms = request->arms, slate = request->slate, left = 0;
    for (size_t i = 0; i < arms; i++) left += !(request->excluded && request->excluded[i]);
    size_t group = slate + slate / 2 + 2; /* a few more than the slate, so that one group mostly does */
    if (group > left) group = left;
    bound_scores(agent, arms);
    sa_oracle_problem highest = {.scores = agent->score, .arms = arms, .slate = group, .excluded = request->excluded};
    agent->oracle->solve(&highest, agent->oracle_work, agent->contender);
    SA_TRY(score_exactly(agent, agent->contender, group, ticket));
    double beat = score_to_beat(agent, group, slate);
    memset(agent->is_contender, 0, arms * sizeof *agent->is_contender);
    for (size_t i = 0; i < group; i++) agent->is_contender[agent->contender[i]] = true;
    size_t more = 0;
    for (size_t i = 0; i < arms; i++)
        if (!agent->is_contender[i] && !(request->excluded && request->excluded[i]) && agent->score[i] >= beat)
            agent->contender[more++] = i;
    return score_exactly(agent, agent->contender, more, ticket);
}

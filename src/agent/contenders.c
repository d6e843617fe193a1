#include "agent/contenders.h"

#include <math.h>
#include <string.h>

static double score_at(const sa_agent *agent, double mean, double luck, double width) {
    return sa_explore_score(&agent->exploration, mean, width, sa_agent_bonus(agent), luck);
}

double sa_highest_score(const sa_agent *agent, double mean, double luck, double width) {
    double at_width = score_at(agent, mean, luck, width), at_0 = score_at(agent, mean, luck, 0);
    return at_width > at_0 ? at_width : at_0;
}

static double lowest_score(const sa_agent *agent, const sa_contest *contest, size_t arm) {
    double at_width = score_at(agent, contest->mean[arm], contest->luck[arm], contest->width[arm]);
    double at_0 = score_at(agent, contest->mean[arm], contest->luck[arm], 0);
    return at_width < at_0 ? at_width : at_0;
}

/* score = the highest that the width, an upper bound, allows */
static void bound_score(const sa_agent *agent, const sa_contest *contest, size_t arm) {
    contest->score[arm] = sa_highest_score(agent, contest->mean[arm], contest->luck[arm], contest->width[arm]);
}

static bool is_excluded(const sa_contest *contest, size_t arm) { return contest->excluded && contest->excluded[arm]; }

/* The slate-th highest of group_score (count). */
static sa_status place_score(sa_agent *agent, const sa_contest *contest, size_t count, double *score) {
    sa_oracle_problem problem = {.scores = contest->group_score, .arms = count, .slate = contest->slate};
    size_t length;
    SA_TRY(sa_oracle_top_k.solve(&problem, &agent->oracle_work, agent->slate, &length));
    *score = contest->group_score[agent->slate[length - 1]];
    return SA_OK;
}

/* Bounds from the gradients' norms, and tighter ones where these leave more than `group` arms in. */
static sa_status bound_scores(sa_agent *agent, const sa_contest *contest, size_t group) {
    size_t count = 0;
    const sa_confidence_class *kind = agent->confidence->kind;
    if (!contest->bounded) sa_gradients_norms(contest->gradients, contest->width);
    for (size_t i = 0; i < contest->arms; i++) {
        if (!contest->bounded) {
            contest->width[i] = sqrt(contest->width[i] / agent->options->regularization);
            bound_score(agent, contest, i);
        }
        if (!is_excluded(contest, i)) contest->group_score[count++] = lowest_score(agent, contest, i);
    }
    double beat;
    SA_TRY(place_score(agent, contest, count, &beat));
    if (beat < contest->floor) beat = contest->floor;
    count = 0;
    for (size_t i = 0; i < contest->arms; i++)
        if (!is_excluded(contest, i) && contest->score[i] >= beat) contest->contender[count++] = i;
    if (count <= group || !kind->tighten) return SA_OK;
    SA_TRY(kind->tighten(agent->confidence, contest->gradients, contest->contender, count, contest->width));
    for (size_t i = 0; i < count; i++) bound_score(agent, contest, contest->contender[i]);
    return SA_OK;
}

static sa_status score_exactly(sa_agent *agent, const sa_contest *contest, size_t count, uint64_t *ticket) {
    const size_t *arms = contest->contender;
    if (count == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->widths(agent->confidence, contest->gradients, arms, count, contest->width, ticket));
    for (size_t i = 0; i < count; i++)
        contest->score[arms[i]] = score_at(agent, contest->mean[arms[i]], contest->luck[arms[i]], contest->width[arms[i]]);
    return SA_OK;
}

sa_status sa_score_contenders(sa_agent *agent, const sa_contest *contest, uint64_t *ticket) {
    size_t arms = contest->arms, slate = contest->slate, left = 0;
    for (size_t i = 0; i < arms; i++) left += !is_excluded(contest, i);
    size_t group = slate + slate / 2 + 2; /* a few more than the slate, so that one group mostly does */
    if (group > left) group = left;
    SA_TRY(bound_scores(agent, contest, group));
    sa_oracle_problem highest = {.scores = contest->score, .arms = arms, .slate = group, .excluded = contest->excluded};
    SA_TRY(sa_oracle_top_k.solve(&highest, &agent->oracle_work, contest->contender, &group));
    SA_TRY(score_exactly(agent, contest, group, ticket));
    memset(contest->is_contender, 0, arms * sizeof *contest->is_contender);
    for (size_t i = 0; i < group; i++) {
        contest->is_contender[contest->contender[i]] = true;
        contest->group_score[i] = contest->score[contest->contender[i]];
    }
    double beat;
    SA_TRY(place_score(agent, contest, group, &beat));
    if (beat < contest->floor) beat = contest->floor;
    size_t more = 0;
    for (size_t i = 0; i < arms; i++)
        if (!contest->is_contender[i] && !is_excluded(contest, i) && contest->score[i] >= beat)
            contest->contender[more++] = i;
    return score_exactly(agent, contest, more, ticket);
}

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

/* All contests, and what the engine is asked about them. */
typedef struct season {
    sa_agent *agent;
    const sa_gradients *gradients;
    sa_contest *contests;
    size_t count;
    double *width; /* of all rows */
} season;

/* The contenders of all contests, as rows of the batch. */
static const size_t *join(const season *self, size_t *count) {
    const sa_contest *only = self->contests;
    *count = only->contenders;
    if (self->count == 1 && only->first == 0) return only->contender;
    *count = 0;
    for (size_t c = 0; c < self->count; c++)
        for (size_t i = 0; i < self->contests[c].contenders; i++)
            self->agent->joint[(*count)++] = self->contests[c].first + self->contests[c].contender[i];
    return self->agent->joint;
}

/* A few more than the slate, so that one group mostly does. */
static size_t group_of(const sa_contest *contest) {
    size_t left = 0, group = contest->slate + contest->slate / 2 + 2;
    for (size_t i = 0; i < contest->arms; i++) left += !is_excluded(contest, i);
    return group < left ? group : left;
}

/* Bounds from the gradients' norms; contenders are those in, where they are more than a group: their bounds are to be tighter. */
static sa_status bound_scores(sa_agent *agent, sa_contest *contest) {
    size_t count = 0;
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
    contest->contenders = count > group_of(contest) ? count : 0;
    return SA_OK;
}

static sa_status tighten(const season *self) {
    size_t count;
    const size_t *rows = join(self, &count);
    const sa_confidence *confidence = self->agent->confidence;
    if (count == 0 || !confidence->kind->tighten) return SA_OK;
    SA_TRY(confidence->kind->tighten(self->agent->confidence, self->gradients, rows, count, self->width));
    for (size_t c = 0; c < self->count; c++)
        for (size_t i = 0; i < self->contests[c].contenders; i++)
            bound_score(self->agent, &self->contests[c], self->contests[c].contender[i]);
    return SA_OK;
}

/* Exact widths and scores of the contenders. */
static sa_status score_exactly(const season *self, uint64_t *ticket) {
    size_t count;
    const size_t *rows = join(self, &count);
    const sa_agent *agent = self->agent;
    if (count == 0) return SA_OK;
    SA_TRY(agent->confidence->kind->widths(agent->confidence, self->gradients, rows, count, self->width, ticket));
    for (size_t c = 0; c < self->count; c++)
        for (size_t i = 0; i < self->contests[c].contenders; i++) {
            const sa_contest *contest = &self->contests[c];
            size_t arm = contest->contender[i];
            contest->score[arm] = score_at(agent, contest->mean[arm], contest->luck[arm], contest->width[arm]);
        }
    return SA_OK;
}

/* The contenders are the group with the highest bounds. */
static sa_status choose_group(sa_agent *agent, sa_contest *contest) {
    sa_oracle_problem highest = {
        .scores = contest->score, .arms = contest->arms, .slate = group_of(contest), .excluded = contest->excluded};
    return sa_oracle_top_k.solve(&highest, &agent->oracle_work, contest->contender, &contest->contenders);
}

/* The contenders, which are scored, are followed by those who can still reach the slate. */
static sa_status choose_others(sa_agent *agent, sa_contest *contest) {
    double beat;
    memset(contest->is_contender, 0, contest->arms * sizeof *contest->is_contender);
    for (size_t i = 0; i < contest->contenders; i++) {
        contest->is_contender[contest->contender[i]] = true;
        contest->group_score[i] = contest->score[contest->contender[i]];
    }
    SA_TRY(place_score(agent, contest, contest->contenders, &beat));
    if (beat < contest->floor) beat = contest->floor;
    contest->contenders = 0;
    for (size_t i = 0; i < contest->arms; i++)
        if (!contest->is_contender[i] && !is_excluded(contest, i) && contest->score[i] >= beat)
            contest->contender[contest->contenders++] = i;
    return SA_OK;
}

sa_status sa_score_contenders(sa_agent *agent, const sa_gradients *gradients, sa_contest *contests, size_t count,
                              uint64_t *ticket) {
    const season self = {.agent = agent,
                         .gradients = gradients,
                         .contests = contests,
                         .count = count,
                         .width = contests[0].width - contests[0].first};
    if (!contests[0].bounded) sa_gradients_norms(gradients, self.width);
    for (size_t c = 0; c < count; c++) SA_TRY(bound_scores(agent, &contests[c]));
    SA_TRY(tighten(&self));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_group(agent, &contests[c]));
    SA_TRY(score_exactly(&self, ticket));
    for (size_t c = 0; c < count; c++) SA_TRY(choose_others(agent, &contests[c]));
    return score_exactly(&self, ticket);
}

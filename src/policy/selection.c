#include "policy/selection.h"

#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "policy/coins.h"

/* ---- the request ---- */

/* Can bounds of the widths tell which arms matter? Where there is but one block, they must also be worth
 * it. */
static bool is_bounded(const sa_policy *policy, size_t arms) {
    return policy->confidence && policy->exploration.kind->from == SA_SCORES_FROM_WIDTHS &&
           !policy->all_widths && policy->oracle == &sa_oracle_top_k &&
           (arms > SA_BLOCK_ARMS || policy->confidence->kind->tighten);
}

/* log det Z comes with the widths, at no cost. */
static sa_exploration exploration_of(const sa_policy *policy, size_t slate) {
    sa_confidence_state state;
    if (!policy->exploration.by_theory) return policy->exploration;
    policy->confidence->kind->state(policy->confidence, &state);
    return sa_exploration_in(&policy->exploration,
                             &(sa_exploration_round){.observations = (double)state.counted,
                                                     .log_det = state.log_det,
                                                     .slate = (double)slate,
                                                     .scale = policy->estimator.scale});
}

/* log(1 + N / K) / log(6), of the N arms that may be chosen; without a limit, K is N. */
static double arms_a_place(const sa_request *request) {
    size_t arms = request->arms, slate = request->slate;
    for (size_t i = 0; request->excluded && i < request->arms; i++) arms -= request->excluded[i] != 0;
    if (arms == 0) arms = 1;
    return sa_log(1 + (double)arms / (double)(slate > 0 && slate < arms ? slate : arms)) / sa_log(6);
}

/* What a width counts for. The highest of n draws is some sqrt(log n) deviations above their mean, so more
 * arms for a place want larger bonuses, and a longer beginning (learn/bonus.h): one gamma, that of 20 arms
 * and 4 places, serves any N and K. */
static void weigh(const sa_policy *policy, sa_selection *self) {
    double more = arms_a_place(self->request);
    self->bonus = sa_policy_unit(policy);
    self->deviation = policy->deviation;
    if (!(policy->deviation > 0)) return;
    self->deviation += policy->early * more * more;
    self->bonus *= self->deviation / policy->deviation;
    self->exploration.gamma *= sqrt(more);
    self->exploration.nu *= sqrt(more);
}

static sa_status check_positions(const sa_policy *policy, const sa_request *request, bool known) {
    size_t most = policy->estimator.inputs.positions;
    if (most > 0 && request->slate > most)
        return sa_fail(
            SA_INVALID,
            "the request asks for a slate of %zu arms, and the agent tells %zu positions apart (--slate)",
            request->slate, most);
    if (known && request->expected_positional && most == 0)
        return sa_fail(
            SA_INVALID,
            "the request has expected scores of each position, which only --feedback position takes");
    return SA_OK;
}

sa_status sa_selection_read(const sa_policy *policy, const sa_request *request, size_t after, bool all,
                            sa_selection *self) {
    size_t most = policy->estimator.inputs.positions;
    bool known = policy->exploration.kind->from == SA_SCORES_FROM_CALLER;
    bool exactly = (policy->oracle->size == SA_EXACTLY_K && !all) || most > 0;
    SA_TRY(sa_request_check(request, policy->estimator.inputs.dim, exactly));
    SA_TRY(check_positions(policy, request, known));
    *self = (sa_selection){.request = request, .round = policy->next + after};
    uint64_t draw = request->draw == SA_NO_DRAW ? self->round : request->draw;
    self->stream = sa_stream_at(policy->seed, SA_PURPOSE_EXPLORATION, policy->run, draw);
    if (request->problem) self->data = *sa_problem_data(request->problem);
    if (request->exactly) {
        self->data.given |= SA_BIT(SA_EXACTLY);
        self->data.exactly = true;
    }
    if (most > 0 && (!known || request->expected_positional)) self->positions = request->slate;
    if (self->positions) self->data.given &= ~SA_BIT(SA_DISCOUNTS); /* what a position is worth is learnt */
    self->scores = request->arms * (self->positions ? self->positions : 1);
    self->exploration = exploration_of(policy, request->slate);
    weigh(policy, self);
    self->certificate = sa_confidence_certificate(policy->confidence);
    const sa_stream coins = sa_coins(policy, request, self->round);
    self->random = sa_coins_any(policy, &coins, request->slate);
    bool all_widths = all || self->random || (request->propensities && policy->exploration.kind->varies);
    self->bounded = !all_widths && is_bounded(policy, request->arms);
    return sa_memory_check(request->arms, (self->positions + 1) * sizeof(double));
}

sa_oracle_problem sa_selection_problem(const sa_policy *policy, const sa_selection *self) {
    return (sa_oracle_problem){.scores = self->score,
                               .unclipped = self->unclipped,
                               .urgency = self->urgency,
                               .positions = self->positions,
                               .arms = self->request->arms,
                               .slate = self->request->slate,
                               .excluded = self->request->excluded,
                               .data = self->data.given ? &self->data : NULL,
                               .own = &policy->callbacks};
}

sa_status sa_selection_prepare(const sa_policy *policy, const sa_request *request, size_t after,
                               sa_selection *self) {
    const double none = 0; /* scores are still to come, and not looked at */
    SA_TRY(sa_selection_read(policy, request, after, false, self));
    sa_oracle_problem problem = sa_selection_problem(policy, self);
    problem.scores = &none;
    self->slate = sa_oracle_most(policy->oracle, &problem);
    SA_TRY(sa_oracle_check(policy->oracle, &problem));
    if (!policy->discounted || !(self->data.given & SA_BIT(SA_DISCOUNTS))) return SA_OK;
    SA_TRY(sa_discounts_check(&self->data, &problem));
    self->discounts = self->data.discounts;
    return SA_OK;
}

/* ---- memory ---- */

sa_status sa_selections_lay(sa_chooser *chooser, const sa_policy *policy, sa_selection *selections,
                            size_t count) {
    size_t scores = 0, slates = 0;
    bool urgent = policy->exploration.kind->from == SA_SCORES_FROM_MODEL;
    double *mean, *width, *score, *draw, *unclipped, *urgency, *prefix, *position, *spread;
    size_t *arms, *oracle_arms;
    for (size_t i = 0; i < count; i++) {
        scores += selections[i].scores;
        slates += selections[i].slate;
    }
    SA_TRY(SA_LAY(&chooser->arrays, {&mean, scores, sizeof *mean}, {&width, scores, sizeof *width},
                  {&spread, scores, sizeof *spread}, {&score, scores, sizeof *score},
                  {&draw, scores, sizeof *draw}, {&unclipped, scores, sizeof *unclipped},
                  {&urgency, urgent ? scores : 0, sizeof *urgency}, {&arms, slates, sizeof *arms},
                  {&oracle_arms, slates, sizeof *oracle_arms}, {&prefix, slates, sizeof *prefix},
                  {&position, slates, sizeof *position}));
    for (size_t i = 0, first = 0, place = 0; i < count;
         first += selections[i].scores, place += selections[i].slate, i++) {
        selections[i].mean = mean + first;
        selections[i].width = width + first;
        selections[i].spread = spread + first;
        selections[i].score = score + first;
        selections[i].draw = draw + first;
        selections[i].unclipped = unclipped + first;
        selections[i].urgency = urgent ? urgency + first : NULL;
        selections[i].arms = arms + place;
        selections[i].oracle_arms = oracle_arms + place;
        selections[i].prefix = prefix + place;
        selections[i].position = position + place;
        for (size_t k = 0; k < selections[i].slate; k++)
            selections[i].prefix[k] = selections[i].position[k] = NAN;
        memset(selections[i].spread, 0, selections[i].scores * sizeof *spread);
    }
    return SA_OK;
}

/* ---- the slate ---- */

sa_status sa_selection_solve(const sa_policy *policy, sa_chooser *chooser, sa_selection *self) {
    sa_oracle_problem problem = sa_selection_problem(policy, self);
    memcpy(self->unclipped, self->score, self->scores * sizeof *self->score);
    sa_oracle_clip(policy->oracle, &problem, self->score, self->scores);
    chooser->oracle.gap = 0;
    sa_data_begin(&self->data);
    SA_TRY(policy->oracle->solve(&problem, &chooser->oracle, self->arms, &self->slate));
    self->gap = chooser->oracle.gap;
    self->oracle_slate = self->slate;
    if (self->slate) memcpy(self->oracle_arms, self->arms, self->slate * sizeof *self->oracle_arms);
    return SA_OK;
}

sa_status sa_selection_decide(const sa_chooser *chooser, const sa_selection *self, sa_decision *decision) {
    SA_TRY(sa_decision_reserve(decision, self->slate, self->scores));
    sa_decision_fill(decision, &(sa_decision){.id = SA_NO_ID,
                                              .event = self->request->event,
                                              .slate = self->slate,
                                              .gap = self->gap,
                                              .candidates = self->request->arms,
                                              .positions = self->positions,
                                              .certificate = self->certificate,
                                              .explored = self->random,
                                              .imprecise = chooser->widths.imprecise,
                                              .arms = self->arms,
                                              .prefix = self->prefix,
                                              .position = self->position,
                                              .all_estimate = self->mean,
                                              .all_width = self->width,
                                              .all_score = self->score});
    return SA_OK;
}

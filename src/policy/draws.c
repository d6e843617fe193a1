#include "policy/draws.h"

#include <string.h>

#include "base/memory.h"
#include "policy/walk.h"

void sa_draws_clear(sa_draws *draws) {
    sa_chooser_destroy(draws->chooser);
    sa_workspace_clear(&draws->oracle);
    sa_free(draws->memory);
    *draws = (sa_draws){0};
}

static bool scores_by_model(const sa_choice *choice) {
    return choice->exploration.kind->from == SA_SCORES_FROM_PARAMETERS ||
           choice->exploration.kind->from == SA_SCORES_FROM_MODEL;
}

sa_status sa_draws_begin(const sa_policy *policy, const sa_choice *choice, sa_draws *out) {
    uint64_t round = choice->request->draw == SA_NO_DRAW ? choice->round : choice->request->draw;
    *out = (sa_draws){.policy = policy, .choice = *choice};
    out->stream = sa_stream_at(policy->seed, SA_PURPOSE_PROPENSITY, policy->run, round);
    if (scores_by_model(choice)) {
        out->chooser = sa_chooser_new();
        return out->chooser ? SA_OK : sa_fail(SA_OUT_OF_MEMORY, "no memory for a chooser");
    }
    SA_TRY(sa_alloc_matrix(3, choice->scores, sizeof(double), &out->memory));
    out->choice.score = out->memory;
    out->choice.draw = out->memory + choice->scores;
    out->choice.unclipped = out->memory + 2 * choice->scores;
    return SA_OK;
}

/* Scores of the same means and widths. */
static void score(sa_choice *choice) {
    const sa_exploration *rule = &choice->exploration;
    sa_explore_draw(rule, 0, choice->scores, &choice->stream, choice->draw);
    for (size_t i = 0; i < choice->scores; i++)
        choice->score[i] =
            rule->kind->score(rule, choice->mean[i], choice->width[i], choice->bonus, choice->draw[i]);
}

static sa_status score_again(sa_draws *self) {
    sa_choice *choice = &self->choice;
    choice->slate = choice->request->slate;
    SA_TRY(sa_chooser_begin(self->chooser, self->policy));
    SA_TRY(sa_choices_lay(self->chooser, self->policy, choice, 1));
    return sa_choices_score(self->policy, self->chooser, choice, 1);
}

sa_status sa_draws_next(sa_draws *self, size_t index, size_t *slate, size_t *length) {
    const sa_policy *policy = self->policy;
    sa_choice *choice = &self->choice;
    uint64_t round = sa_draw_bits(&self->stream, index) >> 16; /* below 2^48 */
    choice->stream = sa_stream_at(policy->seed, SA_PURPOSE_PROPENSITY, policy->run + 1, round);
    if (self->chooser)
        SA_TRY(score_again(self));
    else
        score(choice);
    sa_oracle_problem problem = sa_choice_problem(policy, choice);
    memcpy(choice->unclipped, choice->score, choice->scores * sizeof *choice->score);
    sa_oracle_clip(policy->oracle, &problem, choice->score, choice->scores);
    return policy->oracle->solve(&problem, &self->oracle, slate, length);
}

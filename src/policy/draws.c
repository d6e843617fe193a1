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

static bool scores_by_model(const sa_selection *selection) {
    return selection->exploration.kind->from == SA_SCORES_FROM_PARAMETERS ||
           selection->exploration.kind->from == SA_SCORES_FROM_MODEL;
}

sa_status sa_draws_begin(const sa_policy *policy, const sa_selection *selection, sa_draws *out) {
    uint64_t round = selection->request->draw == SA_NO_DRAW ? selection->round : selection->request->draw;
    *out = (sa_draws){.policy = policy, .selection = *selection};
    out->stream = sa_stream_at(policy->seed, SA_PURPOSE_PROPENSITY, policy->run, round);
    if (scores_by_model(selection)) {
        out->chooser = sa_chooser_new();
        return out->chooser ? SA_OK : sa_fail(SA_OUT_OF_MEMORY, "no memory for a chooser");
    }
    SA_TRY(sa_alloc_matrix(3, selection->scores, sizeof(double), &out->memory));
    out->selection.score = out->memory;
    out->selection.draw = out->memory + selection->scores;
    out->selection.unclipped = out->memory + 2 * selection->scores;
    return SA_OK;
}

/* Scores of the same means and widths. */
static void score(sa_selection *selection) {
    const sa_exploration *rule = &selection->exploration;
    sa_explore_draw(rule, 0, selection->scores, &selection->stream, selection->draw);
    for (size_t i = 0; i < selection->scores; i++)
        selection->score[i] = sa_selection_score(selection, selection->mean[i], selection->width[i],
                                                 selection->spread[i], selection->draw[i]);
}

static sa_status score_again(sa_draws *self) {
    sa_selection *selection = &self->selection;
    selection->slate = selection->request->slate;
    SA_TRY(sa_chooser_begin(self->chooser, self->policy));
    SA_TRY(sa_selections_lay(self->chooser, self->policy, selection, 1));
    return sa_selections_score(self->policy, self->chooser, selection, 1);
}

sa_status sa_draws_next(sa_draws *self, size_t index, size_t *slate, size_t *length) {
    const sa_policy *policy = self->policy;
    sa_selection *selection = &self->selection;
    uint64_t round = sa_draw_bits(&self->stream, index) >> 16; /* below 2^48 */
    selection->stream = sa_stream_at(policy->seed, SA_PURPOSE_PROPENSITY, policy->run + 1, round);
    if (self->chooser)
        SA_TRY(score_again(self));
    else
        score(selection);
    sa_oracle_problem problem = sa_selection_problem(policy, selection);
    memcpy(selection->unclipped, selection->score, selection->scores * sizeof *selection->score);
    sa_oracle_clip(policy->oracle, &problem, selection->score, selection->scores);
    return policy->oracle->solve(&problem, &self->oracle, slate, length);
}

/* Upper confidence bounds: score = mean + scale gamma width + e_t. By theory gamma is gamma_t and e_t of
 * Lemma 1. */
#include "exploration/exploration.h"

static double score(const sa_exploration *self, double mean, double width, double scale, double draw) {
    (void)draw;
    return mean + scale * self->gamma * width + self->offset;
}

static void follow_theory(sa_exploration *self, const sa_exploration_round *round) {
    double before = round->observations, now = before + round->slate,
           rest = sa_exploration_rest(self, before);
    self->gamma = sa_bound_gamma(&self->bounds, before, round->log_det, rest);
    self->offset = round->scale * sa_bound_error(&self->bounds, now, self->gamma);
}

const sa_exploration_class sa_explore_ucb = {
    .name = "ucb", .reads_gamma = true, .score = score, .follow_theory = follow_theory};
const sa_exploration_class sa_explore_theory_ucb = {
    .name = "theory-ucb", .always_by_theory = true, .score = score, .follow_theory = follow_theory};

/* What the rules share. */
#include "exploration/exploration.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

double sa_exploration_rest(const sa_exploration *exploration, double n) {
    const sa_bounds *bounds = &exploration->bounds;
    double eta_m_lambda = exploration->rate_falls
                              ? exploration->rate * bounds->lambda / (n * bounds->depth + bounds->lambda)
                              : exploration->rate * bounds->hidden * bounds->lambda;
    return sa_bound_rest(eta_m_lambda, exploration->steps);
}

sa_exploration sa_exploration_in(const sa_exploration *exploration, const sa_exploration_round *round) {
    sa_exploration now = *exploration;
    if (!now.by_theory) return now;
    now.bounds.sub_gaussian /= round->scale; /* the noise on what the model is trained on */
    now.kind->follow_theory(&now, round);
    now.bounds = exploration->bounds;
    return now;
}

void sa_explore_draw(const sa_exploration *exploration, size_t first, size_t arms, const sa_stream *stream,
                     double *draw) {
    if (exploration->kind->draw)
        exploration->kind->draw(exploration, first, arms, stream, draw);
    else
        for (size_t i = 0; i < arms; i++) draw[i] = 1;
}

void sa_explore_uniform_draw(const sa_exploration *self, size_t first, size_t arms, const sa_stream *stream,
                             double *draw) {
    (void)self;
    for (size_t i = 0; i < arms; i++) draw[i] = sa_draw_uniform(stream, first + i);
}

void sa_explore_lift(size_t arms, const double *urgency, double *score) {
    double size = 1; /* of the other scores */
    for (size_t i = 0; i < arms; i++)
        if (!(urgency[i] > 0)) size = fmax(size, fabs(score[i]));
    for (size_t i = 0; i < arms; i++)
        if (urgency[i] > 0) score[i] = fmin(size * (2 * (double)arms + urgency[i]), DBL_MAX);
}

static int by_score(const void *one, const void *other) {
    const sa_tie *a = one, *b = other;
    if (a->score != b->score) return a->score < b->score ? -1 : 1;
    return (a->draw > b->draw) - (a->draw < b->draw);
}

/* In increasing order each score is at least the one before and a step, which is more than the rounding of
 * a sum of scores and far less than what they tell. */
void sa_explore_break_ties(size_t arms, const double *draw, sa_tie *ties, double *score) {
    const double share = 0x1p-46;
    double size = 0, last = -INFINITY;
    for (size_t i = 0; i < arms; i++) {
        if (!isfinite(score[i])) return; /* the caller will say so */
        size = fmax(size, fabs(score[i]));
        ties[i] = (sa_tie){score[i], draw[i], i};
    }
    qsort(ties, arms, sizeof *ties, by_score);
    double step = share * (size > 0 ? size : 1);
    for (size_t i = 0; i < arms; i++) {
        last = fmin(fmax(ties[i].score, last + step), DBL_MAX);
        score[ties[i].arm] = last;
    }
}

/* What the rules share. */
#include "exploration/exploration.h"

#include <float.h>
#include <math.h>

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

/* What the rules share. */
#include "exploration/exploration.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* The published code's linear Thompson sampling samples scores, once an arm, where its paper samples
 * parameters. */
static bool samples_scores(const sa_exploration_class *kind, const sa_options *options) {
    return kind == &sa_explore_parameter_ts && options->linear_form == SA_LINEAR_PUBLISHED;
}

/* The lemmas are about plain gradient descent on Eq. (4): other trainings get no credit for their steps. */
static bool descends_plainly(const sa_options *options) {
    return options->optimizer == SA_OPTIMIZER_GD && options->regularize &&
           options->rate_decay == SA_DECAY_NONE && options->train_batch == 0 && options->train_sample == 0 &&
           options->train_window == 0 && options->window == 0 && options->discount == 1;
}

static bool is_by_theory(const sa_exploration_class *kind, const sa_options *options) {
    if (kind == &sa_explore_ucb) return options->gamma == SA_BY_THEORY;
    if (kind == &sa_explore_ts || kind == &sa_explore_parameter_ts) return options->nu == SA_BY_THEORY;
    return kind == &sa_explore_theory_ucb;
}

sa_exploration sa_exploration_from(const sa_exploration_class *kind, size_t samples,
                                   const sa_options *options) {
    bool by_theory = is_by_theory(kind, options);
    if (samples_scores(kind, options)) {
        kind = &sa_explore_ts;
        samples = 1;
    }
    return (sa_exploration){
        .kind = kind,
        .gamma = options->gamma,
        .nu = options->nu,
        .root_lambda = sqrt(options->regularization),
        .offset = options->offset,
        .samples = samples ? samples : (size_t)options->ts_samples,
        .variance_for_deviation = options->ts_deviation == SA_DEVIATION_VARIANCE,
        .by_theory = by_theory,
        .bounds = sa_bounds_from(options),
        .given_offset = options->offset,
        .rate = options->rate,
        .steps = descends_plainly(options) ? (double)options->train_steps : 0,
        .rate_falls = options->rate_rule == SA_RATE_THEORY,
    };
}

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

#include "agent/exploration.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The published code's linear Thompson sampling samples scores, once an arm, where its paper samples parameters. */
static bool samples_scores(sa_exploration_kind kind, const sa_options *options) {
    return kind == SA_EXPLORE_PARAMETER_TS && options->linear_form == SA_LINEAR_PUBLISHED;
}

/* The lemmas are about plain gradient descent on Eq. (4): other trainings get no credit for their steps. */
static bool descends_plainly(const sa_options *options) {
    return options->optimizer == SA_OPTIMIZER_GD && options->regularize && options->rate_decay == SA_DECAY_NONE &&
           options->train_batch == 0 && options->train_sample == 0 && options->train_window == 0 && options->window == 0 &&
           options->discount == 1;
}

static bool is_by_theory(sa_exploration_kind kind, const sa_options *options) {
    switch (kind) {
    case SA_EXPLORE_UCB: return options->gamma == SA_BY_THEORY;
    case SA_EXPLORE_TS:
    case SA_EXPLORE_PARAMETER_TS: return options->nu == SA_BY_THEORY;
    default: return kind == SA_EXPLORE_THEORY_UCB;
    }
}

sa_exploration sa_exploration_from(sa_exploration_kind kind, size_t samples, const sa_options *options) {
    bool by_theory = is_by_theory(kind, options);
    if (kind == SA_EXPLORE_THEORY_UCB) kind = SA_EXPLORE_UCB;
    if (samples_scores(kind, options)) {
        kind = SA_EXPLORE_TS;
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
        .own_offset = options->offset,
        .rate = options->rate,
        .steps = descends_plainly(options) ? (double)options->train_steps : 0,
        .rate_falls = options->rate_rule == SA_RATE_THEORY,
    };
}

/* The highest of M standard normals. The quantile grows with its argument, so one call on the highest uniform does. */
static double highest_normal(const sa_stream *stream, size_t arm, size_t samples) {
    enum { AT_ONCE = 16 };
    double highest = 0, draw[AT_ONCE];
    for (size_t j = 0; j < samples; j += AT_ONCE) {
        size_t count = samples - j < AT_ONCE ? samples - j : AT_ONCE;
        sa_draw_uniforms(stream, (uint64_t)arm * samples + j, count, draw);
        for (size_t i = 0; i < count; i++)
            if (draw[i] > highest) highest = draw[i];
    }
    return sa_normal_quantile(highest);
}

/* What training after n observations leaves undone. */
static double rest(const sa_exploration *exploration, double n) {
    const sa_bounds *bounds = &exploration->bounds;
    double eta_m_lambda = exploration->rate_falls
                              ? exploration->rate * bounds->lambda / (n * bounds->depth + bounds->lambda)
                              : exploration->rate * bounds->hidden * bounds->lambda;
    return sa_bound_rest(eta_m_lambda, exploration->steps);
}

void sa_explore_by_theory(sa_exploration *exploration, const sa_exploration_round *round) {
    if (!exploration->by_theory) return;
    sa_bounds bounds = exploration->bounds;
    bounds.sub_gaussian /= round->scale; /* the noise on what the model is trained on */
    double before = round->observations, now = before + round->slate, left = rest(exploration, before), error;
    if (exploration->kind == SA_EXPLORE_UCB) {
        exploration->gamma = sa_bound_gamma(&bounds, before, round->log_det, left);
        error = sa_bound_error(&bounds, now, exploration->gamma);
    } else {
        double nu = sa_bound_nu(&bounds, round->log_det);
        /* in units of sigma = sqrt(lambda) width, where parameters are sampled in units of the width */
        exploration->nu = exploration->kind == SA_EXPLORE_PARAMETER_TS ? nu * exploration->root_lambda : nu;
        error = sa_bound_epsilon(&bounds, now, nu, left);
    }
    exploration->offset = exploration->own_offset + round->scale * error;
}

void sa_explore_luck(const sa_exploration *exploration, size_t first, size_t arms, const sa_stream *stream, double *luck) {
    for (size_t i = 0; i < arms; i++) switch (exploration->kind) {
        case SA_EXPLORE_TS: luck[i] = highest_normal(stream, first + i, exploration->samples); break;
        case SA_EXPLORE_UNIFORM:
        case SA_EXPLORE_OWN: luck[i] = sa_draw_uniform(stream, first + i); break;
        default: luck[i] = 1;
        }
}

double sa_explore_score(const sa_exploration *exploration, double mean, double width, double scale, double luck) {
    double deviation;
    switch (exploration->kind) {
    case SA_EXPLORE_UCB: return mean + scale * exploration->gamma * width + exploration->offset;
    case SA_EXPLORE_TS:
        deviation = exploration->nu * exploration->root_lambda * width;
        if (exploration->variance_for_deviation) deviation *= deviation;
        return mean + scale * deviation * luck + exploration->offset;
    case SA_EXPLORE_UNIFORM: return luck;
    default: return mean;
    }
}

void sa_explore_lift(size_t arms, const double *urgency, double *score) {
    double size = 1; /* of the other scores */
    for (size_t i = 0; i < arms; i++)
        if (!(urgency[i] > 0)) size = fmax(size, fabs(score[i]));
    for (size_t i = 0; i < arms; i++)
        if (urgency[i] > 0) score[i] = fmin(size * (2 * (double)arms + urgency[i]), DBL_MAX);
}

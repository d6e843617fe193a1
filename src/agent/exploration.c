#include "agent/exploration.h"

#include <math.h>
#include <string.h>

/* The published code's linear Thompson sampling samples scores, once an arm, where its paper samples parameters. */
static bool samples_scores(sa_exploration_kind kind, const sa_options *options) {
    return kind == SA_EXPLORE_PARAMETER_TS && options->linear_form == SA_LINEAR_PUBLISHED;
}

sa_exploration sa_exploration_from(sa_exploration_kind kind, size_t samples, const sa_options *options) {
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
        .delta = options->delta,
        .norm_bound = options->norm_bound,
        .sub_gaussian = options->sub_gaussian,
        .samples = samples ? samples : (size_t)options->ts_samples,
        .variance_for_deviation = options->ts_deviation == SA_DEVIATION_VARIANCE,
    };
}

/* The highest of M standard normals. The quantile grows with its argument, so one call on the highest uniform does. */
static double highest_normal(const sa_stream *stream, size_t arm, size_t samples) {
    double highest = 0;
    for (size_t j = 0; j < samples; j++) {
        double draw = sa_draw_uniform(stream, (uint64_t)arm * samples + j);
        if (draw > highest) highest = draw;
    }
    return sa_normal_quantile(highest);
}

double sa_explore_gamma(const sa_exploration *exploration, double log_det) {
    return exploration->sub_gaussian * sqrt(log_det - 2 * log(exploration->delta)) +
           exploration->root_lambda * exploration->norm_bound;
}

void sa_explore_luck(const sa_exploration *exploration, size_t arms, const sa_stream *stream, double *luck) {
    for (size_t i = 0; i < arms; i++) switch (exploration->kind) {
        case SA_EXPLORE_TS: luck[i] = highest_normal(stream, i, exploration->samples); break;
        case SA_EXPLORE_UNIFORM: luck[i] = sa_draw_uniform(stream, i); break;
        default: luck[i] = 1;
        }
}

double sa_explore_score(const sa_exploration *exploration, double mean, double width, double scale, double luck) {
    double deviation;
    switch (exploration->kind) {
    case SA_EXPLORE_UCB:
    case SA_EXPLORE_THEORY_UCB: return mean + scale * exploration->gamma * width + exploration->offset;
    case SA_EXPLORE_TS:
        deviation = exploration->nu * exploration->root_lambda * width;
        if (exploration->variance_for_deviation) deviation *= deviation;
        return mean + scale * deviation * luck + exploration->offset;
    case SA_EXPLORE_UNIFORM: return luck;
    default: return mean;
    }
}

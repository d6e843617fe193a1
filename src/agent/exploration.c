#include "agent/exploration.h"

#include <math.h>
#include <string.h>

sa_exploration sa_exploration_from(sa_exploration_kind kind, size_t samples, const sa_options *options) {
    return (sa_exploration){
        .kind = kind,
        .gamma = options->gamma,
        .nu = options->nu,
        .root_lambda = sqrt(options->regularization),
        .offset = options->offset,
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
    case SA_EXPLORE_UCB: return mean + scale * exploration->gamma * width + exploration->offset;
    case SA_EXPLORE_TS:
        deviation = exploration->nu * exploration->root_lambda * width;
        if (exploration->variance_for_deviation) deviation *= deviation;
        return mean + scale * deviation * luck + exploration->offset;
    case SA_EXPLORE_UNIFORM: return luck;
    default: return mean;
    }
}

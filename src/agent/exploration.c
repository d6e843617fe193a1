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

static double deviation_of(const sa_exploration *exploration, double width) {
    double deviation = exploration->nu * exploration->root_lambda * width;
    return exploration->variance_for_deviation ? deviation * deviation : deviation;
}

void sa_explore(const sa_exploration *exploration, size_t arms, const double *mean, const double *width, double scale,
                const sa_stream *stream, double *score) {
    for (size_t i = 0; i < arms; i++) switch (exploration->kind) {
        case SA_EXPLORE_UCB:
            score[i] = mean[i] + scale * exploration->gamma * width[i] + exploration->offset;
            break;
        case SA_EXPLORE_TS:
            score[i] = mean[i] + scale * deviation_of(exploration, width[i]) * highest_normal(stream, i, exploration->samples) +
                       exploration->offset;
            break;
        case SA_EXPLORE_UNIFORM: score[i] = sa_draw_uniform(stream, i); break;
        case SA_EXPLORE_GREEDY:
        case SA_EXPLORE_KNOWN: score[i] = mean[i]; break;
        }
}

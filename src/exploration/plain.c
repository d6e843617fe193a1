/* Rules without widths: greedy takes the mean; uniform a draw, so that any slate is as likely as any other;
 * known the expected score that the request brings; by-model what the model's own rule says. */
#include "exploration/exploration.h"

static double mean_alone(const sa_exploration *self, double mean, double width, double scale, double draw) {
    (void)self, (void)width, (void)scale, (void)draw;
    return mean;
}

static double draw_alone(const sa_exploration *self, double mean, double width, double scale, double draw) {
    (void)self, (void)mean, (void)width, (void)scale;
    return draw;
}

const sa_exploration_class sa_explore_greedy = {.name = "greedy", .score = mean_alone};
const sa_exploration_class sa_explore_uniform = {.name = "uniform",
                                                 .propensity = SA_PROPENSITY_UNIFORM,
                                                 .draw = sa_explore_uniform_draw,
                                                 .score = draw_alone};
const sa_exploration_class sa_explore_known = {
    .name = "known", .from = SA_SCORES_FROM_CALLER, .score = mean_alone};
const sa_exploration_class sa_explore_by_model = {
    .name = "by-model", .from = SA_SCORES_FROM_MODEL, .draw = sa_explore_uniform_draw, .score = mean_alone};

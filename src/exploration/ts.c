/* Thompson sampling of scores, the best of M samples: score = mean + scale nu sigma max_j z_j + e_t with
 * sigma = sqrt(lambda) width. By theory nu is that of Theorem 2 and e_t the epsilon of Section 4.4.
 *
 * parameter-ts draws the parameters of a linear model instead, in units of the width. */
#include "exploration/exploration.h"

/* The highest of M standard normals. The quantile grows with its argument, so one call on the highest uniform
 * does. */
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

static void draw_normals(const sa_exploration *self, size_t first, size_t arms, const sa_stream *stream,
                         double *draw) {
    for (size_t i = 0; i < arms; i++) draw[i] = highest_normal(stream, first + i, self->samples);
}

static double score(const sa_exploration *self, double mean, double width, double scale, double draw) {
    double deviation = self->nu * self->root_lambda * width;
    if (self->variance_for_deviation) deviation *= deviation;
    return mean + scale * deviation * draw + self->offset;
}

/* nu, and the offset that goes with it */
static double nu_by_theory(sa_exploration *self, const sa_exploration_round *round) {
    double before = round->observations, now = before + round->slate;
    double nu = sa_bound_nu(&self->bounds, round->log_det), rest = sa_exploration_rest(self, before);
    self->offset = round->scale * sa_bound_epsilon(&self->bounds, now, nu, rest);
    return nu;
}

static void follow_theory(sa_exploration *self, const sa_exploration_round *round) {
    self->nu = nu_by_theory(self, round);
}

/* nu is in units of sigma, and parameters are sampled in units of the width. */
static void follow_for_parameters(sa_exploration *self, const sa_exploration_round *round) {
    self->nu = nu_by_theory(self, round) * self->root_lambda;
}

/* What a width would add is not used: the model's samples take its place. */
static double mean_alone(const sa_exploration *self, double mean, double width, double scale, double draw) {
    (void)self, (void)width, (void)scale, (void)draw;
    return mean;
}

const sa_exploration_class sa_explore_ts = {.name = "ts",
                                            .reads_nu = true,
                                            .reads_samples = true,
                                            .propensity = SA_PROPENSITY_NORMAL,
                                            .varies = true,
                                            .draw = draw_normals,
                                            .score = score,
                                            .follow_theory = follow_theory};
const sa_exploration_class sa_explore_parameter_ts = {.name = "parameter-ts",
                                                      .from = SA_SCORES_FROM_PARAMETERS,
                                                      .reads_nu = true,
                                                      .score = mean_alone,
                                                      .follow_theory = follow_for_parameters};

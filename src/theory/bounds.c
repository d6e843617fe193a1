#include "theory/bounds.h"

#include <math.h>

#include "base/functions.h"
#include "base/reals.h"

/* w: how errors fall with the width */
static double width_factor(const sa_bounds *b) {
    return sa_pow(b->hidden, -1.0 / 6) * sqrt(sa_log(b->hidden));
}

double sa_bound_rest(double eta_m_lambda, double steps) {
    double factor = fabs(1 - eta_m_lambda); /* beyond 1, steps overshoot; beyond 2, they lead away */
    return factor >= 1 ? 1 : sa_pow(factor, steps / 2);
}

/* The second line of gamma_t. */
static double training_error(const sa_bounds *b, double n, double rest) {
    double w = width_factor(b), root = sqrt(n / b->lambda);
    double gamma_3 = sa_pow(n / b->lambda, 7.0 / 6) * sa_pow(b->depth, 3.5) * w * (1 + root);
    return (b->lambda + n * b->depth) * (rest * root + gamma_3);
}

double sa_bound_gamma(const sa_bounds *b, double n, double log_det, double rest) {
    double gamma_1 = 1, gamma_2 = 0, added = 0;
    if (b->approximation > 0) {
        double w = width_factor(b), depth_4 = sa_pow(b->depth, 4);
        gamma_1 = sqrt(1 + b->approximation * sa_pow(n / b->lambda, 7.0 / 6) * depth_4 * w);
        gamma_2 = b->approximation * sa_pow(n, 5.0 / 3) * depth_4 * sa_pow(b->lambda, -1.0 / 6) * w;
        added = b->approximation * training_error(b, n, rest);
    }
    double radius =
        b->sub_gaussian * sqrt(log_det + gamma_2 - 2 * sa_log(b->delta)) + sqrt(b->lambda) * b->norm_bound;
    return gamma_1 * radius + added;
}

double sa_bound_error(const sa_bounds *b, double n, double gamma) {
    if (b->approximation == 0) return 0;
    double w = width_factor(b), shrink = sa_pow(b->lambda, -2.0 / 3);
    double of_gradients = gamma * sa_pow(n, 1.0 / 6) * sa_pow(b->depth, 3.5) * shrink * w;
    double of_outputs = sa_pow(n, 2.0 / 3) * shrink * w;
    return b->approximation * (of_gradients + of_outputs);
}

double sa_bound_nu(const sa_bounds *b, double log_det) {
    double least = 1 / (22 * sa_exp(1) * sqrt(SA_PI));
    return fmax(least, b->norm_bound) + b->sub_gaussian * sqrt(log_det + 2 - 2 * sa_log(b->delta));
}

double sa_bound_epsilon(const sa_bounds *b, double n, double nu, double rest) {
    if (b->approximation == 0) return 0;
    double w = width_factor(b), root = sqrt(n / b->lambda), shrink = sa_pow(b->lambda, -2.0 / 3);
    double of_outputs = sa_pow(n, 2.0 / 3) * sa_pow(b->depth, 3) * shrink * w;
    double of_training = rest * root * sqrt(b->depth);
    double of_minimum = sa_pow(n / b->lambda, 7.0 / 6) * sa_pow(b->depth, 4) * w * (1 + root);
    double of_widths = sa_pow(n, 7.0 / 6) * shrink * sa_pow(b->depth, 4.5) * w * nu;
    return b->approximation * (of_outputs + of_training + of_minimum + of_widths);
}

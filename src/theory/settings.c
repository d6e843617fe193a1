#include "theory/settings.h"

#include <math.h>

#include "base/functions.h"
#include "base/reals.h"

double sa_setting_samples(double slate) {
    double p = 1 / (4 * sa_exp(1) * sqrt(SA_PI));
    return ceil(1 - sa_log(slate) / sa_log1p(-p));
}

double sa_setting_eta(const sa_horizon *h) {
    return 1 / (h->rounds * h->slate * h->hidden * h->depth + h->hidden * h->lambda);
}

/* No fewer than 0 steps, where the logarithm is of less than 1: then the bound on the error holds without
 * training. */
static double steps(const sa_horizon *h, double error) {
    double scale = h->rounds * h->slate * h->depth / h->lambda;
    return error <= 1 ? 0 : ceil(2 * sa_log(error) * scale);
}

double sa_setting_steps(const sa_horizon *h) {
    double n = h->rounds * h->slate;
    return steps(h, (h->lambda + n * h->depth) * sqrt(n / h->lambda));
}

double sa_setting_steps_ts(const sa_horizon *h) {
    return steps(h, 4 * h->rounds * sqrt(h->rounds * h->slate * h->depth / h->lambda));
}

double sa_setting_lambda(const sa_horizon *h) { return fmax(1 + 1 / h->rounds, h->depth * h->slate); }

static double log_sum(double a, double b) { /* log(exp a + exp b) */
    double high = fmax(a, b), low = fmin(a, b);
    return high == -INFINITY ? high : high + sa_log1p(sa_exp(low - high));
}

/* x = log m with m / (log m)^3 = exp(bound), m on the rising side, past e^3; 0 when every m will do. */
static double solve_log_ratio(double bound) {
    if (bound <= 3 - 3 * sa_log(3)) return 0;
    double x = fmax(20, 2 * bound); /* right of the solution, from where Newton's method falls to it */
    for (int i = 0; i < 100; i++) {
        double next = x - (x - 3 * sa_log(x) - bound) / (1 - 3 / x);
        if (!(next < x)) break;
        x = fmax(next, 3 + 1e-9);
    }
    return x;
}

double sa_setting_log_width(const sa_horizon *h, double lambda_0) {
    double T = sa_log(h->rounds), K = sa_log(h->slate), L = sa_log(h->depth), l = sa_log(h->lambda),
           TN = sa_log(h->contexts);
    double first = -1.5 * L - 0.5 * K + 0.5 * l + 1.5 * sa_log(fmax(0, TN + 2 * L - sa_log(h->delta)));
    double second = 6 * TN + 6 * L + sa_log(2 * TN + L - sa_log(h->delta)) + fmax(-4 * sa_log(lambda_0), 0);
    double ratio = 4 * T + 4 * K + 21 * L - 4 * l + 6 * sa_log1p(sqrt(h->rounds / h->lambda));
    ratio = log_sum(ratio, T + K + 12 * L - l);
    ratio = log_sum(ratio, 4 * T + 4 * K + 18 * L - 10 * l + 6 * sa_log(h->lambda + h->rounds * h->depth));
    return fmax(fmax(fmax(first, second), solve_log_ratio(ratio)), 0);
}

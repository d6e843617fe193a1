/* With t = mean / (sd / sqrt(n)) and nu = n - 1, P(|T| >= |t|) = I_x(nu/2, 1/2) at x = nu / (nu + t^2), the
 * regularised incomplete beta function, by its continued fraction (Numerical Recipes 6.4; Lentz's method). Of
 * I_x(a, b) and 1 - I_(1-x)(b, a) the one is taken whose fraction converges quickly, so that small
 * probabilities keep their digits. B(nu/2, 1/2) follows from B(1/2, 1/2) = pi, B(1, 1/2) = 2 and
 * B(a + 1, b) = B(a, b) a / (a + b).
 *
 * Holm (1979): the k-th smallest of n probabilities, k from 0, is multiplied by n - k, and none becomes less
 * than one before it. */
#include "results/p_value.h"

#include <math.h>
#include <stdbool.h>

#include "base/functions.h"
#include "base/reals.h"

/* 1 / (1 + d1 / (1 + d2 / (1 + ...))) */
static double fraction(double x, double a, double b) {
    const double tiny = 1e-300;
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double before = value;
        for (int half = 0; half < 2; half++) {
            double step = half ? odd : even;
            d = 1 + step * d;
            c = 1 + step / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            value *= c * d;
        }
        if (value == before) break;
    }
    return value;
}

/* B(nu / 2, 1 / 2) */
static double beta_of(size_t nu) {
    double a = nu % 2 ? 0.5 : 1, value = nu % 2 ? SA_PI : 2;
    for (; 2 * a < (double)nu; a++) value *= a / (a + 0.5);
    return value;
}

double sa_p_value(double mean, double sd, size_t count) {
    if (count < 2 || isnan(mean) || isnan(sd)) return NAN;
    if (sd == 0) return mean == 0 ? 1 : NAN; /* the same in every run: how far runs differ is not known */
    double nu = (double)count - 1, t = mean / (sd / sqrt((double)count));
    double x = nu / (nu + t * t), rest = t * t / (nu + t * t), a = nu / 2;
    double front = sa_exp(a * sa_log(x)) * sqrt(rest) / beta_of(count - 1);
    if (x == 0) return 0;
    if (x < (a + 1) / (a + 2.5)) return front / a * fraction(x, a, 0.5);
    return 1 - front / 0.5 * fraction(rest, 0.5, a);
}

void sa_holm_correct(double *p, size_t count) {
    size_t left = 0;
    double least = 0; /* of what was corrected before */
    for (size_t i = 0; i < count; i++) left += !isnan(p[i]);
    /* Corrected ones have a minus sign until all are. */
    for (; left > 0; left--) {
        size_t next = count;
        for (size_t i = 0; i < count; i++)
            if (!isnan(p[i]) && !signbit(p[i]) && (next == count || p[i] < p[next])) next = i;
        least = fmax(least, fmin(1, (double)left * p[next]));
        p[next] = -least;
    }
    for (size_t i = 0; i < count; i++)
        if (!isnan(p[i])) p[i] = fabs(p[i]);
}

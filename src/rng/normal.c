/* The normal quantile: M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988), 477-484.
 * Relative error about 1e-16 by its author; with rounding, below 1e-15 (tests/test_rng_normal.c compares it
 * with an inversion of erfc).
 *
 * With q = p - 1/2 and r = min(p, 1 - p):
 *
 *   |q| <= 0.425:              q A(s) / B(s),      s = 0.425^2 - q^2
 *   else, t = sqrt(-log r):    C(t - 1.6) / D(t - 1.6) for t <= 5,  E(t - 5) / F(t - 5) beyond, with the sign
 *                              of q
 *
 * Only +, -, *, / and sqrt are used, which IEEE 754 rounds in one way, and frexp, which is exact; the
 * compiler is told not to contract a * b + c. So the bytes are the same on every machine. */
#include "rng/stream.h"

#include <math.h>

/* log x for normal x > 0, below 1e-15 off relatively for x <= 1/2 (near 1 the error is absolute). x = 2^e f
 * with f in [sqrt(1/2), sqrt(2)), s = (f - 1) / (f + 1):  log f = 2 s (1 + s^2 / 3 + s^4 / 5 + ...), |s| <
 * 0.172. */
static double log_of(double x) {
    static const double LN2_HIGH =
        0x1.62e42fee00000p-1; /* the last bits are 0, so that e * LN2_HIGH is exact */
    static const double LN2_LOW = 0x1.a39ef35793c76p-33;
    int exponent;
    double f = frexp(x, &exponent);
    if (f < 0.70710678118654752) {
        f += f;
        exponent--;
    }
    double s = (f - 1) / (f + 1), z = s * s, sum = 0;
    for (int k = 25; k >= 3; k -= 2) sum = (sum + 1.0 / k) * z;
    return exponent * LN2_HIGH + (exponent * LN2_LOW + (2 * s + 2 * s * sum));
}

static double ratio(const double above[8], const double below[8], double x) {
    double p = above[7], q = below[7];
    for (int i = 6; i >= 0; i--) {
        p = p * x + above[i];
        q = q * x + below[i];
    }
    return p / q;
}

static double quantile_centre(double q) {
    static const double a[8] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    return q * ratio(a, b, 0.180625 - q * q);
}

static double quantile_middle(double t) {
    static const double c[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                5.76949722146069140550e0,  3.64784832476320460504e0,
                                1.27045825245236838258e0,  2.41780725177450611770e-1,
                                2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    return ratio(c, d, t - 1.6);
}

static double quantile_far(double t) {
    static const double e[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    return ratio(e, f, t - 5);
}

double sa_normal_quantile(double probability) {
    if (!(probability > 0 && probability < 1)) /* the ends, and what is no probability */
        return probability == 0 ? -INFINITY : probability == 1 ? INFINITY : NAN;
    double q = probability - 0.5;
    if (fabs(q) <= 0.425) return quantile_centre(q);
    double t = sqrt(-log_of(q < 0 ? probability : 1 - probability));
    double quantile = t <= 5 ? quantile_middle(t) : quantile_far(t);
    return q < 0 ? -quantile : quantile;
}

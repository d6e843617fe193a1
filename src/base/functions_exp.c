/* exp, and what follows from it: expm1, tanh.
 *
 * x = k ln 2 / 128 + r,  |r| <= ln 2 / 256;   exp x = 2^(k / 128) exp r,  exp r = 1 + r + r^2 / 2 + ... */
#include "base/functions.h"
#include "base/functions_pair.h"
#include "base/functions_tables.h"

typedef struct parts {
    int64_t k;
    double r, tail; /* r + tail = exp r - 1 */
} parts;

static inline parts reduce(double high, double low) {
    const double ROUND = 0x1.8p52; /* its last place is 1 */
    double steps = (high * EXP_STEPS + ROUND) - ROUND;
    double r = high - steps * EXP_STEP_HIGH; /* exact: the product has 52 bits */
    double rest = low - steps * EXP_STEP_LOW, z = r + rest, square = z * z;
    double tail = rest + square * ((0.5 + z * (1.0 / 6)) +
                                   square * ((1.0 / 24 + z * (1.0 / 120)) + square * (1.0 / 720)));
    return (parts){(int64_t)steps, r, tail};
}

pair sa_exp_pair(pair x, int64_t *exponent) {
    parts of = reduce(x.high, x.low);
    const double *power = EXP_TABLE[of.k & 127];
    pair q = add_ordered(of.r, of.tail), product = multiply_exactly(power[0], q.high);
    *exponent = of.k >> 7;
    pair sum = add_ordered(power[0], product.high);
    sum.low += product.low + (power[0] * q.low + (power[1] + power[1] * q.high));
    return sum;
}

double sa_exp(double x) {
    if (fabs(x) < 700) { /* in plain doubles: 2^-62 is lost, three times */
        parts of = reduce(x, 0);
        const double *power = EXP_TABLE[of.k & 127];
        return (power[0] + (power[1] + power[0] * (of.r + of.tail))) * power_of_two(of.k >> 7);
    }
    if (isnan(x)) return x;
    if (x > 709.79) return INFINITY;
    if (x < -746) return 0;
    int64_t exponent;
    pair result = sa_exp_pair((pair){x, 0}, &exponent);
    return scale_pair(result, exponent);
}

/* exp x - 1, |x| <= 60 */
static pair expm1_pair(double x) {
    if (fabs(x) < 0x1p-20) return (pair){x, x * x * (0.5 + x * (1.0 / 6))};
    int64_t exponent;
    pair result = sa_exp_pair((pair){x, 0}, &exponent);
    double scale = power_of_two(exponent);
    pair less = add_exactly(result.high * scale, -1);
    return add_ordered(less.high, less.low + result.low * scale);
}

double sa_expm1(double x) {
    if (!(fabs(x) < 60)) return x < 0 ? -1 : sa_exp(x); /* NaN, too */
    pair result = expm1_pair(x);
    return x == 0 ? x : result.high + result.low;
}

/* tanh |x| = e / (e + 2),  e = exp(2 |x|) - 1 */
double sa_tanh(double x) {
    if (!(fabs(x) < 25)) return isnan(x) ? x : copysign(1, x);
    if (fabs(x) < 0x1p-28) return x;
    pair e = expm1_pair(2 * fabs(x)), more = add_exactly(e.high, 2);
    more.low += e.low;
    pair result = divide_pairs(e, more);
    return copysign(result.high + result.low, x);
}

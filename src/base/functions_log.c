/* log, log1p, log10 and pow.
 *
 *   x = 2^e m,  0.6875 <= m < 1.375;   c near m with 1 / c of 10 bits,  r = m / c - 1,  |r| < 2^-7
 *   log x = e ln 2 + log c + r - r^2 / 2 + r^3 (1 / 3 - r / 4 + ...)
 *
 * r is exact as a sum of two, since m is cut into 32 bits and the rest. e ln 2 + log c is exact but for a
 * small correction, since both are multiples of 2^-42. Where m is near 1, c = 1: nothing cancels. */
#include "base/functions.h"
#include "base/functions_pair.h"
#include "base/functions_tables.h"

typedef struct parts {
    double whole, rest; /* e ln 2 + log c */
    pair r;
    double tail; /* r^3 / 3 - r^4 / 4 + ... */
} parts;

static inline parts reduce(double x, double more) {
    const double ROUND = 0x1.8p21; /* its last place is 2^-31 */
    const uint64_t FROM = 0x3fe6000000000000 /* 0.6875 */, EXPONENT = 0xfff0000000000000;
    double e = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        e = -54;
    }
    uint64_t bits = bits_of(x), past = bits - FROM;
    const double *entry = LOG_TABLE[past >> 45 & 127];
    int64_t exponent = (int64_t)past >> 52;
    e += (double)exponent;
    double m = of_bits(bits - (past & EXPONENT)), first = (m + ROUND) - ROUND,
           second = (m - first) * entry[0];
    if (more != 0 && exponent < 64) second += more * power_of_two(-exponent) * entry[0];
    pair r = add_exactly(first * entry[0] - 1, second);
    double z = r.high, square = z * z, fourth = square * square;
    double tail = z * square *
                  (((1.0 / 3 - z * (1.0 / 4)) + square * (1.0 / 5 - z * (1.0 / 6))) +
                   fourth * ((1.0 / 7 - z * (1.0 / 8)) + square * (1.0 / 9 - z * (1.0 / 10))));
    return (parts){e * LN2_HIGH + entry[1], e * LN2_LOW + entry[2], r, tail};
}

pair sa_log_pair(double x, double more) {
    parts of = reduce(x, more);
    pair half = multiply_exactly(-0.5 * of.r.high, of.r.high); /* -r^2 / 2 */
    half.low -= of.r.high * of.r.low;
    pair sum = add_ordered(of.whole, of.r.high), both = add_ordered(sum.high, half.high);
    return add_ordered(both.high, both.low + (sum.low + (of.rest + (of.r.low + (half.low + of.tail)))));
}

static double log_refused(double x) {
    if (x == 0) return -INFINITY;
    return x < 0 ? NAN : x; /* +inf and NaN as they are */
}

double sa_log(double x) {
    if (!(x > 0 && x <= DBL_MAX)) return log_refused(x);
    parts of = reduce(x, 0); /* r^2 / 2 < 2^-15 in a plain double: 2^-61 of the result is lost */
    pair sum = add_ordered(of.whole, of.r.high);
    return sum.high + (sum.low + (of.rest + (of.r.low + (of.tail - 0.5 * of.r.high * of.r.high))));
}

double sa_log1p(double x) {
    if (!(x > -1 && x <= DBL_MAX)) return x == -1 ? -INFINITY : x < -1 ? NAN : x;
    if (fabs(x) < 0x1p-54) return x;
    pair sum = add_exactly(1, x);
    return sa_log_pair(sum.high, sum.low).high;
}

double sa_log10(double x) {
    if (!(x > 0 && x <= DBL_MAX)) return log_refused(x);
    return multiply_pairs(sa_log_pair(x, 0), (pair){INVERSE_LN10_HIGH, INVERSE_LN10_LOW}).high;
}

/* ---- pow ---- */

static int is_whole(double y) { return fabs(y) >= 0x1p52 || y == (double)(int64_t)y; }
static int is_odd(double y) { return fabs(y) < 0x1p53 && is_whole(y) && (int64_t)y & 1; }

/* Where x or y is 0, infinite or NaN (and x is not 1, nor y 0). */
static double pow_special(double x, double y) {
    if (isnan(x) || isnan(y)) return NAN;
    double size = fabs(x);
    if (isinf(y)) return size == 1 ? 1 : (size > 1) == (y > 0) ? INFINITY : 0;
    double result = (size == 0) == (y < 0) ? INFINITY : 0;
    return is_odd(y) ? copysign(result, x) : result;
}

double sa_pow(double x, double y) {
    if (x == 1 || y == 0) return 1;
    if (x == 0 || !isfinite(x) || !isfinite(y)) return pow_special(x, y);
    if (x < 0 && !is_whole(y)) return NAN;
    double sign = x < 0 && is_odd(y) ? -1 : 1;
    pair logarithm = sa_log_pair(fabs(x), 0);
    double size = y * logarithm.high;
    if (!(size < 709.79)) return sign * INFINITY;
    if (!(size > -746)) return sign * 0;
    if (fabs(size) < 0x1p-60) return sign;
    pair product = multiply_exactly(y, logarithm.high);
    product.low += y * logarithm.low;
    int64_t exponent;
    pair result = sa_exp_pair(product, &exponent);
    return sign * scale_pair(result, exponent);
}

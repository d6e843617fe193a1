/* erfc x = exp(-x^2) g(x) for x >= 0, and erfc(-x) = 2 - erfc x. g falls from 1 to 0.02 where erfc
 * underflows, and is smooth: it is a polynomial of degree 10 about the middle of each of 160 parts, 32 to a
 * doubling of 1 + x. */
#include "base/functions.h"
#include "base/functions_pair.h"
#include "base/functions_tables.h"

static pair scaled_erfc(double x) {
    const double *entry = ERFC_TABLE[(bits_of(1 + x) - bits_of(1)) >> 47];
    const double *a = entry + 2; /* a[i]: of t^i */
    double t = x - entry[0], square = t * t, fourth = square * square;
    double tail = ((a[2] + a[3] * t) + square * (a[4] + a[5] * t)) +
                  fourth * (((a[6] + a[7] * t) + square * (a[8] + a[9] * t)) + fourth * a[10]);
    pair first = multiply_exactly(a[1], t), both = add_ordered(entry[1], first.high);
    return add_ordered(both.high, both.low + (first.low + (entry[2] + square * tail)));
}

double sa_erfc(double x) {
    if (isnan(x)) return x;
    double size = fabs(x);
    if (!(size < 27.5)) return x < 0 ? 2 : 0;
    pair square = multiply_exactly(size, size);
    int64_t exponent;
    pair result = sa_exp_pair((pair){-square.high, -square.low}, &exponent);
    result = multiply_pairs(result, scaled_erfc(size));
    if (x >= 0) return scale_pair(result, exponent);
    double scale = exponent < -200 ? 0 : power_of_two(exponent);
    pair less = add_ordered(2, -result.high * scale);
    return less.high + (less.low - result.low * scale);
}

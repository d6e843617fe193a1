/* atan and atan2.
 *
 *   For 0 <= y <= x:  c = i / 32 near y / x,  t = (y - c x) / (x + c y),  |t| <= 1 / 64
 *   atan(y / x) = atan c + t - t^3 / 3 + t^5 / 5 - ...
 *
 * Elsewhere by symmetry: pi / 2 - atan(x / y), pi - atan(y / -x). */
#include "base/functions.h"
#include "base/functions_pair.h"
#include "base/functions_tables.h"

/* 0 < y <= x, both within a factor 2^600 of 1 */
static pair atan_ratio(double y, double x) {
    int i = (int)(32 * (y / x) + 0.5);
    double c = i / 32.0;
    pair cx = multiply_exactly(c, x), cy = multiply_exactly(c, y);
    pair above = add_exactly(y, -cx.high), below = add_ordered(x, cy.high);
    above.low -= cx.low;
    below.low += cy.low;
    pair t = divide_pairs(above, below);
    double square = t.high * t.high;
    double tail =
        t.high * square *
        (-1.0 / 3 + square * (1.0 / 5 + square * (-1.0 / 7 + square * (1.0 / 9 - square * (1.0 / 11)))));
    pair sum = add_ordered(ATAN_TABLE[i][0], t.high);
    return add_ordered(sum.high, sum.low + (t.low + (ATAN_TABLE[i][1] + tail)));
}

static pair minus_from(double high, double low, pair x) {
    pair sum = add_ordered(high, -x.high);
    return add_ordered(sum.high, sum.low + (low - x.low));
}

/* In the first quarter: y, x >= 0, finite, not both 0. Angles that are 0 or pi / 2 to 2^-200 stay pairs of
 * doubles. */
static pair atan_quarter(double y, double x) {
    double larger = y > x ? y : x, smaller = y > x ? x : y;
    pair of_ratio = {0, 0};
    if (larger < 0x1p-500) larger *= 0x1p570, smaller *= 0x1p570;
    if (larger > 0x1p500) larger *= 0x1p-530, smaller *= 0x1p-530;
    if (smaller > larger * 0x1p-200) of_ratio = atan_ratio(smaller, larger);
    return y > x ? minus_from(HALF_PI_HIGH, HALF_PI_LOW, of_ratio) : of_ratio;
}

double sa_atan(double x) {
    if (isnan(x) || fabs(x) < 0x1p-28) return x;
    if (isinf(x)) return copysign(HALF_PI_HIGH, x);
    return copysign(atan_quarter(fabs(x), 1).high, x);
}

double sa_atan2(double y, double x) {
    if (isnan(x) || isnan(y)) return NAN;
    if (isinf(y) || isinf(x)) { /* as if they were 1 and the other one 0 */
        y = copysign(isinf(y), y);
        x = copysign(isinf(x), x);
    }
    double up = fabs(y), along = fabs(x), quotient = up / along;
    if (up == 0) return copysign(signbit(x) ? PI_HIGH : 0, y);
    if (!signbit(x) && quotient < 0x1p-30) return copysign(quotient, y); /* may be subnormal */
    pair result = atan_quarter(up, along);
    if (signbit(x)) result = minus_from(PI_HIGH, PI_LOW, result);
    return copysign(result.high, y);
}

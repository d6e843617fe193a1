/* A number as the sum of two doubles, high + low, where low is a correction: about 100 bits. For
 * functions*.c.
 *
 * T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18
 * (1971). */
#ifndef SA_BASE_FUNCTIONS_PAIR_H
#define SA_BASE_FUNCTIONS_PAIR_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "-ffast-math changes results, and drops the checks for NaN: build without it"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles: results depend on it");

typedef struct pair {
    double high, low;
} pair;

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^exponent, -1022 <= exponent <= 1023 */
static inline double power_of_two(int64_t exponent) { return of_bits((uint64_t)(exponent + 1023) << 52); }

/* a + b exactly; |a| >= |b|, or a = 0 */
static inline pair add_ordered(double a, double b) {
    double sum = a + b;
    return (pair){sum, b - (sum - a)};
}

/* a + b exactly */
static inline pair add_exactly(double a, double b) {
    double sum = a + b, of_b = sum - a;
    return (pair){sum, (a - (sum - of_b)) + (b - of_b)};
}

/* a * b, to about 2^-106 of it, while nothing overflows or underflows. The first 26 bits of each are split
 * off. */
static inline pair multiply_exactly(double a, double b) {
    const uint64_t FIRST = 0xfffffffff8000000;
    double product = a * b, a1 = of_bits(bits_of(a) & FIRST), b1 = of_bits(bits_of(b) & FIRST);
    double a2 = a - a1, b2 = b - b1;
    return (pair){product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

static inline pair multiply_pairs(pair a, pair b) {
    pair product = multiply_exactly(a.high, b.high);
    return add_ordered(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline pair divide_pairs(pair a, pair b) {
    double quotient = a.high / b.high;
    pair back = multiply_exactly(quotient, b.high);
    return add_ordered(quotient, (((a.high - back.high) - back.low) + (a.low - quotient * b.low)) / b.high);
}

/* (high + low) 2^exponent, rounded once, also where that is subnormal: in the sum with `round`, the last
 * place is then that of the subnormal numbers. 1/64 <= high < 8. */
static inline double scale_pair(pair x, int64_t exponent) {
    if (exponent > 1000) return (x.high + x.low) * 0x1p1000 * power_of_two(exponent - 1000);
    if (exponent > -1000) return (x.high + x.low) * power_of_two(exponent);
    if (exponent < -1080) return 0;
    double round = power_of_two(-1022 - exponent), rounded = x.high + x.low;
    if (x.high < round) {
        pair sum = add_ordered(round, x.high);
        rounded = (sum.high + (sum.low + x.low)) - round;
    }
    return rounded * power_of_two(exponent + 1000) * 0x1p-1000;
}

/* ---- shared cores ---- */

/* exp(high + low) = (result) 2^exponent, 1 <= high of the result < 2 or close to that; |high| < 1000. */
pair sa_exp_pair(pair x, int64_t *exponent);
/* log of x + more, x > 0 and finite, |more| <= ulp(x), to 2^-68 of it */
pair sa_log_pair(double x, double more);

#endif

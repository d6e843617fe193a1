/* sin, cos and tan.
 *
 *   x = k pi / 64 + r,  |r| <= pi / 128;   S = sin(k pi / 64),  C = cos(k pi / 64)
 *   sin x = S + C r + (S (cos r - 1) + C (sin r - r))
 *
 * r is a sum of two. Up to 2^16, k times the parts of pi / 64 is exact; beyond, x / (2 pi) is computed in
 * whole numbers (M. H. Payne and R. N. Hanek, Radian reduction for trigonometric functions, SIGNUM
 * Newsletter 18, 1983). */
#include "base/functions.h"
#include "base/functions_pair.h"
#include "base/functions_tables.h"

typedef struct angle {
    uint64_t steps; /* k modulo 128 */
    pair rest;      /* r */
} angle;

static angle reduce(double x) {
    const double ROUND = 0x1.8p52;
    double k = (x * CIRCLE_STEPS + ROUND) - ROUND;
    pair first = add_exactly(x - k * CIRCLE_STEP_1, -k * CIRCLE_STEP_2);
    pair second = add_exactly(first.high, -k * CIRCLE_STEP_3);
    return (angle){(uint64_t)(int64_t)k & 127,
                   add_ordered(second.high, second.low + (first.low - k * CIRCLE_STEP_4))};
}

/* 64 bits of 1 / (2 pi), from bit `from` after the binary point on; from >= -64 */
static uint64_t inverse_circle(int from) {
    unsigned at = (unsigned)(from + 64), word = at / 64, shift = at % 64;
    uint64_t bits = INVERSE_CIRCLE[word] << shift;
    return shift ? bits | INVERSE_CIRCLE[word + 1] >> (64 - shift) : bits;
}

/* x = M 2^q. Of 1 / (2 pi) the bits of weight 2^-q and more give whole turns; the next 192 are kept. */
static angle reduce_large(double x) {
    uint64_t bits = bits_of(x), M = (bits & 0xfffffffffffff) | 0x10000000000000, turn[3];
    int q = (int)(bits >> 52 & 2047) - 1075;
    unsigned __int128 product = 0;
    for (int i = 2; i >= 0; i--) {
        product = (product >> 64) + (unsigned __int128)M * inverse_circle(q + 64 * i);
        turn[i] = (uint64_t)product;
    }
    turn[0] += (uint64_t)1 << 56; /* half a step, so that the step is the nearest one */
    uint64_t steps = turn[0] >> 57;
    int64_t top = (int64_t)(turn[0] & (((uint64_t)1 << 57) - 1)) - ((int64_t)1 << 56); /* of 2^-64 turns */
    unsigned __int128 below = (unsigned __int128)turn[1] << 64 | turn[2];
    int minus = top < 0;
    uint64_t size = (uint64_t)(minus ? -top : top);
    if (minus && below) { /* -(top + below 2^-128) */
        below = -below;
        size--;
    }
    /* size 2^-64 + below 2^-192 turns, a step being 2^-7 turns; some 60 bits may cancel, and 130 are here */
    double part[4] = {(double)(size & 31) * 0x1p-57, (double)(uint64_t)(below >> 96) * 0x1p-89,
                      (double)(uint64_t)(below >> 64 & 0xffffffff) * 0x1p-121,
                      (double)(uint64_t)(below >> 32 & 0xffffffff) * 0x1p-153};
    pair sum = {(double)(size & ~(uint64_t)31) * 0x1p-57, 0};
    for (int i = 0; i < 4; i++) {
        pair next = add_exactly(sum.high, part[i]);
        sum = add_ordered(next.high, next.low + sum.low);
    }
    pair rest = multiply_pairs(sum, (pair){CIRCLE_STEP_HIGH, CIRCLE_STEP_LOW});
    if (minus) rest = (pair){-rest.high, -rest.low};
    if (x < 0) return (angle){(128 - steps) & 127, {-rest.high, -rest.low}};
    return (angle){steps, rest};
}

static angle angle_of(double x) { return fabs(x) <= 65536 ? reduce(x) : reduce_large(x); }

/* sin(x + quarter pi / 2) */
static pair sine_pair(angle x, uint64_t quarter) {
    uint64_t k = x.steps + 32 * quarter;
    const double *S = SINE_TABLE[k & 127], *C = SINE_TABLE[(k + 32) & 127];
    double r = x.rest.high, square = r * r;
    double cosine = square * (-0.5 + square * (1.0 / 24 + square * (-1.0 / 720 + square * (1.0 / 40320))));
    double sine =
        r * square * (-1.0 / 6 + square * (1.0 / 120 + square * (-1.0 / 5040 + square * (1.0 / 362880))));
    pair product = multiply_exactly(C[0], r), sum = add_ordered(S[0], product.high);
    double small = (C[0] - S[0] * r) * x.rest.low + (S[1] + C[1] * r) + (S[0] * cosine + C[0] * sine);
    return add_ordered(sum.high, sum.low + (product.low + small));
}

double sa_sin(double x) {
    if (!isfinite(x)) return NAN;
    if (fabs(x) < 0x1p-27) return x;
    return sine_pair(angle_of(x), 0).high;
}

double sa_cos(double x) {
    if (!isfinite(x)) return NAN;
    return sine_pair(angle_of(x), 1).high;
}

double sa_tan(double x) {
    if (!isfinite(x)) return NAN;
    if (fabs(x) < 0x1p-27) return x;
    angle of = angle_of(x);
    return divide_pairs(sine_pair(of, 0), sine_pair(of, 1)).high;
}

/* Words that the kernels' bodies share: loops that unroll, shuffles, and fused operations in plain C. */
#ifndef SA_LINALG_KERNEL_WORDS_H
#define SA_LINALG_KERNEL_WORDS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "linalg/real.h"

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed between files */
#endif

#define INLINE static inline __attribute__((always_inline))

#if SA_REAL_BITS == 32
#define PER_PRECISION(single, double_) single
typedef int lane_index;
#else
#define PER_PRECISION(single, double_) double_
typedef long long lane_index;
#endif
typedef lane_index four_indices __attribute__((vector_size(4 * sizeof(lane_index))));
typedef real sixteen_bytes __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
typedef real four_reals __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define SHUFFLE(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define UNROLL _Pragma("GCC unroll 32")
#define SHUFFLE(x, y, a, b, c, d) __builtin_shuffle(x, y, (four_indices){a, b, c, d})
#endif
/* the numbers of a register's lanes */
static const lane_index in_order[16]
    __attribute__((aligned(64), unused)) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#define EACH(i, count) UNROLL for (size_t i = 0; i < (count); ++i)

/* a b + c, rounded once, where the compiler may not use an instruction for it. In single precision the
 * product is exact in double; the sum is rounded there to odd, which the second rounding, to 24 bits, cannot
 * tell from the exact one. In double precision this is the C library's business. */
#if SA_REAL_BITS == 32 && !defined(__FP_FAST_FMAF)
typedef double two_doubles __attribute__((vector_size(16)));
typedef long long two_longs __attribute__((vector_size(16)));

/* a b + c, rounded to odd */
INLINE two_doubles fused_odd(two_doubles a, two_doubles b, two_doubles c) {
    two_doubles product = a * b, sum = product + c;
    two_doubles of_c = sum - product, error = (product - (sum - of_c)) + (c - of_c);
    two_longs inexact = (error > 0) | (error < 0), toward_0 = (error > 0) ^ (sum > 0);
    two_longs bits = (two_longs)sum, even = inexact & ~bits & 1;
    return (two_doubles)(bits + ((even ^ toward_0) - toward_0)); /* plus even, or minus */
}

#if defined(__SSE2__) /* compilers convert one by one */
#define HALF_OF(x, half) ((two_doubles)_mm_cvtps_pd((half) ? _mm_movehl_ps(x, x) : (__m128)(x)))
#define HALVES(low, high) ((four_reals)_mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)))
#else
#define HALF_OF(x, half) ((two_doubles){(x)[2 * (half)], (x)[2 * (half) + 1]})
#define HALVES(low, high) ((four_reals){(real)(low)[0], (real)(low)[1], (real)(high)[0], (real)(high)[1]})
#endif

INLINE four_reals fused_four(four_reals a, four_reals b, four_reals c) {
    two_doubles low = fused_odd(HALF_OF(a, 0), HALF_OF(b, 0), HALF_OF(c, 0));
    two_doubles high = fused_odd(HALF_OF(a, 1), HALF_OF(b, 1), HALF_OF(c, 1));
    return HALVES(low, high);
}

INLINE sixteen_bytes fused_lanes(sixteen_bytes a, sixteen_bytes b, sixteen_bytes c) {
    return fused_four(a, b, c);
}
#else
INLINE real fused(real a, real b, real c) { return (real)PER_PRECISION(fmaf, fma)(a, b, c); }

INLINE sixteen_bytes fused_lanes(sixteen_bytes a, sixteen_bytes b, sixteen_bytes c) {
    EACH(i, 16 / sizeof(real)) c[i] = fused(a[i], b[i], c[i]);
    return c;
}

INLINE four_reals fused_four(four_reals a, four_reals b, four_reals c) {
    EACH(i, 4) c[i] = fused(a[i], b[i], c[i]);
    return c;
}
#endif

#endif

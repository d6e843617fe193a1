/* SHA-256 (FIPS 180-4). For a block of 16 words W_0 ... W_15, extended by W_t = s1(W_t-2) + W_t-7 +
 * s0(W_t-15) + W_t-16:
 *
 *   T1 = h + S1(e) + Ch(e, f, g) + K_t + W_t,   T2 = S0(a) + Maj(a, b, c)
 *   h g f e d c b a  <-  g f e (d + T1) c b a (T1 + T2)
 *
 * K_t and the first state are the first 32 bits of the fractions of cube and square roots of the first
 * primes. */
#include "base/sha256_blocks.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* clang-format off */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
/* clang-format on */

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* One round with the variables a to h at these places of s. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
    do {                                                                                                     \
        uint32_t one = s[h] + (turn(s[e], 6) ^ turn(s[e], 11) ^ turn(s[e], 25)) +                            \
                       ((s[e] & s[f]) ^ (~s[e] & s[g])) + K[i] + w[i];                                       \
        uint32_t two = (turn(s[a], 2) ^ turn(s[a], 13) ^ turn(s[a], 22)) +                                   \
                       ((s[a] & s[b]) ^ (s[a] & s[c]) ^ (s[b] & s[c]));                                      \
        s[d] += one;                                                                                         \
        s[h] = one + two;                                                                                    \
    } while (0)

static void take_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i += 8) { /* eight rounds bring each of the eight variables back to its place */
        ROUND(0, 1, 2, 3, 4, 5, 6, 7, i);
        ROUND(7, 0, 1, 2, 3, 4, 5, 6, i + 1);
        ROUND(6, 7, 0, 1, 2, 3, 4, 5, i + 2);
        ROUND(5, 6, 7, 0, 1, 2, 3, 4, i + 3);
        ROUND(4, 5, 6, 7, 0, 1, 2, 3, i + 4);
        ROUND(3, 4, 5, 6, 7, 0, 1, 2, i + 5);
        ROUND(2, 3, 4, 5, 6, 7, 0, 1, i + 6);
        ROUND(1, 2, 3, 4, 5, 6, 7, 0, i + 7);
    }
    for (int i = 0; i < 8; i++) state[i] += s[i];
}

void sa_sha256_blocks_plain(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (size_t i = 0; i < count; i++) take_block(state, blocks + 64 * i);
}

#if defined(__x86_64__)

/* The processor's own rounds, two at a time: it wants the variables as (a, b, e, f) and (c, d, g, h), the
 * first in the highest place, and four words of W at a time. */
__attribute__((target("sha,sse4.1"))) static void blocks_of_processor(uint32_t state[8],
                                                                      const uint8_t *blocks, size_t count) {
    const __m128i bytes = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203); /* highest byte first */
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (; count > 0; count--, blocks += 64) {
        __m128i w[16], abef_before = abef, cdgh_before = cdgh;
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            if (i < 4)
                w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(blocks + 16 * i)),
                                        bytes);
            else
                w[i] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]),
                                                          _mm_alignr_epi8(w[i - 1], w[i - 2], 4)),
                                            w[i - 1]);
            __m128i sum = _mm_add_epi32(w[i], _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    uint32_t first[4], second[4];
    memcpy(first, &abef, sizeof first);
    memcpy(second, &cdgh, sizeof second);
    state[0] = first[3], state[1] = first[2], state[4] = first[1], state[5] = first[0];
    state[2] = second[3], state[3] = second[2], state[6] = second[1], state[7] = second[0];
}

/* Leaf 7, EBX bit 29: the rounds; leaf 1, ECX bits 9 and 19: SSSE3 and SSE4.1. */
static bool has_rounds(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 9 & 1) || !(c >> 19 & 1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1;
}

#endif

bool sa_sha256_blocks_native(uint32_t state[8], const uint8_t *blocks, size_t count) {
#if defined(__x86_64__)
    static _Atomic int known; /* 1: it has them, 2: not */
    int has = known;
    if (!has) known = has = has_rounds() ? 1 : 2;
    if (has == 1) {
        blocks_of_processor(state, blocks, count);
        return true;
    }
#endif
    (void)state, (void)blocks, (void)count;
    return false;
}

void sa_sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count) {
    if (count > 0 && !sa_sha256_blocks_native(state, blocks, count))
        sa_sha256_blocks_plain(state, blocks, count);
}

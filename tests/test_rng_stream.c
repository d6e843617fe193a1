/* Streams by address: the bytes are pinned, since every published result depends on them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <Random123/philox.h>

#include "rng/stream.h"

/* Random123's own known answers for philox4x32-10 (kat_vectors). */
static void test_philox_known_answers(void **state) {
    (void)state;
    philox4x32_ctr_t ones = {{~0u, ~0u, ~0u, ~0u}};
    philox4x32_key_t key_ones = {{~0u, ~0u}};
    philox4x32_ctr_t out = philox4x32(ones, key_ones);
    assert_int_equal(out.v[0], 0x408f276du);
    assert_int_equal(out.v[1], 0x41c83b0eu);
    assert_int_equal(out.v[2], 0xa20bc7c6u);
    assert_int_equal(out.v[3], 0x6d5451fdu);
    sa_stream zero = {0};
    assert_true(sa_draw_bits(&zero, 0) == UINT64_C(0xe169c58d6627e8d5));
    assert_true(sa_draw_bits(&zero, 1) == UINT64_C(0x9b00dbd8bc57ac4c));
}

/* Key and counter words go where the header says. */
static void test_address(void **state) {
    (void)state;
    sa_stream stream = sa_stream_at(0x299f31d0a4093822, 0, 0x13198a2e, 0x85a308d3);
    philox4x32_ctr_t counter = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0}};
    philox4x32_key_t key = {{0xa4093822, 0x299f31d0}};
    philox4x32_ctr_t out = philox4x32(counter, key);
    uint64_t index = (uint64_t)0x243f6a88 * 2;
    assert_true(sa_draw_bits(&stream, index) == (out.v[0] | (uint64_t)out.v[1] << 32));
    assert_true(sa_draw_bits(&stream, index + 1) == (out.v[2] | (uint64_t)out.v[3] << 32));
}

static void test_pinned_draws(void **state) {
    (void)state;
    sa_stream contexts = sa_stream_at(1, SA_PURPOSE_CONTEXTS, 0, 0);
    assert_true(sa_draw_bits(&contexts, 0) == UINT64_C(0x6b5c693b2fe424f7));
    assert_true(sa_draw_bits(&contexts, 3) == UINT64_C(0x280aa3a74a192cb5));
    assert_true(sa_draw_uniform(&contexts, 0) == 0x1.ad71a4ecbf90ap-2);
    assert_true(sa_draw_normal(&contexts, 0) == -0x1.a0bb9ba101b97p-3);
    assert_true(sa_draw_normal(&contexts, 3) == -0x1.02625167f6cdep+0);
    sa_stream noise = sa_stream_at(UINT64_C(12345678901234567), SA_PURPOSE_NOISE, 7, (UINT64_C(5) << 32) + 9);
    assert_true(sa_draw_bits(&noise, 0) == UINT64_C(0xe03149d07de7f748));
    assert_true(sa_draw_normal(&noise, 3) == -0x1.f2b3040a3548dp+0);
}

/* Every coordinate of the address matters, the high halves too. */
static void test_streams_differ(void **state) {
    (void)state;
    uint64_t high = UINT64_C(1) << 32;
    sa_stream streams[] = {
        sa_stream_at(1, SA_PURPOSE_NOISE, 2, 3),        sa_stream_at(2, SA_PURPOSE_NOISE, 2, 3),
        sa_stream_at(1 + high, SA_PURPOSE_NOISE, 2, 3), sa_stream_at(1, SA_PURPOSE_WEIGHTS, 2, 3),
        sa_stream_at(1, SA_PURPOSE_NOISE, 3, 3),        sa_stream_at(1, SA_PURPOSE_NOISE, 2, 4),
        sa_stream_at(1, SA_PURPOSE_NOISE, 2, 3 + high)};
    uint64_t first[8];
    for (size_t i = 0; i < 7; i++) first[i] = sa_draw_bits(&streams[i], 0);
    first[7] = sa_draw_bits(&streams[0], 2 * high);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < i; j++) assert_true(first[i] != first[j]);
}

/* Filling an array gives the same numbers as one draw at a time, whatever the first index and the count. */
static void test_fills_equal_draws(void **state) {
    (void)state;
    sa_stream stream = sa_stream_at(5, SA_PURPOSE_EXPLORATION, 1, 9);
    for (uint64_t first = 0; first < 4; first++)
        for (size_t count = 0; count < 9; count++) {
            double normals[10], uniforms[10];
            normals[count] = uniforms[count] = 77;
            sa_draw_normals(&stream, first, count, normals);
            sa_draw_uniforms(&stream, first, count, uniforms);
            for (size_t i = 0; i < count; i++) {
                assert_true(normals[i] == sa_draw_normal(&stream, first + i));
                assert_true(uniforms[i] == sa_draw_uniform(&stream, first + i));
            }
            assert_true(normals[count] == 77 && uniforms[count] == 77);
        }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* sqrt(n) times the largest distance of the sample's distribution function from the true one. */
static double kolmogorov(double *sample, size_t n, double (*distribution)(double)) {
    double largest = 0;
    qsort(sample, n, sizeof *sample, ascending);
    for (size_t i = 0; i < n; i++) {
        double f = distribution(sample[i]);
        largest = fmax(largest, fmax(f - (double)i / (double)n, (double)(i + 1) / (double)n - f));
    }
    return sqrt((double)n) * largest;
}

static double normal_distribution(double x) { return 0.5 * erfc(-x / sqrt(2)); }
static double uniform_distribution(double x) { return x; }

/* A right program with a random seed exceeds 1.95 with probability 1e-3; this seed does not. */
static void test_distributions(void **state) {
    (void)state;
    enum { N = 200000 };
    double *sample = malloc(N * sizeof *sample);
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_NOISE, 0, 1);
    sa_draw_normals(&stream, 0, N, sample);
    assert_true(kolmogorov(sample, N, normal_distribution) < 1.95);
    sa_draw_uniforms(&stream, 0, N, sample);
    assert_true(kolmogorov(sample, N, uniform_distribution) < 1.95);
    assert_true(sample[0] > 0 && sample[N - 1] < 1);
    free(sample);
}

static void test_below(void **state) {
    (void)state;
    enum { N = 70000 };
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_TRAINING, 0, 0);
    size_t counts[7] = {0};
    for (uint64_t i = 0; i < N; i++) counts[sa_draw_below(&stream, i, 7)]++;
    for (size_t i = 0; i < 7; i++) assert_true(fabs((double)counts[i] - 10000) < 5 * sqrt(10000 * 6 / 7.0));
    assert_true(sa_draw_below(&stream, 0, 1) == 0);
    assert_true(sa_draw_below(&stream, 0, UINT64_MAX) < UINT64_MAX);
}

static void test_sphere(void **state) {
    (void)state;
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_CONTEXTS, 0, 0);
    double points[50 * 7], sums[7] = {0};
    sa_draw_sphere(&stream, 0, 50, 7, points);
    for (size_t i = 0; i < 50; i++) {
        double squares = 0;
        for (size_t j = 0; j < 7; j++)
            squares += points[i * 7 + j] * points[i * 7 + j], sums[j] += points[i * 7 + j];
        assert_true(fabs(squares - 1) < 1e-14);
    }
    for (size_t j = 0; j < 7; j++) assert_true(fabs(sums[j]) < 5 * sqrt(50 / 7.0));
    double line[3];
    sa_draw_sphere(&stream, 0, 3, 1, line); /* on the line the sphere is -1 and 1 */
    for (size_t i = 0; i < 3; i++) assert_true(fabs(line[i]) == 1);
}

/* Every ordered triple of different numbers below 5 is as likely as any other, whatever was drawn before. */
static void test_distinct(void **state) {
    (void)state;
    int seen[125] = {0}, triples = 0;
    for (uint64_t round = 0; round < 60000; round++) {
        uint64_t out[3];
        sa_stream stream = sa_stream_at(3, SA_PURPOSE_CONTEXTS, 1, round);
        sa_draw_distinct(&stream, 4, 3, 5, out);
        for (int i = 0; i < 3; i++) assert_true(out[i] < 5 && out[i] != out[(i + 1) % 3]);
        seen[out[0] * 25 + out[1] * 5 + out[2]]++;
    }
    for (int i = 0; i < 125; i++) {
        if (!seen[i]) continue;
        triples++;
        assert_true(abs(seen[i] - 1000) < 190); /* 6 deviations of Binomial(60000, 1/60) */
    }
    assert_int_equal(triples, 60);
    uint64_t all[100], sum = 0;
    sa_stream stream = sa_stream_at(3, SA_PURPOSE_CONTEXTS, 1, 0);
    sa_draw_distinct(&stream, 0, 100, 100, all);
    bool there[100] = {false};
    for (int i = 0; i < 100; i++) {
        assert_true(all[i] < 100 && !there[all[i]]);
        there[all[i]] = true;
        sum += all[i] == (uint64_t)i;
    }
    assert_true(sum < 10); /* fixed points are one in the mean: 10 with less than 1e-6 */
    sa_draw_distinct(&stream, 0, 0, 100, all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distinct),       cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_address),        cmocka_unit_test(test_pinned_draws),
        cmocka_unit_test(test_streams_differ), cmocka_unit_test(test_fills_equal_draws),
        cmocka_unit_test(test_distributions),  cmocka_unit_test(test_below),
        cmocka_unit_test(test_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

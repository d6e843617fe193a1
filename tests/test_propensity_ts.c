/* Probabilities of slates under Thompson sampling: against a million draws, against closed forms, and that
 * they add up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exploration/ts_propensity.h"
#include "rng/stream.h"

enum { ARMS = 6, SLATE = 3, DRAWS = 1000000 };
static const double MEAN[ARMS] = {0.1, 0.4, 0.35, -0.2, 0.3, 0.05};
static const double DEVIATION[ARMS] = {0.3, 0.1, 0.2, 0.5, 0.02, 0.25};

/* The highest of M normals for each arm, then the SLATE highest arms. */
static void draw_slate(const sa_ts_scores *scores, const sa_stream *stream, uint64_t round, size_t *slate) {
    double value[ARMS];
    for (size_t a = 0; a < ARMS; a++) {
        double highest = -INFINITY;
        for (size_t j = 0; j < scores->samples; j++)
            highest = fmax(highest, sa_draw_normal(stream, (round * ARMS + a) * scores->samples + j));
        value[a] = scores->mean[a] + scores->deviation[a] * highest;
    }
    for (size_t k = 0; k < SLATE; k++) {
        size_t best = 0;
        for (size_t a = 1; a < ARMS; a++)
            if (value[a] > value[best]) best = a;
        slate[k] = best;
        value[best] = -INFINITY;
    }
}

/* Four standard errors; with some forty comparisons a correct program fails with probability 0.003, and the
 * seed is fixed. */
static void assert_share(size_t hits, size_t draws, double probability) {
    double share = (double)hits / (double)draws,
           error = sqrt(probability * (1 - probability) / (double)draws);
    if (fabs(share - probability) > 4 * error + 1e-9)
        fail_msg("%.6f of the draws, and the probability is %.6f", share, probability);
}

static void compare_with_draws(size_t samples, size_t draws) {
    const sa_ts_scores scores = {ARMS, MEAN, DEVIATION, samples, 0};
    const sa_stream stream = sa_stream_at(7, SA_PURPOSE_EXPLORATION, samples, 0);
    static const size_t slates[4][SLATE] = {{1, 2, 0}, {3, 0, 2}, {4, 1, 2}, {5, 3, 1}};
    size_t hits[4][SLATE] = {{0}}, at[SLATE][ARMS] = {{0}}, slate[SLATE];
    for (uint64_t i = 0; i < draws; i++) {
        draw_slate(&scores, &stream, i, slate);
        for (size_t k = 0; k < SLATE; k++) at[k][slate[k]]++;
        for (size_t s = 0; s < 4; s++)
            for (size_t k = 0; k < SLATE && slate[k] == slates[s][k]; k++) hits[s][k]++;
    }
    double prefix[SLATE], position[SLATE * ARMS];
    for (size_t s = 0; s < 4; s++) {
        assert_int_equal(sa_ts_prefix_propensities(&scores, slates[s], SLATE, prefix), SA_OK);
        for (size_t k = 0; k < SLATE; k++) assert_share(hits[s][k], draws, prefix[k]);
    }
    assert_int_equal(sa_ts_position_propensities(&scores, SLATE, position), SA_OK);
    for (size_t k = 0; k < SLATE; k++)
        for (size_t a = 0; a < ARMS; a++) assert_share(at[k][a], draws, position[k * ARMS + a]);
}

static void test_draws(void **state) {
    (void)state;
    compare_with_draws(1, DRAWS);
    compare_with_draws(10, DRAWS / 4);
}

/* All ordered slates together have probability 1, and those that begin alike that of their prefix. */
static void test_sums(void **state) {
    (void)state;
    for (size_t samples = 1; samples <= 10; samples += 9) {
        const sa_ts_scores scores = {ARMS, MEAN, DEVIATION, samples, 0};
        double all = 0, prefix[SLATE], position[SLATE * ARMS], marginal[SLATE][ARMS] = {{0}},
               next[SLATE * ARMS];
        for (size_t a = 0; a < ARMS; a++)
            for (size_t b = 0; b < ARMS; b++)
                for (size_t c = 0; c < ARMS; c++) {
                    if (a == b || a == c || b == c) continue;
                    const size_t slate[SLATE] = {a, b, c};
                    assert_int_equal(sa_ts_prefix_propensities(&scores, slate, SLATE, prefix), SA_OK);
                    all += prefix[2];
                    for (size_t k = 0; k < SLATE; k++) marginal[k][slate[k]] += prefix[2];
                }
        assert_true(fabs(all - 1) < 1e-12);
        assert_int_equal(sa_ts_position_propensities(&scores, SLATE, position), SA_OK);
        for (size_t k = 0; k < SLATE; k++)
            for (size_t a = 0; a < ARMS; a++)
                assert_true(fabs(position[k * ARMS + a] - marginal[k][a]) < 1e-12);
        const size_t slate[SLATE] = {2, 0, 5};
        assert_int_equal(sa_ts_prefix_propensities(&scores, slate, SLATE, prefix), SA_OK);
        double own[SLATE];
        assert_int_equal(sa_ts_slate_positions(&scores, slate, SLATE, own), SA_OK);
        for (size_t k = 0; k < SLATE; k++) assert_true(fabs(own[k] - position[k * ARMS + slate[k]]) < 1e-14);
        assert_int_equal(sa_ts_next_propensities(&scores, slate, SLATE, next), SA_OK);
        for (size_t k = 0; k < SLATE; k++) {
            double sum = 0;
            for (size_t a = 0; a < ARMS; a++) sum += next[k * ARMS + a];
            assert_true(fabs(sum - (k ? prefix[k - 1] : 1)) < 1e-12);
            assert_true(fabs(next[k * ARMS + slate[k]] - prefix[k]) < 1e-12);
        }
    }
}

/* Two arms: P(s_0 > s_1) = Phi((m_0 - m_1) / sqrt(d_0^2 + d_1^2)), over many orders of magnitude; deviation 0
 * is a step. */
static void test_two_arms(void **state) {
    (void)state;
    static const double deviations[] = {0, 1e-12, 1e-6, 1e-3, 0.1, 1, 100};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++)
            for (double apart = -1; apart <= 1; apart += 0.25) {
                const double mean[2] = {apart, 0}, deviation[2] = {deviations[i], deviations[j]};
                double both = hypot(deviations[i], deviations[j]), prefix[2];
                if (both == 0 && apart == 0) continue; /* a tie */
                const sa_ts_scores scores = {2, mean, deviation, 1, 0};
                const size_t slate[2] = {0, 1};
                assert_int_equal(sa_ts_prefix_propensities(&scores, slate, 2, prefix), SA_OK);
                double wanted = both == 0 ? apart > 0 : 0.5 * erfc(-apart / both / sqrt(2));
                if (fabs(prefix[0] - wanted) > 1e-8 || fabs(prefix[1] - wanted) > 1e-8)
                    fail_msg("%g %g %g: %.15g, not %.15g", apart, deviation[0], deviation[1], prefix[0],
                             wanted);
                if (i > 2 && j > 2) assert_true(fabs(prefix[0] - wanted) < 1e-12);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws), cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_two_arms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

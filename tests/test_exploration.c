/* From estimates and widths to optimistic scores: the formulas, and the distribution of Thompson samples. */
#include <math.h>
#include <stdlib.h>

#include "test_file_scratch.h"
#include "test_parts.h"

enum { ARMS = 20000 };

static double mean[ARMS], width[ARMS], score[ARMS];
static const sa_stream stream = {.seed = 12, .purpose = SA_PURPOSE_EXPLORATION, .run = 3, .round = 40};

static sa_exploration exploration(const sa_exploration_class *kind, size_t samples, sa_deviation deviation) {
    sa_options *options = sa_options_new("paper");
    assert_non_null(options);
    options->gamma = 0.75;
    options->nu = 0.5;
    options->regularization = 4;
    options->ts_samples = 10;
    options->ts_deviation = deviation;
    sa_exploration out = sa_options_exploration(kind, samples, options);
    out.offset = 0.125; /* as theory sets it */
    sa_options_destroy(options);
    return out;
}

/* As the agent does it: draws first, then each arm's score. */
static void explore(const sa_exploration *how, size_t arms, const double *means, const double *widths,
                    double scale, const sa_stream *from, double *out) {
    static double draw[ARMS];
    sa_explore_draw(how, 0, arms, from, draw);
    for (size_t i = 0; i < arms; i++) out[i] = how->kind->score(how, means[i], widths[i], scale, draw[i]);
}

static void fill(double mean_value, double width_value) {
    for (size_t i = 0; i < ARMS; i++) {
        mean[i] = mean_value;
        width[i] = width_value;
    }
}

static void near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

/* score = mean + scale gamma width + e_t; gamma 3/4, e_t 1/8 */
static void ucb_adds_scaled_widths_and_the_offset(void **state) {
    (void)state;
    sa_exploration ucb = exploration(sa_exploration_find("ucb"), 0, SA_DEVIATION_SIGMA);
    const double means[] = {1, -2, 0}, widths[] = {2, 0, 0.5};
    double out[3];
    explore(&ucb, 3, means, widths, 1, &stream, out);
    near(out[0], 1 + 0.75 * 2 + 0.125, 1e-15);
    near(out[1], -2 + 0.125, 1e-15);
    near(out[2], 0.75 * 0.5 + 0.125, 1e-15);
    explore(&ucb, 3, means, widths, 8, &stream, out);
    near(out[0], 1 + 8 * 0.75 * 2 + 0.125, 1e-14);
    near(out[1], -2 + 0.125, 1e-15);
}

static void greedy_and_known_are_the_mean(void **state) {
    (void)state;
    const double means[] = {1, -2, 0.3}, widths[] = {5, 6, 7};
    const sa_exploration_class *const kinds[] = {sa_exploration_find("greedy"), sa_exploration_find("known")};
    for (size_t k = 0; k < 2; k++) {
        sa_exploration greedy = exploration(kinds[k], 0, SA_DEVIATION_SIGMA);
        double out[3];
        explore(&greedy, 3, means, widths, 3, &stream, out);
        assert_memory_equal(out, means, sizeof out);
    }
}

/* ---- distributions ---- */

static double normal_cdf(double z) { return 0.5 * erfc(-z / sqrt(2)); }

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The Kolmogorov-Smirnov distance times sqrt(n) of (value - centre) / deviation from the highest of M
 * standard normals, or from the uniform on (0, 1) with M = 0. Above 2.5 with probability 2 exp(-2 * 2.5^2) =
 * 7e-6 in a correct program. */
static double distance(const double *values, double centre, double deviation, int samples) {
    static double sorted[ARMS];
    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, ARMS, sizeof *sorted, by_value);
    double largest = 0;
    for (size_t i = 0; i < ARMS; i++) {
        double z = (sorted[i] - centre) / deviation, p = samples ? pow(normal_cdf(z), samples) : z;
        largest = fmax(largest, fmax(fabs(p - (double)i / ARMS), fabs(p - (double)(i + 1) / ARMS)));
    }
    return largest * sqrt(ARMS);
}

static void check_samples(size_t samples, sa_deviation deviation, double scale, double expected_deviation) {
    sa_exploration ts = exploration(sa_exploration_find("ts"), samples, deviation);
    int highest_of = samples ? (int)samples : 10;
    fill(2, 0.3);
    explore(&ts, ARMS, mean, width, scale, &stream, score);
    double far = distance(score, 2.125, expected_deviation, highest_of);
    print_message("Thompson samples, M = %d, %s: sqrt(n) D = %.2f\n", highest_of,
                  deviation == SA_DEVIATION_SIGMA ? "deviation nu sigma" : "deviation (nu sigma)^2", far);
    assert_true(far < 2.5);
    /* it can fail: 10% off in the deviation, or one sample less or more, are seen */
    assert_true(distance(score, 2.125, 1.1 * expected_deviation, highest_of) > 2.5);
    assert_true(distance(score, 2.125, expected_deviation, highest_of + 1) > 2.5);
}

/* nu 1/2, lambda 4, width 0.3: sigma = 0.6, nu sigma = 0.3. */
static void thompson_samples_have_their_distribution(void **state) {
    (void)state;
    check_samples(1, SA_DEVIATION_SIGMA, 1, 0.3);
    check_samples(0, SA_DEVIATION_SIGMA, 1, 0.3); /* as --ts-samples says: 10 */
    check_samples(10, SA_DEVIATION_SIGMA, 5, 1.5);
    check_samples(1, SA_DEVIATION_VARIANCE, 1, 0.09);
    check_samples(10, SA_DEVIATION_VARIANCE, 5, 0.45);
}

/* Samples of neighbouring arms, and of neighbouring rounds, are independent: correlations of n pairs are
 * within 4.5 / sqrt(n) of 0, which fails with probability 7e-6 each. */
static void check_independence(size_t samples) {
    static double next[ARMS];
    sa_exploration ts = exploration(sa_exploration_find("ts"), samples, SA_DEVIATION_SIGMA);
    sa_stream later = stream;
    later.round++;
    fill(0, 1);
    explore(&ts, ARMS, mean, width, 1, &stream, score);
    explore(&ts, ARMS, mean, width, 1, &later, next);
    double centre = 0, variance = 0, arms = 0, rounds = 0;
    for (size_t i = 0; i < ARMS; i++) centre += score[i] / ARMS;
    for (size_t i = 0; i < ARMS; i++) variance += (score[i] - centre) * (score[i] - centre) / ARMS;
    for (size_t i = 0; i + 1 < ARMS; i++) {
        arms += (score[i] - centre) * (score[i + 1] - centre) / variance / ARMS;
        rounds += (score[i] - centre) * (next[i] - centre) / variance / ARMS;
    }
    near(arms, 0, 4.5 / sqrt(ARMS));
    near(rounds, 0, 4.5 / sqrt(ARMS));
}

static void thompson_samples_are_independent(void **state) {
    (void)state;
    check_independence(1);
    check_independence(10);
}

/* An arm's sample depends on its index alone, and an arm that is known for certain gets its mean. */
static void thompson_samples_can_be_repeated(void **state) {
    (void)state;
    sa_exploration ts = exploration(sa_exploration_find("ts"), 10, SA_DEVIATION_SIGMA);
    double few[5];
    fill(1, 0.5);
    width[3] = 0;
    explore(&ts, ARMS, mean, width, 1, &stream, score);
    explore(&ts, 5, mean, width, 1, &stream, few);
    assert_memory_equal(few, score, sizeof few);
    near(score[3], 1.125, 1e-15);
}

/* Bounds on a width are bounds on the score: it rises with the width where the draw is positive, and falls
 * where it is not. */
static void scores_are_monotone_in_the_width(void **state) {
    (void)state;
    static const sa_deviation deviations[] = {SA_DEVIATION_SIGMA, SA_DEVIATION_VARIANCE};
    static double draw[ARMS];
    for (size_t d = 0; d < 2; d++) {
        sa_exploration ts = exploration(sa_exploration_find("ts"), 1, deviations[d]);
        sa_explore_draw(&ts, 0, ARMS, &stream, draw);
        for (size_t i = 0; i < 100; i++)
            for (double w = 0; w < 3; w += 0.5) {
                double narrow = ts.kind->score(&ts, 1, w, 2, draw[i]),
                       wide = ts.kind->score(&ts, 1, w + 0.5, 2, draw[i]);
                assert_true(draw[i] > 0 ? wide > narrow : wide < narrow);
            }
    }
    sa_exploration ucb = exploration(sa_exploration_find("ucb"), 0, SA_DEVIATION_SIGMA);
    assert_true(ucb.kind->score(&ucb, 1, 2, 1, 1) > ucb.kind->score(&ucb, 1, 1.9, 1, 1));
}

static void uniform_scores_are_uniform(void **state) {
    (void)state;
    sa_exploration random = exploration(sa_exploration_find("uniform"), 0, SA_DEVIATION_SIGMA);
    fill(100, 100);
    explore(&random, ARMS, mean, width, 7, &stream, score);
    assert_true(distance(score, 0, 1, 0) < 2.5);
    assert_true(distance(score, 0, 1.05, 0) > 2.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ucb_adds_scaled_widths_and_the_offset),
        cmocka_unit_test(greedy_and_known_are_the_mean),
        cmocka_unit_test(thompson_samples_have_their_distribution),
        cmocka_unit_test(thompson_samples_are_independent),
        cmocka_unit_test(thompson_samples_can_be_repeated),
        cmocka_unit_test(scores_are_monotone_in_the_width),
        cmocka_unit_test(uniform_scores_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The companion by itself: what overflows changes nothing, and what was forgotten is estimated from until
 * there is an observation again. */
/* clang-format off */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

#include "model/companion.h"

enum { DIM = 3 };

static sa_companion *create(void) {
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    assert_non_null(companion);
    return companion;
}

static void add(sa_companion *companion, const double input[DIM], double score) {
    sa_companion_add(companion, &(sa_companion_case){.input = input, .score = score, .psi = 1});
}

static void is_finite(const sa_companion *companion) {
    double number[sizeof(sa_companion_numbers) / sizeof(double)];
    memcpy(number, &companion->numbers, sizeof number);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) assert_true(isfinite(number[i]));
    for (size_t j = 0; j < DIM; j++) {
        assert_true(isfinite(companion->theta[j]));
        assert_true(isfinite(companion->input_mean[j]));
        assert_true(isfinite(companion->input_score[j]));
        for (size_t k = 0; k <= j; k++) assert_true(isfinite(companion->gram[j * DIM + k]));
    }
}

/* Squares of each score, input and prediction are finite, and sums of them are not. */
static void sums_that_would_overflow_are_left_out(void **state) {
    (void)state;
    sa_companion *companion = create();
    const double small[2][DIM] = {{1, 2, 3}, {-1, 1, 0.5}}, large[DIM] = {1e154, -1e154, 1};
    add(companion, small[0], 1);
    add(companion, small[1], 2);
    const double known = companion->numbers.weight;
    for (int i = 0; i < 20; i++) {
        double sign = i % 2 ? 1 : -1;
        sa_companion_judge(companion, &(sa_companion_case){small[0], sign * 1e154, 1}, sign * 1.1e154);
        add(companion, small[0], sign * 1e154);
        add(companion, large, sign);
        sa_companion_learn(companion);
        is_finite(companion);
    }
    assert_true(companion->numbers.weight > known); /* the first ones fit */
    assert_true(companion->numbers.weight < known + 40);
    sa_companion_destroy(companion);
}

/* The sums of products are of x and y minus their means, here from all cases at once. */
static void is_of(const sa_companion *companion, const double input[][DIM], const double *score, size_t n) {
    double mean[DIM] = {0}, of_score = 0, square = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) {
        of_score += score[i] / count;
        for (size_t j = 0; j < DIM; j++) mean[j] += input[i][j] / count;
    }
    for (size_t i = 0; i < n; i++) square += pow(score[i] - of_score, 2);
    assert_float_equal(companion->numbers.score_mean, of_score, 1e-12 * fabs(of_score));
    assert_float_equal(companion->numbers.score_square, square, 1e-12 * square);
    for (size_t j = 0; j < DIM; j++) {
        double product = 0;
        for (size_t i = 0; i < n; i++) product += (input[i][j] - mean[j]) * (score[i] - of_score);
        assert_float_equal(companion->input_score[j], product, 1e-12 * sqrt(square) * count);
    }
}

/* A revision that the sums cannot tell is left out: they would overflow, or what is left is rounding. */
static void revisions_that_would_overflow_are_left_out(void **state) {
    (void)state;
    static const double input[5][DIM] = {{4, 2, 3}, {5, 1, 0.5}, {3, -2, 1}, {6, 0, 2}, {1, 1, 1}},
                        large[] = {1.3e154, -1.3e154, 1e200, -1e308};
    double score[5] = {3, 4, -1, 0.5, 7};
    sa_companion *companion = create();
    for (size_t i = 0; i < 5; i++) add(companion, input[i], score[i]);
    for (size_t i = 0; i < 4; i++) {
        sa_companion_case seen = {.input = input[i], .score = score[i], .psi = 1};
        score[i] += 0.5; /* what fits is told, as before */
        assert_true(sa_companion_revise(companion, &seen, score[i], 1));
        is_of(companion, input, score, 5);
    }
    for (size_t l = 0; l < sizeof large / sizeof *large; l++) {
        double now[5];
        memcpy(now, score, sizeof now);
        for (size_t i = 0; i < 4; i++) { /* where its square fits, the first one does */
            sa_companion_case seen = {.input = input[i], .score = now[i], .psi = 1};
            if (sa_companion_revise(companion, &seen, large[l], 1)) now[i] = large[l];
            assert_true(now[i] == (i == 0 && l < 2 ? large[l] : score[i]));
            is_finite(companion);
            is_of(companion, input, now, 5);
        }
        sa_companion_learn(companion);
        is_finite(companion);
        for (size_t i = 0; i < 4; i++) { /* and back: */
            sa_companion_case seen = {.input = input[i], .score = now[i], .psi = 1};
            if (now[i] != score[i]) assert_false(sa_companion_revise(companion, &seen, score[i], 1));
        }
        sa_companion_forget(companion);
        for (size_t i = 0; i < 5; i++) add(companion, input[i], score[i]);
    }
    sa_companion_destroy(companion);
}

static void estimates_stay_until_something_is_added_again(void **state) {
    (void)state;
    sa_companion *companion = create(), *fresh = create();
    const double input[4][DIM] = {{4, 2, 3}, {5, 1, 0.5}, {3, -2, 1}, {6, 0, 2}};
    for (size_t round = 0; round < 2; round++) /* the network is wrong, and so the regression counts */
        for (size_t i = 0; i < 4; i++) {
            double score = 7 + input[i][0] - input[i][1];
            sa_companion_judge(companion, &(sa_companion_case){input[i], score, 1}, -score);
            add(companion, input[i], score);
            sa_companion_learn(companion);
        }
    assert_true(companion->numbers.linear > 0.1);
    double before = sa_companion_mix(companion, input[2], 1);
    sa_companion_forget(companion);
    assert_true(sa_companion_mix(companion, input[2], 1) == before);
    sa_companion_add(companion, &(sa_companion_case){.input = input[0], .score = 1, .psi = 1e160});
    add(companion, (const double[DIM]){1, INFINITY, 1}, 1);
    assert_true(companion->numbers.count == 0); /* they overflow, and are left out */
    assert_true(sa_companion_mix(companion, input[2], 1) == before);
    for (size_t i = 1; i < 4; i++) { /* and nothing of what was forgotten is left then */
        add(companion, input[i], input[i][2]);
        add(fresh, input[i], input[i][2]);
    }
    assert_true(companion->numbers.score_mean == fresh->numbers.score_mean);
    assert_true(companion->numbers.score_square == fresh->numbers.score_square);
    assert_memory_equal(companion->input_mean, fresh->input_mean, DIM * sizeof(double));
    assert_memory_equal(companion->input_score, fresh->input_score, DIM * sizeof(double));
    assert_memory_equal(companion->gram, fresh->gram, DIM * DIM * sizeof(double));
    sa_companion_destroy(companion);
    sa_companion_destroy(fresh);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_that_would_overflow_are_left_out),
                                       cmocka_unit_test(revisions_that_would_overflow_are_left_out),
                                       cmocka_unit_test(estimates_stay_until_something_is_added_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

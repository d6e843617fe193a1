/* Scores that are mistakes: found among those that come, few enough not to matter where they are right. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "feedback/outliers.h"
#include "rng/stream.h"

enum { SCORES = 5000 };

static double uniform(uint64_t i) {
    sa_stream stream = sa_stream_at(7, SA_PURPOSE_NOISE, 0, 0);
    return sa_draw_uniform(&stream, i);
}

/* Clicks, at rates down to one in 500: none is wild. */
static void test_clicks(void **state) {
    (void)state;
    const double rates[] = {0.5, 0.1, 0.01, 0.002};
    for (int r = 0; r < 4; r++) {
        sa_outliers outliers = {0};
        for (uint64_t i = 0; i < SCORES; i++) assert_true(sa_outliers_take(&outliers, uniform(i) < rates[r]));
        assert_true(outliers.count == SCORES && outliers.wild == 0);
    }
}

/* A purchase is 50 times a click, and comes once in 1000 pages; incomes vary over decades. */
static void test_heavy_tails(void **state) {
    (void)state;
    sa_outliers shop = {0}, incomes = {0};
    for (uint64_t i = 0; i < SCORES; i++) {
        double draw = uniform(i);
        assert_true(sa_outliers_take(&shop, draw < 0.001 ? 50 : draw < 0.1));
        assert_true(sa_outliers_take(&incomes, exp(2 * sqrt(-2 * log(uniform(2 * i + 1) + 1e-12)) *
                                                   cos(6.283 * uniform(SCORES + i)))));
    }
    assert_true(shop.wild == 0 && incomes.wild == 0);
}

/* One in 1000 is a mistake, of any size and sign, again and again: none counts, and all others do. */
static void test_one_in_a_thousand(void **state) {
    (void)state;
    const double wild[] = {1e30, -1e30, 1e308, -1.7e308, 1e4};
    sa_outliers outliers = {0}, clean = {0};
    for (uint64_t i = 0; i < SCORES; i++) {
        bool mistake = i % 1000 == 500;
        double score = mistake ? wild[i / 1000] : (double)(uniform(i) < 0.3);
        assert_true(sa_outliers_would_take(&outliers, score) == !mistake);
        assert_true(sa_outliers_take(&outliers, score) == !mistake);
        if (!mistake) sa_outliers_take(&clean, score);
    }
    assert_true(outliers.wild == 5 && clean.wild == 0);
    assert_true(outliers.mean == clean.mean && outliers.largest == clean.largest &&
                outliers.count == clean.count);
}

/* Where the unit changes, a handful is lost. */
static void test_new_unit(void **state) {
    (void)state;
    sa_outliers outliers = {0};
    size_t lost = 0;
    for (uint64_t i = 0; i < 2000; i++)
        lost += !sa_outliers_take(&outliers, uniform(i) * (i < 1000 ? 1 : 1e6));
    assert_true(lost >= 1 && lost <= 5);
}

/* Scores that are all the same give no scale: whatever comes then counts, as do the first few. */
static void test_no_scale(void **state) {
    (void)state;
    sa_outliers outliers = {0}, few = {0};
    for (int i = 0; i < 100; i++) assert_true(sa_outliers_take(&outliers, 0));
    assert_true(sa_outliers_take(&outliers, 1e9) && !sa_outliers_take(&outliers, 1e12));
    for (int i = 0; i < 20; i++) assert_true(sa_outliers_take(&few, i % 3 ? 1 : 1e20));
}

/* The first of all are mistakes: once as many came that are not, these alone are the scale. Clicks and heavy
 * tails are never judged again. */
static void test_first_mistakes(void **state) {
    (void)state;
    sa_outliers outliers = {0}, clicks = {0}, incomes = {0};
    double sum = 0;
    for (uint64_t i = 0; i < 40; i++) {
        double score = i < 6 ? (i % 2 ? -1e9 : 1e9) : uniform(i);
        assert_true(sa_outliers_take(&outliers, score));
        assert_true(outliers.changes == 0 && outliers.largest >= (i ? 1e9 : 0));
        sa_outliers_rejudge(&outliers);
        if (i >= 20) sum += score;
    }
    assert_true(outliers.changes == 1 && outliers.largest < 1 && fabs(outliers.mean - sum / 20) < 1e-12);
    assert_true(sa_outliers_is_mistake(&outliers, 1e9) && sa_outliers_is_mistake(&outliers, -1e9));
    assert_true(!sa_outliers_is_mistake(&outliers, 0) && !sa_outliers_take(&outliers, 1e9));
    for (uint64_t i = 0; i < SCORES; i++) {
        sa_outliers_take(&clicks, uniform(i) < 0.01 ? 1 : 0);
        sa_outliers_take(
            &incomes, exp(2 * sqrt(-2 * log(uniform(2 * i + 1) + 1e-12)) * cos(6.283 * uniform(SCORES + i))));
        sa_outliers_rejudge(&clicks);
        sa_outliers_rejudge(&incomes);
    }
    assert_true(clicks.changes == 0 && incomes.changes == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clicks),
        cmocka_unit_test(test_heavy_tails),
        cmocka_unit_test(test_one_in_a_thousand),
        cmocka_unit_test(test_new_unit),
        cmocka_unit_test(test_no_scale),
        cmocka_unit_test(test_first_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

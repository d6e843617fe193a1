/* top-k against a full sort. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/oracle.h"
#include "rng/stream.h"

enum { MOST = 2000 };

static const double *sorting;
static sa_workspace workspace;

static int by_score(const void *a, const void *b) {
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (sorting[i] != sorting[j]) return sorting[i] > sorting[j] ? -1 : 1;
    return i < j ? -1 : 1;
}

/* Solves and compares with the first K of a full sort. */
static void check(const double *scores, size_t arms, size_t slate, const bool *excluded) {
    static size_t order[MOST], chosen[MOST + 1];
    size_t left = 0, length = 0;
    for (size_t i = 0; i < arms; i++)
        if (!excluded || !excluded[i]) order[left++] = i;
    assert_true(slate <= left);
    sorting = scores;
    qsort(order, left, sizeof *order, by_score);
    sa_oracle_problem problem = {.scores = scores, .arms = arms, .slate = slate, .excluded = excluded};
    chosen[slate] = 12345;
    assert_int_equal(sa_oracle_top_k.solve(&problem, &workspace, chosen, &length), SA_OK);
    assert_int_equal(length, slate);
    assert_memory_equal(chosen, order, slate * sizeof *order);
    assert_true(chosen[slate] == 12345);
}

/* `levels` different scores, so few of them means many ties. */
static void fill(double *scores, size_t arms, uint64_t round, uint64_t levels) {
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_NOISE, 0, round);
    for (size_t i = 0; i < arms; i++) scores[i] = (double)sa_draw_below(&stream, i, levels) - 3;
}

static void test_random(void **state) {
    (void)state;
    double scores[300];
    bool excluded[300];
    sa_stream stream = sa_stream_at(2, SA_PURPOSE_NOISE, 0, 0);
    for (uint64_t round = 0; round < 6000; round++) {
        size_t arms = 1 + (size_t)sa_draw_below(&stream, 4 * round, 300), left = 0;
        fill(scores, arms, round, round % 3 == 0 ? 2 : round % 3 == 1 ? 20 : UINT64_MAX);
        for (size_t i = 0; i < arms; i++) {
            excluded[i] = round % 2 && sa_draw_below(&stream, 4 * round + 1000003 * (i + 1), 3) == 0;
            left += !excluded[i];
        }
        if (left == 0) excluded[0] = false, left = 1;
        size_t slate = round % 5 == 0 ? left : 1 + (size_t)sa_draw_below(&stream, 4 * round + 1, left);
        check(scores, arms, slate, round % 2 ? excluded : NULL);
    }
}

/* Orders that make a careless quickselect quadratic. */
static void test_patterns(void **state) {
    (void)state;
    static double scores[MOST];
    for (int pattern = 0; pattern < 6; pattern++) {
        for (size_t i = 0; i < MOST; i++) {
            size_t mirrored = i < MOST / 2 ? i : MOST - 1 - i;
            scores[i] = pattern == 0   ? (double)i
                        : pattern == 1 ? -(double)i
                        : pattern == 2 ? (double)mirrored
                        : pattern == 3 ? -(double)mirrored
                        : pattern == 4 ? 1
                                       : (double)(i % 7);
        }
        const size_t slates[] = {1, 4, 24, 25, MOST / 2, MOST - 1, MOST};
        for (size_t k = 0; k < sizeof slates / sizeof *slates; k++) check(scores, MOST, slates[k], NULL);
    }
}

/* D. Musser's killer sequence for median of three: the fallback has to catch it. */
static void test_killer(void **state) {
    (void)state;
    static double scores[MOST];
    size_t half = MOST / 2;
    for (size_t i = 1; i <= half; i++) {
        scores[i - 1] = i % 2 ? (double)i : (double)(half + i - 1);
        scores[half + i - 1] = (double)(2 * i);
    }
    for (size_t slate = 1; slate <= MOST; slate += 37) check(scores, MOST, slate, NULL);
    for (size_t i = 0; i < MOST; i++) scores[i] = -scores[i];
    for (size_t slate = 1; slate <= MOST; slate += 37) check(scores, MOST, slate, NULL);
}

static void test_ties_and_signed_zeros(void **state) {
    (void)state;
    const double scores[] = {0.0, -0.0, 1, -0.0, 0.0};
    const bool excluded[] = {false, false, true, false, false};
    size_t slate[3], length;
    sa_oracle_problem problem = {.scores = scores, .arms = 5, .slate = 3, .excluded = excluded};
    assert_int_equal(sa_oracle_top_k.solve(&problem, &workspace, slate, &length), SA_OK);
    const size_t wanted[] = {0, 1, 3};
    assert_memory_equal(slate, wanted, sizeof wanted);
}

/* The reward is the sum, and the same in any order. */
static void test_reward(void **state) {
    (void)state;
    const double scores[] = {0.1, 0.9, 0.3, 0.7, 1e-17, -0.3};
    const size_t one[] = {1, 3, 2, 0, 4}, other[] = {4, 0, 2, 3, 1};
    sa_oracle_problem problem = {.scores = scores, .arms = 6, .slate = 5};
    assert_true(fabs(sa_oracle_top_k.reward(&problem, one, 5) - 2) < 1e-15);
    assert_true(sa_oracle_top_k.reward(&problem, one, 5) == sa_oracle_top_k.reward(&problem, other, 5));
}

static void test_registry(void **state) {
    (void)state;
    assert_ptr_equal(sa_oracle_of(SA_ORACLE_TOP_K), &sa_oracle_top_k);
    for (int kind = 0; kind < sa_oracle_kind_count; kind++)
        assert_non_null(sa_oracle_of((sa_oracle_kind)kind));
    assert_null(sa_oracle_of(sa_oracle_kind_count));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random), cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_killer), cmocka_unit_test(test_ties_and_signed_zeros),
        cmocka_unit_test(test_reward), cmocka_unit_test(test_registry),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sa_workspace_clear(&workspace);
    return failed;
}

/* Uniformly random feasible slates: counted and drawn, against all of them written out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exploration/floor.h"

enum { ARMS = 6, SLATE = 3 };

static bool is_feasible(const sa_feasible *feasible, const size_t *slate) {
    size_t used[8] = {0};
    for (size_t k = 0; k < SLATE; k++)
        for (size_t j = 0; j < k; j++)
            if (slate[j] == slate[k]) return false;
    for (size_t k = 0; k < SLATE && feasible->groups; k++)
        if (++used[feasible->group[slate[k]]] > feasible->capacity[feasible->group[slate[k]]]) return false;
    return true;
}

static bool begins(const size_t *slate, const size_t *with, size_t count) {
    return !memcmp(slate, with, count * sizeof *slate);
}

/* Shares of all ordered slates; then of draws, within four standard errors (1 in 200 by chance; the seed is
 * fixed). */
static void check(const sa_feasible *feasible, const size_t *mine) {
    double all = 0, prefix[SLATE][ARMS] = {{0}}, position[ARMS] = {0}, next[SLATE * ARMS], at[ARMS];
    size_t slate[SLATE];
    for (size_t code = 0; code < ARMS * ARMS * ARMS; code++) {
        slate[0] = code / ARMS / ARMS, slate[1] = code / ARMS % ARMS, slate[2] = code % ARMS;
        if (!is_feasible(feasible, slate)) continue;
        all++;
        position[slate[1]]++;
        for (size_t k = 0; k < SLATE; k++) prefix[k][slate[k]] += begins(slate, mine, k);
    }
    assert_int_equal(sa_feasible_next(feasible, mine, next), SA_OK);
    assert_int_equal(sa_feasible_position(feasible, at), SA_OK);
    for (size_t a = 0; a < ARMS; a++) {
        assert_true(fabs(at[a] - position[a] / all) < 1e-14);
        for (size_t k = 0; k < SLATE; k++) assert_true(fabs(next[k * ARMS + a] - prefix[k][a] / all) < 1e-14);
    }
    const size_t draws = 200000;
    size_t hits[SLATE] = {0}, seen[ARMS] = {0};
    for (uint64_t i = 0; i < draws; i++) {
        const sa_stream stream = sa_stream_at(3, SA_PURPOSE_EXPLORATION, 0, i);
        assert_int_equal(sa_feasible_draw(feasible, &stream, 0, slate), SA_OK);
        assert_true(is_feasible(feasible, slate));
        seen[slate[2]]++;
        for (size_t k = 0; k < SLATE; k++) hits[k] += begins(slate, mine, k + 1);
    }
    for (size_t k = 0; k < SLATE; k++) {
        double p = next[k * ARMS + mine[k]];
        assert_true(fabs((double)hits[k] / (double)draws - p) < 4 * sqrt(p * (1 - p) / (double)draws));
    }
    for (size_t a = 0; a < ARMS; a++)
        assert_true(fabs((double)seen[a] / (double)draws - at[a]) <=
                    4 * sqrt(at[a] * (1 - at[a]) / (double)draws));
}

static void test_any(void **state) {
    (void)state;
    const size_t mine[SLATE] = {4, 0, 2};
    check(&(sa_feasible){.arms = ARMS, .slate = SLATE}, mine);
}

static void test_groups(void **state) {
    (void)state;
    static const size_t group[ARMS] = {0, 0, 0, 1, 1, 2}, capacity[3] = {1, 2, 1};
    const size_t mine[SLATE] = {3, 0, 4};
    check(&(sa_feasible){.arms = ARMS, .slate = SLATE, .groups = 3, .group = group, .capacity = capacity},
          mine);
}

static void test_refused(void **state) {
    (void)state;
    static const size_t group[ARMS] = {0, 0, 0, 0, 0, 0}, capacity[1] = {2}, mine[SLATE] = {0, 1, 2};
    double out[SLATE * ARMS];
    const sa_feasible none = {
        .arms = ARMS, .slate = SLATE, .groups = 1, .group = group, .capacity = capacity};
    assert_int_equal(sa_feasible_next(&none, mine, out), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "no slate of 3 arms is feasible"));
    assert_int_equal(sa_feasible_position(&none, out), SA_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_any), cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

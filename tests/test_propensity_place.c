/* The floor by place against enumeration: where arms end up, which arms keep a slate feasible, the own choice
 * after any first arms, and the probability of every slate. The witnesses are written out: rules are looked
 * at slate by slate, and the best slate is the best of all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exploration/place.h"
#include "exploration/ts_propensity.h"
#include "oracle/extend.h"
#include "test_place_reference.h"

static const double E = 0.3;

static void must(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static unsigned seed = 5;
static unsigned below(unsigned bound) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

/* ---- all places alike: the probability of a slate when arms are ranked ---- */

static double of_ranking(const size_t *ranking, const size_t *slate, size_t length) {
    double product = 1;
    bool taken[ARMS] = {false};
    for (size_t k = 0; k < length; k++) {
        size_t own = 0;
        while (taken[ranking[own]]) own++;
        product *= E / (double)(ARMS - k) + (ranking[own] == slate[k] ? 1 - E : 0);
        if (taken[slate[k]]) return 0;
        taken[slate[k]] = true;
    }
    return product;
}

static void test_ranks(void **state) {
    (void)state;
    static const size_t order[ARMS] = {0, 1, 2, 3, 4, 5};
    double ranks[SLATE * (SLATE + 1)], at[SLATE][ARMS] = {{0}};
    for (size_t code = 0; code < CODES; code++) {
        size_t slate[SLATE];
        slate_of(code, slate);
        for (size_t k = 0; k < SLATE; k++) at[k][slate[k]] += of_ranking(order, slate, SLATE);
    }
    must(sa_place_of_ranks(E, ARMS, SLATE, ranks));
    for (size_t k = 0; k < SLATE; k++)
        for (size_t a = 0; a < ARMS; a++) {
            double known = ranks[k * (SLATE + 1) + (a < SLATE ? a : SLATE)];
            if (fabs(known - at[k][a]) > 1e-14) fail_msg("place %zu rank %zu: %g, %g", k, a, known, at[k][a]);
        }
    must(sa_place_of_ranks(E, SLATE, SLATE, ranks)); /* as many arms as places */
    double sum = 0;
    for (size_t k = 0; k < SLATE; k++) sum += ranks[k * (SLATE + 1)];
    assert_true(fabs(sum - 1) < 1e-14);
}

/* Thompson sampling: the mean over all 720 rankings, whose own probabilities are those without a floor. */
static void test_thompson(void **state) {
    (void)state;
    static const double mean[ARMS] = {0.1, 0.4, 0.35, -0.2, 0.3, 0.05},
                        deviation[ARMS] = {0.3, 0.1, 0.2, 0.5, 0.02, 0.25};
    static const size_t slates[3][SLATE] = {{1, 2, 0}, {3, 0, 2}, {5, 3, 1}};
    static double next[3][SLATE * ARMS], prefix[3][SLATE], known_prefix[3][SLATE], at[SLATE * ARMS];
    const sa_ts_scores plain = {ARMS, mean, deviation, 10, 0}, floored = {ARMS, mean, deviation, 10, E};
    double positions[SLATE * ARMS] = {0}, all = 0;
    for (size_t code = 0, ranking[ARMS]; code < 46656; code++) {
        unsigned seen = 0;
        for (size_t i = 0, rest = code; i < ARMS; i++, rest /= ARMS) seen |= 1u << (ranking[i] = rest % ARMS);
        if (seen != (1u << ARMS) - 1) continue;
        double own[ARMS];
        must(sa_ts_prefix_propensities(&plain, ranking, ARMS, own));
        all += own[ARMS - 1];
        for (size_t s = 0; s < 3; s++)
            for (size_t k = 0; k < SLATE; k++)
                prefix[s][k] += own[ARMS - 1] * of_ranking(ranking, slates[s], k + 1);
        for (size_t c = 0, slate[SLATE]; c < CODES; c++) {
            slate_of(c, slate);
            double p = own[ARMS - 1] * of_ranking(ranking, slate, SLATE);
            for (size_t k = 0; k < SLATE; k++) positions[k * ARMS + slate[k]] += p;
        }
    }
    assert_true(fabs(all - 1) < 1e-9);
    must(sa_ts_position_propensities(&floored, SLATE, at));
    for (size_t i = 0; i < SLATE * ARMS; i++)
        if (fabs(at[i] - positions[i]) > 1e-9) fail_msg("position %zu: %.12g, %.12g", i, at[i], positions[i]);
    for (size_t s = 0; s < 3; s++) {
        double places[SLATE];
        must(sa_ts_prefix_propensities(&floored, slates[s], SLATE, known_prefix[s]));
        must(sa_ts_next_propensities(&floored, slates[s], SLATE, next[s]));
        must(sa_ts_slate_positions(&floored, slates[s], SLATE, places));
        for (size_t k = 0; k < SLATE; k++) {
            double sum = 0;
            for (size_t a = 0; a < ARMS; a++) sum += next[s][k * ARMS + a];
            assert_true(fabs(known_prefix[s][k] - prefix[s][k]) < 1e-9);
            assert_true(fabs(next[s][k * ARMS + slates[s][k]] - prefix[s][k]) < 1e-9);
            assert_true(fabs(sum - (k ? prefix[s][k - 1] : 1)) < 1e-9);
            assert_true(fabs(places[k] - positions[k * ARMS + slates[s][k]]) < 1e-9);
        }
    }
}

/* ---- rules ---- */

static void draw_rules(rules *self) {
    *self = (rules){.grouped = below(3) > 0, .paired = below(3) == 0, .placed = below(2) == 0};
    self->excludes = below(3) == 0;
    self->positional = below(2) == 0 || self->placed; /* else ties between places */
    for (size_t a = 0; a < ARMS; a++) self->groups[a] = below(3), self->excluded[a] = below(6) == 0;
    for (size_t g = 0; g < 3; g++) {
        self->most[g] = 1 + below(3);
        self->least[g] = below(4) == 0 ? 1 : 0;
    }
    for (size_t i = 0; i < SLATE * ARMS; i++) self->eligible[i] = below(3) > 0;
    if (self->paired && !self->grouped) { /* units: arms a, a + 1, a + 2 exclude each other */
        size_t a = below(4), pairs[3][2] = {{a, a + 1}, {a + 1, a + 2}, {a, a + 2}};
        self->pair_count = 3;
        memcpy(self->pairs, pairs, sizeof pairs);
    }
    for (size_t i = 0; i < ARMS * SLATE; i++) self->scores[i] = (double)below(1u << 24) / (1 << 24) - 0.3;
}

static sa_oracle_problem problem_of(const rules *self, sa_oracle_data *data) {
    *data = (sa_oracle_data){0};
    if (self->grouped) {
        data->given |= SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES) | SA_BIT(SA_MINIMUMS);
        data->count[SA_CAPACITIES] = data->count[SA_MINIMUMS] = 3;
        data->groups = self->groups, data->capacities = self->most, data->minimums = self->least;
    }
    if (self->pair_count) {
        data->given |= SA_BIT(SA_EXCLUSIONS);
        data->count[SA_EXCLUSIONS] = self->pair_count;
        data->exclusions = &self->pairs[0][0];
    }
    if (self->placed) data->given |= SA_BIT(SA_ELIGIBLE), data->eligible = self->eligible;
    return (sa_oracle_problem){.scores = self->scores,
                               .positions = self->positional ? SLATE : 0,
                               .arms = ARMS,
                               .slate = SLATE,
                               .excluded = self->excludes ? self->excluded : NULL,
                               .data = data->given ? data : NULL};
}

/* Every place of every slate, after its first arms. Returns how many comparisons there were. */
static size_t compare(const rules *self, const sa_oracle *oracle, const sa_oracle_problem *problem) {
    sa_workspace workspace = {0};
    size_t best[SLATE], length, compared = 0, first[SLATE] = {0};
    sa_extender extender;
    bool open[ARMS];
    if (own_of(self, first, 0) == SIZE_MAX) return 0; /* no slate keeps them */
    must(oracle->solve(problem, &workspace, best, &length));
    must(sa_extender_begin(oracle, problem, &extender));
    for (size_t code = 0, wanted[SLATE], slate[SLATE]; code < CODES; code++) {
        slate_of(code, wanted);
        memcpy(slate, best, sizeof slate);
        for (size_t k = 0; k < SLATE; k++) {
            size_t count = sa_extender_open(&extender, problem, slate, k, open),
                   own = own_of(self, wanted, k);
            if (slate[k] != own) fail_msg("place %zu: the own choice is %zu, not %zu", k, own, slate[k]);
            for (size_t a = 0; a < ARMS; a++, compared++) {
                bool can = can_take(self, wanted, k, a);
                if (open[a] != can) fail_msg("place %zu: arm %zu can%s come", k, a, can ? "" : "not");
                count -= can;
            }
            assert_int_equal(count, 0);
            if (!open[wanted[k]]) break;
            must(sa_extender_take(&extender, problem, best, k, wanted[k], slate));
        }
    }
    sa_extender_clear(&extender);
    sa_workspace_clear(&workspace);
    return compared;
}

static void test_assignments(void **state) {
    (void)state;
    size_t compared = 0;
    for (size_t i = 0; i < 60; i++) {
        rules self;
        sa_oracle_data data;
        draw_rules(&self);
        const sa_oracle_problem problem = problem_of(&self, &data);
        compared += compare(&self, &sa_oracle_assignment, &problem);
    }
    assert_true(compared > 20000);
}

static void test_matroids(void **state) {
    (void)state;
    size_t compared = 0;
    for (size_t i = 0; i < 30; i++) {
        rules self;
        sa_oracle_data data;
        draw_rules(&self);
        self.placed = self.positional = false;
        self.pair_count = 0;
        self.grouped = true;
        memset(self.least, 0, sizeof self.least);
        sa_oracle_problem problem = problem_of(&self, &data);
        data.given = SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES) | SA_BIT(SA_EXACTLY);
        data.exactly = true;
        compared += compare(&self, &sa_oracle_matroid, &problem);
        self.grouped = false;
        data.given = 0;
        compared += compare(&self, &sa_oracle_top_k, &problem);
    }
    assert_true(compared > 20000);
}

static void test_refused(void **state) {
    (void)state;
    static const size_t path[2][2] = {{0, 1}, {1, 2}}; /* 0 and 2 do not exclude each other */
    static const double matrix[ARMS] = {1, 1, 1, 1, 1, 1}, bound = 3, scores[ARMS] = {0};
    sa_oracle_data data = {.given = SA_BIT(SA_EXCLUSIONS), .exclusions = &path[0][0]};
    const sa_oracle_problem problem = {.scores = scores, .arms = ARMS, .slate = SLATE, .data = &data};
    sa_extender extender;
    data.count[SA_EXCLUSIONS] = 2;
    assert_int_equal(sa_extender_begin(&sa_oracle_assignment, &problem, &extender), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--floor-by place cannot tell which arms"));
    sa_extender_clear(&extender);
    data =
        (sa_oracle_data){.given = SA_BIT(SA_MATRIX) | SA_BIT(SA_BOUNDS), .matrix = matrix, .bounds = &bound};
    data.count[SA_MATRIX] = 1;
    assert_int_equal(sa_extender_begin(&sa_oracle_assignment, &problem, &extender), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--matrix"));
    sa_extender_clear(&extender);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_thompson),
                                       cmocka_unit_test(test_assignments), cmocka_unit_test(test_matroids),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

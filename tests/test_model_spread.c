/* What is open of an estimate beside the network's part, (1 - w) s_r^2 + w (1 - w) k^2 (f - r)^2, against
 * elimination: also where the units of inputs have changed since the regression was made. */
/* clang-format off */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "model/companion.h"
#include "test_ridge_reference.h"

enum { DIM = 5, FEATURES = 4, MANY = 40, ROWS = 150, WORLDS = 4 };

/* The mean and the factor of each feature, world after world. The last input is no feature, and stays. */
static const double mean[WORLDS][FEATURES] = {
    {0, 0.5, -2, 10}, {0.25, 0.5, -2, 11}, {-3, 0, -1, 11}, {-3, 0.125, 1, 12}};
static const double factor[WORLDS][FEATURES] = {
    {1, 2, 0.5, 0.1}, {0.25, 2, 0.125, 0.3}, {7, 0.01, 3, 0.3}, {7, 0.5, 100, 0.001}};

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void draw(uint64_t *state, double raw[DIM]) {
    for (size_t j = 0; j < DIM; j++) raw[j] = uniform(state) / factor[0][j % FEATURES];
}

static void show(const double raw[DIM], size_t world, double input[DIM]) {
    for (size_t j = 0; j < DIM; j++)
        input[j] = j < FEATURES ? (raw[j] - mean[world][j]) * factor[world][j] : raw[j];
}

static void enter(sa_companion *companion, size_t world) {
    sa_companion_rescale(companion, FEATURES, mean[world], factor[world]);
}

typedef struct seen {
    double input[MANY][DIM], score[MANY]; /* as they were learnt */
} seen;

/* y = 1 + x0 - 2 x1 + x3 and noise; the network is wrong half of the time. */
static void learn(sa_companion *companion, uint64_t *state, seen *all) {
    enter(companion, 0);
    for (size_t i = 0; i < MANY; i++) {
        double raw[DIM], *x = all->input[i];
        draw(state, raw);
        show(raw, 0, x);
        all->score[i] = 1 + x[0] - 2 * x[1] + x[3] + 0.8 * uniform(state);
        sa_companion_case now = {.input = x, .score = all->score[i], .psi = 1};
        sa_companion_judge(companion, &now, i % 2 ? all->score[i] : uniform(state));
        sa_companion_add(companion, &now);
        if (i % 10 == 9) sa_companion_learn(companion);
    }
}

/* Of inputs as they were learnt. */
static double expected(const sa_companion *companion, const seen *all, const double *x, double network) {
    const sa_companion_numbers *numbers = &companion->numbers;
    const ridge_reference known = {
        .dim = DIM, .count = MANY, .input = all->input[0], .score = all->score, .lambda = numbers->lambda};
    double r, of_r = ridge_variance(&known, x, &r), k = numbers->linear + numbers->network;
    double w = numbers->network / k;
    assert_true(w > 0.05 && w < 0.95 && of_r > 1e-3);
    return (1 - w) * of_r + w * (1 - w) * k * k * (network - r) * (network - r);
}

/* More rows than are computed abreast. */
static void check(const sa_companion *companion, const seen *all, uint64_t *state, size_t world) {
    double raw[DIM], then[DIM], now[ROWS][DIM], network[ROWS], want[ROWS], spread[ROWS],
        scratch[SA_SPREAD_ROWS * DIM];
    for (size_t i = 0; i < ROWS; i++) {
        draw(state, raw);
        show(raw, 0, then);
        show(raw, world, now[i]);
        network[i] = 1 + 0.3 * uniform(state);
        want[i] = expected(companion, all, then, network[i]);
    }
    sa_companion_spread(companion, SA_PRECISION_DOUBLE, now, ROWS, network, scratch, spread);
    for (size_t i = 0; i < ROWS; i++)
        if (!(fabs(spread[i] / want[i] - 1) < 1e-9))
            fail_msg("world %zu: %.12g is open, and %.12g by elimination", world, spread[i], want[i]);
}

/* Units change, and feedback is judged in them, between two trainings. */
static void is_the_same_in_other_units(void **state) {
    (void)state;
    uint64_t random = 3;
    static seen all;
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    learn(companion, &random, &all);
    for (size_t world = 0; world < WORLDS; world++) {
        double raw[DIM], x[DIM];
        enter(companion, world);
        draw(&random, raw);
        show(raw, world, x);
        sa_companion_judge(companion, &(sa_companion_case){.input = x, .score = 1, .psi = 1}, 2);
        check(companion, &all, &random, world);
    }
    sa_companion_destroy(companion);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_same_in_other_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

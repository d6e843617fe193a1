/* The regression beside the network, against elimination on the data itself, and the trust in each. */
/* clang-format off */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "model/companion.h"
#include "test_elimination.h"

enum { DIM = 3, MANY = 40 };

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

typedef struct data {
    double x[MANY][DIM], y[MANY], psi[MANY];
} data;

/* y = psi (0.7 + 2 x0 - x1 + noise) */
static data draw(double signal, double noise, bool discounts) {
    data d;
    uint64_t state = 5;
    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j < DIM; j++) d.x[i][j] = uniform(&state) + 0.5;
        d.psi[i] = discounts ? 0.25 * (1 + i % 4) : 1;
        d.y[i] = d.psi[i] * (0.7 + signal * (2 * d.x[i][0] - d.x[i][1]) + noise * uniform(&state));
    }
    return d;
}

static void add(sa_companion *companion, const data *d) {
    for (int i = 0; i < MANY; i++)
        sa_companion_add(companion,
                         &(sa_companion_case){.input = d->x[i], .score = d->y[i], .discount = d->psi[i]});
}

/* The smallest weighted sum of squares plus lambda |theta|^2, the intercept free: normal equations with d + 1
 * unknowns. */
static void fit(const data *d, double lambda, double theta[DIM + 1]) {
    double a[(DIM + 1) * (DIM + 2)] = {0};
    for (int i = 0; i < MANY; i++)
        for (int j = 0; j <= DIM; j++) {
            double xj = d->psi[i] * (j < DIM ? d->x[i][j] : 1);
            for (int k = 0; k <= DIM; k++)
                a[j * (DIM + 2) + k] += xj * d->psi[i] * (k < DIM ? d->x[i][k] : 1);
            a[j * (DIM + 2) + DIM + 1] += xj * d->y[i];
        }
    for (int j = 0; j < DIM; j++) a[j * (DIM + 2) + j] += lambda;
    eliminate(DIM + 1, a);
    for (int j = 0; j <= DIM; j++) theta[j] = a[j * (DIM + 2) + DIM + 1];
}

/* log density of the scores' deviations under N(0, s^2 (I + X X' / lambda)), with the best s, from the n x n
 * side */
static double log_density(const data *d, double lambda) {
    static double a[MANY * (MANY + 1)];
    double mean[DIM + 1] = {0}, quadratic = 0;
    for (int i = 0; i < MANY; i++) {
        for (int j = 0; j < DIM; j++) mean[j] += d->x[i][j] / MANY;
        mean[DIM] += d->y[i] / MANY;
    }
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < MANY; k++) {
            a[i * (MANY + 1) + k] = i == k;
            for (int j = 0; j < DIM; j++)
                a[i * (MANY + 1) + k] += (d->x[i][j] - mean[j]) * (d->x[k][j] - mean[j]) / lambda;
        }
        a[i * (MANY + 1) + MANY] = d->y[i] - mean[DIM];
    }
    double log_det = eliminate(MANY, a);
    for (int i = 0; i < MANY; i++) quadratic += (d->y[i] - mean[DIM]) * a[i * (MANY + 1) + MANY];
    return -0.5 * MANY * log(quadratic) - 0.5 * log_det;
}

static void finds_the_regression(void **state) {
    (void)state;
    for (int discounts = 0; discounts < 2; discounts++) {
        data d = draw(1, 0.5, discounts);
        sa_companion *companion = NULL;
        assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
        add(companion, &d);
        for (int i = 0; i < 12; i++) sa_companion_learn(companion); /* the climb ends */
        double expected[DIM + 1];
        fit(&d, companion->numbers.lambda, expected);
        for (int j = 0; j < DIM; j++) assert_float_equal(companion->theta[j], expected[j], 1e-12);
        if (!discounts) {
            double here = log_density(&d, companion->numbers.lambda);
            assert_true(here >= log_density(&d, companion->numbers.lambda * 3) &&
                        here >= log_density(&d, companion->numbers.lambda / 3));
        }
        sa_companion_destroy(companion);
    }
}

static void sees_no_signal_in_noise(void **state) {
    (void)state;
    data d = draw(0, 1, false);
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    add(companion, &d);
    for (int i = 0; i < 12; i++) sa_companion_learn(companion);
    for (int j = 0; j < DIM; j++) assert_true(companion->theta[j] == 0);
    sa_companion_destroy(companion);
}

static void a_discount_of_0_teaches_nothing(void **state) {
    (void)state;
    sa_companion *companion = NULL;
    const double x[DIM] = {1, 2, 3};
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    sa_companion_add(companion, &(sa_companion_case){.input = x, .score = 5, .discount = 0});
    assert_true(companion->numbers.count == 0 && companion->numbers.weight == 0);
    sa_companion_learn(companion);
    assert_true(companion->numbers.network == 0.1);
    sa_companion_destroy(companion);
}

/* Feedback 3 + 0.8 (f - 3), with f predicted: after many cases b is 0.8, and the mixture says what comes. A
 * million times larger, and with discounts, it is the same. */
static void trusts_what_predicts(void **state) {
    (void)state;
    static const double sizes[] = {1, 1e6};
    for (int i = 0; i < 4; i++) {
        uint64_t random = 9;
        double size = sizes[i % 2];
        sa_companion *companion = NULL;
        assert_int_equal(sa_companion_create(1, &companion), SA_OK);
        assert_true(companion->numbers.network < 0.5);
        for (int k = 0; k < 5000; k++) {
            double f = 3 + uniform(&random), x = uniform(&random), psi = i < 2 ? 1 : 0.5 + 0.25 * (k % 3);
            sa_companion_add(companion, &(sa_companion_case){.input = &x,
                                                             .score = size * psi * (3 + 0.8 * (f - 3)),
                                                             .discount = psi,
                                                             .predicted = true,
                                                             .network = size * f});
        }
        sa_companion_learn(companion);
        assert_float_equal(companion->numbers.network, 0.8, 0.01);
        const double at = 0.3;
        assert_float_equal(sa_companion_mix(companion, &at, size * 3.5) / size, 3.4, 0.01);
        sa_companion_destroy(companion);
    }
}

/* After one huge score the estimates are no larger than it, whatever unit the network learns in. */
static void an_outlier_stays_one(void **state) {
    (void)state;
    uint64_t random = 4;
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(1, &companion), SA_OK);
    for (int i = 0; i < 400; i++) {
        double f = uniform(&random), x = uniform(&random);
        sa_companion_add(
            companion,
            &(sa_companion_case){
                .input = &x, .score = i == 200 ? 1e10 : f, .discount = 1, .predicted = true, .network = f});
        sa_companion_learn(companion);
        assert_true(fabs(sa_companion_mix(companion, &x, f)) <= (i < 200 ? 4 : 1e10));
    }
    sa_companion_destroy(companion);
}

/* The same with predictions that have nothing to do with the feedback. */
static void does_not_trust_what_does_not(void **state) {
    (void)state;
    uint64_t random = 9;
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(1, &companion), SA_OK);
    for (int i = 0; i < 5000; i++) {
        double f = uniform(&random), x = uniform(&random);
        sa_companion_add(
            companion,
            &(sa_companion_case){
                .input = &x, .score = uniform(&random) + x, .discount = 1, .predicted = true, .network = f});
        if (i % 100 == 0) sa_companion_learn(companion);
    }
    sa_companion_learn(companion);
    assert_float_equal(companion->numbers.linear, 1, 0.15);
    assert_true(companion->numbers.network < 0.1);
    sa_companion_destroy(companion);
}

/* What was added a while ago counts by less: as if it had been added with less weight. */
static void discounts_weigh(void **state) {
    (void)state;
    data d = draw(1, 0.3, true);
    sa_companion *fading = NULL, *weighed = NULL;
    assert_int_equal(sa_companion_create(DIM, &fading), SA_OK);
    assert_int_equal(sa_companion_create(DIM, &weighed), SA_OK);
    for (int i = 0; i < MANY; i++) {
        double root = pow(0.9, 0.5 * (MANY - 1 - i));
        sa_companion_discount(fading, 0.9);
        sa_companion_add(fading,
                         &(sa_companion_case){.input = d.x[i], .score = d.y[i], .discount = d.psi[i]});
        sa_companion_add(weighed, &(sa_companion_case){
                                      .input = d.x[i], .score = root * d.y[i], .discount = root * d.psi[i]});
    }
    assert_true(fabs(fading->numbers.weight / weighed->numbers.weight - 1) < 1e-12);
    assert_true(fabs(fading->numbers.score_mean - weighed->numbers.score_mean) < 1e-12);
    assert_true(fabs(fading->numbers.score_square - weighed->numbers.score_square) < 1e-12);
    assert_true(fabs(fading->numbers.count - (1 - pow(0.9, MANY)) / 0.1) < 1e-12);
    for (int j = 0; j < DIM; j++) {
        assert_true(fabs(fading->input_mean[j] - weighed->input_mean[j]) < 1e-12);
        assert_true(fabs(fading->input_score[j] - weighed->input_score[j]) < 1e-12);
        for (int k = 0; k <= j; k++)
            assert_true(fabs(fading->gram[j * DIM + k] - weighed->gram[j * DIM + k]) < 1e-12);
    }
    sa_companion_forget(fading);
    add(fading, &d);
    sa_companion_destroy(weighed);
    assert_int_equal(sa_companion_create(DIM, &weighed), SA_OK);
    add(weighed, &d);
    assert_memory_equal(fading->gram, weighed->gram, DIM * DIM * sizeof(double));
    assert_memory_equal(&fading->numbers, &weighed->numbers, sizeof fading->numbers);
    sa_companion_destroy(fading);
    sa_companion_destroy(weighed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_regression),
                                       cmocka_unit_test(sees_no_signal_in_noise),
                                       cmocka_unit_test(a_discount_of_0_teaches_nothing),
                                       cmocka_unit_test(trusts_what_predicts),
                                       cmocka_unit_test(an_outlier_stays_one),
                                       cmocka_unit_test(does_not_trust_what_does_not),
                                       cmocka_unit_test(discounts_weigh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

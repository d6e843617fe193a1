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
                         &(sa_companion_case){.input = d->x[i], .score = d->y[i], .psi = d->psi[i]});
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
 * side, and of lambda itself, whose logarithm is N(0, 3^2) */
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
    return -0.5 * MANY * log(quadratic) - 0.5 * log_det - 0.5 * pow(log(lambda) / 3, 2);
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

static void sees_little_signal_in_noise(void **state) {
    (void)state;
    data d = draw(0, 1, false);
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    add(companion, &d);
    for (int i = 0; i < 12; i++) sa_companion_learn(companion);
    double least[DIM + 1], length = 0, found = 0;
    fit(&d, 0, least);
    for (int j = 0; j < DIM; j++) {
        length += least[j] * least[j];
        found += companion->theta[j] * companion->theta[j];
    }
    assert_true(companion->numbers.lambda > 1 && found < length / 4);
    sa_companion_destroy(companion);
}

static void a_discount_of_0_teaches_nothing(void **state) {
    (void)state;
    sa_companion *companion = NULL;
    const double x[DIM] = {1, 2, 3};
    assert_int_equal(sa_companion_create(DIM, &companion), SA_OK);
    sa_companion_add(companion, &(sa_companion_case){.input = x, .score = 5, .psi = 0});
    assert_true(companion->numbers.count == 0 && companion->numbers.weight == 0);
    sa_companion_learn(companion);
    assert_true(companion->numbers.network == 1 && companion->numbers.linear == 0);
    sa_companion_destroy(companion);
}

/* One case, for which the network had predicted this. */
static void see(sa_companion *companion, const double *x, double score, double psi, double network) {
    sa_companion_case now = {.input = x, .score = score, .psi = psi};
    sa_companion_judge(companion, &now, network);
    sa_companion_add(companion, &now);
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
        assert_true(companion->numbers.network == 1);
        for (int k = 0; k < 5000; k++) {
            double f = 3 + uniform(&random), x = uniform(&random), psi = i < 2 ? 1 : 0.5 + 0.25 * (k % 3);
            see(companion, &x, size * psi * (3 + 0.8 * (f - 3)), psi, size * f);
        }
        sa_companion_learn(companion);
        assert_float_equal(companion->numbers.network, 0.8, 0.01);
        const double at = 0.3;
        assert_float_equal(sa_companion_mix(companion, &at, size * 3.5) / size, 3.4, 0.01);
        sa_companion_destroy(companion);
    }
}

/* Scores, and what was predicted for them; theta is as of the last training. */
enum { CASES = 120 };
typedef struct ledger {
    double r[CASES], f[CASES], t[CASES], variance;
} ledger;

/* The sum of squares that share w and trust k leave, and what a prior takes for each. */
static double left_by(const ledger *l, double w, double k) {
    double mean = 0, mixed = 0, sum = 0;
    for (int i = 0; i < CASES; i++) {
        mean += l->t[i] / CASES;
        mixed += ((1 - w) * l->r[i] + w * l->f[i]) / CASES;
    }
    for (int i = 0; i < CASES; i++)
        sum += pow(l->t[i] - mean - k * ((1 - w) * l->r[i] + w * l->f[i] - mixed), 2);
    return sum + l->variance * (5 * pow(w - 1, 2) + pow(k - 1, 2));
}

/* w and k, one after the other, by trying all from 0.02 to 1. The network predicts `right` times the signal,
 * and noise; in the last kinds what is predicted is of another world than what the regression learnt from. */
static void share_and_trust_are_the_best(void **state) {
    (void)state;
    static const struct {
        double right, noise;
        bool other;
    } kinds[] = {{0.9, 0.1, false}, {0.3, 0.4, false}, {0, 1, false}, {1, 2, true}, {0, 1, true}};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        uint64_t random = 77;
        ledger l = {.variance = 0};
        sa_companion *companion = NULL;
        double mean = 0, square = 0;
        int all = 0;
        assert_int_equal(sa_companion_create(1, &companion), SA_OK);
        for (int i = -40; i < CASES; i++) {
            double x = uniform(&random), signal = kinds[kind].other && i >= 0 ? 0 : 2 * x;
            double t = 5 + signal + 0.5 * uniform(&random);
            double f = 5 + kinds[kind].right * signal + kinds[kind].noise * uniform(&random);
            if (i >= 0) {
                l.r[i] = companion->numbers.score_mean + companion->theta[0] * (x - companion->input_mean[0]);
                l.f[i] = f;
                l.t[i] = t;
            }
            sa_companion_case now = {.input = &x, .score = t, .psi = 1};
            if (i >= 0) sa_companion_judge(companion, &now, f);
            sa_companion_add(companion, &now);
            if (i == -1) sa_companion_learn(companion);
            double before = mean;
            mean += (t - mean) / ++all;
            square += (t - before) * (t - mean);
        }
        l.variance = square / all;
        sa_companion_learn(companion);
        double w = 0.002, k = 0.002;
        for (double at = 0.002; at <= 1; at += 1e-4)
            if (left_by(&l, at, 1) < left_by(&l, w, 1)) w = at;
        for (double at = 0.002; at <= 1; at += 1e-4)
            if (left_by(&l, w, at) < left_by(&l, w, k)) k = at;
        assert_float_equal(companion->numbers.network, k * w, 3e-4);
        assert_float_equal(companion->numbers.linear, k * (1 - w), 3e-4);
        assert_float_equal(sa_companion_share(companion), w, 3e-4);
        if (kind == 4) assert_true(k < 0.1); /* nothing predicts */
        if (kind < 2) assert_true(k > 0.95);
        sa_companion_destroy(companion);
    }
}

/* What was predicted before counts by less: without it, as if there had been only what came after. */
static void predictions_fade(void **state) {
    (void)state;
    static const double factors[] = {0, 0.5, 1};
    double share[3];
    for (int i = 0; i < 3; i++) {
        uint64_t random = 21;
        sa_companion *companion = NULL;
        assert_int_equal(sa_companion_create(1, &companion), SA_OK);
        for (int k = 0; k < 400; k++) { /* the network is right at first, and then it is not */
            double x = uniform(&random), t = uniform(&random);
            if (k == 300) sa_companion_fade_judged(companion, factors[i]);
            see(companion, &x, t, 1, k < 300 ? t : -t);
        }
        sa_companion_learn(companion);
        share[i] = sa_companion_share(companion);
        sa_companion_destroy(companion);
    }
    /* about (300 - 100 + 5) / (300 + 100 + 5), with half of the 300, and without them the least */
    assert_true(share[0] == 0.002);
    assert_float_equal(share[1], 55.0 / 255, 0.06);
    assert_float_equal(share[2], 205.0 / 405, 0.06);
}

/* After one huge score the estimates are no larger than it, whatever unit the network learns in. */
static void an_outlier_stays_one(void **state) {
    (void)state;
    uint64_t random = 4;
    sa_companion *companion = NULL;
    assert_int_equal(sa_companion_create(1, &companion), SA_OK);
    for (int i = 0; i < 400; i++) {
        double f = uniform(&random), x = uniform(&random);
        see(companion, &x, i == 200 ? 1e10 : f, 1, f);
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
        see(companion, &x, uniform(&random) + x, 1, f);
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
        sa_companion_fade(fading, 0.9);
        sa_companion_add(fading, &(sa_companion_case){.input = d.x[i], .score = d.y[i], .psi = d.psi[i]});
        sa_companion_add(
            weighed, &(sa_companion_case){.input = d.x[i], .score = root * d.y[i], .psi = root * d.psi[i]});
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
                                       cmocka_unit_test(sees_little_signal_in_noise),
                                       cmocka_unit_test(a_discount_of_0_teaches_nothing),
                                       cmocka_unit_test(trusts_what_predicts),
                                       cmocka_unit_test(share_and_trust_are_the_best),
                                       cmocka_unit_test(predictions_fade),
                                       cmocka_unit_test(an_outlier_stays_one),
                                       cmocka_unit_test(does_not_trust_what_does_not),
                                       cmocka_unit_test(discounts_weigh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

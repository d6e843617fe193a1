/* What the theorems prescribe, by what it is for: enough samples and no more, steps that bring the training
 * error down, and a width at which Condition 1 holds and just below which it does not. */
#include <math.h>

#include "test_file_scratch.h"
#include "theory/bounds.h"
#include "theory/settings.h"

typedef long double wide;

static void near(const char *what, double value, double expected, double relative) {
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%s is %.17g, not %.17g within %g", what, value, expected, relative);
}

/* Lemma 3 needs K (1 - p)^M <= 1 - p. */
static void samples_are_just_enough(void **state) {
    (void)state;
    const wide p = 1 / (4 * expl(1) * sqrtl(acosl(-1)));
    for (int slate = 1; slate <= 1000; slate++) {
        int samples = (int)sa_setting_samples(slate);
        wide room = (1 - p) * (1 + 1e-15L);
        assert_true(slate * powl(1 - p, samples) <= room);
        assert_true(slate * powl(1 - p, samples - 1) > room);
    }
    assert_int_equal((int)sa_setting_samples(1), 1);
    assert_int_equal((int)sa_setting_samples(4), 28);
}

static const sa_horizon PAPER = {
    .rounds = 2000, .slate = 4, .contexts = 40000, .depth = 2, .hidden = 100, .lambda = 8, .delta = 0.1};

/* T K L = 16000. eta = 1 / (1600000 + 800). J = 2 log(16008 sqrt(1000)) 2000 and 2 log(8000 sqrt(2000))
 * 2000. */
static void the_papers_experiment(void **state) {
    (void)state;
    near("eta", sa_setting_eta(&PAPER), 1 / 1600800.0, 1e-15);
    near("J", sa_setting_steps(&PAPER), ceil(4000 * log(16008 * sqrt(1000))), 0);
    near("J of TS", sa_setting_steps_ts(&PAPER), ceil(4000 * log(8000 * sqrt(2000))), 0);
    near("lambda", sa_setting_lambda(&PAPER), 8, 0);
    sa_horizon short_one = PAPER;
    short_one.rounds = short_one.slate = 1;
    short_one.depth = 1;
    near("lambda", sa_setting_lambda(&short_one), 2, 0);
}

/* (lambda + T K L) (1 - eta m lambda)^(J/2) sqrt(T K / lambda), the error of training in gamma_T, is at most
 * 1, but for the lambda beside T K L in eta, which J leaves out: that is 1 in T. */
static void steps_bring_the_error_down(void **state) {
    (void)state;
    for (double rounds = 10; rounds < 1e6; rounds *= 10)
        for (double slate = 1; slate < 100; slate *= 4) {
            sa_horizon h = PAPER;
            h.rounds = rounds;
            h.slate = slate;
            h.lambda = sa_setting_lambda(&h);
            double n = rounds * slate, start = (h.lambda + n * h.depth) * sqrt(n / h.lambda);
            double rest = sa_bound_rest(sa_setting_eta(&h) * h.hidden * h.lambda, sa_setting_steps(&h));
            assert_true(start * rest <= pow(start, 1.01 / rounds));
            assert_true(start * rest > 0.1); /* nor are there many too many */
            double start_ts = 4 * rounds * sqrt(n * h.depth / h.lambda);
            rest = sa_bound_rest(sa_setting_eta(&h) * h.hidden * h.lambda, sa_setting_steps_ts(&h));
            assert_true(start_ts * rest <= pow(start_ts, 1.01 / rounds));
        }
    sa_horizon easy = PAPER;
    easy.lambda = 4e12; /* 4 T sqrt(T K L / lambda) is about 0.5 */
    assert_true(sa_setting_steps_ts(&easy) == 0);
}

/* Condition 1 as it is written. */
static bool holds(const sa_horizon *h, wide lambda_0, wide m) {
    wide T = h->rounds, K = h->slate, L = h->depth, l = h->lambda, N = h->contexts / h->rounds;
    wide first = powl(L, -1.5L) * powl(K, -0.5L) * sqrtl(l) * powl(logl(T * N * L * L / h->delta), 1.5L);
    wide second = powl(T, 6) * powl(N, 6) * powl(L, 6) * logl(T * T * N * N * L / h->delta) *
                  fmaxl(powl(lambda_0, -4), 1);
    wide third = powl(T, 4) * powl(K, 4) * powl(L, 21) * powl(l, -4) * powl(1 + sqrtl(T / l), 6) +
                 T * K * powl(L, 12) / l +
                 powl(T, 4) * powl(K, 4) * powl(L, 18) * powl(l, -10) * powl(l + T * L, 6);
    return m >= fmaxl(first, second) && m * powl(logl(m), -3) >= third;
}

static void widths_are_the_smallest(void **state) {
    (void)state;
    static const double depths[] = {2, 3, 12}, lambdas[] = {0.01, 8, 1e12}, eigenvalues[] = {1e-3, 0.4, 7};
    sa_horizon h = PAPER;
    for (size_t i = 0; i < 27; i++) {
        h.depth = depths[i % 3];
        h.lambda = lambdas[i / 3 % 3];
        double lambda_0 = eigenvalues[i / 9];
        wide m = expl(sa_setting_log_width(&h, lambda_0));
        if (m < 21) continue; /* e^3: below it, m / (log m)^3 falls */
        if (!holds(&h, lambda_0, m * (1 + 1e-9L)) || holds(&h, lambda_0, m * (1 - 1e-9L)))
            fail_msg("case %zu: %Lg is not the smallest width", i, m);
    }
    assert_true(isinf(sa_setting_log_width(&PAPER, 0)));
    h.depth = 1000; /* 10^84 L^21: still a number, as its logarithm is what is computed */
    h.rounds = 1e100;
    assert_true(sa_setting_log_width(&h, 1) > 710 && isfinite(sa_setting_log_width(&h, 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_just_enough),
        cmocka_unit_test(the_papers_experiment),
        cmocka_unit_test(steps_bring_the_error_down),
        cmocka_unit_test(widths_are_the_smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

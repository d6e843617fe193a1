/* gamma_t, e_t, nu and epsilon against the paper's formulas written out once more, term by term, with t and K
 * apart. C is --approximation. */
#include <math.h>

#include "test_file_scratch.h"
#include "theory/bounds.h"

typedef long double wide;

typedef struct known {
    wide t, K, L, m, lambda, delta, S, R, log_det, rest, C;
} known;

static wide shrink(const known *k) { return powl(k->m, -1.0L / 6) * sqrtl(logl(k->m)); }

static wide paper_gamma(const known *k) {
    wide t = k->t, K = k->K, L = k->L, l = k->lambda, w = shrink(k);
    wide G1 = sqrtl(1 + k->C * powl(t, 7.0L / 6) * powl(K, 7.0L / 6) * powl(L, 4) * powl(l, -7.0L / 6) * w);
    wide G2 = k->C * powl(t, 5.0L / 3) * powl(K, 5.0L / 3) * powl(L, 4) * powl(l, -1.0L / 6) * w;
    wide G3 = powl(t, 7.0L / 6) * powl(K, 7.0L / 6) * powl(L, 3.5L) * powl(l, -7.0L / 6) * w *
              (1 + sqrtl(t * K / l));
    return G1 * (k->R * sqrtl(k->log_det + G2 - 2 * logl(k->delta)) + sqrtl(l) * k->S) +
           k->C * (l + t * K * L) * (k->rest * sqrtl(t * K / l) + G3);
}

static wide paper_error(const known *k, wide gamma) {
    wide t = k->t, K = k->K, L = k->L, l = k->lambda, w = shrink(k);
    return k->C * (gamma * powl(t, 1.0L / 6) * powl(K, 1.0L / 6) * powl(L, 3.5L) * powl(l, -2.0L / 3) * w +
                   powl(t, 2.0L / 3) * powl(K, 2.0L / 3) * powl(l, -2.0L / 3) * w);
}

static wide paper_nu(const known *k) {
    wide B = fmaxl(1 / (22 * expl(1) * sqrtl(acosl(-1))), k->S);
    return B + k->R * sqrtl(k->log_det + 2 - 2 * logl(k->delta));
}

static wide paper_epsilon(const known *k) {
    wide T = k->t, K = k->K, L = k->L, l = k->lambda, w = shrink(k);
    return k->C *
           (powl(T, 2.0L / 3) * powl(K, 2.0L / 3) * powl(L, 3) * powl(l, -2.0L / 3) * w +
            k->rest * sqrtl(T * K * L / l) +
            powl(T, 7.0L / 6) * powl(K, 7.0L / 6) * powl(L, 4) * powl(l, -7.0L / 6) * w *
                (1 + sqrtl(T * K / l)) +
            powl(T, 7.0L / 6) * powl(K, 7.0L / 6) * powl(l, -2.0L / 3) * powl(L, 4.5L) * w * paper_nu(k));
}

static void near(const char *what, double value, wide expected) {
    if (!(fabsl((wide)value - expected) <= 1e-12L * fabsl(expected)))
        fail_msg("%s is %.17g, not %.17Lg", what, value, expected);
}

static sa_bounds bounds_of(const known *k) {
    return (sa_bounds){.lambda = (double)k->lambda,
                       .depth = (double)k->L,
                       .hidden = (double)k->m,
                       .delta = (double)k->delta,
                       .norm_bound = (double)k->S,
                       .sub_gaussian = (double)k->R,
                       .approximation = (double)k->C};
}

static void formulas_are_the_papers(void **state) {
    (void)state;
    static const known cases[] = {
        {100, 4, 2, 100, 1, 0.125L, 1, 0.5L, 37.5L, 0.25L, 1},
        {7, 3, 3, 64, 0.5L, 0.5L, 0, 2, 3.25L, 1, 0.25L},
        {2000, 4, 4, 1e9L, 16, 0.0625L, 8, 0.125L, 900, 0, 1},
        {1, 1, 2, 20, 2, 0.25L, 0.75L, 1, 0.125L, 0.5L, 0},
        {0, 4, 2, 100, 4, 0.25L, 3, 1, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const known *k = &cases[i];
        sa_bounds bounds = bounds_of(k);
        double n = (double)(k->t * k->K), rest = (double)k->rest, log_det = (double)k->log_det;
        double gamma = sa_bound_gamma(&bounds, n, log_det, rest), nu = sa_bound_nu(&bounds, log_det);
        near("gamma", gamma, paper_gamma(k));
        near("e", sa_bound_error(&bounds, n, gamma), paper_error(k, gamma));
        near("nu", nu, paper_nu(k));
        near("epsilon", sa_bound_epsilon(&bounds, n, nu, rest), paper_epsilon(k));
    }
}

/* lambda 4, delta 1/e, log det 2: R sqrt(2 + 2) + 2 S */
static void a_wide_network_has_the_linear_models_radius(void **state) {
    (void)state;
    known k = {50, 4, 2, 100, 4, expl(-1), 1.5L, 0.5L, 2, 1, 0};
    sa_bounds bounds = bounds_of(&k);
    near("gamma", sa_bound_gamma(&bounds, 200, 2, 1), 0.5L * 2 + 2 * 1.5L);
    assert_true(sa_bound_error(&bounds, 200, 4) == 0);
    assert_true(sa_bound_epsilon(&bounds, 200, 4, 1) == 0);
    bounds.approximation = 1; /* w falls with m: at 10^200 hidden units there is next to nothing of it left */
    bounds.hidden = 1e200;
    near("gamma of a huge network", sa_bound_gamma(&bounds, 200, 2, 0), 0.5L * 2 + 2 * 1.5L);
}

static void steps_bring_training_to_its_end(void **state) {
    (void)state;
    near("rest", sa_bound_rest(0.75, 4), 0.0625L);
    near("rest of an overshoot", sa_bound_rest(1.75, 2), 0.75L);
    assert_true(sa_bound_rest(0.5, 0) == 1);
    assert_true(sa_bound_rest(2.5, 100) == 1);
    assert_true(sa_bound_rest(1, 2) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_the_papers),
        cmocka_unit_test(a_wide_network_has_the_linear_models_radius),
        cmocka_unit_test(steps_bring_training_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* p-values against printed tables and against a sum over the density, and Holm's correction by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/p_value.h"

/* 2 P(T > t) by the midpoint rule in u = atan(x / sqrt(nu)), where the density is cos^(nu-1) u over its
 * sum. */
static double by_sums(double t, double nu) {
    enum { POINTS = 40000 };
    double tail = 0, all = 0, from = atan(t / sqrt(nu)), to = acos(0);
    for (int i = 0; i < POINTS; i++) {
        tail += pow(cos(from + (to - from) * (i + 0.5) / POINTS), nu - 1) * (to - from);
        all += pow(cos(to * (i + 0.5) / POINTS), nu - 1) * to;
    }
    return tail / all;
}

static void test_p_values(void **state) {
    (void)state;
    /* quantiles of 97.5% and 99.95%, two-sided 0.05 and 0.001, as tables print them */
    static const double printed[][3] = {
        {1, 12.7062, 636.619}, {4, 2.7764, 8.6103}, {19, 2.0930, 3.8834}, {99, 1.9842, 3.3915}};
    for (size_t i = 0; i < 4; i++) {
        size_t count = (size_t)printed[i][0] + 1;
        double root = sqrt((double)count); /* a deviation of root has the mean as t */
        assert_true(fabs(sa_p_value(printed[i][1], root, count) - 0.05) < 1e-5);
        assert_true(fabs(sa_p_value(-printed[i][2], root, count) - 0.001) < 1e-6);
    }
    for (size_t count = 2; count <= 41; count += 3)
        for (double t = 0.01; t < 30; t *= 2.2) {
            double p = sa_p_value(t, sqrt((double)count), count), wanted = by_sums(t, (double)count - 1);
            if (fabs(p - wanted) > 1e-6 * wanted)
                fail_msg("t %g, n %zu: %.12g, not %.12g", t, count, p, wanted);
        }
    assert_true(isnan(sa_p_value(1, NAN, 1)) && isnan(sa_p_value(NAN, NAN, 0)));
    assert_true(sa_p_value(0, 1, 5) == 1 && sa_p_value(0, 0, 5) == 1 && isnan(sa_p_value(2, 0, 5)));
    assert_true(sa_p_value(1e300, 1e-300, 5) == 0 && sa_p_value(1e-300, 1e300, 5) == 1);
    assert_true(sa_p_value(1, 1, 100000) >= 0 && sa_p_value(1, 1, 100000) < 1e-300);
}

static void test_holm(void **state) {
    (void)state;
    double p[] = {0.04, NAN, 0.01, 0.03, 0.005, 0.5}; /* 5 comparisons */
    sa_holm_correct(p, 6);
    static const double wanted[] = {0.09, 0, 0.04, 0.09, 0.025, 0.5};
    for (size_t i = 0; i < 6; i++) assert_true(i == 1 ? isnan(p[i]) : fabs(p[i] - wanted[i]) < 1e-15);
    double alone[] = {0.7}, same[] = {0.6, 0.6, 0}, none[] = {NAN}, small[] = {1e-30, 1e-40};
    sa_holm_correct(alone, 1);
    sa_holm_correct(same, 3);
    sa_holm_correct(none, 1);
    sa_holm_correct(NULL, 0);
    sa_holm_correct(small, 2);
    assert_true(small[0] == 1e-30 && fabs(small[1] - 2e-40) < 1e-55);
    assert_true(alone[0] == 0.7 && same[0] == 1 && same[1] == 1 && same[2] == 0 && isnan(none[0]));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_p_values), cmocka_unit_test(test_holm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

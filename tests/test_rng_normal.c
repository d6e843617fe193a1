/* The normal quantile against an inversion of erf and erfc in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rng/stream.h"

/* Newton's steps from z for probability p <= 1/2, on whichever of erf and erfc keeps its digits. */
static long double refine(double p, long double z) {
    for (int step = 0; step < 3; step++) {
        long double density = expl(-z * z / 2) * 0.398942280401432677939946L, off;
        if (p > 0.25)
            off = 0.5L * erfl(z * 0.707106781186547524400844L) - ((long double)p - 0.5L);
        else
            off = 0.5L * erfcl(-z * 0.707106781186547524400844L) - (long double)p;
        z -= off / density;
    }
    return z;
}

static void check(double p) {
    double z = sa_normal_quantile(p);
    long double exact = refine(p, z);
    if (fabsl((z - exact) / exact) >= 1e-15L)
        fail_msg("quantile(%.17g) = %.17g, exactly %.17Lg", p, z, exact);
}

static void test_against_inversion(void **state) {
    (void)state;
    for (int i = 1; i < 20000; i++) check(i / 40000.0);
    for (int i = 3; i < 53 * 50; i++)
        check(pow(2, -i / 50.0 - 1)); /* down to 2^-53, the least that is drawn */
    check(1e-300);
}

static void test_symmetry_and_ends(void **state) {
    (void)state;
    for (int i = 1; i < 1000; i++) {
        double p = i / 1024.0; /* exact, and so is 1 - p */
        assert_true(sa_normal_quantile(p) == -sa_normal_quantile(1 - p));
        assert_true(sa_normal_quantile(p) < sa_normal_quantile((i + 1) / 1024.0));
    }
    assert_true(sa_normal_quantile(0.5) == 0);
    assert_true(sa_normal_quantile(0) == -INFINITY && sa_normal_quantile(1) == INFINITY);
    assert_true(isnan(sa_normal_quantile(-0.1)) && isnan(sa_normal_quantile(1.1)) &&
                isnan(sa_normal_quantile(NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_inversion),
                                       cmocka_unit_test(test_symmetry_and_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Our own exp, log, cos... against MPFR with 200 bits: no result is further from the exact one than 0.51
 * units in the last place; where the exact result is a double, that is it; special values are those of C's
 * annex F. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mpfr.h>

#include "base/functions.h"
#include "functions_arguments.h"

static const double PI = 3.14159265358979323846;

/* How far `got` is from `exact`, in units in the last place of the exact one. */
static double error_of(double got, mpfr_t exact) {
    double nearest = mpfr_get_d(exact, MPFR_RNDN);
    if (!isfinite(nearest) || !isfinite(got))
        return nearest == got || (isnan(nearest) && isnan(got)) ? 0 : 1e9;
    int exponent;
    mpfr_t off;
    mpfr_init2(off, 200);
    frexp(nearest, &exponent);
    if (nearest == 0 || exponent < -1021) exponent = -1021;
    mpfr_sub_d(off, exact, got, MPFR_RNDN);
    mpfr_mul_2si(off, off, 53 - exponent, MPFR_RNDN);
    double error = fabs(mpfr_get_d(off, MPFR_RNDN));
    mpfr_clear(off);
    return error;
}

typedef int (*exact_one)(mpfr_t, const mpfr_t, mpfr_rnd_t);
typedef int (*exact_two)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

static double limit = 0.51;

static void check(const char *name, double (*ours)(double), exact_one exact, double x) {
    mpfr_t argument, result;
    mpfr_inits2(200, argument, result, (mpfr_ptr)NULL);
    mpfr_set_d(argument, x, MPFR_RNDN);
    exact(result, argument, MPFR_RNDN);
    double error = error_of(ours(x), result);
    if (error > limit) fail_msg("%s(%a) = %a, which is %g units off", name, x, ours(x), error);
    mpfr_clears(argument, result, (mpfr_ptr)NULL);
}

static void check_two(const char *name, double (*ours)(double, double), exact_two exact, double x, double y) {
    mpfr_t first, second, result;
    mpfr_inits2(200, first, second, result, (mpfr_ptr)NULL);
    mpfr_set_d(first, x, MPFR_RNDN);
    mpfr_set_d(second, y, MPFR_RNDN);
    exact(result, first, second, MPFR_RNDN);
    double error = error_of(ours(x, y), result);
    if (error > limit) fail_msg("%s(%a, %a) = %a, which is %g units off", name, x, y, ours(x, y), error);
    mpfr_clears(first, second, result, (mpfr_ptr)NULL);
}

enum { DRAWS = 3000 };

/* Of either sign where the function is there for both, evenly and by magnitude; any bits at all; what is
 * special. */
#define CHECK(name, low, high)                                                                               \
    for (int i = 0; i < DRAWS; i++) {                                                                        \
        check(#name, sa_##name, mpfr_##name, argument_between(low, high));                                   \
        check(#name, sa_##name, mpfr_##name, argument_by_size(1e-20, high));                                 \
        if (low < 0) check(#name, sa_##name, mpfr_##name, -argument_by_size(1e-20, -low));                   \
        check(#name, sa_##name, mpfr_##name, argument_of_any_bits());                                        \
    }                                                                                                        \
    for (size_t i = 0; i < SPECIAL_ARGUMENTS; i++) check(#name, sa_##name, mpfr_##name, special_arguments[i])

static void test_exp(void **state) {
    (void)state;
    CHECK(exp, -1, 1.0);
    CHECK(exp, -745.2, 709.8);
    for (int i = 0; i < DRAWS; i++)
        check("exp", sa_exp, mpfr_exp, argument_between(-745.2, -707)); /* subnormal */
    CHECK(expm1, -2, 2.0);
    CHECK(expm1, -70, 709.8);
    CHECK(tanh, -3, 3.0);
    CHECK(tanh, -30, 30.0);
    for (int k = -95000; k < 95000; k += 97) /* about where the table's next entry is taken */
        for (int j = -1; j <= 1; j++)
            check("exp", sa_exp, mpfr_exp, (k + 0.5) * (log(2) / 128) * (1 + j * 0x1p-52));
}

static void test_log(void **state) {
    (void)state;
    CHECK(log, 0.5, 2.0);
    CHECK(log, 0, 1e300);
    CHECK(log, 0.99, 1.01);
    CHECK(log1p, -1, 2.0);
    CHECK(log1p, -1e-3, 1e30);
    CHECK(log10, 0, 1e10);
    for (int i = 0; i < 4096; i++) /* ends of the table's parts */
        for (int j = -1; j <= 1; j++) check("log", sa_log, mpfr_log, (0.5 + i / 2048.0) * (1 + j * 0x1p-52));
}

static void test_circle(void **state) {
    (void)state;
    CHECK(sin, -10, 10.0);
    CHECK(cos, -10, 10.0);
    CHECK(tan, -10, 10.0);
    CHECK(sin, -7e4, 7e4);
    CHECK(cos, -7e4, 7e4);
    CHECK(cos, -1e300, 1e300);
    CHECK(atan, -3, 3.0);
    CHECK(atan, -1e20, 1e20);
    /* the double that is nearest to a multiple of pi / 2, and its like */
    const double near[] = {0x1.6ac5b262ca1ffp+849, 0x1.921fb54442d18p+0,
                           0x1.921fb54442d18p+1,   0x1.81ae0dffa3b33p+959,
                           0x1.441251b1d2b0ep+18,  65536,
                           0x1.0000000000001p16,   0x1p1023};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        check("sin", sa_sin, mpfr_sin, near[i]);
        check("cos", sa_cos, mpfr_cos, near[i]);
        check("tan", sa_tan, mpfr_tan, near[i]);
    }
    for (int k = 1; k < 200000; k += 53) { /* doubles next to multiples of pi / 128 */
        check("sin", sa_sin, mpfr_sin, k * (PI / 128));
        check("cos", sa_cos, mpfr_cos, k * (PI / 128));
    }
}

static void test_erfc(void **state) {
    (void)state;
    limit = 0.53;
    CHECK(erfc, -1, 1.0);
    CHECK(erfc, -7, 27.3);
    limit = 0.51;
}

static void test_two(void **state) {
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        check_two("pow", sa_pow, mpfr_pow, argument_by_size(0.5, 2), argument_between(-60, 60));
        check_two("pow", sa_pow, mpfr_pow, argument_by_size(1e-300, 1e300), argument_between(-1.2, 1.2));
        check_two("pow", sa_pow, mpfr_pow, argument_between(0.9, 1.1), argument_between(-8000, 8000));
        check_two("pow", sa_pow, mpfr_pow, argument_between(-20, 20), floor(argument_between(-20, 20)));
        check_two("pow", sa_pow, mpfr_pow, argument_of_any_bits(), argument_of_any_bits());
        check_two("atan2", sa_atan2, mpfr_atan2, argument_between(-2, 2), argument_between(-2, 2));
        check_two("atan2", sa_atan2, mpfr_atan2, argument_of_any_bits(), argument_of_any_bits());
    }
    for (size_t i = 0; i < SPECIAL_ARGUMENTS; i++)
        for (size_t j = 0; j < SPECIAL_ARGUMENTS; j++) {
            check_two("pow", sa_pow, mpfr_pow, special_arguments[i], special_arguments[j]);
            check_two("atan2", sa_atan2, mpfr_atan2, special_arguments[i], special_arguments[j]);
        }
}

/* The sign of zero, which == does not see, as the C library has it. */
static void test_zeros(void **state) {
    (void)state;
    double (*const odd[])(double) = {sa_sin, sa_tan, sa_tanh, sa_atan, sa_expm1, sa_log1p};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        assert_true(odd[i](-0.0) == 0 && signbit(odd[i](-0.0)));
        assert_true(odd[i](0.0) == 0 && !signbit(odd[i](0.0)));
    }
    assert_true(!signbit(sa_log(1)) && !signbit(sa_log10(1)));
    for (size_t i = 0; i < SPECIAL_ARGUMENTS; i++)
        for (size_t j = 0; j < SPECIAL_ARGUMENTS; j++) {
            double x = special_arguments[i], y = special_arguments[j];
            if (pow(x, y) == 0) assert_int_equal(!signbit(sa_pow(x, y)), !signbit(pow(x, y)));
            if (atan2(x, y) == 0) assert_int_equal(!signbit(sa_atan2(x, y)), !signbit(atan2(x, y)));
        }
}

static void test_exact(void **state) {
    (void)state;
    double power = 1;
    for (int i = 0; i <= 22; i++, power *= 10) {
        assert_true(sa_log10(power) == i);
        assert_true(sa_pow(10, i) == power);
    }
    for (int i = -1074; i < 1024; i++) assert_true(sa_pow(2, i) == ldexp(1, i));
    for (int i = 1; i < 2000; i++)
        assert_true(sa_pow(i, 4) == (double)i * i * i * i && sa_pow(i * i, 0.5) == i);
}

int main(void) {
    mpfr_set_emin(-5000);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),   cmocka_unit_test(test_log), cmocka_unit_test(test_circle),
        cmocka_unit_test(test_erfc),  cmocka_unit_test(test_two), cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Student's quantile against published tables, and means over runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "results/statistics.h"

static void test_quantiles(void **state) {
    (void)state;
    static const struct {
        size_t degrees;
        double quantile;
    } table[] = {{1, 12.7062047}, {2, 4.3026527},  {3, 3.1824463},   {4, 2.7764451},
                 {5, 2.5705818},  {9, 2.2621572},  {10, 2.2281389},  {19, 2.0930241},
                 {29, 2.0452296}, {99, 1.9842170}, {120, 1.9799304}, {1000, 1.9623391}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(fabs(sa_student_quantile(table[i].degrees) - table[i].quantile) < 1e-7);
    for (size_t degrees = 1; degrees < 400; degrees++) /* the change of method at 200 does not show */
        assert_true(sa_student_quantile(degrees) > sa_student_quantile(degrees + 1));
    assert_true(fabs(sa_student_quantile(199) - 2 * sa_student_quantile(200) + sa_student_quantile(201)) <
                1e-6);
    assert_true(fabs(sa_student_quantile(1000000000) - 1.959963984540054) < 1e-8);
}

static void test_means(void **state) {
    (void)state;
    const double curves[] = {9, 1, 9, 2, 9, 3, 9, 6}; /* (4, 2): the last column counts */
    sa_mean mean = sa_final_mean(curves, 4, 2);
    assert_true(mean.mean == 3);
    assert_true(fabs(mean.sd - sqrt(14 / 3.0)) < 1e-15);
    assert_true(fabs(mean.high - (3 + 3.18244630528371 * sqrt(14 / 3.0) / 2)) < 1e-12);
    assert_true(fabs(mean.low + mean.high - 6) < 1e-14);
    sa_mean alone = sa_final_mean(curves, 1, 2);
    assert_true(alone.mean == 1 && isnan(alone.sd) && isnan(alone.low) && isnan(alone.high));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quantiles), cmocka_unit_test(test_means)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The statistics of contexts: of ordinary ones those of all, found again here by two passes; where the first
 * ones were far from all others, those of the newer half. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/standardize.h"
#include "rng/stream.h"

enum { DIM = 3, MOST = 3000 };

static const sa_inputs INPUTS = {
    .precision = SA_PRECISION_DOUBLE, .normalization = SA_NORMALIZE_STANDARD, .dim = DIM};

/* A time in seconds, a price over decades, a rare flag. */
static void fill(double *rows, size_t count) {
    sa_stream stream = sa_stream_at(11, SA_PURPOSE_NOISE, 0, 0);
    for (size_t i = 0; i < count; i++) {
        rows[i * DIM] = 1.7e9 + 5 * (double)i;
        rows[i * DIM + 1] = exp(3 * sa_draw_normal(&stream, i));
        rows[i * DIM + 2] = sa_draw_uniform(&stream, 10000 + i) < 0.01;
    }
}

/* By two passes over rows [first, end). */
static void expect(const double *statistics, const double *rows, size_t first, size_t end, size_t j) {
    double count = (double)(end - first), mean = 0, squares = 0;
    for (size_t i = first; i < end; i++) mean += rows[i * DIM + j] / count;
    for (size_t i = first; i < end; i++) squares += (rows[i * DIM + j] - mean) * (rows[i * DIM + j] - mean);
    assert_true(fabs(statistics[1 + j] - mean) <= 1e-9 * fabs(mean) + 1e-12);
    double deviation = sqrt(statistics[1 + DIM + j] / statistics[0]);
    assert_true(fabs(deviation - sqrt(squares / count)) <= 1e-6 * deviation);
}

static void test_ordinary(void **state) {
    (void)state;
    static double rows[MOST * DIM], at_once[5 + 6 * DIM], one_by_one[5 + 6 * DIM];
    fill(rows, MOST);
    sa_statistics_see(&INPUTS, at_once, rows, NULL, MOST);
    for (size_t i = 0; i < MOST; i++) sa_statistics_see(&INPUTS, one_by_one, rows + i * DIM, NULL, 1);
    assert_memory_equal(at_once, one_by_one, sizeof at_once);
    assert_true(at_once[0] == MOST && sa_statistics_changes(&INPUTS, at_once) == 0);
    for (size_t j = 0; j < DIM; j++) expect(at_once, rows, 0, MOST, j);
}

/* Two features of the first 40 are hostile; the third stays as it is. */
static void test_hostile(void **state) {
    (void)state;
    static double rows[MOST * DIM], statistics[5 + 6 * DIM];
    fill(rows, 128);
    for (size_t i = 0; i < 40; i++) {
        rows[i * DIM] = i % 2 ? 1e18 : -1e18;
        rows[i * DIM + 2] = 1e9 + (double)i;
    }
    sa_statistics_see(&INPUTS, statistics, rows, NULL, 127);
    assert_true(sa_statistics_changes(&INPUTS, statistics) == 0 && statistics[1 + DIM] > 1e30);
    sa_statistics_see(&INPUTS, statistics, rows + 127 * DIM, NULL, 1);
    assert_true(sa_statistics_changes(&INPUTS, statistics) == 1 && statistics[0] == 128);
    expect(statistics, rows, 64, 128, 0);
    expect(statistics, rows, 0, 128, 1);
    expect(statistics, rows, 64, 128, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ordinary), cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

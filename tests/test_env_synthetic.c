/* The synthetic environments: what they draw, and that draws depend on seed, run and round alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "env/environment.h"
#include "rng/stream.h"
#include "test_elimination.h"
#include "test_parts.h"

enum { ARMS = 6, DIM = 5 };

typedef struct draws {
    double contexts[ARMS * DIM], expected[ARMS], noise[ARMS], stop[ARMS];
} draws;

static sa_options *options_for(const char *environment) {
    sa_options *options = sa_options_new(NULL);
    assert_int_equal(sa_options_set_any(options, "environment", environment), SA_OK);
    assert_int_equal(sa_options_set_any(options, "arms", "6"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "dim", "5"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "rounds", "10"), SA_OK);
    return options;
}

static draws draw(sa_options *options, uint64_t run, uint64_t round) {
    sa_environment *environment = NULL;
    draws out;
    assert_int_equal(sa_environment_create(options, &environment), SA_OK);
    assert_int_equal(environment->rounds, 10);
    assert_int_equal(environment->arms, ARMS);
    assert_int_equal(environment->dim, DIM);
    sa_environment_draw(
        environment, run, round,
        &(sa_round){
            .contexts = out.contexts, .expected = out.expected, .noise = out.noise, .stop = out.stop});
    sa_environment_destroy(environment);
    return out;
}

/* h1 to h3 from `a`, drawn again here. */
static void test_scores(void **state) {
    (void)state;
    const char *const names[] = {"h1", "h2", "h3"};
    double a[DIM];
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, 1, DIM, a);
    for (int h = 0; h < 3; h++) {
        sa_options *options = options_for(names[h]);
        draws out = draw(options, 3, 7);
        for (size_t i = 0; i < ARMS; i++) {
            double squares = 0, product = 0;
            for (size_t j = 0; j < DIM; j++) {
                squares += out.contexts[i * DIM + j] * out.contexts[i * DIM + j];
                product += out.contexts[i * DIM + j] * a[j];
            }
            double wanted = h == 0 ? product : h == 1 ? product * product : cos(acos(-1) * product);
            assert_true(fabs(squares - 1) < 1e-14);
            assert_true(fabs(out.expected[i] - wanted) < 1e-14);
        }
        sa_options_destroy(options);
    }
}

static void test_preset_changes_h3(void **state) {
    (void)state;
    sa_options *options = options_for("h3");
    draws exact = draw(options, 0, 0);
    assert_int_equal(sa_options_set_any(options, "preset", "icml23"), SA_OK);
    draws published = draw(options, 0, 0);
    assert_memory_equal(exact.contexts, published.contexts, sizeof exact.contexts);
    double largest = 0;
    for (size_t i = 0; i < ARMS; i++)
        largest = fmax(largest, fabs(exact.expected[i] - published.expected[i]));
    assert_true(largest > 1e-5 && largest < 2e-3);
    sa_options_destroy(options);
}

static void test_addresses(void **state) {
    (void)state;
    sa_options *options = options_for("h1");
    draws first = draw(options, 2, 5), again = draw(options, 2, 5);
    assert_memory_equal(&first, &again, sizeof first);
    draws run = draw(options, 3, 5), round = draw(options, 2, 6);
    assert_true(first.contexts[0] != run.contexts[0] && first.contexts[0] != round.contexts[0]);
    assert_true(first.noise[0] != run.noise[0] && first.noise[0] != round.noise[0]);
    sa_options_set_any(options, "seed", "2");
    draws seed = draw(options, 2, 5);
    assert_true(first.contexts[0] != seed.contexts[0] && first.noise[0] != seed.noise[0]);
    sa_options_destroy(options);
}

static void test_noise(void **state) {
    (void)state;
    sa_options *options = options_for("h1");
    sa_options_set_any(options, "noise", "0");
    draws none = draw(options, 0, 0);
    for (size_t i = 0; i < ARMS; i++) assert_true(none.noise[i] == 0);
    sa_options_set_any(options, "noise", "0.5");
    double squares = 0;
    for (uint64_t round = 0; round < 1000; round++) {
        draws out = draw(options, 0, round);
        for (size_t i = 0; i < ARMS; i++) squares += out.noise[i] * out.noise[i];
    }
    /* 6000 squares: mean 0.25, deviation 0.25 sqrt(2 / 6000); five deviations fail once in two million
     * seeds */
    assert_true(fabs(squares / 6000 - 0.25) < 5 * 0.25 * sqrt(2 / 6000.0));
    sa_options_destroy(options);
}

/* The angle between the a of two rounds is the turn times the rounds between them, and it stays in one plane.
 * a_t is found from the scores of DIM arms by elimination. */
static void test_turn(void **state) {
    (void)state;
    enum { ROUNDS = 5 };
    double a[ROUNDS][DIM], first[DIM];
    const double turn = 0.4;
    sa_options *options = options_for("h1");
    assert_int_equal(sa_options_set_any(options, "turn", "0.4"), SA_OK);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double system[DIM * (DIM + 1)];
        draws out = draw(options, 1, round);
        for (size_t i = 0; i < DIM; i++) {
            memcpy(system + i * (DIM + 1), out.contexts + i * DIM, DIM * sizeof *system);
            system[i * (DIM + 1) + DIM] = out.expected[i];
        }
        eliminate(DIM, system);
        for (size_t i = 0; i < DIM; i++) a[round][i] = system[i * (DIM + 1) + DIM];
    }
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, 1, DIM, first);
    for (size_t j = 0; j < DIM; j++) assert_true(fabs(a[0][j] - first[j]) < 1e-12);
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t s = 0; s < ROUNDS; s++) {
            double product = 0;
            for (size_t j = 0; j < DIM; j++) product += a[r][j] * a[s][j];
            assert_true(fabs(product - cos(turn * ((double)r - (double)s))) < 1e-12);
        }
    for (size_t r = 2; r < ROUNDS; r++) /* a_(r-2) + a_r = 2 cos(turn) a_(r-1): no third direction */
        for (size_t j = 0; j < DIM; j++)
            assert_true(fabs(a[r - 2][j] + a[r][j] - 2 * cos(turn) * a[r - 1][j]) < 1e-12);
    draws turned = draw(options, 2, 3);
    sa_options_set_any(options, "turn", "0");
    draws still = draw(options, 2, 3);
    assert_memory_equal(turned.contexts, still.contexts, sizeof still.contexts);
    assert_memory_equal(turned.noise, still.noise, sizeof still.noise);
    assert_true(turned.expected[0] != still.expected[0]);
    sa_options_destroy(options);
}

static void test_turn_refused(void **state) {
    (void)state;
    sa_environment *environment = NULL;
    sa_options *options = options_for("h2");
    assert_int_equal(sa_options_set_any(options, "turn", "4"), SA_INVALID);
    assert_int_equal(sa_options_set_any(options, "turn", "nan"), SA_INVALID);
    assert_int_equal(sa_options_set_any(options, "turn", "0.01"), SA_OK);
    assert_int_equal(sa_options_set_any(options, "dim", "1"), SA_OK);
    assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
    assert_string_equal(sa_last_error(), "--turn 0.01 needs a plane to turn in, and --dim is 1");
    sa_options_set_any(options, "environment", "csv");
    assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
    assert_string_equal(sa_last_error(),
                        "--turn is for --environment h1, h2 and h3, and this is --environment csv");
    assert_null(environment);
    sa_options_destroy(options);
}

static void test_wrong(void **state) {
    (void)state;
    sa_environment *environment = NULL;
    sa_options *options = options_for("h4");
    assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
    assert_string_equal(sa_last_error(), "--environment h4 is unknown; there are h1, h2, h3, formula, npy, "
                                         "csv, svmlight, classes, classes-joined");
    sa_options_set_any(options, "environment", "h1");
    sa_options_set_any(options, "scores", "v.npy");
    assert_int_equal(sa_environment_create(options, &environment), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--scores is for --environment npy"));
    assert_null(environment);
    sa_environment_destroy(NULL);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),       cmocka_unit_test(test_preset_changes_h3),
        cmocka_unit_test(test_addresses),    cmocka_unit_test(test_noise),
        cmocka_unit_test(test_wrong),        cmocka_unit_test(test_turn),
        cmocka_unit_test(test_turn_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

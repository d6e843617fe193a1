/* Replay from npy files: shapes, types, the run axis, and everything that can be wrong with a file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "env/environment.h"
#include "rng/stream.h"
#include "test_env_refused.h"
#include "test_own_folder.h"
#include "test_parts.h"

/* R, T, N, d */
static const size_t FULL[] = {2, 5, 4, 3};

static sa_options *replaying(const char *contexts, const char *scores, const char *noise) {
    sa_options *options = sa_options_new(NULL);
    sa_options_set_any(options, "environment", "npy");
    sa_options_set_any(options, "contexts", contexts);
    sa_options_set_any(options, "scores", scores);
    sa_options_set_any(options, "noise-values", noise);
    sa_options_set_any(options, "runs", "2");
    return options;
}

static void test_run_axis(void **state) {
    (void)state;
    double contexts[12], expected[4], noise[4], stop[4];
    for (int shared = 0; shared < 2; shared++)
        for (int floats = 0; floats < 2; floats++) {
            sa_dtype type = floats ? SA_FLOAT32 : SA_FLOAT64;
            const char *x = write_npy(inside(folder, "x.npy"), type, shared ? 3 : 4, FULL + shared);
            const char *v = write_npy(inside(folder, "v.npy"), type, 3, FULL); /* always with runs */
            const char *e = write_npy(inside(folder, "e.npy"), type, shared ? 2 : 3, FULL + shared);
            sa_options *options = replaying(x, v, e);
            sa_environment *environment = NULL;
            assert_int_equal(sa_environment_create(options, &environment), SA_OK);
            assert_true(environment->rounds == 5 && environment->arms == 4 && environment->dim == 3);
            sa_environment_draw(
                environment, 1, 2,
                &(sa_round){.contexts = contexts, .expected = expected, .noise = noise, .stop = stop});
            size_t first = (shared ? 0 : 60) + 2 * 12;
            for (size_t i = 0; i < 12; i++) {
                double wanted = 0.01 * (double)(first + i + 1);
                assert_true(contexts[i] == (floats ? (float)wanted : wanted));
            }
            assert_true(fabs(expected[3] - 0.01 * (20 + 2 * 4 + 4)) < 1e-7);
            assert_true(fabs(noise[0] - 0.01 * ((shared ? 0 : 20) + 2 * 4 + 1)) < 1e-7);
            sa_environment_destroy(environment);
            sa_options_destroy(options);
        }
}

/* Without --noise-values the noise is that of the synthetic environments. */
static void test_gaussian_noise(void **state) {
    (void)state;
    double contexts[12], expected[4], noise[4], stop[4], wanted[4];
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 4, FULL);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 3, FULL);
    sa_options *options = replaying(x, v, "");
    sa_environment *environment = NULL;
    sa_options_set_any(options, "noise", "0.25");
    assert_int_equal(sa_environment_create(options, &environment), SA_OK);
    sa_environment_draw(
        environment, 1, 2,
        &(sa_round){.contexts = contexts, .expected = expected, .noise = noise, .stop = stop});
    sa_stream stream = sa_stream_at(1, SA_PURPOSE_NOISE, 1, 2);
    sa_draw_normals(&stream, 0, 4, wanted);
    for (size_t i = 0; i < 4; i++) assert_true(noise[i] == 0.25 * wanted[i]);
    sa_environment_destroy(environment);
    sa_options_destroy(options);
}

static void test_sizes(void **state) {
    (void)state;
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 4, FULL);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 3, FULL);
    sa_options *options = replaying(x, v, "");
    sa_environment *environment = NULL;
    sa_options_set_any(options, "rounds", "3");
    sa_options_set_any(options, "arms", "4");
    sa_options_set_any(options, "dim", "3");
    assert_int_equal(sa_environment_create(options, &environment), SA_OK);
    assert_int_equal(environment->rounds, 3);
    double contexts[12], expected[4], noise[4], stop[4];
    sa_environment_draw(environment, 1, 0,
                        &(sa_round){.contexts = contexts,
                                    .expected = expected,
                                    .noise = noise,
                                    .stop = stop}); /* the file has all its rounds still */
    assert_true(fabs(contexts[0] - 0.61) < 1e-12 && fabs(expected[0] - 0.21) < 1e-12);
    sa_environment_destroy(environment);
    sa_options_destroy(options);
    options = replaying(x, v, "");
    sa_options_set_any(options, "rounds", "6");
    refused(options, SA_INVALID, "--rounds 6 is more than the 5 rounds of");
    options = replaying(x, v, "");
    sa_options_set_any(options, "arms", "5");
    refused(options, SA_INVALID, "--arms 5 contradicts --contexts");
    options = replaying(x, v, "");
    sa_options_set_any(options, "dim", "80");
    refused(options, SA_INVALID, "--dim 80 contradicts --contexts");
    options = replaying(x, v, "");
    sa_options_set_any(options, "first-run", "1");
    refused(options, SA_INVALID, "has 2 runs, and run 2 is asked for");
    refused(replaying("", v, ""), SA_INVALID, "needs --contexts");
    refused(replaying(x, "", ""), SA_INVALID, "needs --scores");
}

static void test_shapes(void **state) {
    (void)state;
    const size_t other_rounds[] = {2, 6, 4}, other_arms[] = {2, 5, 3}, none[] = {0, 4, 3};
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 4, FULL);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 3, FULL);
    refused(replaying(v, x, ""), SA_INVALID, "has shape (2, 5, 4, 3) where (T, N) or (R, T, N) is needed");
    refused(replaying(x, write_npy(inside(folder, "w.npy"), SA_FLOAT64, 3, other_rounds), ""), SA_INVALID,
            "has shape (2, 6, 4) where T = 5, N = 4");
    refused(replaying(x, v, write_npy(inside(folder, "w.npy"), SA_FLOAT64, 3, other_arms)), SA_INVALID,
            "has shape (2, 5, 3) where T = 5, N = 4");
    refused(replaying(write_npy(inside(folder, "w.npy"), SA_FLOAT64, 2, FULL), v, ""), SA_INVALID,
            "has shape (2, 5) where (T, N, d) or (R, T, N, d) is needed");
    refused(replaying(write_npy(inside(folder, "w.npy"), SA_FLOAT64, 3, none), v, ""), SA_INVALID,
            "has shape (0, 4, 3) where at least one number");
    const int64_t whole[12] = {0};
    assert_int_equal(sa_npy_write(inside(folder, "w.npy"), SA_INT64, 3, (size_t[]){1, 4, 3}, whole), SA_OK);
    refused(replaying(inside(folder, "w.npy"), v, ""), SA_INVALID, "float32 or float64 is needed");
}

static void test_not_finite(void **state) {
    (void)state;
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 4, FULL);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 3, FULL);
    const char *e = write_npy(inside(folder, "e.npy"), SA_FLOAT64, 3, FULL);
    poke_npy(x, 60 + 12 + 3 + 2, NAN);
    refused(replaying(x, v, e), SA_INVALID, "x.npy has nan at position (1, 1, 1, 2)");
    poke_npy(x, 60 + 12 + 3 + 2, 1);
    poke_npy(v, 39, INFINITY);
    refused(replaying(x, v, e), SA_INVALID, "v.npy has an infinity at position (1, 4, 3)");
    poke_npy(v, 39, 1);
    poke_npy(e, 0, -INFINITY);
    refused(replaying(x, v, e), SA_INVALID, "e.npy has an infinity at position (0, 0, 0)");
}

static void test_files(void **state) {
    (void)state;
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 4, FULL);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 3, FULL);
    refused(replaying(inside(folder, "absent.npy"), v, ""), SA_FILE, "absent.npy");
    write_text(inside(folder, "foreign.npy"), "PK\003\004 this is no npy file");
    refused(replaying(inside(folder, "foreign.npy"), v, ""), SA_FORMAT, "foreign.npy");
    write_text(inside(folder, "empty.npy"), "");
    refused(replaying(x, inside(folder, "empty.npy"), ""), SA_FORMAT, "empty.npy");
    assert_int_equal(truncate(x, 500), 0);
    refused(replaying(x, v, ""), SA_FORMAT, "x.npy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_run_axis, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_gaussian_noise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_finite, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

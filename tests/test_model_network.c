/* The network's scores are those of the paper's Eq. (2), with each option that adds to it. */
#define SA_REAL_BITS 64
#include "model/mlp.h"
#include "test_model_reference.h"
#include "test_parts.h"

/* Puts `theta` into a fresh model in double precision and scores x. */
static double score(net_options wanted, const double *theta, const double *x) {
    sa_options *options = options_of(wanted, SA_PRECISION_DOUBLE);
    sa_model *model = model_of(options);
    mlp_f64 *mlp = (mlp_f64 *)model;
    double mean = NAN;
    for (size_t l = 0; l < model->pairs; l++) {
        size_t offset = mlp_offset_f64(mlp, l);
        mlp_transpose_f64(theta + offset, model->shape[l].delta, model->shape[l].input, mlp->theta + offset);
    }
    assert_ok(evaluate(model, x, 1, &mean, NULL));
    sa_model_destroy(model);
    sa_options_destroy(options);
    return mean;
}

/* x = (1, 1/4); W_1 = (1, -2; 3, 1/2; -1, 0): z = (1/2, 25/8, -1), h = (1/2, 25/8, 0); W_2 = (2, -1, 7): f_2
 * = -17/8. */
static void two_layers_by_hand(void **state) {
    (void)state;
    const double x[] = {1, 0.25}, theta[] = {1, -2, 3, 0.5, -1, 0, 2, -1, 7};
    assert_near(score((net_options){.dim = 2, .hidden = 3, .depth = 2}, theta, x), -2.125, 1e-15);
    assert_near(score((net_options){.dim = 2, .hidden = 3, .depth = 2, .root_m = true}, theta, x),
                -2.125 * sqrt(3), 1e-14);
}

/* x = (1, 2); W_1 = (1, 1; 1, -1): z_1 = (3, -1), h_1 = (3, 0); W_2 = (2, 5; -1, 4): z_2 = (6, -3), h_2 = (6,
 * 0); W_3 = (1/2, 9): f_3 = 3. */
static void three_layers_by_hand(void **state) {
    (void)state;
    const double x[] = {1, 2}, theta[] = {1, 1, 1, -1, 2, 5, -1, 4, 0.5, 9};
    assert_near(score((net_options){.dim = 2, .hidden = 2, .depth = 3}, theta, x), 3, 1e-15);
    assert_near(score((net_options){.dim = 2, .hidden = 2, .depth = 3, .root_m = true}, theta, x),
                3 * sqrt(2), 1e-14);
}

/* The last column of each layer is its bias; the output's is scaled with it; v'x is not. x = (1, 2); z_1 = (1
 * + 2 + 1/2, 1 - 2 + 2) = (7/2, 1); f_2 = 2 * 7/2 - 3 * 1 + 1/4 = 17/4; v'x = 10 + 40 = 50. */
static void bias_and_bypass_by_hand(void **state) {
    (void)state;
    const double x[] = {1, 2}, theta[] = {1, 1, 0.5, 1, -1, 2, 2, -3, 0.25, 10, 20};
    net_options wanted = {.dim = 2, .hidden = 2, .depth = 2, .bias = true, .bypass = true};
    assert_near(score(wanted, theta, x), 54.25, 1e-13);
    wanted.root_m = true;
    assert_near(score(wanted, theta, x), 50 + 4.25 * sqrt(2), 1e-13);
    wanted.bypass = false;
    assert_near(score(wanted, theta, x), 4.25 * sqrt(2), 1e-14);
}

/* With the symmetric first weights the input is [x, x] / sqrt(2): x = 2 becomes (sqrt2, sqrt2); W_1 = (1, 2;
 * 3, -4): z = (3 sqrt2, -sqrt2); W_2 = (5, 6): f_2 = 15 sqrt2. The bypass sees the doubled input too. */
static void doubled_input_by_hand(void **state) {
    (void)state;
    const double x[] = {2}, theta[] = {1, 2, 3, -4, 5, 6, 10, 100};
    net_options wanted = {.dim = 1, .hidden = 2, .depth = 2, .symmetric = true};
    assert_near(score(wanted, theta, x), 15 * sqrt(2), 1e-13);
    wanted.bypass = true;
    assert_near(score(wanted, theta, x), (15 + 110) * sqrt(2), 1e-12);
}

/* Every combination of options, L = 2 ... 4, many arms at once (more than one chunk), both precisions,
 * weights from a file. */
static void scores_equal_plain_loops(void **state) {
    (void)state;
    enum { ARMS = 700 };
    double largest[2] = {0, 0};
    for (unsigned bits = 0; bits < 16; bits++)
        for (size_t depth = 2; depth <= 4; depth++)
            for (int precision = 0; precision < 2; precision++) {
                net_options wanted = {5, 8, depth, bits & 1, bits & 2, bits & 4, bits & 8};
                net n = net_of(wanted);
                sa_options *options = options_of(wanted, (sa_precision)precision);
                double *theta = random_doubles(net_parameters(&n)), *x = random_doubles(ARMS * 5),
                       *mean = doubles(ARMS);
                float narrow[ARMS * 5];
                for (size_t i = 0; i < ARMS * 5; i++) x[i] = narrow[i] = (float)x[i];
                write_weights(&n, theta, scratch("first.npz"));
                assert_ok(sa_options_set_any(options, "init-weights", scratch("first.npz")));
                sa_model *model = model_of(options);
                assert_int_equal(((mlp_f64 *)model)->base.pairs, depth + n.bypass);
                assert_ok(evaluate(model, precision ? (void *)x : narrow, ARMS, mean, NULL));
                double *expected = doubles(ARMS);
                for (size_t i = 0; i < ARMS; i++) expected[i] = net_forward(&n, theta, x + i * 5).f;
                double error = relative_error(ARMS, mean, expected);
                assert_true(error < (precision ? 1e-14 : 1e-5));
                largest[precision] = fmax(largest[precision], error);
                sa_model_destroy(model);
                sa_options_destroy(options);
                sa_free(theta);
                sa_free(x);
                sa_free(mean);
                sa_free(expected);
            }
    print_message("largest relative error of scores: single %.1e, double %.1e\n", largest[0], largest[1]);
}

static void refuse(const char *name, size_t rows, size_t columns, const double *values, sa_status status,
                   const char *words) {
    net_options wanted = {.dim = 2, .hidden = 2, .depth = 2};
    sa_options *options = options_of(wanted, SA_PRECISION_SINGLE);
    const char *path = scratch("bad.npz");
    const double good[] = {1, 2, 3, 4};
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, name, SA_FLOAT64, 2, (size_t[]){rows, columns}, values));
    assert_ok(sa_npz_add(writer, "W2", SA_FLOAT64, 2, (size_t[]){1, 2}, good));
    assert_ok(sa_npz_finish(writer, path));
    assert_ok(sa_options_set_any(options, "init-weights", path));
    sa_model *model = NULL;
    assert_fails(sa_model_create("mlp", MODEL_OF(options), &model), status, words);
    assert_null(model);
    sa_options_destroy(options);
}

static void bad_first_weights_are_refused(void **state) {
    (void)state;
    const double nan[] = {1, 2, NAN, 4}, infinite[] = {1, 2, 3, -INFINITY}, large[] = {1e300, 2, 3, 4},
                 good[] = {1, 2, 3, 4};
    refuse("W1", 2, 2, nan, SA_INVALID, "W1 has an element that is not finite, number 2");
    refuse("W1", 2, 2, infinite, SA_INVALID, "not finite, number 3");
    refuse("W1", 2, 2, large, SA_INVALID, "not finite, number 0"); /* in single precision */
    refuse("W1", 1, 4, good, SA_INVALID, "W1 must have the shape (2, 2)");
    refuse("W9", 2, 2, good, SA_FORMAT, "W1");
    sa_options *options = options_of((net_options){.dim = 2, .hidden = 2, .depth = 2}, SA_PRECISION_SINGLE);
    assert_ok(sa_options_set_any(options, "init-weights", scratch("absent.npz")));
    sa_model *model = NULL;
    assert_int_not_equal(sa_model_create("mlp", MODEL_OF(options), &model), SA_OK);
    assert_non_null(strstr(sa_last_error(), "--init-weights"));
    assert_int_equal(sa_model_create("oracle", MODEL_OF(options), &model), SA_INVALID);
    assert_null(model);
    sa_model_destroy(NULL);
    sa_options_destroy(options);
}

/* Past what options allow, so that the number of weights overflows. */
static void more_weights_than_can_be_counted_are_refused(void **state) {
    (void)state;
    sa_options *options =
        options_of((net_options){10, (size_t)1 << 33, 3, false, true, false, true}, SA_PRECISION_DOUBLE);
    sa_model *model = NULL;
    assert_fails(sa_model_create("mlp", MODEL_OF(options), &model), SA_OUT_OF_MEMORY,
                 "more weights than can be counted");
    assert_null(model);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_layers_by_hand),
        cmocka_unit_test(three_layers_by_hand),
        cmocka_unit_test(bias_and_bypass_by_hand),
        cmocka_unit_test(doubled_input_by_hand),
        cmocka_unit_test(scores_equal_plain_loops),
        cmocka_unit_test(bad_first_weights_are_refused),
        cmocka_unit_test(more_weights_than_can_be_counted_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

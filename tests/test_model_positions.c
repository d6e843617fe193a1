/* Arms scored in each position at once, the work of the features shared: against the network in plain loops
 * on inputs that are written out, one-hot position included, and gradients against those of the same inputs
 * one by one. */
#define SA_REAL_BITS 64
#include "model/gradients_real.h"
#include "model/mlp.h"
#include "test_model_reference.h"
#include "test_parts.h"

enum { FEATURES = 5, POSITIONS = 4, INPUTS = FEATURES + POSITIONS, HIDDEN = 8 };

/* A network on features and position, away from its first weights; `n` describes it as one on INPUTS
 * inputs. */
static sa_model *network(net_options wanted, sa_precision precision, net *n, double *theta) {
    sa_options *options = options_of(wanted, precision);
    options->dim = FEATURES;
    options->slate = POSITIONS;
    options->feedback = SA_FEEDBACK_POSITION;
    wanted.dim = INPUTS;
    *n = net_of(wanted);
    for (size_t i = 0; i < net_parameters(n); i++) theta[i] = (float)uniform();
    write_weights(n, theta, scratch("weights.npz"));
    assert_ok(sa_options_set_any(options, "init-weights", scratch("weights.npz")));
    sa_model *model = model_of(options);
    assert_int_equal(model->dim, INPUTS);
    assert_int_equal(model->positions, POSITIONS);
    sa_options_destroy(options);
    return model;
}

/* x (count, positions, INPUTS) from features (count, FEATURES) */
static double *write_out(const double *features, size_t count, size_t positions) {
    double *x = doubles(count * positions * INPUTS);
    for (size_t i = 0; i < count * positions; i++) {
        memcpy(x + i * INPUTS, features + i / positions * FEATURES, FEATURES * sizeof *x);
        x[i * INPUTS + FEATURES + i % positions] = 1;
    }
    return x;
}

/* Both in units of the largest: of the means against plain loops, and of the gradients against those of
 * written-out inputs. */
static double compare(net_options wanted, sa_precision precision, size_t count, size_t positions) {
    net n;
    double theta[2000];
    sa_model *model = network(wanted, precision, &n, theta);
    size_t rows = count * positions, p = net_parameters(&n);
    bool wide = precision == SA_PRECISION_DOUBLE;
    double *features = doubles(count * FEATURES), *mean = doubles(rows), *expected = doubles(rows),
           *unused = doubles(rows);
    float *narrow = NULL, *narrow_x = NULL;
    for (size_t i = 0; i < count * FEATURES; i++) features[i] = (float)uniform();
    double *x = write_out(features, count, positions);
    assert_ok(sa_alloc_array(count * FEATURES, sizeof *narrow, &narrow));
    assert_ok(sa_alloc_array(rows * INPUTS, sizeof *narrow_x, &narrow_x));
    for (size_t i = 0; i < count * FEATURES; i++) narrow[i] = (float)features[i];
    for (size_t i = 0; i < rows * INPUTS; i++) narrow_x[i] = (float)x[i];
    sa_gradients shared, single, wide_shared, wide_single;
    assert_ok(sa_gradients_init(&shared, precision, model->pairs, model->shape));
    assert_ok(sa_gradients_init(&single, precision, model->pairs, model->shape));
    assert_ok(evaluate_in(model, wide ? (void *)features : narrow, count, positions, mean, &shared));
    assert_ok(evaluate(model, wide ? (void *)x : narrow_x, rows, unused, &single));
    assert_int_equal(shared.count, rows);
    for (size_t i = 0; i < rows; i++) expected[i] = net_forward(&n, theta, x + i * INPUTS).f;
    double error = relative_error(rows, mean, expected), *a = doubles(p), *b = doubles(p);
    assert_ok(sa_gradients_init_like(&wide_shared, SA_PRECISION_DOUBLE, &shared));
    assert_ok(sa_gradients_init_like(&wide_single, SA_PRECISION_DOUBLE, &shared));
    assert_ok(sa_gradients_reserve(&wide_shared, rows));
    assert_ok(sa_gradients_reserve(&wide_single, rows));
    sa_gradients_append(&wide_shared, &shared, NULL, rows);
    sa_gradients_append(&wide_single, &single, NULL, rows);
    for (size_t i = 0; i < rows; i++) {
        if (net_forward(&n, theta, x + i * INPUTS).nearest_kink < 1e-5)
            continue; /* rounding decides if the unit is on */
        gradients_write_out_f64(&wide_shared, i, a);
        gradients_write_out_f64(&wide_single, i, b);
        error = fmax(error, relative_error(p, a, b));
    }
    sa_gradients_clear(&shared);
    sa_gradients_clear(&single);
    sa_gradients_clear(&wide_shared);
    sa_gradients_clear(&wide_single);
    sa_model_destroy(model);
    sa_free(features);
    sa_free(mean);
    sa_free(expected);
    sa_free(unused);
    sa_free(narrow);
    sa_free(narrow_x);
    sa_free(x);
    sa_free(a);
    sa_free(b);
    return error;
}

static void positions_equal_written_out_inputs(void **state) {
    (void)state;
    double largest[2] = {0, 0};
    for (size_t depth = 2; depth <= 4; depth++)
        for (unsigned bits = 0; bits < 16; bits++)
            for (int precision = 0; precision < 2; precision++) {
                net_options wanted = {FEATURES, HIDDEN, depth, bits & 1, bits & 2, bits & 4, bits & 8};
                size_t positions = 1 + (bits + depth) % POSITIONS; /* all of them, or the first few */
                largest[precision] =
                    fmax(largest[precision], compare(wanted, (sa_precision)precision, 7, positions));
            }
    print_message("largest relative error: single %.1e, double %.1e\n", largest[0], largest[1]);
    assert_true(largest[0] < 1e-4 && largest[1] < 1e-12);
}

/* 512 samples go through the network at a time, and an arm's positions may fall into two of these chunks. */
static void chunks_may_split_an_arm(void **state) {
    (void)state;
    net_options wanted = {.dim = FEATURES,
                          .hidden = HIDDEN,
                          .depth = 2,
                          .root_m = true,
                          .bias = true,
                          .bypass = true,
                          .symmetric = true};
    for (size_t positions = 1; positions <= POSITIONS; positions++)
        assert_true(compare(wanted, SA_PRECISION_DOUBLE, 600, positions) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_equal_written_out_inputs),
        cmocka_unit_test(chunks_may_split_an_arm),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

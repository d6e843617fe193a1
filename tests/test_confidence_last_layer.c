/* The last-layer engine against a dense Z of the weights that the score is linear in, written out from the
 * features: the last hidden layer (with 1 for a bias) times the output's factor, and the input of the bypass,
 * all divided by sqrt(m). */
#include "test_confidence_reference.h"
#include "test_parts.h"

enum { ARMS = 20, SLATE = 4 };

static const double tolerance[] = {1e-3, 1e-8}; /* single, double */

static const net_options shapes[] = {
    {.dim = 6, .hidden = 10, .depth = 2, .root_m = true, .symmetric = true}, /* paper */
    {.dim = 7, .hidden = 8, .depth = 3},                                     /* deeper */
    {.dim = 5, .hidden = 8, .depth = 2, .bias = true},                       /* bias */
    {.dim = 5, .hidden = 8, .depth = 2, .bypass = true},                     /* bypass */
    {.dim = 4,
     .hidden = 6,
     .depth = 4,
     .root_m = true,
     .bias = true,
     .bypass = true,
     .symmetric = true}, /* everything */
};

/* A batch with the one pair (1, features) for each gradient of `from`. */
static sa_gradients features_of(net_options wanted, const sa_gradients *from) {
    sa_gradients features;
    net n = net_of(wanted);
    size_t hidden = wanted.hidden + wanted.bias, total = hidden + (wanted.bypass ? n.inputs : 0);
    const sa_pair_shape shape = {.delta = 1, .input = total};
    const sa_pair *last = &from->pair[wanted.depth - 1], *first = &from->pair[0];
    double root_m = sqrt((double)wanted.hidden);
    assert_ok(sa_gradients_init(&features, SA_PRECISION_DOUBLE, 1, &shape));
    assert_ok(sa_gradients_reserve(&features, from->count));
    for (size_t i = 0; i < from->count; i++) {
        double *row = (double *)features.pair[0].input + i * total;
        ((double *)features.pair[0].delta)[i] = 1;
        for (size_t j = 0; j < hidden; j++)
            row[j] = n.scale * element(last->input, from->precision, i * last->shape.input + j) / root_m;
        for (size_t j = hidden; j < total; j++)
            row[j] = element(first->input, from->precision, i * first->shape.input + j - hidden) / root_m;
    }
    features.count = from->count;
    return features;
}

static void check_shape(net_options wanted, sa_precision precision, double lambda, sa_exact_form form) {
    source s = source_of(wanted, precision, lambda, form);
    s.options->confidence = SA_CONFIDENCE_LAST_LAYER;
    sa_confidence *engine = engine_of(&s);
    net n = net_of(wanted);
    dense d = dense_of(wanted.hidden + wanted.bias + (wanted.bypass ? n.inputs : 0), lambda);
    for (size_t round = 0; round < 40; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        sa_gradients all = features_of(wanted, &s.batch), counted = features_of(wanted, &s.chosen);
        assert_true(width_error(&d, &all, s.width) < tolerance[precision]);
        count_asked(engine, &s);
        dense_count(&d, &counted);
        assert_near(state_of(engine).log_det / dense_log_det(&d), 1, tolerance[precision]);
        sa_gradients_clear(&all);
        sa_gradients_clear(&counted);
        if (round % 3 == 0) change_weights(&s);
    }
    assert_int_equal(state_of(engine).counted, 40 * SLATE);
    assert_int_equal(state_of(engine).from_primal, form != SA_EXACT_DUAL);
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
}

static void widths_and_log_det_equal_dense(void **state) {
    (void)state;
    static const double lambdas[] = {0.1, 1, 7};
    for (int precision = 0; precision < 2; precision++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            check_shape(shapes[k], (sa_precision)precision, lambdas[k % 3], SA_EXACT_AUTO);
            check_shape(shapes[k], (sa_precision)precision, lambdas[k % 3], SA_EXACT_DUAL);
        }
}

static void a_saved_engine_goes_on_bit_for_bit(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        source s = source_of(shapes[4], (sa_precision)precision, 0.1, SA_EXACT_AUTO);
        s.options->confidence = SA_CONFIDENCE_LAST_LAYER;
        sa_confidence *one = engine_of(&s), *other = NULL;
        double width[ARMS];
        for (size_t round = 0; round < 30; round++) {
            contexts(&s, ARMS, SLATE, 1);
            if (round == 10) {
                save_engine(one, scratch("engine.npz"));
                other = engine_of(&s);
                load_engine(other, scratch("engine.npz"));
            }
            widths_of(one, &s, s.width);
            count_asked(one, &s);
            if (!other) continue;
            widths_of(other, &s, width);
            assert_memory_equal(width, s.width, sizeof width);
            count_asked(other, &s);
            assert_true(state_of(other).log_det == state_of(one).log_det);
        }
        sa_confidence_destroy(one);
        sa_confidence_destroy(other);
        source_clear(&s);
    }
}

static void a_linear_model_is_refused(void **state) {
    (void)state;
    const sa_pair_shape shape = {.delta = 1, .input = 5};
    sa_options *options = sa_options_new(NULL);
    sa_confidence *engine = NULL;
    assert_ok(sa_options_set_any(options, "confidence", "last-layer"));
    assert_ok(sa_options_set_any(options, "algorithm", "comblin-ucb"));
    assert_fails(sa_confidence_create(CONFIDENCE_OF(options), 1, &shape, &engine), SA_INVALID,
                 "--confidence last-layer needs a network, and comblin-ucb is linear: use exact or diagonal");
    assert_null(engine);
    sa_options_destroy(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_and_log_det_equal_dense),
        cmocka_unit_test(a_saved_engine_goes_on_bit_for_bit),
        cmocka_unit_test(a_linear_model_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

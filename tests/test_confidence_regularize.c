/* Another lambda in an engine that has counted, against a dense Z in double precision that was begun with
 * it. */
#include "test_confidence_reference.h"

enum { ARMS = 12, SLATE = 4, ROUNDS = 30 };

static const net_options shape = {.dim = 5, .hidden = 6, .depth = 2};

static sa_confidence *engine_with(source *s, int kind, int size) {
    s->options->confidence = kind;
    s->options->sketch_size = size;
    return engine_of(s);
}

/* lambda goes down and up while gradients are counted. A sketch's widths are within its certificate. */
static void check(int kind, sa_precision precision, sa_exact_form form, int size, double tolerance) {
    static const double lambdas[] = {0.5, 0.05, 0.01, 2, 0.3};
    source s = source_of(shape, precision, 1, form);
    sa_confidence *engine = engine_with(&s, kind, size);
    dense d = dense_of(s.p, 1);
    assert_ok(sa_confidence_regularize(engine, lambdas[0])); /* nothing was counted */
    for (size_t i = 0; i < s.p; i++) d.z[i * s.p + i] += lambdas[0] - d.lambda;
    d.lambda = lambdas[0];
    for (int round = 0; round < ROUNDS; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        double c = engine->kind->certificate ? engine->kind->certificate(engine) : 1;
        assert_true(width_error(&d, &s.batch, s.width) <= tolerance + c - 1);
        if (kind == SA_CONFIDENCE_EXACT)
            assert_float_equal(state_of(engine).log_det, dense_log_det(&d), 1e-2);
        count_asked(engine, &s);
        dense_count(&d, &s.chosen);
        if (round % 5 == 4) {
            double next = lambdas[round / 5 % 5];
            assert_ok(sa_confidence_regularize(engine, next));
            for (size_t i = 0; i < s.p; i++) d.z[i * s.p + i] += next - d.lambda;
            d.lambda = next;
            d.factored = false;
        }
        if (round % 7 == 0) change_weights(&s);
    }
    dense_clear(&d);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

static void exact_widths_are_those_of_the_new_lambda(void **state) {
    (void)state;
    for (int form = 0; form < 3; form++) {
        static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL, SA_EXACT_AUTO};
        check(SA_CONFIDENCE_EXACT, SA_PRECISION_DOUBLE, forms[form], 16, 1e-8);
        check(SA_CONFIDENCE_EXACT, SA_PRECISION_SINGLE, forms[form], 16, 1e-2);
    }
}

static void a_sketch_keeps_its_certificate(void **state) {
    (void)state;
    check(SA_CONFIDENCE_SKETCH, SA_PRECISION_DOUBLE, SA_EXACT_AUTO, 200, 1e-8); /* holds them all */
    check(SA_CONFIDENCE_SKETCH, SA_PRECISION_DOUBLE, SA_EXACT_AUTO, 20, 1e-6);
    check(SA_CONFIDENCE_AUTO, SA_PRECISION_DOUBLE, SA_EXACT_AUTO, 200, 1e-8);
}

/* Each Z_j = lambda + sum of g_j^2 */
static void the_diagonal_has_it_too(void **state) {
    (void)state;
    source s = source_of(shape, SA_PRECISION_DOUBLE, 1, SA_EXACT_AUTO);
    sa_confidence *engine = engine_with(&s, SA_CONFIDENCE_DIAGONAL, 16), *like;
    contexts(&s, ARMS, SLATE, 1);
    count_new(engine, &s.chosen);
    assert_ok(sa_confidence_regularize(engine, 0.2));
    widths_of(engine, &s, s.width);
    s.options->regularization = 0.2;
    like = engine_with(&s, SA_CONFIDENCE_DIAGONAL, 16);
    count_new(like, &s.chosen);
    double *expected = doubles(1024);
    widths_of(like, &s, expected);
    for (size_t i = 0; i < ARMS; i++) assert_float_equal(s.width[i], expected[i], 1e-12);
    sa_free(expected);
    sa_confidence_destroy(engine);
    sa_confidence_destroy(like);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_widths_are_those_of_the_new_lambda),
        cmocka_unit_test(a_sketch_keeps_its_certificate),
        cmocka_unit_test(the_diagonal_has_it_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

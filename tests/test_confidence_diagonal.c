/* The diagonal engine against the sums written out, weight by weight, in double precision; and against the
 * exact engine where Z is a diagonal matrix. */
#include "test_confidence_reference.h"
#include "test_parts.h"

enum { ARMS = 20, SLATE = 4 };

static const net_options shapes[] = {
    {.dim = 6, .hidden = 10, .depth = 2, .root_m = true, .symmetric = true}, /* paper: p = 130 */
    {.dim = 7, .hidden = 8, .depth = 3},                                     /* p = 128 */
    {.dim = 5, .hidden = 8, .depth = 2, .bias = true, .bypass = true},       /* p = 62 */
    {.dim = 4,
     .hidden = 6,
     .depth = 5,
     .root_m = true,
     .bias = true,
     .bypass = true,
     .symmetric = true}, /* deep, with everything */
};

static source diagonal_source(net_options wanted, sa_precision precision, double lambda) {
    source s = source_of(wanted, precision, lambda, SA_EXACT_AUTO);
    s.options->confidence = SA_CONFIDENCE_DIAGONAL;
    return s;
}

static void count_written_out(const sa_gradients *batch, size_t p, double *z) {
    double *g = doubles(p);
    for (size_t k = 0; k < batch->count; k++) {
        written_out(batch, k, g);
        for (size_t j = 0; j < p; j++) z[j] += g[j] * g[j];
    }
    sa_free(g);
}

static double width_written_out(const sa_gradients *batch, size_t row, size_t p, const double *z) {
    double *g = doubles(p), square = 0;
    written_out(batch, row, g);
    for (size_t j = 0; j < p; j++) square += g[j] * g[j] / z[j];
    sa_free(g);
    return sqrt(square);
}

static void widths(sa_confidence *engine, const sa_gradients *batch, double *width) {
    plain_widths(engine, batch, NULL, batch->count, width);
}

static void check_round(sa_confidence *engine, source *s, const double *z) {
    double log_det = 0;
    widths(engine, &s->batch, s->width);
    for (size_t i = 0; i < s->batch.count; i++) {
        double expected = width_written_out(&s->batch, i, s->p, z);
        assert_near(s->width[i], expected, 1e-12 * expected);
    }
    for (size_t j = 0; j < s->p; j++) log_det += log(z[j] / s->options->regularization);
    assert_near(state_of(engine).log_det, log_det, 1e-10 * (1 + log_det));
}

static void widths_and_log_det_equal_the_sums(void **state) {
    (void)state;
    static const double lambdas[] = {0.01, 1, 7};
    static const size_t arms[] = {1, ARMS, 64, 65, 200}; /* 64 are taken at a time */
    for (int precision = 0; precision < 2; precision++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            source s = diagonal_source(shapes[k], (sa_precision)precision, lambdas[k % 3]);
            sa_confidence *engine = engine_of(&s);
            double *z = doubles(s.p);
            size_t counted = 0;
            for (size_t j = 0; j < s.p; j++) z[j] = lambdas[k % 3];
            for (size_t round = 0; round < 30; round++) {
                size_t many = arms[round % 5];
                contexts(&s, many, many > SLATE ? many / 2 : 1, 1);
                check_round(engine, &s, z);
                count_new(engine, &s.chosen);
                count_written_out(&s.chosen, s.p, z);
                counted += s.chosen.count;
                if (round % 3 == 0) change_weights(&s);
            }
            assert_int_equal(state_of(engine).counted, counted);
            sa_free(z);
            sa_confidence_destroy(engine);
            source_clear(&s);
        }
}

/* Rows in any order, others left alone. */
static void widths_of_some_rows(void **state) {
    (void)state;
    source s = diagonal_source(shapes[2], SA_PRECISION_SINGLE, 1);
    sa_confidence *engine = engine_of(&s);
    static const size_t rows[] = {17, 3, 8};
    double all[ARMS], some[ARMS];
    contexts(&s, ARMS, SLATE, 1);
    count_new(engine, &s.chosen);
    widths(engine, &s.batch, all);
    for (size_t i = 0; i < ARMS; i++) some[i] = -1;
    plain_widths(engine, &s.batch, rows, 3, some);
    for (size_t i = 0; i < ARMS; i++)
        if (i == 17 || i == 3 || i == 8)
            assert_near(some[i], all[i], 1e-14 * all[i]);
        else
            assert_true(some[i] == -1);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* Gradients along single coordinates make Z a diagonal matrix, and the approximation is exact: here (1, c
 * e_j), as a linear model has for contexts with one feature each. */
static void equals_exact_on_single_coordinates(void **state) {
    (void)state;
    enum { DIM = 9 };
    const sa_pair_shape shape = {.delta = 1, .input = DIM};
    sa_options *options = sa_options_new("paper");
    options->precision = SA_PRECISION_DOUBLE;
    options->regularization = 0.3;
    sa_confidence *exact = NULL, *diagonal = NULL;
    assert_ok(sa_confidence_create(CONFIDENCE_OF(options), 1, &shape, &exact));
    options->confidence = SA_CONFIDENCE_DIAGONAL;
    assert_ok(sa_confidence_create(CONFIDENCE_OF(options), 1, &shape, &diagonal));
    sa_gradients batch;
    assert_ok(sa_gradients_init(&batch, SA_PRECISION_DOUBLE, 1, &shape));
    assert_ok(sa_gradients_reserve(&batch, DIM));
    for (size_t round = 0; round < 40; round++) {
        double *delta = batch.pair[0].delta, *input = batch.pair[0].input, one[DIM], other[DIM];
        memset(input, 0, sizeof(double) * DIM * DIM);
        for (size_t i = 0; i < DIM; i++) {
            delta[i] = 1;
            input[i * DIM + (i * 2 + round) % DIM] = 3 * uniform();
        }
        batch.count = DIM;
        widths(exact, &batch, one);
        widths(diagonal, &batch, other);
        for (size_t i = 0; i < DIM; i++) assert_near(other[i], one[i], 1e-12 * one[i]);
        batch.count = 1 + round % 4;
        count_new(exact, &batch);
        count_new(diagonal, &batch);
        assert_near(state_of(diagonal).log_det, state_of(exact).log_det,
                    1e-11 * (1 + state_of(exact).log_det));
    }
    sa_gradients_clear(&batch);
    sa_confidence_destroy(exact);
    sa_confidence_destroy(diagonal);
    sa_options_destroy(options);
}

/* Squares that single precision could not hold are no trouble, and a gradient of 0 has no width. */
static void huge_and_zero_gradients(void **state) {
    (void)state;
    source s = diagonal_source(shapes[1], SA_PRECISION_SINGLE, 1);
    sa_confidence *engine = engine_of(&s);
    double *z = doubles(s.p);
    for (size_t j = 0; j < s.p; j++) z[j] = 1;
    contexts(&s, ARMS, SLATE, 0);
    widths(engine, &s.batch, s.width);
    for (size_t i = 0; i < ARMS; i++) assert_true(s.width[i] == 0);
    count_new(engine, &s.chosen);
    assert_true(state_of(engine).log_det == 0 && state_of(engine).counted == SLATE);
    for (int round = 0; round < 3; round++) {
        contexts(&s, ARMS, SLATE, 1e25);
        check_round(engine, &s, z);
        count_new(engine, &s.chosen);
        count_written_out(&s.chosen, s.p, z);
    }
    sa_free(z);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* What was counted is worth less, lambda is not; 1 changes nothing, and 0 forgets all. */
static void discounts_what_was_counted(void **state) {
    (void)state;
    static const double factors[] = {0.9, 1, 0.25, 0, 0.5};
    source s = diagonal_source(shapes[1], SA_PRECISION_SINGLE, 0.7);
    sa_confidence *engine = engine_of(&s);
    double *z = doubles(s.p);
    for (size_t j = 0; j < s.p; j++) z[j] = 0.7;
    for (size_t round = 0; round < 2 * sizeof factors / sizeof *factors; round++) {
        double factor = factors[round / 2];
        contexts(&s, ARMS, SLATE, 1);
        check_round(engine, &s, z);
        count_new(engine, &s.chosen);
        count_written_out(&s.chosen, s.p, z);
        assert_ok(sa_confidence_fade(engine, factor));
        for (size_t j = 0; j < s.p; j++) z[j] = 0.7 + factor * (z[j] - 0.7);
        check_round(engine, &s, z);
    }
    sa_free(z);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

static void a_saved_engine_goes_on_bit_for_bit(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        source s = diagonal_source(shapes[3], (sa_precision)precision, 0.1);
        sa_confidence *one = engine_of(&s), *other = NULL;
        double width[ARMS];
        for (size_t round = 0; round < 30; round++) {
            if (round == 10) {
                save_engine(one, scratch("engine.npz"));
                other = engine_of(&s);
                load_engine(other, scratch("engine.npz"));
            }
            contexts(&s, ARMS, SLATE, 1);
            widths(one, &s.batch, s.width);
            count_new(one, &s.chosen);
            if (!other) continue;
            widths(other, &s.batch, width);
            assert_memory_equal(width, s.width, sizeof width);
            count_new(other, &s.chosen);
            assert_true(state_of(other).log_det == state_of(one).log_det);
            assert_int_equal(state_of(other).counted, state_of(one).counted);
        }
        sa_confidence_destroy(one);
        sa_confidence_destroy(other);
        source_clear(&s);
    }
}

static void check_file(const source *s, int64_t counted, size_t count, const double *z,
                       const char *sentence) {
    sa_npz_writer *writer;
    sa_npz *archive;
    sa_confidence *engine = engine_of(s);
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "diagonal_counted", SA_INT64, 0, NULL, &counted));
    assert_ok(sa_npz_add(writer, "diagonal_z", SA_FLOAT64, 1, &count, z));
    assert_ok(sa_npz_finish(writer, scratch("bad.npz")));
    assert_ok(sa_npz_open(scratch("bad.npz"), &archive));
    assert_fails(engine->kind->load(engine, archive), SA_FORMAT, sentence);
    sa_npz_close(archive);
    sa_confidence_destroy(engine);
}

static void files_that_cannot_be_are_refused(void **state) {
    (void)state;
    source s = diagonal_source(shapes[2], SA_PRECISION_DOUBLE, 1);
    double *z = doubles(s.p + 1);
    for (size_t j = 0; j <= s.p; j++) z[j] = 2;
    check_file(&s, -1, s.p, z, "diagonal_counted");
    check_file(&s, 3, s.p + 1, z, "diagonal_z");
    z[4] = 0.5;
    check_file(&s, 3, s.p, z, "has 0.5, below lambda = 1");
    z[4] = NAN;
    check_file(&s, 3, s.p, z, "nan");
    sa_free(z);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_and_log_det_equal_the_sums),
        cmocka_unit_test(widths_of_some_rows),
        cmocka_unit_test(equals_exact_on_single_coordinates),
        cmocka_unit_test(huge_and_zero_gradients),
        cmocka_unit_test(discounts_what_was_counted),
        cmocka_unit_test(a_saved_engine_goes_on_bit_for_bit),
        cmocka_unit_test(files_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* What solving for widths has found is kept for counting: that saves time, and changes no bit. And the memory
 * of engines, which the allocator counts. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4 };

static const net_options shape = {
    .dim = 5, .hidden = 8, .depth = 2, .bias = true, .bypass = true}; /* p = 62 */

/* Columns that were kept before something else was counted are not taken for those of the new Z, though their
 * labels fit; nor are columns of the rows of another batch, once widths were asked for again. */
static void kept_columns_are_of_one_z(void **state) {
    (void)state;
    source s = source_of(shape, SA_PRECISION_DOUBLE, 1, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    dense d = dense_of(s.p, 1);
    sa_width_work older = {0};
    for (int round = 0; round < 12; round++) {
        contexts(&s, ARMS, SLATE, 1);
        ask_widths(engine, &s, NULL, ARMS, &older, s.width);
        uint64_t version = engine->version;
        assert_true(older.solved.version == version && older.solved.count == ARMS);
        contexts(&s, ARMS, SLATE, 1);
        if (round % 2) {
            count_new(engine, &s.chosen);
            dense_count(&d, &s.chosen);
            assert_true(engine->version > version);
        } else {
            ask_widths(engine, &s, NULL, ARMS, &older, s.width); /* of the other batch, by the same labels */
        }
        assert_ok(sa_confidence_count(engine, &s.chosen, s.rows, &older));
        dense_count(&d, &s.chosen);
        widths_of(engine, &s, s.width);
        assert_true(width_error(&d, &s.batch, s.width) < 1e-8);
    }
    sa_width_work_clear(&older);
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
}

/* Two engines on the same gradients, one of which counts what its widths have found, while the other solves
 * again. Slates of up to more than are kept (240), and than are appended at a time (64). */
static void check_bits(int confidence, sa_exact_form form, sa_precision precision, double discount,
                       bool keeps) {
    static const size_t arms[] = {20, 241, 13, 240, 1, 100, 500, 66}, slate[] = {4, 4, 13, 64, 1, 65, 2, 7};
    source s = source_of(shape, precision, 0.5, form);
    s.options->confidence = confidence;
    s.options->sketch_size = 40;
    sa_confidence *kept = engine_of(&s), *again = engine_of(&s);
    double *width = doubles(1024);
    size_t used = 0;
    for (size_t round = 0; round < 24; round++) {
        contexts(&s, arms[round % 8], slate[round % 8], 1);
        widths_of(again, &s, width);
        widths_of(kept, &s, s.width);
        assert_memory_equal(width, s.width, s.batch.count * sizeof *width);
        assert_true(state_of(kept).log_det == state_of(again).log_det);
        used += s.work.solved.version == kept->version && s.work.solved.count == s.batch.count;
        count_asked(kept, &s);
        count_new(again, &s.chosen);
        assert_ok(sa_confidence_fade(kept, discount));
        assert_ok(sa_confidence_fade(again, discount));
        if (round % 3 == 0) change_weights(&s);
    }
    if (keeps) assert_int_equal(used, 3 * 6); /* all rounds but those of 241 and 500 arms */
    sa_free(width);
    sa_confidence_destroy(kept);
    sa_confidence_destroy(again);
    source_clear(&s);
}

static void kept_columns_give_the_same_bits(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++)
        for (int fades = 0; fades < 2; fades++) {
            double discount = fades ? 0.97 : 1;
            check_bits(SA_CONFIDENCE_EXACT, SA_EXACT_DUAL, (sa_precision)precision, discount, true);
            check_bits(SA_CONFIDENCE_EXACT, SA_EXACT_PRIMAL, (sa_precision)precision, discount, false);
            check_bits(SA_CONFIDENCE_SKETCH, SA_EXACT_AUTO, (sa_precision)precision, discount, true);
            check_bits(SA_CONFIDENCE_LAST_LAYER, SA_EXACT_DUAL, (sa_precision)precision, discount, true);
            check_bits(SA_CONFIDENCE_DIAGONAL, SA_EXACT_AUTO, (sa_precision)precision, discount, false);
        }
}

/* Asking alone changes nothing of an engine, whatever is kept. */
static void asking_changes_nothing(void **state) {
    (void)state;
    source s = source_of(shape, SA_PRECISION_SINGLE, 0.5, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    double first[ARMS];
    for (int round = 0; round < 10; round++) {
        contexts(&s, ARMS, SLATE, 1);
        count_new(engine, &s.chosen);
        uint64_t version = engine->version;
        double log_det = state_of(engine).log_det;
        plain_widths(engine, &s.batch, NULL, ARMS, first);
        for (int time = 0; time < 3; time++) {
            widths_of(engine, &s, s.width);
            assert_memory_equal(first, s.width, sizeof first);
        }
        assert_true(engine->version == version && state_of(engine).log_det == log_det);
    }
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* ---- memory ---- */

/* What an engine holds after so many rounds, and that nothing stays. */
static size_t bytes_of(int confidence, sa_exact_form form, sa_precision precision, size_t rounds) {
    source s = source_of(shape, precision, 0.5, form);
    s.options->confidence = confidence;
    s.options->sketch_size = 16;
    sa_account *account = sa_account_open();
    assert_non_null(account);
    sa_account_charge(account);
    sa_confidence *engine = engine_of(&s);
    sa_account_charge(NULL);
    for (size_t round = 0; round < rounds; round++) {
        contexts(&s, ARMS, SLATE, 1);
        sa_account_charge(account);
        count_new(engine, &s.chosen); /* its workspace is gone afterwards */
        sa_account_charge(NULL);
    }
    size_t bytes = sa_account_bytes(account);
    sa_confidence_destroy(engine);
    assert_int_equal(sa_account_bytes(account), 0);
    sa_account_close(account);
    source_clear(&s);
    return bytes;
}

static void memory_is_that_of_the_factor(void **state) {
    (void)state;
    enum { ROUNDS = 100, N = ROUNDS * SLATE, P = 62 };
    for (int precision = 0; precision < 2; precision++) {
        size_t size = precision ? 8 : 4;
        size_t dual = bytes_of(SA_CONFIDENCE_EXACT, SA_EXACT_DUAL, (sa_precision)precision, ROUNDS),
               primal = bytes_of(SA_CONFIDENCE_EXACT, SA_EXACT_PRIMAL, (sa_precision)precision, ROUNDS),
               sketch = bytes_of(SA_CONFIDENCE_SKETCH, SA_EXACT_AUTO, (sa_precision)precision, ROUNDS),
               diagonal = bytes_of(SA_CONFIDENCE_DIAGONAL, SA_EXACT_AUTO, (sa_precision)precision, ROUNDS);
        assert_in_range(dual, N * N / 2 * size, N * N * size);
        assert_in_range(primal, P * P / 2 * size, 3 * P * P * size);
        assert_in_range(diagonal, 2 * P * sizeof(double), 4 * P * sizeof(double));
        assert_int_equal(primal,
                         bytes_of(SA_CONFIDENCE_EXACT, SA_EXACT_PRIMAL, (sa_precision)precision, 2 * ROUNDS));
        assert_int_equal(
            diagonal, bytes_of(SA_CONFIDENCE_DIAGONAL, SA_EXACT_AUTO, (sa_precision)precision, 2 * ROUNDS));
        assert_in_range(bytes_of(SA_CONFIDENCE_SKETCH, SA_EXACT_AUTO, (sa_precision)precision, 2 * ROUNDS), 1,
                        sketch + sketch / 4); /* bounded, however many are counted */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_columns_give_the_same_bits),
        cmocka_unit_test(kept_columns_are_of_one_z),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(memory_is_that_of_the_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

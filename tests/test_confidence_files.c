/* An engine that was saved and loaded goes on bit for bit, from wherever it was. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4 };

/* Two engines on the same gradients: `b` is loaded from what `a` saved at round `at`, in between widths and
 * counting, and from then on they must agree to the bit, though only one of them counts what the widths have
 * found: `b`, and in round `at` it is `a`. */
static void go_on(net_options wanted, sa_precision precision, double lambda, sa_exact_form form, double size,
                  size_t at, size_t rounds, bool expect_double, bool expect_primal) {
    source s = source_of(wanted, precision, lambda, form);
    sa_confidence *a = engine_of(&s), *b = NULL;
    const char *path = scratch("engine.npz");
    double width[ARMS];
    size_t order
        /* widths are asked for in this order, so that kept columns are not numbered as the rows are */
        [ARMS];
    for (size_t i = 0; i < ARMS; i++) order[i] = (3 * i + 1) % ARMS;
    for (size_t round = 0; round < rounds; round++) {
        if (size > 0 || round == 0)
            contexts(&s, ARMS, SLATE, fabs(size)); /* negative: always the same contexts */
        ask_widths(a, &s, order, ARMS, &s.work, s.width);
        s.asked = a;
        if (b) {
            ask_widths(b, &s, order, ARMS, &s.work, width);
            s.asked = b;
            assert_memory_equal(width, s.width, sizeof width);
        }
        if (round == at) {
            save_engine(a, path);
            b = engine_of(&s);
            load_engine(b, path);
        }
        count_asked(a, &s);
        if (b) {
            count_asked(b, &s);
            sa_confidence_state of_a = state_of(a), of_b = state_of(b);
            assert_true(of_a.log_det == of_b.log_det && of_a.counted == of_b.counted);
            assert_true(of_a.in_double == of_b.in_double && of_a.from_primal == of_b.from_primal);
        }
        if (size > 0 && round % 3 == 0) change_weights(&s);
    }
    assert_int_equal(state_of(b).in_double, expect_double);
    assert_int_equal(state_of(b).from_primal, expect_primal);
    sa_confidence_destroy(a);
    sa_confidence_destroy(b);
    source_clear(&s);
}

static const net_options small = {.dim = 6, .hidden = 10, .depth = 2, .root_m = true, .symmetric = true};

static void saved_engines_go_on_bit_for_bit(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        go_on(small, (sa_precision)precision, 1, SA_EXACT_DUAL, 1, 25, 50, precision, false);
        go_on(small, (sa_precision)precision, 1, SA_EXACT_PRIMAL, 1, 25, 50, precision, true);
        go_on(small, (sa_precision)precision, 1, SA_EXACT_AUTO, 1, 25, 50, precision, true);
        go_on(small, (sa_precision)precision, 1, SA_EXACT_DUAL, 1, 0, 10, precision,
              false); /* nothing counted yet */
    }
}

/* Saved before the change to double precision, and after it. */
static void the_guard_of_precision_goes_on(void **state) {
    (void)state;
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    net_options tiny = {.dim = 3, .hidden = 4, .depth = 2, .root_m = true};
    for (size_t f = 0; f < 2; f++) {
        go_on(tiny, SA_PRECISION_SINGLE, 0.01, forms[f], -1, 3, 150, true, f == 1);
        go_on(tiny, SA_PRECISION_SINGLE, 0.01, forms[f], -1, 140, 150, true, f == 1);
    }
}

/* Saved before the change-over to the primal side, which then comes in the same round, and after it. */
static void the_change_over_goes_on(void **state) {
    (void)state;
    net_options larger = {.dim = 10, .hidden = 12, .depth = 3};
    go_on(larger, SA_PRECISION_DOUBLE, 1, SA_EXACT_AUTO, 1, 150, 260, true, true);
    go_on(larger, SA_PRECISION_DOUBLE, 1, SA_EXACT_AUTO, 1, 250, 260, true, true);
}

/* ---- files that do not fit ---- */

static void refuse(const source *s, const char *path) {
    sa_confidence *engine = engine_of(s);
    sa_npz *archive;
    assert_ok(sa_npz_open(path, &archive));
    assert_int_equal(engine->kind->load(engine, archive), SA_FORMAT);
    assert_true(strlen(sa_last_error()) > 10);
    sa_npz_close(archive);
    sa_confidence_destroy(engine); /* what is left can be destroyed */
}

/* Each array of a good file left out in turn, or put in with one row less. */
static void damaged_files_are_refused(void **state) {
    (void)state;
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    for (size_t f = 0; f < 2; f++) {
        source s = source_of(small, SA_PRECISION_SINGLE, 1, forms[f]);
        sa_confidence *engine = engine_of(&s);
        for (size_t round = 0; round < 5; round++) {
            contexts(&s, ARMS, SLATE, 1);
            widths_of(engine, &s, s.width);
            if (round < 4) count_asked(engine, &s);
        }
        save_engine(engine, scratch("good.npz"));
        sa_npz *good;
        assert_ok(sa_npz_open(scratch("good.npz"), &good));
        size_t arrays = sa_npz_count(good);
        assert_true(arrays >= 5);
        for (size_t damaged = 0; damaged < 2 * arrays; damaged++) {
            sa_array array[32] = {{0}};
            sa_npz_writer *writer;
            bool changed = false;
            assert_ok(sa_npz_begin(&writer));
            for (size_t i = 0; i < arrays; i++) {
                assert_ok(sa_npz_get(good, sa_npz_name(good, i), &array[i]));
                if (i == damaged) {
                    changed = true;
                    continue;
                }
                if (i + arrays == damaged && array[i].axes > 0 && array[i].shape[0] > 0) {
                    array[i].shape[0]--;
                    changed = true;
                }
                assert_ok(sa_npz_add(writer, sa_npz_name(good, i), array[i].type, array[i].axes,
                                     array[i].shape, array[i].data));
            }
            assert_ok(sa_npz_finish(writer, scratch("bad.npz")));
            if (changed) refuse(&s, scratch("bad.npz"));
            for (size_t i = 0; i < arrays; i++) sa_array_clear(&array[i]);
        }
        sa_npz_close(good);
        sa_confidence_destroy(engine);
        source_clear(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_engines_go_on_bit_for_bit),
        cmocka_unit_test(the_guard_of_precision_goes_on),
        cmocka_unit_test(the_change_over_goes_on),
        cmocka_unit_test(damaged_files_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

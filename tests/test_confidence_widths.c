/* Exact widths, from the dual and the primal side, are those of the dense Z, round after round. */
#include "test_confidence_reference.h"

static const double tolerance[] = {1e-3, 1e-8}; /* single, double */

enum { ARMS = 20, SLATE = 4 };

static const net_options shapes[] = {
    {.dim = 6, .hidden = 10, .depth = 2, .root_m = true, .symmetric = true}, /* paper: p = 130 */
    {.dim = 7, .hidden = 8, .depth = 3},                                     /* p = 128 */
    {.dim = 5, .hidden = 8, .depth = 2, .bias = true, .bypass = true},       /* tuned: p = 62 */
};

/* Both sides on the same gradients, every round checked. */
static double both_sides(net_options wanted, sa_precision precision, double lambda, size_t rounds) {
    source s = source_of(wanted, precision, lambda, SA_EXACT_DUAL);
    sa_confidence *dual = engine_of(&s);
    s.form = SA_EXACT_PRIMAL;
    sa_confidence *primal = engine_of(&s);
    dense d = dense_of(s.p, lambda);
    double largest = 0;
    for (size_t round = 0; round < rounds; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(dual, &s, s.width);
        largest = fmax(largest, width_error(&d, &s.batch, s.width));
        count_asked(dual, &s);
        widths_of(primal, &s, s.width);
        largest = fmax(largest, width_error(&d, &s.batch, s.width));
        count_asked(primal, &s);
        dense_count(&d, &s.chosen);
        if (round % 3 == 0) change_weights(&s);
    }
    sa_confidence_state of_dual = state_of(dual), of_primal = state_of(primal);
    assert_true(!of_dual.from_primal && of_primal.from_primal);
    assert_int_equal(of_dual.counted, rounds * SLATE);
    assert_int_equal(of_primal.counted, rounds * SLATE);
    assert_near(of_dual.log_det / dense_log_det(&d), 1, tolerance[precision] / 10);
    assert_near(of_primal.log_det / dense_log_det(&d), 1, tolerance[precision] / 10);
    if (precision == SA_PRECISION_DOUBLE) assert_true(of_dual.in_double && of_primal.in_double);
    sa_confidence_destroy(dual);
    sa_confidence_destroy(primal);
    dense_clear(&d);
    source_clear(&s);
    return largest;
}

static void dual_and_primal_equal_dense(void **state) {
    (void)state;
    static const double lambdas[] = {0.1, 1, 7};
    for (int precision = 0; precision < 2; precision++)
        for (size_t i = 0; i < 3; i++) {
            double largest = 0;
            for (size_t k = 0; k < 3; k++)
                largest = fmax(largest, both_sides(shapes[k], (sa_precision)precision, lambdas[i], 100));
            print_message("%s, lambda %g: largest relative error of widths %.1e\n",
                          precision ? "double" : "single", lambdas[i], largest);
            assert_true(largest < tolerance[precision]);
        }
}

/* Feedback that comes late, after other batches were asked for or counted, and feedback of which nothing was
 * kept, count the same. */
static void late_counting_gives_the_same_z(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        source s = source_of(shapes[0], (sa_precision)precision, 1, SA_EXACT_DUAL);
        sa_confidence *prompt = engine_of(&s), *late = engine_of(&s), *rebuilt = engine_of(&s);
        dense d = dense_of(s.p, 1);
        sa_gradients held;
        size_t held_rows[SLATE];
        sa_width_work kept = {0}, held_kept = {0};
        double *width = doubles(ARMS), *other = doubles(ARMS);
        assert_ok(sa_gradients_init_like(&held, s.batch.precision, &s.batch));
        assert_ok(sa_gradients_reserve(&held, SLATE));
        for (size_t round = 0; round < 60; round++) {
            contexts(&s, ARMS, SLATE, 1);
            widths_of(prompt, &s, width);
            ask_widths(late, &s, NULL, ARMS, held.count ? &kept : &held_kept, other);
            count_asked(prompt, &s);
            count_new(rebuilt, &s.chosen);
            dense_count(&d, &s.chosen);
            /* `late` hears of every second round one round later */
            if (held.count) {
                assert_ok(sa_confidence_count(late, &s.chosen, s.rows, &kept));
                assert_ok(sa_confidence_count(late, &held, held_rows, &held_kept));
                held.count = 0;
                widths_of(prompt, &s, width);
                widths_of(late, &s, other);
                assert_true(relative_error(ARMS, other, width) < tolerance[precision]);
                widths_of(rebuilt, &s, other);
                assert_true(relative_error(ARMS, other, width) < tolerance[precision]);
                assert_true(width_error(&d, &s.batch, width) < tolerance[precision]);
            } else {
                sa_gradients_append(&held, &s.chosen, NULL, SLATE);
                memcpy(held_rows, s.rows, sizeof held_rows);
            }
            change_weights(&s);
        }
        double log_det = dense_log_det(&d);
        assert_near(state_of(late).log_det / log_det, 1, tolerance[precision]);
        assert_near(state_of(rebuilt).log_det / log_det, 1, tolerance[precision]);
        sa_gradients_clear(&held);
        sa_width_work_clear(&kept);
        sa_width_work_clear(&held_kept);
        sa_confidence_destroy(prompt);
        sa_confidence_destroy(late);
        sa_confidence_destroy(rebuilt);
        dense_clear(&d);
        source_clear(&s);
        sa_free(width);
        sa_free(other);
    }
}

/* Widths of some rows, in parts whose columns are kept together, equal those of all at once; others are left
 * alone; and counting rows of either part, of both, or never asked for, gives the same Z. */
static void widths_in_parts_equal_widths_at_once(void **state) {
    (void)state;
    static const size_t first[] = {3, 17, 4, 9, 0}, second[] = {19, 2, 11},
                        counted[][3] = {{9, 3, 0}, {2, 17, 19}, {1, 4, 11}};
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    for (int precision = 0; precision < 2; precision++)
        for (size_t f = 0; f < 2; f++) {
            source s = source_of(shapes[1], (sa_precision)precision, 1, forms[f]);
            sa_confidence *engine = engine_of(&s);
            dense d = dense_of(s.p, 1);
            for (size_t round = 0; round < 60; round++) {
                contexts(&s, ARMS, SLATE, 1);
                sa_solved_begin(&s.work.solved, engine, 8);
                s.asked = engine;
                for (size_t i = 0; i < ARMS; i++) s.width[i] = -1;
                assert_ok(engine->kind->widths(engine, &s.batch, first, 5, s.label, &s.work, s.width));
                for (size_t i = 0; i < 3; i++) assert_true(s.width[second[i]] == -1);
                assert_ok(engine->kind->widths(engine, &s.batch, second, 3, s.label, &s.work, s.width));
                assert_true(s.width[1] == -1 && s.width[5] == -1);
                assert_int_equal(s.work.solved.count, f == 0 ? 8 : 0); /* the primal side keeps nothing */
                for (size_t i = 0; i < 8; i++) {
                    size_t row = i < 5 ? first[i] : second[i - 5];
                    double expected = dense_width(&d, &s.batch, row);
                    assert_near(s.width[row], expected, tolerance[precision] * expected);
                }
                memcpy(s.rows, counted[round % 3], sizeof counted[0]);
                choose(&s, 3);
                count_asked(engine, &s);
                dense_count(&d, &s.chosen);
                if (round % 3 == 0) change_weights(&s);
            }
            assert_near(state_of(engine).log_det / dense_log_det(&d), 1, tolerance[precision]);
            sa_confidence_destroy(engine);
            dense_clear(&d);
            source_clear(&s);
        }
}

/* More arms than are solved for at a time (240), more counted than are appended at a time (64), with and
 * without columns that are kept. */
static void large_batches_equal_dense(void **state) {
    (void)state;
    static const size_t arms[] = {240, 241, 500, 130, 500}, slate[] = {64, 65, 150, 130, 499};
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    double largest[2] = {0, 0};
    for (int precision = 0; precision < 2; precision++)
        for (size_t f = 0; f < 2; f++) {
            source s = source_of(shapes[2], (sa_precision)precision, 1, forms[f]);
            sa_confidence *engine = engine_of(&s);
            dense d = dense_of(s.p, 1);
            for (size_t i = 0; i < 5; i++) {
                contexts(&s, arms[i], slate[i], 1);
                widths_of(engine, &s, s.width);
                largest[precision] = fmax(largest[precision], width_error(&d, &s.batch, s.width));
                if (i < 3)
                    count_asked(engine, &s);
                else
                    count_new(engine, &s.chosen);
                dense_count(&d, &s.chosen);
                change_weights(&s);
            }
            assert_int_equal(state_of(engine).counted, 64 + 65 + 150 + 130 + 499);
            assert_near(state_of(engine).log_det / dense_log_det(&d), 1, tolerance[precision]);
            sa_confidence_destroy(engine);
            dense_clear(&d);
            source_clear(&s);
        }
    print_message("large batches: single %.1e, double %.1e\n", largest[0], largest[1]);
    assert_true(largest[0] < 1e-3 && largest[1] < 1e-8);
}

/* One count of many gradients gives the Z, and the widths, of many counts of one, whatever was counted
 * before. */
static void one_block_equals_one_by_one(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++)
        for (int before = 0; before < 2; before++) {
            source s = source_of(shapes[0], (sa_precision)precision, 1, SA_EXACT_DUAL);
            sa_confidence *block = engine_of(&s), *single = engine_of(&s);
            dense d = dense_of(s.p, 1);
            double *width = doubles(ARMS);
            for (int part = !before; part < 2; part++) {
                contexts(&s, 500, part ? 500 : 37, 1);
                count_new(block, &s.chosen);
                dense_count(&d, &s.chosen);
                size_t many = s.chosen.count;
                for (size_t i = 0; i < many; i++) {
                    s.rows[0] = (i * 7 + s.round - 1) % 500;
                    choose(&s, 1);
                    count_new(single, &s.chosen);
                }
            }
            contexts(&s, ARMS, SLATE, 1);
            widths_of(block, &s, s.width);
            widths_of(single, &s, width);
            assert_true(width_error(&d, &s.batch, s.width) < tolerance[precision]);
            assert_true(relative_error(ARMS, s.width, width) < tolerance[precision]);
            assert_near(state_of(block).log_det / dense_log_det(&d), 1, tolerance[precision] / 10);
            assert_near(state_of(block).log_det / state_of(single).log_det, 1, tolerance[precision] / 10);
            assert_int_equal(state_of(block).counted, state_of(single).counted);
            sa_confidence_destroy(block);
            sa_confidence_destroy(single);
            dense_clear(&d);
            source_clear(&s);
            sa_free(width);
        }
}

/* A factor made from gradients equals one that counted them. */
static void factors_from_gradients_equal_counting(void **state) {
    (void)state;
    static const sa_factor_class *const forms[] = {&sa_dual_f32, &sa_dual_f64, &sa_primal_f32,
                                                   &sa_primal_f64};
    for (size_t f = 0; f < 4; f++) {
        sa_precision precision = forms[f]->precision;
        source s = source_of(shapes[0], precision, 0.1, SA_EXACT_AUTO);
        dense d = dense_of(s.p, 0.1);
        sa_factor *form = NULL;
        double rho;
        contexts(&s, 200, 200, 1);
        assert_ok(forms[f]->create(0.1, &s.chosen, &form));
        dense_count(&d, &s.chosen);
        contexts(&s, ARMS, SLATE, 1);
        for (int twice = 0; twice < 2; twice++) {
            double least = 1;
            s.work.solved = (sa_solved){
                .version = 1, .columns = ARMS, .column = s.work.solved.column, .bytes = s.work.solved.bytes};
            assert_ok(forms[f]->squared_widths(form, &s.batch, NULL, ARMS, s.label, &s.work, s.width, &rho));
            for (size_t i = 0; i < ARMS; i++) {
                double norm = 0, *g = doubles(s.p);
                written_out(&s.batch, i, g);
                for (size_t k = 0; k < s.p; k++) norm += g[k] * g[k];
                least = fmin(least, 0.1 * pow(dense_width(&d, &s.batch, i), 2) / norm);
                s.width[i] = sqrt(s.width[i]);
                sa_free(g);
            }
            assert_true(width_error(&d, &s.batch, s.width) < tolerance[precision]);
            assert_near(rho / least, 1, 10 * tolerance[precision]);
            assert_near(forms[f]->log_det(form) / dense_log_det(&d), 1, tolerance[precision]);
            assert_ok(forms[f]->count(form, &s.chosen, twice ? NULL : s.rows, 1, &s.work));
            dense_count(&d, &s.chosen);
        }
        sa_factor_destroy(form);
        sa_factor_destroy(NULL);
        dense_clear(&d);
        source_clear(&s);
    }
}

/* A gradient of 0 (no unit is on) has the width 0, and counting it changes nothing but the number. So does
 * counting none. */
static void zero_gradients_have_no_width(void **state) {
    (void)state;
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    for (int precision = 0; precision < 2; precision++)
        for (size_t f = 0; f < 2; f++) {
            source s = source_of(shapes[1], (sa_precision)precision, 1, forms[f]);
            sa_confidence *engine = engine_of(&s);
            for (size_t round = 0; round < 3; round++) {
                contexts(&s, ARMS, SLATE, round == 1 ? 1 : 0);
                widths_of(engine, &s, s.width);
                for (size_t i = 0; i < ARMS; i++) assert_true(round == 1 ? s.width[i] > 0 : s.width[i] == 0);
                double before = state_of(engine).log_det;
                count_asked(engine, &s);
                double after = state_of(engine).log_det;
                assert_true(round == 1 ? after > before + 1e-3 : fabs(after - before) < 1e-12);
            }
            assert_int_equal(state_of(engine).counted, 3 * SLATE);
            s.chosen.count = 0;
            count_new(engine, &s.chosen);
            assert_int_equal(state_of(engine).counted, 3 * SLATE);
            assert_int_equal(state_of(engine).in_double, precision);
            sa_confidence_destroy(engine);
            source_clear(&s);
        }
    sa_confidence_destroy(NULL);
}

/* Bit for bit, whether a width is asked for alone, with a few others in any order, or with all. */
static void a_width_does_not_hang_on_its_company(void **state) {
    (void)state;
    source s = source_of((net_options){.dim = 80, .hidden = 100, .depth = 2}, SA_PRECISION_SINGLE, 0.1,
                         SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    for (size_t round = 0; round < 45; round++) {
        contexts(&s, ARMS, SLATE, 1);
        double all[ARMS];
        widths_of(engine, &s, all);
        for (size_t many = 1; many <= 13; many += 4) {
            size_t rows[ARMS];
            double few[ARMS];
            for (size_t i = 0; i < many; i++) rows[i] = (7 * i + round) % ARMS;
            plain_widths(engine, &s.batch, rows, many, few);
            for (size_t i = 0; i < many; i++) assert_true(few[rows[i]] == all[rows[i]]);
        }
        count_asked(engine, &s);
    }
    sa_confidence_destroy(engine);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dual_and_primal_equal_dense),
        cmocka_unit_test(a_width_does_not_hang_on_its_company),
        cmocka_unit_test(late_counting_gives_the_same_z),
        cmocka_unit_test(widths_in_parts_equal_widths_at_once),
        cmocka_unit_test(large_batches_equal_dense),
        cmocka_unit_test(one_block_equals_one_by_one),
        cmocka_unit_test(factors_from_gradients_equal_counting),
        cmocka_unit_test(zero_gradients_have_no_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

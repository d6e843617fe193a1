/* Exact widths with --exact-form auto: small networks are on the primal side at once, others change over from
 * the dual side when its excess cost has paid for it; widths do not notice. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4 };

static const double tolerance[] = {1e-3, 1e-8}; /* single, double */

/* p = 10 * 12 + 12 * 12 + 12 = 276 > 256 */
static const net_options larger = {.dim = 10, .hidden = 12, .depth = 3, .root_m = true};

/* The rule of exact.c, computed here again: the round after which the excess covers p^2 n + p^3 / 3. */
static size_t expected_change(double p, double length, double arms) {
    double excess = 0;
    for (size_t round = 0;; round++) {
        double n = (double)(SLATE * (round + 1));
        excess = fmax(0, excess + n * n * arms + 2 * n * arms * length - p * p * arms - 3 * p * p * SLATE);
        if (excess > p * p * n + p * p * p / 3) return round;
    }
}

static void widths_survive_the_change_over(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        source s = source_of(larger, (sa_precision)precision, 1, SA_EXACT_AUTO);
        assert_int_equal(s.p, 276);
        sa_confidence *engine = engine_of(&s);
        dense d = dense_of(s.p, 1);
        double largest = 0, after = 0, log_det = 0;
        size_t change = expected_change((double)s.p, (double)sa_gradients_length(&s.batch), ARMS),
               rounds = change + 40;
        for (size_t round = 0; round < rounds; round++) {
            assert_int_equal(state_of(engine).from_primal, round > change);
            contexts(&s, ARMS, SLATE, 2);
            widths_of(engine, &s, s.width);
            if (round % 20 == 0 || (round > change - 2 && round < change + 5) || round == rounds - 1) {
                double error = width_error(&d, &s.batch, s.width);
                largest = fmax(largest, error);
                if (round > change) after = fmax(after, error);
            }
            count_asked(engine, &s);
            dense_count(&d, &s.chosen);
            double now = state_of(engine).log_det; /* grows, without a jump at the change */
            assert_true(now > log_det && now < log_det + 10);
            log_det = now;
            if (round % 3 == 0) change_weights(&s);
        }
        print_message("%s: change-over after %zu rounds, n = %zu, p = %zu; error of widths %.1e, of those "
                      "after it %.1e\n",
                      precision ? "double" : "single", change + 1, SLATE * (change + 1), s.p, largest, after);
        assert_true(state_of(engine).from_primal);
        assert_int_equal(state_of(engine).counted, rounds * SLATE);
        assert_true(largest < tolerance[precision]);
        assert_near(state_of(engine).log_det / dense_log_det(&d), 1, tolerance[precision]);
        sa_confidence_destroy(engine);
        dense_clear(&d);
        source_clear(&s);
    }
}

/* Rounds are charged by what the engine is told that the decision asked for, and not by the widths that were
 * computed. */
static void rounds_are_charged_by_what_was_asked(void **state) {
    (void)state;
    enum { ENGINES = 4 };
    static const double asked[ENGINES] = {ARMS, ARMS, ARMS, 5 * ARMS};
    source s = source_of(larger, SA_PRECISION_SINGLE, 1, SA_EXACT_AUTO);
    double p = (double)s.p, length = (double)sa_gradients_length(&s.batch);
    size_t change = expected_change(p, length, ARMS), early = expected_change(p, length, 5 * ARMS);
    sa_confidence *engine[ENGINES];
    for (size_t e = 0; e < ENGINES; e++) engine[e] = engine_of(&s);
    assert_true(early + 5 < change);
    for (size_t round = 0; round < change + 3; round++) {
        contexts(&s, ARMS, SLATE, 2);
        for (size_t e = 0; e < ENGINES; e++) {
            assert_int_equal(state_of(engine[e]).from_primal, round > (e == 3 ? early : change));
            for (size_t time = 0; time < e; time++)
                widths_of(engine[e], &s, s.width); /* never, once, or more often */
            engine[e]->asked = asked[e];
            assert_ok(sa_confidence_count(engine[e], &s.chosen, NULL, &s.work));
        }
    }
    for (size_t e = 0; e < ENGINES; e++) sa_confidence_destroy(engine[e]);
    source_clear(&s);
}

/* Likewise where auto goes over to a sketch, by the rule of auto.c: B = 24, so M = 40, and a fold costs F = 4
 * M^2 w + 8 M^3 for 16. */
static void auto_is_charged_by_what_was_asked(void **state) {
    (void)state;
    enum { ENGINES = 3 };
    static const double asked[ENGINES] = {ARMS, ARMS, 4 * ARMS};
    size_t changed[ENGINES] = {0}, expected[ENGINES] = {0};
    source s = source_of(larger, SA_PRECISION_SINGLE, 1, SA_EXACT_AUTO);
    s.options->confidence = SA_CONFIDENCE_AUTO;
    s.options->sketch_size = 24;
    double w = (double)sa_gradients_length(&s.batch), m = 40, fold = 4 * m * m * w + 8 * m * m * m,
           excess[ENGINES] = {0};
    sa_confidence *engine[ENGINES];
    for (size_t e = 0; e < ENGINES; e++) engine[e] = engine_of(&s);
    for (size_t round = 0; round < 120; round++) {
        double n = (double)(SLATE * (round + 1));
        contexts(&s, ARMS, SLATE, 2);
        for (size_t e = 0; e < ENGINES; e++) {
            if (e == 1) widths_of(engine[e], &s, s.width);
            engine[e]->asked = asked[e];
            assert_ok(sa_confidence_count(engine[e], &s.chosen, NULL, &s.work));
            excess[e] = fmax(0, excess[e] + (n * n - m * m) * asked[e] + 2 * (n - m) * asked[e] * w -
                                    SLATE * fold / 16);
            if (!expected[e] && excess[e] > n * fold / 16) expected[e] = round;
            if (!changed[e] && sa_confidence_certificate(engine[e]) > 1) changed[e] = round;
        }
    }
    for (size_t e = 0; e < ENGINES; e++) {
        assert_int_equal(changed[e], expected[e]);
        sa_confidence_destroy(engine[e]);
    }
    assert_true(changed[0] == changed[1] && changed[2] > 0 && changed[2] + 3 < changed[0]);
    source_clear(&s);
}

static bool starts_primal(net_options wanted, sa_exact_form form, size_t p) {
    source s = source_of(wanted, SA_PRECISION_SINGLE, 1, form);
    sa_confidence *engine = engine_of(&s);
    bool primal = state_of(engine).from_primal;
    assert_int_equal(s.p, p);
    sa_confidence_destroy(engine);
    source_clear(&s);
    return primal;
}

static void small_networks_start_on_the_primal_side(void **state) {
    (void)state;
    net_options at_bound = {.dim = 15, .hidden = 16, .depth = 2},
                above = {.dim = 16, .hidden = 16, .depth = 2};
    assert_true(starts_primal(at_bound, SA_EXACT_AUTO, 256));
    assert_false(starts_primal(above, SA_EXACT_AUTO, 272));
    assert_false(starts_primal(at_bound, SA_EXACT_DUAL, 256));
    assert_true(starts_primal(above, SA_EXACT_PRIMAL, 272));
}

/* A form that was asked for stays. */
static void a_form_that_was_chosen_stays(void **state) {
    (void)state;
    source s =
        source_of((net_options){.dim = 2, .hidden = 3, .depth = 2}, SA_PRECISION_DOUBLE, 1, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    for (size_t round = 0; round < 200; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        count_asked(engine, &s);
    }
    assert_false(state_of(engine).from_primal);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_survive_the_change_over),
        cmocka_unit_test(rounds_are_charged_by_what_was_asked),
        cmocka_unit_test(auto_is_charged_by_what_was_asked),
        cmocka_unit_test(small_networks_start_on_the_primal_side),
        cmocka_unit_test(a_form_that_was_chosen_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

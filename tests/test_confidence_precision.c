/* Single precision knows when it no longer suffices, and goes on in double: the same contexts a thousand
 * times, and gradients whose squares overflow. */
#include "test_confidence_reference.h"

static const net_options network = {.dim = 4, .hidden = 8, .depth = 2, .root_m = true}; /* p = 40 */

/* Few contexts, always the same, all counted: rho = lambda width^2 / |g|^2 falls as 1 / rounds. */
static void repeat(sa_exact_form form, double lambda) {
    enum { ARMS = 3, ROUNDS = 1000 };
    source s = source_of(network, SA_PRECISION_SINGLE, lambda, form);
    sa_confidence *engine = engine_of(&s);
    dense d = dense_of(s.p, lambda);
    double largest = 0, rho = 1, smallest_single = 1;
    size_t doubled = 0;
    test_seed = 2;
    contexts(&s, ARMS, ARMS, 2);
    for (size_t round = 0; round < ROUNDS; round++) {
        bool was_double = state_of(engine).in_double;
        widths_of(engine, &s, s.width);
        sa_confidence_state now = state_of(engine);
        assert_true(now.in_double >= was_double); /* there is no way back */
        if (!doubled && now.in_double) doubled = round;
        if (round % 25 == 0 || round == ROUNDS - 1 || now.in_double != was_double) {
            largest = fmax(largest, width_error(&d, &s.batch, s.width));
            for (size_t i = 0; i < ARMS; i++) {
                double *g = doubles(s.p), norm = 0;
                written_out(&s.batch, i, g);
                for (size_t k = 0; k < s.p; k++) norm += g[k] * g[k];
                rho = fmin(rho, lambda * pow(dense_width(&d, &s.batch, i), 2) / norm);
                sa_free(g);
            }
            if (!now.in_double) smallest_single = rho;
        }
        count_asked(engine, &s);
        dense_count(&d, &s.chosen);
    }
    print_message("%s, lambda %g, %d times the same: rho %.1e, in double after %zu rounds; largest error of "
                  "widths %.1e\n",
                  form == SA_EXACT_DUAL ? "dual" : "primal", lambda, ROUNDS, rho, doubled, largest);
    assert_true(rho < 1e-3 && doubled > 0);
    assert_true(smallest_single > 9e-4); /* not too late */
    assert_true(state_of(engine).in_double);
    assert_true(largest < 1e-3);
    assert_near(state_of(engine).log_det / dense_log_det(&d), 1, 1e-4);
    /* a new context, in directions not yet seen */
    contexts(&s, 50, 1, 2);
    widths_of(engine, &s, s.width);
    double fresh = width_error(&d, &s.batch, s.width);
    print_message("    new contexts after that: %.1e\n", fresh);
    assert_true(fresh < 1e-3);
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
}

static void widths_of_repeated_contexts_keep_their_digits(void **state) {
    (void)state;
    repeat(SA_EXACT_DUAL, 1);
    repeat(SA_EXACT_DUAL, 0.1);
    repeat(SA_EXACT_PRIMAL, 1);
    repeat(SA_EXACT_PRIMAL, 0.1);
}

/* While contexts are fresh, single precision stays. */
static void fresh_contexts_stay_in_single(void **state) {
    (void)state;
    source s = source_of((net_options){.dim = 20, .hidden = 20, .depth = 2, .root_m = true},
                         SA_PRECISION_SINGLE, 1, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    for (size_t round = 0; round < 100; round++) {
        contexts(&s, 20, 4, 0.5);
        widths_of(engine, &s, s.width);
        count_asked(engine, &s);
    }
    assert_false(state_of(engine).in_double);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* Gradients whose squares single precision cannot hold go to double before they are counted, and Z stays
 * sound. */
static void huge_gradients_go_to_double(void **state) {
    (void)state;
    enum { ARMS = 20, SLATE = 4 };
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL};
    for (size_t f = 0; f < 2; f++) {
        source s = source_of(network, SA_PRECISION_SINGLE, 1, forms[f]);
        sa_confidence *engine = engine_of(&s);
        dense d = dense_of(s.p, 1);
        for (size_t round = 0; round < 12; round++) {
            contexts(&s, ARMS, SLATE, 1);
            if (round == 5) { /* |g| about 1e25 */
                float *delta = s.batch.pair[0].delta;
                for (size_t i = 0; i < ARMS * s.batch.pair[0].shape.delta; i++) delta[i] *= 1e25f;
                choose(&s, SLATE);
                widths_of(engine, &s, s.width);
                assert_true(state_of(engine).in_double);
                assert_true(width_error(&d, &s.batch, s.width) < 1e-3);
                count_asked(engine, &s);
            } else if (round < 5) {
                widths_of(engine, &s, s.width);
                assert_true(width_error(&d, &s.batch, s.width) < 1e-3);
                count_asked(engine, &s);
                dense_count(&d, &s.chosen);
            } else { /* Z has a condition of 1e50 now: widths are numbers, and no more can be asked */
                widths_of(engine, &s, s.width);
                for (size_t i = 0; i < ARMS; i++) assert_true(isfinite(s.width[i]) && s.width[i] >= 0);
                count_asked(engine, &s);
            }
        }
        assert_true(isfinite(state_of(engine).log_det));
        sa_confidence_destroy(engine);
        dense_clear(&d);
        source_clear(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_of_repeated_contexts_keep_their_digits),
        cmocka_unit_test(fresh_contexts_stay_in_single),
        cmocka_unit_test(huge_gradients_go_to_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

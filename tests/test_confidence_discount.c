/* Forgetting by a factor, on both sides of the exact engine and in the last layer's, against a dense Z in
 * double precision that is discounted as the equation says: Z = lambda I + F (Z - lambda I) + what is new. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4 };

static const net_options shape = {.dim = 5, .hidden = 6, .depth = 2};

/* Everything counted so far, and what it weighs, so that what is left out can be. */
typedef struct witness {
    sa_gradients all;
    double weight[1000];
} witness;

static void fade(witness *w, double factor) {
    for (size_t i = 0; i < w->all.count; i++) w->weight[i] *= factor;
}

static void count(witness *w, const sa_gradients *batch) {
    assert_ok(sa_gradients_reserve(&w->all, w->all.count + batch->count));
    for (size_t i = 0; i < batch->count; i++) w->weight[w->all.count + i] = 1;
    sa_gradients_append(&w->all, batch, NULL, batch->count);
}

/* Z of lambda and what weighs at least `least`. */
static dense dense_from(const witness *w, size_t p, double lambda, double least) {
    dense d = dense_of(p, lambda);
    double *g = doubles(p);
    for (size_t k = 0; k < w->all.count; k++) {
        if (w->weight[k] < least) continue;
        written_out(&w->all, k, g);
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j <= i; j++) d.z[i * p + j] += w->weight[k] * g[i] * g[j];
    }
    sa_free(g);
    return d;
}

/* A Z with lambda and all that was counted is the largest there could be; one with 0.8 lambda, and without
 * what weighs less than 0.01, the smallest, and nothing is wider than before anything was counted. */
static void assert_between(const source *s, dense *largest, dense *smallest, double lambda,
                           double tolerance) {
    double *g = doubles(s->p);
    for (size_t i = 0; i < ARMS; i++) {
        double norm = 0, least = dense_width(largest, &s->batch, i),
               most = dense_width(smallest, &s->batch, i);
        written_out(&s->batch, i, g);
        for (size_t j = 0; j < s->p; j++) norm += g[j] * g[j];
        assert_true(s->width[i] >= least * (1 - tolerance));
        assert_true(s->width[i] <= fmin(most, sqrt(norm / lambda)) * (1 + tolerance));
    }
    sa_free(g);
}

static void check(sa_precision precision, sa_exact_form form, double factor, double lambda) {
    source s = source_of(shape, precision, lambda, form);
    sa_confidence *engine = engine_of(&s);
    witness w = {0};
    double tolerance = precision == SA_PRECISION_SINGLE ? 1e-3 : 1e-9, most = 0;
    bool primal = state_of(engine).from_primal;
    assert_ok(sa_gradients_init_like(&w.all, precision, &s.batch));
    for (int round = 0; round < 60; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        dense largest = dense_from(&w, s.p, lambda, 0),
              smallest = dense_from(&w, s.p, 0.8 * lambda, primal ? 0 : 0.0125);
        assert_between(&s, &largest, &smallest, lambda, tolerance);
        double c = engine->kind->certificate(engine) * (1 + tolerance);
        for (size_t i = 0; i < ARMS; i++) {
            double exact = dense_width(&largest, &s.batch, i);
            assert_true(exact <= s.width[i] * c && exact >= s.width[i] / c);
        }
        most = fmax(most, width_error(&largest, &s.batch, s.width));
        assert_ok(sa_confidence_fade(engine, factor));
        fade(&w, factor);
        if (round % 3)
            count_asked(engine, &s);
        else
            count_new(engine, &s.chosen);
        count(&w, &s.chosen);
        dense_clear(&largest);
        dense_clear(&smallest);
        if (round % 7 == 0) change_weights(&s);
    }
    size_t counting = 0;
    for (size_t i = 0; i < w.all.count; i++) counting += w.weight[i] >= 0.01 * 0.8;
    if (!primal) assert_in_range(state_of(engine).counted, 1, counting); /* memory is bounded */
    /* made again each time */
    if (primal || factor < 0.8) assert_true(most < (primal ? tolerance : 0.02));
    sa_confidence_destroy(engine);
    sa_gradients_clear(&w.all);
    source_clear(&s);
}

static void widths_are_those_of_a_discounted_z(void **state) {
    (void)state;
    static const sa_exact_form forms[] = {SA_EXACT_DUAL, SA_EXACT_PRIMAL, SA_EXACT_AUTO};
    for (int precision = 0; precision < 2; precision++)
        for (int form = 0; form < 3; form++) {
            check((sa_precision)precision, forms[form], 0.95, 0.5);
            check((sa_precision)precision, forms[form], 0.7, 1);
        }
}

static void a_factor_of_0_forgets_all(void **state) {
    (void)state;
    for (int primal = 0; primal < 2; primal++) {
        source s = source_of(shape, SA_PRECISION_DOUBLE, 0.5, primal ? SA_EXACT_PRIMAL : SA_EXACT_DUAL);
        sa_confidence *engine = engine_of(&s);
        dense d = dense_of(s.p, 0.5);
        contexts(&s, ARMS, SLATE, 1);
        count_new(engine, &s.chosen);
        assert_ok(sa_confidence_fade(engine, 0));
        widths_of(engine, &s, s.width);
        assert_true(width_error(&d, &s.batch, s.width) < 1e-9);
        count_new(engine, &s.chosen);
        dense_count(&d, &s.chosen);
        widths_of(engine, &s, s.width);
        assert_true(width_error(&d, &s.batch, s.width) < 1e-9);
        sa_confidence_destroy(engine);
        dense_clear(&d);
        source_clear(&s);
    }
}

/* Upper bounds stay upper bounds while lambda counts for less. */
static void bounds_hold(void **state) {
    (void)state;
    source s =
        source_of((net_options){.dim = 5, .hidden = 8, .depth = 2}, SA_PRECISION_DOUBLE, 0.5, SA_EXACT_DUAL);
    sa_confidence *engine = engine_of(&s);
    size_t all[ARMS];
    for (size_t i = 0; i < ARMS; i++) all[i] = i;
    for (int round = 0; round < 60; round++) {
        double bound[ARMS];
        contexts(&s, ARMS, SLATE, 1);
        sa_gradients_norms(&s.batch, bound);
        for (size_t i = 0; i < ARMS; i++) bound[i] = sqrt(bound[i] / 0.5);
        tighten(engine, &s, all, ARMS, bound);
        widths_of(engine, &s, s.width);
        for (size_t i = 0; i < ARMS; i++) assert_true(s.width[i] <= bound[i] * (1 + 1e-9));
        assert_ok(sa_confidence_fade(engine, 0.98));
        count_asked(engine, &s);
    }
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* The last layer's engine is the exact one of fewer weights: its widths are of those alone. */
static void the_last_layer_forgets(void **state) {
    (void)state;
    source s = source_of(shape, SA_PRECISION_DOUBLE, 0.5, SA_EXACT_AUTO);
    s.options->confidence = SA_CONFIDENCE_LAST_LAYER;
    sa_confidence *engine = engine_of(&s);
    const sa_pair_shape last = s.model->shape[s.model->pairs - 1];
    dense d = dense_of(last.delta * last.input, 0.5);
    for (int round = 0; round < 20; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        sa_gradients view = s.batch, chosen = s.chosen;
        view.pairs = chosen.pairs = 1;
        view.pair += s.model->pairs - 1;
        chosen.pair += s.model->pairs - 1;
        assert_true(width_error(&d, &view, s.width) < 1e-9);
        assert_ok(sa_confidence_fade(engine, 0.75));
        for (size_t i = 0; i < d.p; i++)
            for (size_t j = 0; j <= i; j++)
                d.z[i * d.p + j] = 0.75 * d.z[i * d.p + j] + (i == j) * 0.25 * 0.5;
        count_asked(engine, &s);
        dense_count(&d, &chosen);
    }
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_a_discounted_z),
        cmocka_unit_test(a_factor_of_0_forgets_all),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(the_last_layer_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

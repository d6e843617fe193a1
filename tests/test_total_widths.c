/* Where gradients are sums, as the totals of slates have them, widths are those of Z = lambda I + sum of G G'
 * written out in double precision, G = the sum of the slate's gradients. */
#include "test_confidence_reference.h"

enum { ARMS = 20, MOST = 70 };

static const double tolerance[] = {1e-3, 1e-8}; /* single, double */

static const net_options shapes[] = {
    {.dim = 6, .hidden = 10, .depth = 2, .root_m = true, .symmetric = true}, /* paper: p = 130 */
    {.dim = 7, .hidden = 8, .depth = 3},                                     /* p = 128 */
    {.dim = 5, .hidden = 8, .depth = 2, .bias = true, .bypass = true},       /* tuned: p = 62 */
};

static source source_for(net_options wanted, sa_precision precision, sa_exact_form form) {
    source s = source_of(wanted, precision, 0.5, form);
    s.options->feedback = SA_FEEDBACK_TOTAL;
    return s;
}

/* Z += G G' of all of the batch, from pair `skipped` on */
static void dense_count_total(dense *d, const sa_gradients *batch, size_t skipped) {
    sa_gradients last = *batch;
    last.pairs -= skipped;
    last.pair += skipped;
    double *g = doubles(d->p), *total = doubles(d->p);
    for (size_t k = 0; k < batch->count; k++) {
        written_out(&last, k, g);
        for (size_t i = 0; i < d->p; i++) total[i] += g[i];
    }
    for (size_t i = 0; i < d->p; i++)
        for (size_t j = 0; j <= i; j++) d->z[i * d->p + j] += total[i] * total[j];
    d->factored = false;
    sa_free(g);
    sa_free(total);
}

/* Counts s->chosen as one sum; `kept`: with what the latest widths have found. */
static void count_total(sa_confidence *engine, source *s, bool kept) {
    size_t end = s->chosen.count;
    sa_gradients total = sa_gradients_sums(&s->chosen, &end, 1);
    engine->asked = (double)s->batch.count;
    assert_ok(sa_confidence_count(engine, &total, kept ? s->rows : NULL, &s->work));
}

/* Slates of 1 to 7 arms, round after round. */
static double largest_error(net_options wanted, sa_precision precision, sa_exact_form form, bool kept) {
    source s = source_for(wanted, precision, form);
    sa_confidence *engine = engine_of(&s);
    dense d = dense_of(s.p, 0.5);
    double largest = 0;
    for (size_t round = 0; round < MOST; round++) {
        contexts(&s, ARMS, 1 + round % 7, 1);
        widths_of(engine, &s, s.width);
        largest = fmax(largest, width_error(&d, &s.batch, s.width));
        count_total(engine, &s, kept);
        dense_count_total(&d, &s.chosen, 0);
        if (round % 3 == 0) change_weights(&s);
    }
    assert_int_equal(state_of(engine).counted, MOST);
    assert_near(state_of(engine).log_det / dense_log_det(&d), 1, tolerance[precision] / 10);
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
    return largest;
}

static void widths_equal_dense(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++)
        for (size_t k = 0; k < 3; k++) {
            sa_precision p = (sa_precision)precision;
            assert_true(largest_error(shapes[k], p, SA_EXACT_DUAL, true) < tolerance[p]);
            assert_true(largest_error(shapes[k], p, SA_EXACT_DUAL, false) < tolerance[p]);
            assert_true(largest_error(shapes[k], p, SA_EXACT_PRIMAL, false) < tolerance[p]);
        }
}

/* Many sums in one batch, more than are appended one by one (64) and than a block has (240), and sums of many
 * rows. From each side, in each precision. */
static void many_at_once(void **state) {
    (void)state;
    static const size_t many[] = {300, 90, 40}, rows[] = {1, 3, 25};
    for (int which = 0; which < 12; which++) {
        size_t sums = many[which % 3], terms = rows[which % 3], *end;
        sa_precision precision = which / 6 ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE;
        source s = source_for(shapes[0], precision, which / 3 % 2 ? SA_EXACT_PRIMAL : SA_EXACT_DUAL);
        sa_confidence *engine = engine_of(&s);
        dense d = dense_of(s.p, 0.5);
        assert_ok(sa_alloc_array(sums, sizeof *end, &end));
        contexts(&s, 1000, 5, 1);
        for (size_t round = 0; round < 5; round++) { /* before them */
            count_total(engine, &s, false);
            dense_count_total(&d, &s.chosen, 0);
        }
        s.chosen.count = 0;
        assert_ok(sa_gradients_reserve(&s.chosen, sums * terms));
        for (size_t i = 0; i < sums; i++) {
            size_t first = i * terms % (1000 - terms);
            sa_pair pair[4];
            sa_gradients part = sa_gradients_part(&s.batch, first, terms, pair);
            sa_gradients_append_range(&s.chosen, &s.batch, first, terms);
            dense_count_total(&d, &part, 0);
            end[i] = (i + 1) * terms;
        }
        sa_gradients all = sa_gradients_sums(&s.chosen, end, sums);
        count_new(engine, &all);
        assert_int_equal(state_of(engine).counted, sums + 5);
        contexts(&s, ARMS, 1, 1);
        widths_of(engine, &s, s.width);
        assert_true(width_error(&d, &s.batch, s.width) < tolerance[precision]);
        sa_free(end);
        sa_confidence_destroy(engine);
        dense_clear(&d);
        source_clear(&s);
    }
}

/* The two engines that look at a part of Z. */
static void last_layer_and_diagonal(void **state) {
    (void)state;
    source s = source_for(shapes[2], SA_PRECISION_DOUBLE, SA_EXACT_DUAL);
    s.options->confidence = SA_CONFIDENCE_LAST_LAYER;
    sa_confidence *last = engine_of(&s);
    s.options->confidence = SA_CONFIDENCE_DIAGONAL;
    sa_confidence *diagonal = engine_of(&s);
    size_t skipped = s.model->pairs - 2; /* there is a bypass */
    size_t q = s.model->shape[skipped].input + s.model->shape[skipped + 1].input;
    dense d = dense_of(q, 0.5), whole = dense_of(s.p, 0.5);
    double *g = doubles(s.p);
    for (size_t round = 0; round < 40; round++) {
        contexts(&s, ARMS, 1 + round % 7, 1);
        sa_gradients view = s.batch;
        view.pairs = 2;
        view.pair += skipped;
        widths_of(last, &s, s.width);
        assert_true(width_error(&d, &view, s.width) < 1e-8);
        count_total(last, &s, true);
        widths_of(diagonal, &s, s.width);
        for (size_t i = 0; i < ARMS; i++) {
            double square = 0;
            written_out(&s.batch, i, g);
            for (size_t j = 0; j < s.p; j++) square += g[j] * g[j] / whole.z[j * s.p + j];
            assert_near(s.width[i], sqrt(square), 1e-9);
        }
        count_total(diagonal, &s, false);
        dense_count_total(&d, &s.chosen, skipped);
        dense_count_total(&whole, &s.chosen, 0);
    }
    sa_free(g);
    sa_confidence_destroy(last);
    sa_confidence_destroy(diagonal);
    dense_clear(&d);
    dense_clear(&whole);
    source_clear(&s);
}

/* With a discount the factor stands for more than it should, by no more than its certificate says; made again
 * it is that of the discounted Z. */
static void discounted(void **state) {
    (void)state;
    for (int form = SA_EXACT_DUAL; form <= SA_EXACT_PRIMAL; form++) {
        source s = source_for(shapes[2], SA_PRECISION_DOUBLE, (sa_exact_form)form);
        s.options->discount = 0.9;
        sa_confidence *engine = engine_of(&s);
        dense d = dense_of(s.p, 0.5);
        for (size_t round = 0; round < 40; round++) {
            contexts(&s, ARMS, 1 + round % 5, 1);
            widths_of(engine, &s, s.width);
            double c = sa_confidence_certificate(engine) * (1 + 1e-9);
            for (size_t i = 0; i < ARMS; i++) {
                double exact = dense_width(&d, &s.batch, i);
                assert_true(s.width[i] <= exact * c && s.width[i] >= exact / c);
            }
            assert_ok(sa_confidence_fade(engine, 0.9));
            for (size_t i = 0; i < s.p; i++)
                for (size_t j = 0; j <= i; j++)
                    d.z[i * s.p + j] = 0.9 * d.z[i * s.p + j] + (i == j ? 0.05 : 0);
            count_total(engine, &s, false);
            dense_count_total(&d, &s.chosen, 0);
        }
        sa_confidence_destroy(engine);
        dense_clear(&d);
        source_clear(&s);
    }
}

/* An engine that was saved goes on bit for bit, with what was kept or without it; and so does a fork. */
static void files_and_forks(void **state) {
    (void)state;
    for (int which = 0; which < 4; which++) {
        source s = source_for(shapes[2], which % 2 ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE,
                              which / 2 ? SA_EXACT_PRIMAL : SA_EXACT_DUAL);
        sa_confidence *a = engine_of(&s), *b = engine_of(&s), *fork = NULL;
        const char *path = scratch("total.npz");
        double width[ARMS];
        for (size_t round = 0; round < 60; round++) {
            contexts(&s, ARMS, 1 + round % 7, 1);
            if (round == 30) {
                save_engine(a, path);
                load_engine(b, path);
                assert_ok(a->kind->fork(a, &fork));
            }
            if (round >= 30) {
                widths_of(b, &s, width);
                count_total(b, &s, false);
                widths_of(fork, &s, s.width);
                assert_memory_equal(width, s.width, sizeof width);
                count_total(fork, &s, false);
            }
            widths_of(a, &s, s.width);
            if (round >= 30) assert_memory_equal(width, s.width, sizeof width);
            if (round == 30) sa_confidence_destroy(a); /* the fork goes on */
            if (round == 30) a = engine_of(&s), load_engine(a, path), widths_of(a, &s, s.width);
            count_total(a, &s, true);
        }
        sa_confidence_destroy(a);
        sa_confidence_destroy(b);
        sa_confidence_destroy(fork);
        source_clear(&s);
    }
}

static void engines_that_cannot_say_so(void **state) {
    (void)state;
    source s = source_for(shapes[0], SA_PRECISION_DOUBLE, SA_EXACT_DUAL);
    for (int kind = SA_CONFIDENCE_SKETCH; kind <= SA_CONFIDENCE_AUTO; kind++) {
        sa_confidence *engine = NULL;
        s.options->confidence = kind;
        assert_int_equal(
            sa_confidence_create(CONFIDENCE_OF(s.options), s.model->pairs, s.model->shape, &engine),
            SA_INVALID);
        assert_non_null(strstr(sa_last_error(), "exact, last-layer and diagonal can"));
    }
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_equal_dense),      cmocka_unit_test(many_at_once),
        cmocka_unit_test(last_layer_and_diagonal), cmocka_unit_test(discounted),
        cmocka_unit_test(files_and_forks),         cmocka_unit_test(engines_that_cannot_say_so),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* The sketch against what it stands for, written out: the vectors that it has in place of the counted
 * gradients, projected at each fold on the elements that were kept; and against the exact Z, for its
 * certificate. All in double precision, p numbers a vector. */
#include "test_agent_rig.h" /* for its folder in memory */
#include "test_confidence_reference.h"
#include "test_parts.h"

enum { ARMS = 20, SLATE = 4, MOST = 600 };

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

static source sketch_source(net_options wanted, sa_precision precision, double lambda, int size) {
    source s = source_of(wanted, precision, lambda, SA_EXACT_AUTO);
    s.options->confidence = SA_CONFIDENCE_SKETCH;
    s.options->sketch_size = size;
    return s;
}

/* ---- vectors in place of the counted gradients ---- */

typedef struct stand_in {
    size_t p, count, held; /* held: elements of the engine, when last looked at */
    double lambda;
    double *counted, *stood; /* (MOST, p): g, and what the sketch has in its place */
} stand_in;

static stand_in stand_in_of(const source *s) {
    return (stand_in){.p = s->p,
                      .lambda = s->options->regularization,
                      .counted = doubles(MOST * s->p),
                      .stood = doubles(MOST * s->p)};
}

static void stand_in_clear(stand_in *self) {
    sa_free(self->counted);
    sa_free(self->stood);
}

static double dot_of(const double *a, const double *b, size_t p) {
    double sum = 0;
    for (size_t i = 0; i < p; i++) sum += a[i] * b[i];
    return sum;
}

/* v -= its part along the first `count` of the orthonormal rows of `basis` */
static void make_orthogonal(const double *basis, size_t count, size_t p, double *v) {
    for (int twice = 0; twice < 2; twice++)
        for (size_t k = 0; k < count; k++) {
            double along = dot_of(basis + k * p, v, p);
            for (size_t i = 0; i < p; i++) v[i] -= along * basis[k * p + i];
        }
}

/* Projects all stand-ins on the span of the elements. */
static void project(stand_in *self, const sa_gradients *elements) {
    size_t p = self->p, rank = 0;
    double *basis = doubles((elements->count + 1) * p), *rest = doubles(p);
    for (size_t k = 0; k < elements->count; k++) {
        double *next = basis + rank * p;
        written_out(elements, k, next);
        double before = sqrt(dot_of(next, next, p));
        make_orthogonal(basis, rank, p, next);
        double length = sqrt(dot_of(next, next, p));
        if (length < 1e-7 * before) continue;
        for (size_t i = 0; i < p; i++) next[i] /= length;
        rank++;
    }
    for (size_t k = 0; k < self->count; k++) {
        double *v = self->stood + k * p;
        memcpy(rest, v, p * sizeof *rest);
        make_orthogonal(basis, rank, p, rest);
        for (size_t i = 0; i < p; i++) v[i] -= rest[i];
    }
    sa_free(basis);
    sa_free(rest);
}

/* The elements that an engine's file has. */
static sa_gradients elements_of(const sa_confidence *engine, const source *s) {
    sa_npz *archive;
    int64_t in_double;
    sa_array delta = {0};
    sa_gradients elements;
    save_engine(engine, scratch("elements.npz"));
    assert_ok(sa_npz_open(scratch("elements.npz"), &archive));
    assert_ok(sa_npz_get_integer(archive, "sketch_double", 0, 1, &in_double));
    sa_precision precision = in_double ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE;
    assert_ok(
        sa_npz_get_exactly(archive, "counted_delta1", in_double ? SA_FLOAT64 : SA_FLOAT32, 0, NULL, &delta));
    assert_ok(sa_gradients_init_like(&elements, precision, &s->batch));
    assert_ok(sa_gradients_load(&elements, archive, "counted", delta.shape[0]));
    sa_array_clear(&delta);
    sa_npz_close(archive);
    return elements;
}

static size_t room_of(const source *s) {
    size_t size = (size_t)s->options->sketch_size;
    return size + (size / 4 > 16 ? size / 4 : 16);
}

/* The gradients of `batch` were counted. Folds happen when there is no more room. */
static void follow(stand_in *self, const sa_confidence *engine, const source *s, const sa_gradients *batch) {
    for (size_t k = 0; k < batch->count; k++, self->count++) {
        assert_true(self->count < MOST);
        written_out(batch, k, self->counted + self->count * self->p);
        written_out(batch, k, self->stood + self->count * self->p);
    }
    self->held += batch->count;
    if (self->held < room_of(s)) return;
    sa_gradients elements = elements_of(engine, s);
    assert_true(elements.count <= (size_t)s->options->sketch_size);
    project(self, &elements);
    self->held = elements.count;
    sa_gradients_clear(&elements);
}

/* The chosen gradients, so that a fold is always after the last of those that were counted together. */
static void count_chosen(stand_in *self, sa_confidence *engine, source *s) {
    if (self->held + s->chosen.count <= room_of(s)) {
        count_asked(engine, s);
        follow(self, engine, s, &s->chosen);
        return;
    }
    sa_gradients one;
    assert_ok(sa_gradients_init_like(&one, s->chosen.precision, &s->chosen));
    assert_ok(sa_gradients_reserve(&one, 1));
    for (size_t k = 0; k < s->chosen.count; k++) {
        one.count = 0;
        sa_gradients_append(&one, &s->chosen, &k, 1);
        count_new(engine, &one);
        follow(self, engine, s, &one);
    }
    sa_gradients_clear(&one);
}

/* Z of such vectors. */
static dense dense_of_vectors(const stand_in *self, const double *vectors) {
    size_t p = self->p;
    dense d = dense_of(p, self->lambda);
    for (size_t k = 0; k < self->count; k++)
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j <= i; j++) d.z[i * p + j] += vectors[k * p + i] * vectors[k * p + j];
    return d;
}

/* |R|, R = the counted minus their stand-ins, by the power method */
static double lost_norm(const stand_in *self) {
    size_t p = self->p;
    double *v = random_doubles(p), *next = doubles(p), norm = 0;
    for (int step = 0; step < 200; step++) {
        memset(next, 0, p * sizeof *next);
        for (size_t k = 0; k < self->count; k++) {
            const double *g = self->counted + k * p, *h = self->stood + k * p;
            double along = dot_of(g, v, p) - dot_of(h, v, p);
            for (size_t i = 0; i < p; i++) next[i] += along * (g[i] - h[i]);
        }
        norm = sqrt(dot_of(next, next, p));
        for (size_t i = 0; i < p && norm > 0; i++) v[i] = next[i] / norm;
    }
    sa_free(v);
    sa_free(next);
    return sqrt(norm);
}

/* Widths are those of the stand-ins, to `tolerance`, and as far from the exact ones as the certificate
 * allows. `lazily`: what was forgotten last is not in all parts of Z yet, which the certificate knows. */
static double check_round(sa_confidence *engine, source *s, const stand_in *self, double tolerance,
                          bool lazily) {
    double certificate = sa_confidence_certificate(engine), worst = 1;
    dense stood = dense_of_vectors(self, self->stood), exact = dense_of_vectors(self, self->counted);
    widths_of(engine, s, s->width);
    assert_true(certificate >= 1);
    assert_true(lazily || width_error(&stood, &s->batch, s->width) < tolerance);
    if (!lazily)
        assert_near(state_of(engine).log_det, dense_log_det(&stood), tolerance * (1 + dense_log_det(&stood)));
    for (size_t i = 0; i < s->batch.count; i++) {
        double truth = dense_width(&exact, &s->batch, i);
        assert_true(s->width[i] <= truth * certificate * (1 + tolerance));
        assert_true(s->width[i] * certificate * (1 + tolerance) >= truth);
        if (truth > 0) worst = fmax(worst, fmax(s->width[i] / truth, truth / s->width[i]));
    }
    double lost = lost_norm(self) / sqrt(self->lambda);
    assert_true(certificate >= (lost / 2 + sqrt(1 + lost * lost / 4)) * (1 - 1e-9));
    dense_clear(&stood);
    dense_clear(&exact);
    return worst;
}

static void stands_for_what_was_counted(void **state) {
    (void)state;
    static const struct {
        int shape, size, rounds;
        double lambda, context;
    } cases[] = {{0, 24, 40, 1, 1}, {0, 60, 60, 0.1, 1}, {1, 24, 40, 1, 3},  {2, 40, 50, 0.01, 1},
                 {3, 32, 40, 7, 2}, {2, 4, 12, 1, 1},    {0, 8, 20, 1, 1e3}, {1, 90, 60, 1e-4, 1}};
    for (int precision = 0; precision < 2; precision++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            source s = sketch_source(shapes[cases[c].shape], (sa_precision)precision, cases[c].lambda,
                                     cases[c].size);
            sa_confidence *engine = engine_of(&s);
            stand_in self = stand_in_of(&s);
            double worst = 1, tolerance = precision == SA_PRECISION_SINGLE ? 2e-3 : 1e-6;
            for (int round = 0; round < cases[c].rounds; round++) {
                contexts(&s, ARMS, SLATE, cases[c].context);
                if (round % 5 == 0) worst = fmax(worst, check_round(engine, &s, &self, tolerance, false));
                widths_of(engine, &s, s.width);
                count_chosen(&self, engine, &s);
                if (round % 4 == 3) change_weights(&s);
            }
            assert_int_equal(state_of(engine).counted, self.count);
            print_message("size %d of %zu counted, p %zu, lambda %g: widths within %.3f, certificate %.3f\n",
                          cases[c].size, self.count, s.p, cases[c].lambda, worst,
                          sa_confidence_certificate(engine));
            stand_in_clear(&self);
            sa_confidence_destroy(engine);
            source_clear(&s);
        }
}

/* Until there is a fold, the sketch is the exact engine, to the bit. */
static void is_exact_until_it_folds(void **state) {
    (void)state;
    source s = sketch_source(shapes[0], SA_PRECISION_SINGLE, 0.5, 48); /* 64 elements */
    sa_confidence *sketch = engine_of(&s);
    s.options->confidence = SA_CONFIDENCE_EXACT;
    s.form = SA_EXACT_DUAL;
    sa_confidence *exact = engine_of(&s);
    double width[ARMS];
    for (int round = 0; round < 15; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(sketch, &s, s.width);
        widths_of(exact, &s, width);
        assert_memory_equal(s.width, width, sizeof width);
        assert_true(sa_confidence_certificate(sketch) == 1 && sa_confidence_certificate(exact) == 1);
        assert_true(state_of(sketch).log_det == state_of(exact).log_det);
        count_asked(sketch, &s);
        count_asked(exact, &s);
    }
    sa_confidence_destroy(sketch);
    sa_confidence_destroy(exact);
    source_clear(&s);
}

/* Gradients of a linear model, or the same few again and again, span few directions: nothing is lost, however
 * many are counted. */
static void few_directions_stay_exact(void **state) {
    (void)state;
    enum { DIM = 12, ROUNDS = 150 };
    const sa_pair_shape shape = {.delta = 1, .input = DIM};
    for (int repeated = 0; repeated < 2; repeated++) {
        sa_options *options = sa_options_new("paper");
        options->precision = SA_PRECISION_DOUBLE;
        options->confidence = SA_CONFIDENCE_SKETCH;
        options->sketch_size = 20;
        options->regularization = 0.3;
        sa_confidence *engine = NULL;
        assert_ok(sa_confidence_create(CONFIDENCE_OF(options), 1, &shape, &engine));
        sa_gradients batch;
        assert_ok(sa_gradients_init(&batch, SA_PRECISION_DOUBLE, 1, &shape));
        assert_ok(sa_gradients_reserve(&batch, 5));
        dense d = dense_of(DIM, 0.3);
        for (size_t round = 0; round < ROUNDS; round++) {
            double width[5], *delta = batch.pair[0].delta, *input = batch.pair[0].input;
            if (repeated && round % 50 < 10) test_seed = 7;
            for (size_t i = 0; i < 5 * DIM; i++) input[i] = uniform();
            for (size_t i = 0; i < 5; i++) delta[i] = 1;
            batch.count = 5;
            plain_widths(engine, &batch, NULL, 5, width);
            assert_true(width_error(&d, &batch, width) < 1e-5);
            assert_true(sa_confidence_certificate(engine) < 1.01);
            assert_near(state_of(engine).log_det, dense_log_det(&d), 1e-5 * (1 + dense_log_det(&d)));
            count_new(engine, &batch);
            dense_count(&d, &batch);
        }
        assert_int_equal(state_of(engine).counted, 5 * ROUNDS);
        dense_clear(&d);
        sa_gradients_clear(&batch);
        sa_confidence_destroy(engine);
        sa_options_destroy(options);
    }
}

/* Z = lambda I + factor (Z - lambda I): of the stand-ins, and of the counted gradients. */
static void discounts_what_was_counted(void **state) {
    (void)state;
    static const double factors[] = {0.9, 1, 0.5, 0.99, 0.7};
    for (int precision = 0; precision < 2; precision++) {
        source s = sketch_source(shapes[1], (sa_precision)precision, 0.2, 24);
        sa_confidence *engine = engine_of(&s);
        stand_in self = stand_in_of(&s);
        for (size_t round = 0; round < 40; round++) {
            contexts(&s, ARMS, SLATE, 1);
            count_chosen(&self, engine, &s);
            double factor = factors[round % 5];
            assert_ok(sa_confidence_fade(engine, factor));
            for (size_t i = 0; i < self.count * self.p; i++) {
                self.counted[i] *= sqrt(factor);
                self.stood[i] *= sqrt(factor);
            }
            check_round(engine, &s, &self, precision == SA_PRECISION_SINGLE ? 2e-3 : 1e-6, factor > 0.8);
        }
        stand_in_clear(&self);
        sa_confidence_destroy(engine);
        source_clear(&s);
    }
}

/* What has faded away leaves a Z of lambda, and what is counted then, however often it was discounted
 * before. */
static void forgets_all_in_the_end(void **state) {
    (void)state;
    source s = sketch_source(shapes[0], SA_PRECISION_DOUBLE, 0.2, 24);
    sa_confidence *engine = engine_of(&s);
    for (size_t round = 0; round < 30; round++) { /* folded, and fresh ones beside */
        contexts(&s, ARMS, SLATE, 1);
        count_new(engine, &s.chosen);
    }
    for (int time = 0; time < 400; time++) assert_ok(sa_confidence_fade(engine, time % 2 ? 0.1 : 1e-3));
    dense d = dense_of(s.p, 0.2);
    for (int round = 0; round < 30; round++) {
        widths_of(engine, &s, s.width);
        double c = sa_confidence_certificate(engine) * (1 + 1e-6);
        if (round == 0) assert_true(width_error(&d, &s.batch, s.width) < 1e-6);
        for (size_t i = 0; i < s.batch.count; i++) {
            double exact = dense_width(&d, &s.batch, i);
            assert_true(exact <= s.width[i] * c && s.width[i] <= exact * c);
        }
        count_new(engine, &s.chosen);
        dense_count(&d, &s.chosen);
        contexts(&s, ARMS, SLATE, 1);
    }
    assert_true(isfinite(state_of(engine).log_det));
    sa_confidence_destroy(engine);
    dense_clear(&d);
    source_clear(&s);
}

/* The bounds of a part of the elements are bounds. */
static void tightened_bounds_hold(void **state) {
    (void)state;
    source s = sketch_source(shapes[0], SA_PRECISION_SINGLE, 0.1, 64);
    sa_confidence *engine = engine_of(&s);
    double bound[ARMS], loose[ARMS], saved = 0;
    size_t all[ARMS];
    for (size_t i = 0; i < ARMS; i++) all[i] = i;
    for (size_t round = 0; round < 40; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        sa_gradients_norms(&s.batch, loose);
        for (size_t i = 0; i < ARMS; i++) bound[i] = loose[i] = sqrt(loose[i] / 0.1);
        tighten(engine, &s, all, ARMS, bound);
        for (size_t i = 0; i < ARMS; i++) {
            assert_true(bound[i] <= loose[i] && s.width[i] <= bound[i] * (1 + 1e-4));
            saved += (loose[i] - bound[i]) / ((loose[i] - s.width[i] + 1e-9) * ARMS * 40);
        }
        count_new(engine, &s.chosen);
    }
    print_message("a quarter of the elements lowers bounds by %.2f\n", saved);
    assert_true(saved > 0.1); /* of the way from the norm to the width, in the mean */
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* Many at once, or slate by slate. */
static void large_batches(void **state) {
    (void)state;
    source s = sketch_source(shapes[0], SA_PRECISION_DOUBLE, 1, 32); /* 48 elements */
    sa_confidence *engine = engine_of(&s), *other = engine_of(&s);
    double width[ARMS];
    contexts(&s, 300, 299, 1);
    assert_ok(sa_confidence_expect(engine, 299));
    count_new(engine, &s.chosen);
    sa_gradients one;
    assert_ok(sa_gradients_init_like(&one, SA_PRECISION_DOUBLE, &s.chosen));
    assert_ok(sa_gradients_reserve(&one, 1));
    for (size_t k = 0; k < 299; k++) {
        one.count = 0;
        sa_gradients_append(&one, &s.chosen, &k, 1);
        count_new(other, &one);
    }
    contexts(&s, ARMS, SLATE, 1);
    widths_of(engine, &s, s.width);
    widths_of(other, &s, width);
    for (size_t i = 0; i < ARMS; i++) assert_near(width[i], s.width[i], 1e-9 * width[i]);
    assert_int_equal(state_of(engine).counted, 299);
    sa_gradients_clear(&one);
    sa_confidence_destroy(engine);
    sa_confidence_destroy(other);
    source_clear(&s);
}

static void a_saved_engine_goes_on_bit_for_bit(void **state) {
    (void)state;
    static const int kinds[] = {SA_CONFIDENCE_SKETCH, SA_CONFIDENCE_AUTO};
    for (int k = 0; k < 6; k++) {
        source s = sketch_source(shapes[1], (sa_precision)(k % 2), k < 4 ? 0.3 : 1e-3, 4);
        s.options->confidence = kinds[k / 2 % 2];
        sa_confidence *one = engine_of(&s), *other = NULL;
        double width[ARMS];
        for (size_t round = 0; round < 60; round++) {
            if (round % 17 == 16) {
                save_engine(one, scratch("engine.npz"));
                sa_confidence_destroy(other);
                other = engine_of(&s);
                load_engine(other, scratch("engine.npz"));
            }
            contexts(&s, ARMS, SLATE, 1);
            widths_of(one, &s, s.width);
            if (other) {
                widths_of(other, &s, width);
                assert_memory_equal(width, s.width, sizeof width);
                count_asked(other, &s);
            }
            count_asked(one, &s);
            if (!other) continue;
            assert_true(state_of(other).log_det == state_of(one).log_det);
            assert_true(sa_confidence_certificate(other) == sa_confidence_certificate(one));
        }
        assert_true(sa_confidence_certificate(one) > 1); /* auto has changed over */
        sa_confidence_destroy(one);
        sa_confidence_destroy(other);
        source_clear(&s);
    }
}

/* auto is exact at first; then it is the sketch of all that was counted, and its widths go on where they
 * were. Columns that were kept before are not taken for its own. */
static void auto_changes_over(void **state) {
    (void)state;
    source s = sketch_source(shapes[0], SA_PRECISION_SINGLE, 1, 24);
    sa_confidence *sketch = engine_of(&s);
    s.options->confidence = SA_CONFIDENCE_AUTO;
    sa_confidence *engine = engine_of(&s);
    dense d = dense_of(s.p, 1);
    double width[ARMS], jump = 0, worst = 1;
    bool changed = false;
    sa_width_work kept = {0};
    for (int round = 0; round < 140; round++) {
        contexts(&s, ARMS, SLATE, 1);
        ask_widths(engine, &s, NULL, ARMS, &kept, s.width);
        double certificate = sa_confidence_certificate(engine);
        for (size_t i = 0; i < ARMS; i++) {
            double truth = dense_width(&d, &s.batch, i);
            if (certificate == 1) assert_near(s.width[i], truth, 1e-3 * truth);
            assert_true(s.width[i] <= truth * certificate * 1.001 &&
                        s.width[i] * certificate * 1.001 >= truth);
            worst = fmax(worst, s.width[i] / truth);
        }
        widths_of(sketch, &s, width);
        for (size_t i = 0; changed && i < ARMS; i++) assert_near(s.width[i], width[i], 2e-3 * width[i]);
        engine->asked = ARMS;
        assert_ok(sa_confidence_count(engine, &s.chosen, round % 2 ? s.rows : NULL, &kept));
        count_new(sketch, &s.chosen);
        dense_count(&d, &s.chosen);
        if (sa_confidence_certificate(engine) > 1 && !changed) {
            changed = true;
            print_message("auto changes over with %zu counted\n", state_of(engine).counted);
            widths_of(engine, &s, width);
            for (size_t i = 0; i < ARMS; i++)
                jump = fmax(jump, fabs(width[i] / dense_width(&d, &s.batch, i) - 1));
            assert_ok(
                sa_confidence_count(engine, &s.chosen, s.rows, &kept)); /* `kept` is of the exact engine */
            count_new(sketch, &s.chosen);
            dense_count(&d, &s.chosen);
        }
    }
    print_message("jump %.3f, widths within %.3f\n", jump, worst);
    assert_true(changed && jump < 0.5);
    sa_width_work_clear(&kept);
    dense_clear(&d);
    sa_confidence_destroy(engine);
    sa_confidence_destroy(sketch);
    source_clear(&s);
}

/* Few parameters: Z itself is no larger than a sketch. */
static void auto_stays_exact_where_that_is_cheap(void **state) {
    (void)state;
    source s = sketch_source(shapes[2], SA_PRECISION_SINGLE, 1, 16); /* p = 62, 32 elements */
    s.options->confidence = SA_CONFIDENCE_AUTO;
    sa_confidence *engine = engine_of(&s);
    for (int round = 0; round < 200; round++) {
        contexts(&s, ARMS, SLATE, 1);
        widths_of(engine, &s, s.width);
        count_asked(engine, &s);
    }
    assert_true(sa_confidence_certificate(engine) == 1 && state_of(engine).from_primal);
    sa_confidence_destroy(engine);
    source_clear(&s);
}

/* Where it stays exact, it does so while it forgets, and a saved one goes on; where it does not, it is a
 * sketch at once. */
static void auto_discounts_as_exact_does(void **state) {
    (void)state;
    static const int sizes[] = {16, 4}; /* 32 elements, 20 */
    for (int few = 0; few < 2; few++) {
        source s = sketch_source(shapes[2], SA_PRECISION_DOUBLE, 1, sizes[few]); /* p = 62 */
        s.options->discount = 0.95;
        s.options->confidence = SA_CONFIDENCE_EXACT;
        sa_confidence *exact = engine_of(&s);
        s.options->confidence = SA_CONFIDENCE_AUTO;
        sa_confidence *engine = engine_of(&s);
        double width[ARMS];
        for (int round = 0; round < 100; round++) {
            contexts(&s, ARMS, SLATE, 1);
            widths_of(exact, &s, width);
            widths_of(engine, &s, s.width);
            if (!few) assert_memory_equal(s.width, width, sizeof width);
            assert_ok(sa_confidence_fade(exact, 0.95));
            assert_ok(sa_confidence_fade(engine, 0.95));
            count_new(exact, &s.chosen);
            count_new(engine, &s.chosen);
            if (round != 50) continue;
            save_engine(engine, scratch("engine.npz"));
            sa_confidence_destroy(engine);
            engine = engine_of(&s);
            load_engine(engine, scratch("engine.npz"));
        }
        assert_int_equal(state_of(engine).from_primal, !few);
        sa_confidence_destroy(exact);
        sa_confidence_destroy(engine);
        source_clear(&s);
    }
}

static void bad_sizes_are_refused(void **state) {
    (void)state;
    sa_options *options = sa_options_new("paper");
    sa_confidence *engine = NULL;
    const sa_pair_shape shape = {.delta = 1, .input = 3};
    assert_fails(sa_options_set_any(options, "sketch-size", "0"), SA_INVALID,
                 "--sketch-size 0 is less than 1");
    assert_fails(sa_options_set_any(options, "sketch-size", "2.5"), SA_INVALID, "--sketch-size 2.5");
    assert_ok(sa_options_set_any(options, "sketch-size", "1000000"));
    options->confidence = SA_CONFIDENCE_SKETCH;
    assert_fails(sa_confidence_create(CONFIDENCE_OF(options), 1, &shape, &engine), SA_INVALID,
                 "--sketch-size 1000000 needs 1.06e+05 GB");
    assert_null(engine);
    sa_options_destroy(options);
}

/* ---- files that cannot be ---- */

static void check_file(const source *s, const char *changed, size_t axes, const size_t *shape,
                       const double *values, const char *sentence) {
    static const char *const names[] = {"sketch_lost", "sketch_log_det", "sketch_old", "sketch_fresh"};
    sa_confidence *engine = engine_of(s);
    sa_npz_writer *writer;
    sa_npz *archive;
    const double zero = 0, one = 1;
    const size_t none[2] = {0, 0};
    const int64_t counted = 0, wide = 1;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(sa_npz_add(writer, "sketch_double", SA_INT64, 0, NULL, &wide));
    assert_ok(sa_npz_add(writer, "sketch_counted", SA_INT64, 0, NULL, &counted));
    assert_ok(sa_npz_add(writer, "sketch_fade", SA_FLOAT64, 0, NULL, &one));
    for (size_t i = 0; i < 4; i++) {
        bool is = !strcmp(names[i], changed);
        size_t plain = i < 2 ? 0 : i == 2 ? 2 : 1;
        if (is && !values) continue; /* left out */
        assert_ok(sa_npz_add(writer, names[i], SA_FLOAT64, is ? axes : plain, is ? shape : none,
                             is ? values : &zero));
    }
    source dual = *s;
    dual.form = SA_EXACT_DUAL;
    s->options->confidence = SA_CONFIDENCE_EXACT;
    sa_confidence *exact = engine_of(&dual);
    s->options->confidence = SA_CONFIDENCE_SKETCH;
    assert_ok(exact->kind->save(exact, writer));
    assert_ok(sa_npz_finish(writer, scratch("bad.npz")));
    assert_ok(sa_npz_open(scratch("bad.npz"), &archive));
    assert_fails(engine->kind->load(engine, archive), SA_FORMAT, sentence);
    sa_npz_close(archive);
    sa_confidence_destroy(exact);
    sa_confidence_destroy(engine);
}

static void files_that_cannot_be_are_refused(void **state) {
    (void)state;
    source s = sketch_source(shapes[2], SA_PRECISION_DOUBLE, 1, 8);
    const double values[24] = {1, 1, 1, 1}, bad = NAN, below = -1, light[4] = {1, 0, 0, 0};
    check_file(&s, "sketch_fresh", 1, (size_t[]){2}, values, "counted_delta1 has shape (0, 8), not (2, 8)");
    check_file(&s, "sketch_fresh", 1, (size_t[]){24}, values,
               "a sketch of 24 elements, 24 of them fresh, does not fit --sketch-size 8");
    check_file(&s, "sketch_old", 2, (size_t[]){2, 2}, values, "counted_delta1 has shape (0, 8), not (2, 8)");
    check_file(&s, "sketch_old", 2, (size_t[]){2, 2}, light, "element 1 of the sketch has the weight 0");
    check_file(&s, "sketch_old", 2, (size_t[]){1, 2}, values, "a sketch of 1 elements, 0 of them fresh");
    check_file(&s, "sketch_old", 1, (size_t[]){4}, values, "does not fit --sketch-size 8");
    check_file(&s, "sketch_old", 0, NULL, NULL, "sketch_old");
    check_file(&s, "sketch_lost", 0, NULL, &bad, "sketch_lost");
    check_file(&s, "sketch_lost", 0, NULL, &below, "'sketch_lost' is -1, below 0");
    source_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_what_was_counted),
        cmocka_unit_test(is_exact_until_it_folds),
        cmocka_unit_test(few_directions_stay_exact),
        cmocka_unit_test(discounts_what_was_counted),
        cmocka_unit_test(forgets_all_in_the_end),
        cmocka_unit_test(tightened_bounds_hold),
        cmocka_unit_test(large_batches),
        cmocka_unit_test(a_saved_engine_goes_on_bit_for_bit),
        cmocka_unit_test(auto_changes_over),
        cmocka_unit_test(auto_stays_exact_where_that_is_cheap),
        cmocka_unit_test(auto_discounts_as_exact_does),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(files_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

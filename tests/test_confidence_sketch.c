/* The sketch against what it stands for, written out: the vectors that it has in place of the counted gradients, projected at each
 * fold on the elements that were kept; and against the exact Z, for its certificate. All in double precision, p numbers a vector. */
#include "test_confidence_reference.h"

enum { ARMS = 20, SLATE = 4, MOST = 600 };

static const net_options shapes[] = {
    {6, 10, 2, true, false, false, true},  /* paper: p = 130 */
    {7, 8, 3, false, false, false, false}, /* p = 128 */
    {5, 8, 2, false, true, true, false},   /* p = 62 */
    {4, 6, 5, true, true, true, true},     /* deep, with everything */
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
    return (stand_in){
        .p = s->p, .lambda = s->options->regularization, .counted = doubles(MOST * s->p), .stood = doubles(MOST * s->p)};
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
    assert_ok(sa_npz_get_integer(archive, "exact_double", 0, 1, &in_double));
    sa_precision precision = in_double ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE;
    assert_ok(sa_npz_get_exactly(archive, "counted_delta1", in_double ? SA_FLOAT64 : SA_FLOAT32, 0, NULL, &delta));
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

/* Counts the gradients of `batch`. Folds happen when there is no more room. */
static void count_and_follow(stand_in *self, sa_confidence *engine, const source *s, const sa_gradients *batch,
                             uint64_t ticket) {
    assert_ok(engine->kind->count(engine, batch, ticket, s->rows));
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
static void count_chosen(stand_in *self, sa_confidence *engine, source *s, uint64_t ticket) {
    if (self->held + s->chosen.count <= room_of(s)) {
        count_and_follow(self, engine, s, &s->chosen, ticket);
        return;
    }
    sa_gradients one;
    assert_ok(sa_gradients_init_like(&one, s->chosen.precision, &s->chosen));
    assert_ok(sa_gradients_reserve(&one, 1));
    for (size_t k = 0; k < s->chosen.count; k++) {
        one.count = 0;
        sa_gradients_append(&one, &s->chosen, &k, 1);
        count_and_follow(self, engine, s, &one, 0);
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

/* Widths are those of the stand-ins, to `tolerance`, and as far from the exact ones as the certificate allows. */
static double check_round(sa_confidence *engine, source *s, const stand_in *self, double tolerance) {
    double certificate = sa_confidence_certificate(engine), worst = 1;
    dense stood = dense_of_vectors(self, self->stood), exact = dense_of_vectors(self, self->counted);
    widths_of(engine, s, s->width);
    assert_true(certificate >= 1);
    assert_true(width_error(&stood, &s->batch, s->width) < tolerance);
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
            source s = sketch_source(shapes[cases[c].shape], (sa_precision)precision, cases[c].lambda, cases[c].size);
            sa_confidence *engine = engine_of(&s);
            stand_in self = stand_in_of(&s);
            double worst = 1, tolerance = precision == SA_PRECISION_SINGLE ? 2e-3 : 1e-6;
            for (int round = 0; round < cases[c].rounds; round++) {
                contexts(&s, ARMS, SLATE, cases[c].context);
                if (round % 3 == 0) worst = fmax(worst, check_round(engine, &s, &self, tolerance));
                uint64_t ticket = widths_of(engine, &s, s.width);
                count_chosen(&self, engine, &s, ticket);
                if (round % 4 == 3) change_weights(&s);
            }
            assert_int_equal(state_of(engine).counted, self.count);
            print_message("size %d of %zu counted, p %zu, lambda %g: widths within %.3f, certificate %.3f\n",
                          cases[c].size, self.count, s.p, cases[c].lambda, worst, sa_confidence_certificate(engine));
            stand_in_clear(&self);
            sa_confidence_destroy(engine);
            source_clear(&s);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_what_was_counted),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

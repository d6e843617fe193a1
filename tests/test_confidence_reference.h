/* Z written out, in double precision, with a Cholesky factor of its own: what exact widths are checked
 * against. And the gradients to check with: of a small network whose weights change from round to round. */
#ifndef TEST_CONFIDENCE_REFERENCE_H
#define TEST_CONFIDENCE_REFERENCE_H

#include "confidence/confidence.h"
#include "confidence/factor.h"
#include "test_model_reference.h"
#include "test_parts.h"

/* ---- the dense Z ---- */

typedef struct dense {
    size_t p;
    double lambda, *z, *factor; /* (p, p) each */
    bool factored;
} dense;

static inline dense dense_of(size_t p, double lambda) {
    dense d = {.p = p, .lambda = lambda, .z = doubles(p * p), .factor = doubles(p * p)};
    for (size_t i = 0; i < p; i++) d.z[i * p + i] = lambda;
    return d;
}

static inline void dense_clear(dense *d) {
    sa_free(d->z);
    sa_free(d->factor);
}

static inline double element(const void *values, sa_precision precision, size_t i) {
    return precision == SA_PRECISION_SINGLE ? (double)((const float *)values)[i]
                                            : ((const double *)values)[i];
}

/* out (p): pair by pair, delta by delta */
static inline void written_out(const sa_gradients *batch, size_t row, double *out) {
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair_shape shape = batch->pair[l].shape;
        for (size_t i = 0; i < shape.delta; i++)
            for (size_t j = 0; j < shape.input; j++)
                *out++ = element(batch->pair[l].delta, batch->precision, row * shape.delta + i) *
                         element(batch->pair[l].input, batch->precision, row * shape.input + j);
    }
}

static inline void dense_count(dense *d, const sa_gradients *batch) {
    double *g = doubles(d->p);
    for (size_t k = 0; k < batch->count; k++) {
        written_out(batch, k, g);
        for (size_t i = 0; i < d->p; i++)
            for (size_t j = 0; j <= i; j++) d->z[i * d->p + j] += g[i] * g[j];
    }
    d->factored = false;
    sa_free(g);
}

static inline void dense_factor(dense *d) {
    size_t p = d->p;
    double *a = d->factor;
    if (d->factored) return;
    memcpy(a, d->z, p * p * sizeof *a);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * p + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * p + k] * a[j * p + k];
            a[i * p + j] = i == j ? sqrt(sum) : sum / a[j * p + j];
        }
    d->factored = true;
}

static inline double dense_width(dense *d, const sa_gradients *batch, size_t row) {
    double *y = doubles(d->p), square = 0;
    dense_factor(d);
    written_out(batch, row, y);
    for (size_t i = 0; i < d->p; i++) {
        for (size_t j = 0; j < i; j++) y[i] -= d->factor[i * d->p + j] * y[j];
        y[i] /= d->factor[i * d->p + i];
        square += y[i] * y[i];
    }
    sa_free(y);
    return sqrt(square);
}

static inline double dense_log_det(dense *d) { /* log det Z / det(lambda I) */
    double sum = 0;
    dense_factor(d);
    for (size_t i = 0; i < d->p; i++) sum += 2 * log(d->factor[i * d->p + i]) - log(d->lambda);
    return sum;
}

/* The largest relative error of widths of a batch. Where no unit is on, the gradient and the width are 0. */
static inline double width_error(dense *d, const sa_gradients *batch, const double *width) {
    double largest = 0;
    for (size_t i = 0; i < batch->count; i++) {
        double expected = dense_width(d, batch, i),
               error = width[i] == expected ? 0 : fabs(width[i] - expected) / expected;
        largest = isfinite(error) ? fmax(largest, error) : INFINITY;
    }
    return largest;
}

/* ---- gradients ---- */

typedef struct source {
    sa_options *options;
    sa_exact_form form;
    sa_model *model;
    size_t dim, p;
    uint64_t round;
    sa_gradients batch, chosen;
    double *width;
    size_t rows[1024];
    size_t label[1024]; /* 0, 1, ...: an arm's label is its row in `batch` */
    sa_width_work work;
    const sa_confidence *asked; /* the engine that `work` has kept columns of */
} source;

/* Options that the engine takes too: lambda, form, precision. */
static inline source source_of(net_options wanted, sa_precision precision, double lambda,
                               sa_exact_form form) {
    source s = {.options = options_of(wanted, precision), .form = form, .dim = wanted.dim};
    s.options->regularization = lambda;
    s.options->train_steps = 3;
    s.options->rate = 0.01;
    s.model = model_of(s.options);
    s.width = doubles(1024);
    for (size_t i = 0; i < 1024; i++) s.label[i] = i;
    assert_ok(sa_gradients_init(&s.batch, precision, s.model->pairs, s.model->shape));
    assert_ok(sa_gradients_init_like(&s.chosen, precision, &s.batch));
    s.p = sa_gradients_parameters(&s.batch);
    return s;
}

static inline void source_clear(source *s) {
    sa_gradients_clear(&s->batch);
    sa_gradients_clear(&s->chosen);
    sa_width_work_clear(&s->work);
    sa_model_destroy(s->model);
    sa_options_destroy(s->options);
    sa_free(s->width);
}

static inline sa_confidence *engine_of(const source *s) {
    sa_confidence *engine = NULL;
    sa_confidence_settings settings = sa_options_confidence(s->options);
    settings.exact_form = s->form;
    settings.linear = s->model->linear;
    assert_ok(sa_confidence_create(&settings, s->model->pairs, s->model->shape, &engine));
    return engine;
}

/* The batch's gradients rows[0 .. count) as s->chosen. */
static inline void choose(source *s, size_t count) {
    s->chosen.count = 0;
    assert_ok(sa_gradients_reserve(&s->chosen, count));
    sa_gradients_append(&s->chosen, &s->batch, s->rows, count);
}

/* x (arms, dim), uniform on +-`size`; the gradients there go to s->batch, and `slate` of them to
 * s->chosen. */
static inline void contexts(source *s, size_t arms, size_t slate, double size) {
    double *x = random_doubles(arms * s->dim), *mean = doubles(arms);
    float *narrow = NULL;
    assert_ok(sa_alloc_array(arms * s->dim, sizeof *narrow, &narrow));
    for (size_t i = 0; i < arms * s->dim; i++) {
        x[i] *= size;
        narrow[i] = (float)x[i];
    }
    bool wide = s->model->precision == SA_PRECISION_DOUBLE;
    assert_ok(evaluate(s->model, wide ? (void *)x : narrow, arms, mean, &s->batch));
    for (size_t i = 0; i < slate; i++)
        s->rows[i] = (i * 7 + s->round) % arms; /* arms is no multiple of 7: all different */
    choose(s, slate);
    s->asked = NULL; /* what was kept is of other rows */
    s->round++;
    sa_free(x);
    sa_free(mean);
    sa_free(narrow);
}

/* Weights move, so that gradients counted so far are of many thetas. */
static inline void change_weights(source *s) {
    enum { SAMPLES = 10 };
    double *x = random_doubles(SAMPLES * s->dim), v[SAMPLES];
    float *narrow = NULL, narrow_v[SAMPLES];
    assert_ok(sa_alloc_array(SAMPLES * s->dim, sizeof *narrow, &narrow));
    for (size_t i = 0; i < SAMPLES * s->dim; i++) narrow[i] = (float)x[i];
    for (size_t i = 0; i < SAMPLES; i++) v[i] = narrow_v[i] = (float)(3 * uniform());
    bool wide = s->model->precision == SA_PRECISION_DOUBLE, diverged = true;
    sa_training training = {
        .count = SAMPLES,
        .total = SAMPLES,
        .factor = 1,
        .all = {.inputs = wide ? (void *)x : narrow, .targets = wide ? (void *)v : narrow_v},
        .stream = sa_stream_at(1, SA_PURPOSE_TRAINING, 0, s->round)};
    assert_ok(train_on(s->model, &training, &diverged));
    assert_false(diverged);
    sa_free(x);
    sa_free(narrow);
}

/* ---- engines ---- */

static inline sa_confidence_state state_of(const sa_confidence *engine) {
    sa_confidence_state state;
    engine->kind->state(engine, &state);
    return state;
}

/* The widths of rows of s->batch (rows NULL: the first), whose columns `work` keeps. As agents do it: an
 * engine for which single precision may not suffice goes over to double, and is asked again. */
static inline void ask_widths(sa_confidence *engine, const source *s, const size_t *rows, size_t count,
                              sa_width_work *work, double *width) {
    for (int again = 0;; again++) {
        work->imprecise = false;
        sa_solved_begin(&work->solved, engine, s->batch.count);
        assert_ok(engine->kind->widths(engine, &s->batch, rows, count, s->label, work, width));
        if (!work->imprecise) return;
        assert_true(again == 0 && !state_of(engine).in_double);
        assert_ok(sa_confidence_widen(engine));
        assert_true(state_of(engine).in_double);
    }
}

/* The widths of s->batch, whose columns s->work keeps. */
static inline void widths_of(sa_confidence *engine, source *s, double *width) {
    ask_widths(engine, s, NULL, s->batch.count, &s->work, width);
    s->asked = engine;
}

/* Counts s->chosen, with what the latest widths have found where they were this engine's. */
static inline void count_asked(sa_confidence *engine, source *s) {
    engine->asked = (double)s->batch.count;
    assert_ok(sa_confidence_count(engine, &s->chosen, s->asked == engine ? s->rows : NULL, &s->work));
}

/* Counts gradients of which nothing was kept. */
static inline void count_new(sa_confidence *engine, const sa_gradients *batch) {
    sa_width_work work = {0};
    assert_ok(sa_confidence_count(engine, batch, NULL, &work));
    sa_width_work_clear(&work);
}

/* Widths of the first gradients of any batch; nothing is kept. */
static inline void plain_widths(const sa_confidence *engine, const sa_gradients *batch, const size_t *rows,
                                size_t count, double *width) {
    sa_width_work work = {0};
    assert_ok(engine->kind->widths(engine, batch, rows, count, NULL, &work, width));
    assert_false(work.imprecise);
    sa_width_work_clear(&work);
}

static inline void tighten(const sa_confidence *engine, source *s, const size_t *rows, size_t count,
                           double *bound) {
    assert_ok(engine->kind->tighten(engine, &s->batch, rows, count, &s->work, bound));
}

static inline void save_engine(const sa_confidence *engine, const char *path) {
    sa_npz_writer *writer;
    assert_ok(sa_npz_begin(&writer));
    assert_ok(engine->kind->save(engine, writer));
    assert_ok(sa_npz_finish(writer, path));
}

static inline void load_engine(sa_confidence *engine, const char *path) {
    sa_npz *archive;
    assert_ok(sa_npz_open(path, &archive));
    assert_ok(engine->kind->load(engine, archive));
    sa_npz_close(archive);
}

#endif

/* Training is gradient descent, or Adam, on the paper's Eq. (4): against the same written in plain loops and
 * double precision. A training that ends non-finite is undone. */
#define SA_REAL_BITS 64
#include "model/mlp.h"
#include "test_model_reference.h"
#include "test_parts.h"

enum { DIM = 4, HIDDEN = 6 };

typedef struct training_case {
    const char *name;
    size_t depth, samples, steps, batch;
    bool adam, regularize, theory, cosine, more; /* more: bias and bypass */
    bool symmetric, output_bias;
    bool weighted; /* psi f is to be the target */
    bool alike;    /* the agent says that all scores are */
    double rate, lambda;
    double weight_decay;
} training_case;

/* psi of sample k: 0 for some */
static double weight_of(const training_case *c, size_t k) { return c->weighted ? (double)(k % 5) / 4 : 1; }

/* ---- the reference ---- */

static void mark_biases(const net *n, bool *is_bias) {
    for (size_t l = 0; l < n->depth; l++)
        for (size_t row = 0; net_has_bias(n, l) && row < net_rows(n, l); row++)
            is_bias[net_at(n, l, row, net_columns(n, l))] = true;
}

static void plain_training(const net *n, const training_case *c, const sa_stream *stream, const double *x,
                           const double *v, const double *theta_0, double *theta) {
    size_t p = net_parameters(n), drawn = c->batch && c->batch < c->samples ? c->batch : c->samples;
    double m = (double)n->hidden, *gradient = doubles(p), *first = doubles(p), *second = doubles(p);
    bool *is_bias;
    assert_ok(sa_alloc_array(p, sizeof *is_bias, &is_bias));
    mark_biases(n, is_bias);
    for (size_t step = 0; step < c->steps; step++) {
        memset(gradient, 0, p * sizeof *gradient);
        for (size_t i = 0; i < drawn; i++) {
            size_t k = drawn < c->samples ? sa_draw_below(stream, step * drawn + i, c->samples) : i;
            net_pass pass = net_forward(n, theta, x + k * n->dim);
            double psi = weight_of(c, k);
            net_add_gradient(n, theta, &pass,
                             psi * (psi * pass.f - v[k]) * (double)c->samples / (double)drawn, gradient);
        }
        double rate =
            c->theory ? c->rate / ((double)c->samples * m * (double)n->depth + m * c->lambda) : c->rate;
        if (c->cosine) rate *= (1 + cos(3.14159265358979323846 * (double)step / (double)c->steps)) / 2;
        for (size_t i = 0; i < p; i++) {
            double g = gradient[i] + (c->regularize ? m * c->lambda * (theta[i] - theta_0[i]) : 0);
            if (!c->alike && !is_bias[i])
                theta[i] -=
                    rate * c->weight_decay * theta[i]; /* not through the step: Adam does not see it */
            if (c->adam) {
                first[i] = 0.9 * first[i] + 0.1 * g;
                second[i] = 0.999 * second[i] + 0.001 * g * g;
                double k = (double)step + 1, mean = first[i] / (1 - pow(0.9, k)),
                       square = second[i] / (1 - pow(0.999, k));
                theta[i] -= rate * mean / (sqrt(square) + 1e-8);
            } else {
                theta[i] -= rate * g;
            }
        }
    }
    sa_free(is_bias);
    sa_free(gradient);
    sa_free(first);
    sa_free(second);
}

/* ---- one comparison ---- */

typedef struct rig {
    net n;
    sa_model *model;
    double *x, *v, *psi, *theta_0, *theta;
    float *narrow_x, *narrow_v, *narrow_psi;
    bool weighted, alike;
} rig;

static rig rig_of(const training_case *c, sa_precision precision) {
    net_options wanted = {DIM, HIDDEN, c->depth, c->theory, c->more, c->more, c->symmetric};
    sa_options *options = options_of(wanted, precision);
    options->train_steps = (int64_t)c->steps;
    options->train_batch = (int64_t)c->batch;
    options->optimizer = c->adam ? SA_OPTIMIZER_ADAM : SA_OPTIMIZER_GD;
    options->regularize = c->regularize;
    options->rate_decay = c->cosine ? SA_DECAY_COSINE : SA_DECAY_NONE;
    options->rate = c->theory ? SA_BY_THEORY : c->rate;
    options->regularization = c->lambda;
    if (c->output_bias) options->bias = SA_BIAS_OUTPUT;
    options->weight_decay = c->weight_decay;
    rig r = {.n = net_of(wanted), .model = model_of(options), .weighted = c->weighted, .alike = c->alike};
    r.n.output_bias = c->output_bias;
    r.x = random_doubles(c->samples * DIM);
    r.v = random_doubles(c->samples);
    r.theta_0 = doubles(net_parameters(&r.n));
    r.theta = doubles(net_parameters(&r.n));
    assert_ok(sa_alloc_array(c->samples * DIM, sizeof(float), &r.narrow_x));
    assert_ok(sa_alloc_array(c->samples, sizeof(float), &r.narrow_v));
    for (size_t i = 0; i < c->samples * DIM; i++) r.x[i] = r.narrow_x[i] = (float)r.x[i];
    for (size_t i = 0; i < c->samples; i++) r.v[i] = r.narrow_v[i] = (float)r.v[i];
    r.psi = doubles(c->samples);
    assert_ok(sa_alloc_array(c->samples, sizeof(float), &r.narrow_psi));
    for (size_t i = 0; i < c->samples; i++) r.psi[i] = r.narrow_psi[i] = (float)weight_of(c, i);
    read_weights(&r.n, r.model, "initial_", r.theta_0);
    memcpy(r.theta, r.theta_0, net_parameters(&r.n) * sizeof *r.theta);
    sa_options_destroy(options);
    return r;
}

static void rig_clear(rig *r) {
    sa_model_destroy(r->model);
    sa_free(r->x);
    sa_free(r->v);
    sa_free(r->theta_0);
    sa_free(r->theta);
    sa_free(r->narrow_x);
    sa_free(r->narrow_v);
    sa_free(r->psi);
    sa_free(r->narrow_psi);
}

static bool train(const rig *r, size_t samples, sa_stream stream) {
    bool wide = r->model->precision == SA_PRECISION_DOUBLE, diverged = true;
    sa_training training = {.count = samples,
                            .total = (double)samples,
                            .factor = 1,
                            .all = {.inputs = wide ? (void *)r->x : r->narrow_x,
                                    .targets = wide ? (void *)r->v : r->narrow_v,
                                    .weights = !r->weighted ? NULL
                                               : wide       ? (void *)r->psi
                                                            : r->narrow_psi},
                            .alike = r->alike,
                            .stream = stream};
    assert_ok(train_on(r->model, &training, &diverged));
    return diverged;
}

/* Two trainings one after the other, the second from where the first ended; how far theta is from the
 * reference, in units of how far it moved. */
static double compare(const training_case *c, sa_precision precision) {
    test_seed = 5;
    rig r = rig_of(c, precision);
    size_t p = net_parameters(&r.n);
    double *trained = doubles(p), moved = 0, error = 0;
    for (uint64_t round = 0; round < 2; round++) {
        sa_stream stream = sa_stream_at(3, SA_PURPOSE_TRAINING, 0, round);
        plain_training(&r.n, c, &stream, r.x, r.v, r.theta_0, r.theta);
        assert_false(train(&r, c->samples, stream));
    }
    read_weights(&r.n, r.model, "", trained);
    for (size_t i = 0; i < p; i++) {
        moved = fmax(moved, fabs(r.theta[i] - r.theta_0[i]));
        error = fmax(error, fabs(trained[i] - r.theta[i]));
    }
    assert_true(moved > 1e-4); /* there is something to see */
    sa_free(trained);
    rig_clear(&r);
    return error / moved;
}

static const training_case cases[] = {
    {"one step", .depth = 2, .samples = 20, .steps = 1, .rate = 0.01, .lambda = 1},
    {"constant rate", .depth = 2, .samples = 20, .steps = 12, .rate = 0.01, .lambda = 1},
    {"L = 3", .depth = 3, .samples = 20, .steps = 12, .rate = 0.01, .lambda = 1},
    {"L = 4, bias, bypass", .depth = 4, .samples = 20, .steps = 12, .more = true, .rate = 0.005, .lambda = 1},
    {"regularised", .depth = 2, .samples = 20, .steps = 12, .regularize = true, .rate = 0.005, .lambda = 7},
    {"paper", .depth = 2, .samples = 20, .steps = 12, .regularize = true, .theory = true, .symmetric = true,
     .rate = 1, .lambda = 1},
    {"paper, L = 3", .depth = 3, .samples = 20, .steps = 12, .regularize = true, .theory = true,
     .symmetric = true, .rate = 1, .lambda = 0.1},
    {"theory rate alone", .depth = 2, .samples = 30, .steps = 5, .theory = true, .rate = 1, .lambda = 70},
    {"cosine", .depth = 2, .samples = 20, .steps = 12, .cosine = true, .rate = 0.01, .lambda = 1},
    {"batches", .depth = 2, .samples = 50, .steps = 12, .batch = 8, .rate = 0.002, .lambda = 1},
    {"batches, regularised", .depth = 3, .samples = 50, .steps = 12, .batch = 8, .regularize = true,
     .more = true, .rate = 0.002, .lambda = 1},
    {"batch as large as the data", .depth = 2, .samples = 16, .steps = 6, .batch = 16, .rate = 0.01,
     .lambda = 1},
    {"batch larger than the data", .depth = 2, .samples = 16, .steps = 6, .batch = 17, .rate = 0.01,
     .lambda = 1},
    {"Adam", .depth = 2, .samples = 20, .steps = 12, .adam = true, .rate = 0.01, .lambda = 1},
    {"tuned", .depth = 2, .samples = 200, .steps = 20, .batch = 128, .adam = true, .cosine = true,
     .more = true, .rate = 0.01, .lambda = 1},
    {"Adam, regularised, L = 3", .depth = 3, .samples = 20, .steps = 12, .adam = true, .regularize = true,
     .rate = 0.01, .lambda = 0.5},
    {"more samples than a chunk", .depth = 2, .samples = 1300, .steps = 5, .more = true, .rate = 0.0002,
     .lambda = 1},
    {"a chunk exactly", .depth = 2, .samples = 512, .steps = 5, .rate = 0.0005, .lambda = 1},
    {"one more than a chunk", .depth = 2, .samples = 513, .steps = 5, .rate = 0.0005, .lambda = 1},
    {"bias of the output", .depth = 2, .samples = 20, .steps = 12, .output_bias = true, .rate = 0.01,
     .lambda = 1},
    {"bias of the output, L = 3, symmetric", .depth = 3, .samples = 20, .steps = 12, .output_bias = true,
     .symmetric = true, .theory = true, .regularize = true, .rate = 1, .lambda = 1},
    {"weight decay", .depth = 2, .samples = 20, .steps = 12, .rate = 0.01, .lambda = 1, .weight_decay = 3},
    {"weight decay, cosine, batches", .depth = 3, .samples = 50, .steps = 12, .batch = 8, .cosine = true,
     .rate = 0.002, .lambda = 1, .weight_decay = 20, .output_bias = true},
    {"weight decay, theory's rate", .depth = 2, .samples = 20, .steps = 12, .theory = true,
     .regularize = true, .symmetric = true, .rate = 1, .lambda = 1, .weight_decay = 30},
    {"Adam, weight decay", .depth = 2, .samples = 20, .steps = 12, .adam = true, .rate = 0.01, .lambda = 1,
     .weight_decay = 3},
    {"weight decay, every bias", .depth = 3, .samples = 20, .steps = 12, .more = true, .rate = 0.01,
     .lambda = 1, .weight_decay = 3},
    {"no weight decay where scores are alike", .depth = 2, .samples = 20, .steps = 12, .adam = true,
     .rate = 0.01, .lambda = 1, .weight_decay = 3, .alike = true},
    {"weighted", .depth = 2, .samples = 20, .steps = 12, .weighted = true, .rate = 0.01, .lambda = 1},
    {"weighted, paper", .depth = 3, .samples = 20, .steps = 12, .weighted = true, .regularize = true,
     .theory = true, .symmetric = true, .rate = 1, .lambda = 0.1},
    {"weighted, batches, Adam", .depth = 2, .samples = 200, .steps = 20, .batch = 16, .weighted = true,
     .adam = true, .cosine = true, .more = true, .rate = 0.01, .lambda = 1},
    {"weighted, more than a chunk", .depth = 2, .samples = 1300, .steps = 5, .weighted = true, .rate = 0.0002,
     .lambda = 1},
    {"a batch larger than a chunk", .depth = 2, .samples = 1300, .steps = 5, .batch = 600, .rate = 0.0002,
     .lambda = 1},
};

static void training_equals_plain_loops(void **state) {
    (void)state;
    double largest[2] = {0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int precision = 0; precision < 2; precision++) {
            double error = compare(&cases[i], (sa_precision)precision);
            if (!(error < (precision ? 1e-10 : 1e-3)))
                fail_msg("%s, precision %d: %g", cases[i].name, precision, error);
            largest[precision] = fmax(largest[precision], error);
        }
    print_message("largest error of trained weights, in units of their way: single %.1e, double %.1e\n",
                  largest[0], largest[1]);
}

/* Ten samples that stand for twenty are as good as the same twenty, each of them twice, in the loss and in
 * the rate. */
static void samples_may_stand_for_more(void **state) {
    (void)state;
    training_case c = {.name = "twice", .samples = 20, .steps = 7, .depth = 2, .rate = 1, .lambda = 0.1};
    c.theory = c.regularize = true;
    rig twice = rig_of(&c, SA_PRECISION_DOUBLE), once = rig_of(&c, SA_PRECISION_DOUBLE);
    size_t p = net_parameters(&once.n);
    double *one = doubles(p), *other = doubles(p), moved = 0, apart = 0;
    memcpy(twice.x + 10 * DIM, twice.x, 10 * DIM * sizeof *twice.x);
    memcpy(twice.v + 10, twice.v, 10 * sizeof *twice.v);
    sa_training training = {.count = 10,
                            .total = 20,
                            .factor = 2,
                            .all = {.inputs = twice.x, .targets = twice.v},
                            .stream = sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 0)};
    bool diverged = true;
    assert_ok(train_on(once.model, &training, &diverged));
    assert_false(diverged || train(&twice, 20, training.stream));
    read_weights(&once.n, once.model, "", one);
    read_weights(&twice.n, twice.model, "", other);
    for (size_t i = 0; i < p; i++) {
        moved = fmax(moved, fabs(one[i] - once.theta_0[i]));
        apart = fmax(apart, fabs(one[i] - other[i]));
    }
    assert_true(moved > 1e-3 && apart < 1e-10 * moved);
    sa_free(one);
    sa_free(other);
    rig_clear(&once);
    rig_clear(&twice);
}

/* ---- what goes wrong ---- */

/* Trains once. Then either the training was undone, or the weights are new; either way the network scores. */
static bool train_and_score(const training_case *c, sa_precision precision) {
    rig r = rig_of(c, precision);
    size_t p = net_parameters(&r.n);
    double *after = doubles(p), mean[8];
    bool diverged = train(&r, c->samples, sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 0));
    read_weights(&r.n, r.model, "", after);
    assert_int_equal(memcmp(after, r.theta_0, p * sizeof *after) == 0, diverged);
    assert_ok(evaluate(r.model, precision ? (void *)r.x : r.narrow_x, 8, mean, NULL));
    for (size_t i = 0; i < 8; i++)
        if (!isfinite(mean[i]))
            fail_msg("rate %g, %zu steps: score %zu is %g", c->rate, c->steps, i, mean[i]);
    sa_free(after);
    rig_clear(&r);
    return diverged;
}

static void diverged_training_is_undone(void **state) {
    (void)state;
    training_case c = {"",          .depth = 2, .samples = 20, .steps = 100, .regularize = true,
                       .rate = 1e5, .lambda = 1};
    for (; c.depth <= 3; c.depth++)
        for (int precision = 0; precision < 2; precision++)
            assert_true(train_and_score(&c, (sa_precision)precision));
}

/* A training may end after the weights have grown out of bounds and before they overflow: scores, products of
 * weights, overflow first. Such weights would not score, nor train back, so the training is undone like any
 * that diverged. */
static void weights_that_cannot_score_are_undone(void **state) {
    (void)state;
    size_t undone = 0;
    training_case c = {"", .depth = 2, .samples = 20, .regularize = true, .rate = 1, .lambda = 1};
    for (; c.depth <= 3; c.depth++)
        for (c.rate = 1; c.rate <= 1e5; c.rate *= 10)
            for (c.steps = 1; c.steps <= 24; c.steps += c.steps < 8 ? 1 : 4)
                undone += train_and_score(&c, SA_PRECISION_SINGLE);
    assert_true(undone > 30);
}

/* After an undone training, one with a sane rate goes as if nothing had been; Adam's moments too. */
static void training_after_an_undone_one_starts_clean(void **state) {
    (void)state;
    for (int adam = 0; adam < 2; adam++) {
        training_case c = {"",           .depth = 2,  .samples = 20, .steps = 20,
                           .rate = 0.01, .lambda = 1, .adam = adam};
        rig r = rig_of(&c, SA_PRECISION_DOUBLE);
        mlp_f64 *mlp = (mlp_f64 *)r.model;
        sa_stream stream = sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 1);
        double *trained = doubles(mlp->parameters);
        mlp->rate = 1e300;
        assert_true(train(&r, c.samples, stream));
        mlp->rate = c.rate;
        assert_false(train(&r, c.samples, stream));
        plain_training(&r.n, &c, &stream, r.x, r.v, r.theta_0, r.theta);
        read_weights(&r.n, r.model, "", trained);
        assert_true(relative_error(mlp->parameters, trained, r.theta) < 1e-10);
        sa_free(trained);
        rig_clear(&r);
    }
}

static void training_on_nothing_changes_nothing(void **state) {
    (void)state;
    training_case c = {"",          .depth = 2,  .samples = 1,      .steps = 5,
                       .rate = 0.1, .lambda = 1, .regularize = true};
    rig r = rig_of(&c, SA_PRECISION_DOUBLE);
    double *after = doubles(net_parameters(&r.n));
    assert_false(train(&r, 0, sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 0)));
    read_weights(&r.n, r.model, "", after);
    assert_memory_equal(after, r.theta_0, net_parameters(&r.n) * sizeof *after);
    sa_free(after);
    rig_clear(&r);
}

/* A model saved and loaded scores and trains on bit for bit. */
static void saved_model_goes_on(void **state) {
    (void)state;
    const training_case *c = &cases[14]; /* "tuned" */
    for (int precision = 0; precision < 2; precision++) {
        test_seed = 9;
        rig a = rig_of(c, (sa_precision)precision);
        test_seed = 9;
        rig b = rig_of(c, (sa_precision)precision);
        double *from_a = doubles(net_parameters(&a.n)), *from_b = doubles(net_parameters(&a.n));
        sa_npz_writer *writer;
        sa_npz *archive;
        assert_false(train(&a, c->samples, sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 0)));
        assert_ok(sa_npz_begin(&writer));
        assert_ok(a.model->kind->save(a.model, writer));
        assert_ok(sa_npz_finish(writer, scratch("model.npz")));
        assert_ok(sa_npz_open(scratch("model.npz"), &archive));
        assert_ok(b.model->kind->load(b.model, archive));
        sa_npz_close(archive);
        assert_false(train(&a, c->samples, sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 1)));
        assert_false(train(&b, c->samples, sa_stream_at(3, SA_PURPOSE_TRAINING, 0, 1)));
        read_weights(&a.n, a.model, "", from_a);
        read_weights(&a.n, b.model, "", from_b);
        assert_memory_equal(from_a, from_b, net_parameters(&a.n) * sizeof *from_a);
        sa_free(from_a);
        sa_free(from_b);
        rig_clear(&a);
        rig_clear(&b);
    }
}

/* x = (1, 2); W_1 = (1, 1; 1, -1): h = (3, 0); W_2 = (2, 5) and the bias 1/4: f = 25/4. Only the last layer
 * has a column more. */
static void bias_of_the_output_by_hand(void **state) {
    (void)state;
    const double x[] = {1, 2}, theta[] = {1, 1, 1, -1, 2, 5, 0.25};
    for (int root_m = 0; root_m < 2; root_m++) {
        sa_options *options = options_of((net_options){.dim = 2, .hidden = 2, .depth = 2, .root_m = root_m},
                                         SA_PRECISION_DOUBLE);
        options->bias = SA_BIAS_OUTPUT;
        sa_model *model = model_of(options);
        mlp_f64 *mlp = (mlp_f64 *)model;
        double mean = NAN;
        assert_int_equal(mlp->parameters, 7);
        memcpy(mlp->theta, theta, sizeof theta);
        assert_ok(evaluate(model, x, 1, &mean, NULL));
        assert_near(mean, 6.25 * (root_m ? sqrt(2) : 1), 1e-14);
        sa_model_destroy(model);
        sa_options_destroy(options);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_equals_plain_loops),
        cmocka_unit_test(samples_may_stand_for_more),
        cmocka_unit_test(diverged_training_is_undone),
        cmocka_unit_test(weights_that_cannot_score_are_undone),
        cmocka_unit_test(training_after_an_undone_one_starts_clean),
        cmocka_unit_test(training_on_nothing_changes_nothing),
        cmocka_unit_test(saved_model_goes_on),
        cmocka_unit_test(bias_of_the_output_by_hand),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

/* The network in plain loops and double precision, written from the paper's Eq. (2); it shares nothing with
 * src/model. Also what the tests of the model have in common: options of a small network, inputs, and where
 * weights stand in theta. */
#ifndef TEST_MODEL_REFERENCE_H
#define TEST_MODEL_REFERENCE_H

#include <math.h>

#include "model/model.h"
#include "options/options.h"
#include "test_file_scratch.h"
#include "test_parts.h"

enum { NET_WIDEST = 64, NET_DEEPEST = 8 };

typedef struct net {
    size_t dim, inputs, hidden, depth;
    bool bias, bypass, doubled, output_bias; /* output_bias: of the output unit alone */
    double scale;
} net;

/* ---- options ---- */

typedef struct net_options {
    size_t dim, hidden, depth;
    bool root_m, bias, bypass, symmetric;
} net_options;

/* Of the network that options were made for last: only neural-linear has it, and so no option does. */
static bool net_bypass;

static inline sa_options *options_of(net_options wanted, sa_precision precision) {
    sa_options *options = sa_options_new("icml23");
    assert_non_null(options);
    options->dim = (int64_t)wanted.dim;
    options->hidden = (int64_t)wanted.hidden;
    options->depth = (int64_t)wanted.depth;
    options->output_scale = wanted.root_m ? SA_OUTPUT_ROOT_M : SA_OUTPUT_ONE;
    options->init = wanted.symmetric ? SA_INIT_SYMMETRIC : SA_INIT_UNIFORM;
    options->bias = wanted.bias;
    net_bypass = wanted.bypass;
    options->precision = (int)precision;
    return options;
}

static inline net net_of(net_options wanted) {
    return (net){
        .dim = wanted.dim,
        .inputs = wanted.symmetric ? 2 * wanted.dim : wanted.dim,
        .hidden = wanted.hidden,
        .depth = wanted.depth,
        .bias = wanted.bias,
        .bypass = wanted.bypass,
        .doubled = wanted.symmetric,
        .scale = wanted.root_m ? sqrt((double)wanted.hidden) : 1,
    };
}

static inline sa_model *model_of(const sa_options *options) {
    sa_model *model = NULL;
    sa_model_settings settings = sa_options_model(options);
    settings.bypass = net_bypass;
    assert_ok(sa_model_create("mlp", &settings, &model));
    return model;
}

/* What the model's calls take, with a workspace of their own. */
static inline sa_status evaluate_in(const sa_model *model, const void *inputs, size_t count, size_t positions,
                                    double *mean, sa_gradients *gradients) {
    sa_model_work work = {0};
    sa_status status = model->kind->evaluate(model, inputs, count, positions, &work, mean, gradients);
    sa_model_work_clear(&work);
    return status;
}

static inline sa_status evaluate(const sa_model *model, const void *inputs, size_t count, double *mean,
                                 sa_gradients *gradients) {
    return evaluate_in(model, inputs, count, 0, mean, gradients);
}

static inline sa_status train_on(sa_model *model, const sa_training *training, bool *diverged) {
    sa_model_work work = {0};
    sa_status status = model->kind->training->train(model, training, &work, diverged);
    sa_model_work_clear(&work);
    return status;
}

static inline void observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                           size_t count) {
    sa_model_work work = {0};
    assert_ok(model->kind->observing->observe(model, inputs, discounts, scores, count, &work));
    sa_model_work_clear(&work);
}

/* ---- theta: W_1 ... W_L, v; each W_l row by row, a bias at the end of its row ---- */

static inline size_t net_rows(const net *n, size_t l) { return l + 1 < n->depth ? n->hidden : 1; }
static inline size_t net_columns(const net *n, size_t l) { return l == 0 ? n->inputs : n->hidden; }
static inline bool net_has_bias(const net *n, size_t l) {
    return n->bias || (n->output_bias && l + 1 == n->depth);
}

static inline size_t net_at(const net *n, size_t l, size_t row, size_t column) {
    size_t at = 0;
    for (size_t k = 0; k < l; k++) at += net_rows(n, k) * (net_columns(n, k) + net_has_bias(n, k));
    return l == n->depth ? at + column : at + row * (net_columns(n, l) + net_has_bias(n, l)) + column;
}

static inline size_t net_parameters(const net *n) {
    return net_at(n, n->depth, 0, n->bypass ? n->inputs : 0);
}

/* ---- Eq. (2), and its derivative ---- */

typedef struct net_pass {
    double h[NET_DEEPEST][NET_WIDEST]; /* h[0]: the input; h[l]: what layer l hands on */
    double f, nearest_kink;            /* the smallest |z| of all hidden units */
} net_pass;

static inline net_pass net_forward(const net *n, const double *theta, const double *x) {
    net_pass pass = {.nearest_kink = INFINITY};
    for (size_t j = 0; j < n->inputs; j++) pass.h[0][j] = n->doubled ? x[j % n->dim] / sqrt(2) : x[j];
    for (size_t l = 0; l < n->depth; l++)
        for (size_t i = 0; i < net_rows(n, l); i++) {
            size_t columns = net_columns(n, l);
            double z = net_has_bias(n, l) ? theta[net_at(n, l, i, columns)] : 0;
            for (size_t j = 0; j < columns; j++) z += theta[net_at(n, l, i, j)] * pass.h[l][j];
            if (l + 1 == n->depth) {
                pass.f = n->scale * z;
            } else {
                pass.h[l + 1][i] = z > 0 ? z : 0;
                pass.nearest_kink = fmin(pass.nearest_kink, fabs(z));
            }
        }
    for (size_t j = 0; n->bypass && j < n->inputs; j++)
        pass.f += theta[net_at(n, n->depth, 0, j)] * pass.h[0][j];
    return pass;
}

/* gradient (parameters) += weight * df/dtheta */
static inline void net_add_gradient(const net *n, const double *theta, const net_pass *pass, double weight,
                                    double *gradient) {
    double delta[NET_WIDEST] = {n->scale * weight}, below[NET_WIDEST];
    for (size_t l = n->depth; l-- > 0;) {
        size_t columns = net_columns(n, l);
        for (size_t i = 0; i < net_rows(n, l); i++) {
            for (size_t j = 0; j < columns; j++) gradient[net_at(n, l, i, j)] += delta[i] * pass->h[l][j];
            if (net_has_bias(n, l)) gradient[net_at(n, l, i, columns)] += delta[i];
        }
        for (size_t j = 0; l > 0 && j < columns; j++) {
            below[j] = 0;
            for (size_t i = 0; i < net_rows(n, l); i++) below[j] += theta[net_at(n, l, i, j)] * delta[i];
            if (!(pass->h[l][j] > 0)) below[j] = 0;
        }
        if (l > 0) memcpy(delta, below, sizeof delta);
    }
    for (size_t j = 0; n->bypass && j < n->inputs; j++)
        gradient[net_at(n, n->depth, 0, j)] += weight * pass->h[0][j];
}

/* ---- numbers ---- */

static uint64_t test_seed = 1;

static inline double uniform(void) { /* in [-1, 1) */
    test_seed = test_seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(test_seed >> 11) / (double)(1ull << 52) - 1;
}

static inline double *doubles(size_t count) {
    double *out = NULL;
    assert_ok(sa_alloc_array(count, sizeof *out, &out));
    return out;
}

static inline double *random_doubles(size_t count) {
    double *out = doubles(count);
    for (size_t i = 0; i < count; i++) out[i] = uniform();
    return out;
}

static inline void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

/* The largest |a - b| over the largest |b|. */
static inline double relative_error(size_t count, const double *a, const double *b) {
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i])) return INFINITY;
        error = fmax(error, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return error == 0 ? 0 : error / size;
}

/* ---- weights through files, which works in either precision ---- */

/* An npz with W1 ... WL, and V, as --init-weights takes it. */
static inline void write_weights(const net *n, const double *theta, const char *path) {
    sa_npz_writer *writer;
    char name[32];
    assert_ok(sa_npz_begin(&writer));
    for (size_t l = 0; l < n->depth; l++) {
        snprintf(name, sizeof name, "W%zu", l + 1);
        assert_ok(sa_npz_add(writer, name, SA_FLOAT64, 2,
                             (size_t[]){net_rows(n, l), net_columns(n, l) + net_has_bias(n, l)},
                             theta + net_at(n, l, 0, 0)));
    }
    if (n->bypass)
        assert_ok(sa_npz_add(writer, "V", SA_FLOAT64, 2, (size_t[]){1, n->inputs},
                             theta + net_at(n, n->depth, 0, 0)));
    assert_ok(sa_npz_finish(writer, path));
}

/* The model's weights, or its first ones (prefix "initial_"), as it saves them. */
static inline void read_weights(const net *n, const sa_model *model, const char *prefix, double *theta) {
    const char *path = scratch("weights-read.npz");
    sa_npz_writer *writer;
    sa_npz *archive;
    char name[32];
    assert_ok(sa_npz_begin(&writer));
    assert_ok(model->kind->save(model, writer));
    assert_ok(sa_npz_finish(writer, path));
    assert_ok(sa_npz_open(path, &archive));
    for (size_t l = 0; l < n->depth + n->bypass; l++) {
        sa_array array = {0};
        snprintf(name, sizeof name, l == n->depth ? "%sV" : "%sW%zu", prefix, l + 1);
        assert_ok(sa_npz_get(archive, name, &array));
        for (size_t i = 0; i < sa_array_count(&array); i++)
            theta[net_at(n, l, 0, 0) + i] = sa_array_number(&array, i);
        sa_array_clear(&array);
    }
    sa_npz_close(archive);
}

#endif

/* The first weights.
 *
 * symmetric (Section 3.1): W_l = (W, 0; 0, W) with entries of W from N(0, 4/m), l < L, and W_L = (w', -w')
 * with entries of w from N(0, 2/m). With the input [x, x] / sqrt(2) the two halves of the network cancel:
 * f(x; theta_0) = 0. uniform: every weight, and bias, uniform on +-1/sqrt(fan-in). A bias starts at 0 with
 * `symmetric`, the bypass always does.
 *
 * Draw i of the weights' stream goes to parameter i of theta, so a weight does not depend on how many were
 * drawn before it; where a block repeats another, the first one's draw counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/mlp.h"

typedef REAL(mlp) mlp_t;

static void symmetric_hidden(real *w, sa_pair_shape shape, size_t inputs, double deviation,
                             const sa_stream *stream, size_t offset) {
    size_t rows = shape.delta / 2, columns = inputs / 2;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            real draw = (real)(deviation * sa_draw_normal(stream, offset + i * shape.input + j));
            w[i * shape.input + j] = draw;
            w[(rows + i) * shape.input + columns + j] = draw;
        }
}

static void symmetric_output(real *w, size_t inputs, double deviation, const sa_stream *stream,
                             size_t offset) {
    for (size_t j = 0; j < inputs / 2; j++) {
        real draw = (real)(deviation * sa_draw_normal(stream, offset + j));
        w[j] = draw;
        w[inputs / 2 + j] = -draw;
    }
}

static void draw_layer(mlp_t *mlp, size_t layer, sa_init init, const sa_stream *stream) {
    sa_pair_shape shape = REAL(mlp_shape)(mlp, layer);
    size_t offset = REAL(mlp_offset)(mlp, layer), inputs = shape.input - REAL(mlp_has_bias)(mlp, layer);
    real *w = mlp->theta + offset;
    double m = (double)mlp->hidden;
    if (init == SA_INIT_SYMMETRIC && layer < mlp->depth - 1) {
        symmetric_hidden(w, shape, inputs, sqrt(4 / m), stream, offset);
    } else if (init == SA_INIT_SYMMETRIC) {
        symmetric_output(w, inputs, sqrt(2 / m), stream, offset);
    } else {
        double bound = 1 / sqrt((double)inputs);
        for (size_t i = 0; i < shape.delta * shape.input; i++)
            w[i] = (real)(bound * (2 * sa_draw_uniform(stream, offset + i) - 1));
    }
}

/* W1 ... WL, and V where there is a bypass, from a file, in either precision. */
static sa_status read_layer(mlp_t *mlp, size_t layer, sa_npz *archive) {
    sa_pair_shape shape = REAL(mlp_shape)(mlp, layer);
    real *w = mlp->theta + REAL(mlp_offset)(mlp, layer);
    char name[32];
    if (layer == mlp->depth)
        snprintf(name, sizeof name, "V");
    else
        snprintf(name, sizeof name, "W%zu", layer + 1);
    sa_array array = {0};
    SA_TRY(sa_npz_get(archive, name, &array));
    sa_status status = SA_OK;
    if (array.axes != 2 || array.shape[0] != shape.delta || array.shape[1] != shape.input)
        status = sa_fail(SA_INVALID, "%s must have the shape (%zu, %zu)", name, shape.delta, shape.input);
    for (size_t i = 0; status == SA_OK && i < shape.delta * shape.input; i++) {
        w[i] = (real)sa_array_number(&array, i);
        if (!isfinite(w[i]))
            status = sa_fail(SA_INVALID, "%s has an element that is not finite, number %zu", name, i);
    }
    sa_array_clear(&array);
    return status;
}

static sa_status read_weights(mlp_t *mlp, const char *path) {
    sa_npz *archive;
    sa_status status = sa_npz_open(path, &archive);
    if (status != SA_OK) return sa_fail_prefix(status, "--init-weights ");
    for (size_t l = 0; status == SA_OK && l < mlp->base.pairs; l++) status = read_layer(mlp, l, archive);
    sa_npz_close(archive);
    return status == SA_OK ? SA_OK : sa_fail_prefix(status, "--init-weights %s: ", path);
}

/* theta holds W_1, W_2, ... as they were drawn or read, each (outputs, inputs). */
static void start_there(mlp_t *mlp) {
    for (size_t l = 0; l < mlp->base.pairs; l++) {
        sa_pair_shape shape = mlp->base.shape[l];
        size_t offset = REAL(mlp_offset)(mlp, l);
        REAL(mlp_transpose)(mlp->theta + offset, shape.delta, shape.input, mlp->theta_0 + offset);
    }
    memcpy(mlp->theta, mlp->theta_0, mlp->parameters * sizeof(real));
}

sa_status REAL(mlp_redraw)(sa_model *model, const sa_model_settings *settings, uint64_t draw) {
    mlp_t *mlp = (mlp_t *)model;
    sa_stream stream =
        sa_stream_at((uint64_t)settings->seed, SA_PURPOSE_WEIGHTS, (uint64_t)settings->first_run, draw);
    SA_TRY(sa_unshare(&mlp->theta));
    SA_TRY(sa_unshare(&mlp->theta_0));
    memset(mlp->theta, 0, mlp->parameters * sizeof(real)); /* what is not drawn */
    for (size_t l = 0; l < mlp->depth; l++) draw_layer(mlp, l, (sa_init)settings->init, &stream);
    start_there(mlp);
    return SA_OK;
}

sa_status REAL(mlp_init)(mlp_t *mlp, const sa_model_settings *settings) {
    if (!settings->init_weights[0]) return REAL(mlp_redraw)(&mlp->base, settings, 0);
    SA_TRY(read_weights(mlp, settings->init_weights));
    start_there(mlp);
    return SA_OK;
}

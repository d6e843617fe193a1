/* The network: creation, forward and backward pass. Equations in mlp.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"
#include "model/mlp.h"

typedef REAL(mlp) mlp_t;

sa_pair_shape REAL(mlp_shape)(const mlp_t *mlp, size_t layer) {
    if (layer == mlp->depth) return (sa_pair_shape){.delta = 1, .input = mlp->inputs};
    return (sa_pair_shape){.delta = layer == mlp->depth - 1 ? 1 : mlp->hidden,
                           .input = (layer == 0 ? mlp->inputs : mlp->hidden) + REAL(mlp_has_bias)(mlp, layer)};
}

size_t REAL(mlp_offset)(const mlp_t *mlp, size_t layer) {
    size_t offset = 0;
    for (size_t l = 0; l < layer; l++) {
        sa_pair_shape shape = REAL(mlp_shape)(mlp, l);
        offset += shape.delta * shape.input;
    }
    return offset;
}

/* ---- forward ---- */

static void load_input(const mlp_t *mlp, const real *x, real *to) {
    size_t dim = mlp->base.dim;
    if (mlp->doubled) {
        const real half = (real)sqrt(0.5);
        for (size_t j = 0; j < dim; j++) to[j] = to[dim + j] = half * x[j];
    } else {
        memcpy(to, x, dim * sizeof *x);
    }
    if (REAL(mlp_has_bias)(mlp, 0)) to[mlp->inputs] = 1;
}

/* h (count, width): z where it is positive, else 0; the bias column, if any, is 1 */
static void relu(real *h, size_t count, size_t width, bool bias) {
    size_t units = width - bias;
    for (size_t i = 0; i < count; i++) {
        real *row = h + i * width;
        for (size_t j = 0; j < units; j++) row[j] = row[j] > 0 ? row[j] : 0;
        if (bias) row[units] = 1;
    }
}

void REAL(mlp_forward)(const mlp_t *mlp, const real *inputs, const size_t *rows, size_t count, sa_gradients *batch,
                       real *output) {
    size_t width = batch->pair[0].shape.input, last = mlp->depth - 1;
    real *first = batch->pair[0].input;
    for (size_t i = 0; i < count; i++) load_input(mlp, inputs + (rows ? rows[i] : i) * mlp->base.dim, first + i * width);
    batch->count = count;
    for (size_t l = 0; l < last; l++) {
        const sa_pair *pair = &batch->pair[l];
        const real *weights = mlp->theta + REAL(mlp_offset)(mlp, l);
        real *next = batch->pair[l + 1].input;
        size_t next_width = batch->pair[l + 1].shape.input;
        REAL(gemm_nt)
        (count, pair->shape.delta, pair->shape.input, 1, pair->input, pair->shape.input, weights, pair->shape.input, 0,
         next, next_width);
        relu(next, count, next_width, REAL(mlp_has_bias)(mlp, l + 1));
    }
    const sa_pair *pair = &batch->pair[last];
    const real *weights = mlp->theta + REAL(mlp_offset)(mlp, last);
    REAL(gemm_nt)
    (count, 1, pair->shape.input, (real)mlp->scale, pair->input, pair->shape.input, weights, pair->shape.input, 0, output,
     1);
    if (mlp->bypass) {
        const real *v = mlp->theta + REAL(mlp_offset)(mlp, mlp->depth);
        REAL(gemm_nt)(count, 1, mlp->inputs, 1, first, width, v, mlp->inputs, 1, output, 1);
    }
}

/* ---- backward ---- */

/* delta (count, units) = 0 where the unit was off; h (count, width) has its output */
static void mask(real *delta, const real *h, size_t count, size_t units, size_t width) {
    for (size_t i = 0; i < count; i++) {
        real *d = delta + i * units;
        const real *on = h + i * width;
        for (size_t j = 0; j < units; j++) d[j] = on[j] > 0 ? d[j] : 0;
    }
}

void REAL(mlp_backward)(const mlp_t *mlp, sa_gradients *batch, const real *start, double start_all) {
    size_t count = batch->count, last = mlp->depth - 1;
    real *delta = batch->pair[last].delta;
    for (size_t i = 0; i < count; i++) delta[i] = (real)mlp->scale * (start ? start[i] : (real)start_all);
    for (size_t l = last; l > 0; l--) {
        const sa_pair *above = &batch->pair[l];
        sa_pair *pair = &batch->pair[l - 1];
        const real *weights = mlp->theta + REAL(mlp_offset)(mlp, l);
        REAL(gemm_nn)
        (count, pair->shape.delta, above->shape.delta, 1, above->delta, above->shape.delta, weights, above->shape.input, 0,
         pair->delta, pair->shape.delta);
        mask(pair->delta, above->input, count, pair->shape.delta, above->shape.input);
    }
    if (!mlp->bypass) return;
    real *bypass_delta = batch->pair[mlp->depth].delta, *bypass_input = batch->pair[mlp->depth].input;
    const real *first = batch->pair[0].input;
    for (size_t i = 0; i < count; i++) {
        bypass_delta[i] = start ? start[i] : (real)start_all;
        memcpy(bypass_input + i * mlp->inputs, first + i * batch->pair[0].shape.input, mlp->inputs * sizeof *first);
    }
}

static sa_status evaluate(sa_model *model, const void *inputs, size_t count, double *mean, sa_gradients *gradients) {
    mlp_t *mlp = (mlp_t *)model;
    const real *x = inputs;
    if (gradients) {
        gradients->count = 0;
        SA_TRY(sa_gradients_reserve(gradients, count));
        gradients->count = count;
    }
    for (size_t first = 0; first < count; first += SA_MLP_CHUNK) {
        size_t rows = count - first < SA_MLP_CHUNK ? count - first : SA_MLP_CHUNK;
        REAL(mlp_forward)(mlp, x + first * model->dim, NULL, rows, &mlp->pass, mlp->output);
        for (size_t i = 0; i < rows; i++) mean[first + i] = mlp->output[i];
        if (!gradients) continue;
        REAL(mlp_backward)(mlp, &mlp->pass, NULL, 1 / mlp->divisor);
        gradients->count = first;
        sa_gradients_append(gradients, &mlp->pass, NULL, rows);
    }
    return SA_OK;
}

/* ---- life ---- */

static void destroy(sa_model *model) {
    mlp_t *mlp = (mlp_t *)model;
    sa_gradients_clear(&mlp->pass);
    sa_free(mlp->base.shape);
    sa_free(mlp->theta);
    sa_free(mlp->theta_0);
    sa_free(mlp->gradient);
    sa_free(mlp->backup);
    sa_free(mlp->moments);
    sa_free(mlp->output);
    sa_free(mlp->residual);
    sa_free(mlp);
}

static sa_status allocate(mlp_t *mlp) {
    sa_model *base = &mlp->base;
    base->pairs = mlp->depth + mlp->bypass;
    SA_TRY(sa_alloc_array(base->pairs, sizeof *base->shape, &base->shape));
    size_t largest = 0, total = 0, length = 0, copies = mlp->optimizer == SA_OPTIMIZER_ADAM ? 6 : 4;
    for (size_t l = 0; l < base->pairs; l++) {
        base->shape[l] = REAL(mlp_shape)(mlp, l);
        length += base->shape[l].delta + base->shape[l].input;
        if (__builtin_mul_overflow(base->shape[l].delta, base->shape[l].input, &largest) ||
            __builtin_add_overflow(total, largest, &total))
            return sa_fail(SA_OUT_OF_MEMORY, "--hidden %zu with --depth %zu gives more weights than can be counted",
                           mlp->hidden, mlp->depth);
    }
    mlp->parameters = total;
    SA_TRY(sa_memory_check(total, copies * sizeof(real)));
    SA_TRY(sa_memory_check(total * copies + length * SA_MLP_CHUNK,
                           sizeof(real))); /* far from overflow, as options are bounded */
    SA_TRY(sa_alloc_array(total, sizeof(real), &mlp->theta));
    SA_TRY(sa_alloc_array(total, sizeof(real), &mlp->theta_0));
    SA_TRY(sa_alloc_array(total, sizeof(real), &mlp->gradient));
    SA_TRY(sa_alloc_array(total, sizeof(real), &mlp->backup));
    if (mlp->optimizer == SA_OPTIMIZER_ADAM) SA_TRY(sa_alloc_matrix(2, total, sizeof(real), &mlp->moments));
    SA_TRY(sa_alloc_array(SA_MLP_CHUNK, sizeof(real), &mlp->output));
    SA_TRY(sa_alloc_array(SA_MLP_CHUNK, sizeof(real), &mlp->residual));
    SA_TRY(sa_gradients_init(&mlp->pass, base->precision, base->pairs, base->shape));
    return sa_gradients_reserve(&mlp->pass, SA_MLP_CHUNK);
}

static sa_status create(const sa_options *options, sa_model **out) {
    mlp_t *mlp;
    SA_TRY(sa_alloc_array(1, sizeof *mlp, &mlp));
    bool doubled = options->init == SA_INIT_SYMMETRIC;
    *mlp = (mlp_t){
        .base = {.kind = &REAL(sa_mlp), .precision = (sa_precision)options->precision, .dim = (size_t)options->dim},
        .inputs = (size_t)options->dim << doubled,
        .hidden = (size_t)options->hidden,
        .depth = (size_t)options->depth,
        .bias = options->bias,
        .bypass = options->bypass,
        .doubled = doubled,
        .scale = options->output_scale == SA_OUTPUT_ROOT_M ? sqrt((double)options->hidden) : 1,
        .divisor = sqrt((double)options->hidden),
        .optimizer = options->optimizer,
        .rate_rule = options->rate_rule,
        .rate_decay = options->rate_decay,
        .regularize = options->regularize,
        .lambda = options->regularization,
        .rate = options->rate,
        .weight_decay = options->weight_decay,
        .error_decay = options->error_decay,
        .steps = (size_t)options->train_steps,
        .batch = (size_t)options->train_batch,
    };
    sa_status status = allocate(mlp);
    if (status == SA_OK) status = REAL(mlp_init)(mlp, options);
    if (status != SA_OK) {
        destroy(&mlp->base);
        return status;
    }
    *out = &mlp->base;
    return SA_OK;
}

/* Name of layer l's weights in files: W1 ... WL and V; `initial` ones have a prefix. */
static void weights_name(const mlp_t *mlp, size_t layer, bool initial, char *name, size_t size) {
    if (layer == mlp->depth)
        snprintf(name, size, "%sV", initial ? "initial_" : "");
    else
        snprintf(name, size, "%sW%zu", initial ? "initial_" : "", layer + 1);
}

static const sa_dtype dtype = SA_REAL_BITS == 32 ? SA_FLOAT32 : SA_FLOAT64;

static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    const mlp_t *mlp = (const mlp_t *)model;
    char name[32];
    for (size_t l = 0; l < model->pairs; l++) {
        size_t shape[2] = {model->shape[l].delta, model->shape[l].input}, offset = REAL(mlp_offset)(mlp, l);
        weights_name(mlp, l, false, name, sizeof name);
        SA_TRY(sa_npz_add(writer, name, dtype, 2, shape, mlp->theta + offset));
        weights_name(mlp, l, true, name, sizeof name);
        SA_TRY(sa_npz_add(writer, name, dtype, 2, shape, mlp->theta_0 + offset));
    }
    return SA_OK;
}

static sa_status load(sa_model *model, sa_npz *archive) {
    mlp_t *mlp = (mlp_t *)model;
    char name[32];
    for (size_t l = 0; l < model->pairs; l++) {
        size_t shape[2] = {model->shape[l].delta, model->shape[l].input}, offset = REAL(mlp_offset)(mlp, l);
        weights_name(mlp, l, false, name, sizeof name);
        SA_TRY(sa_npz_read_into(archive, name, dtype, 2, shape, mlp->theta + offset));
        weights_name(mlp, l, true, name, sizeof name);
        SA_TRY(sa_npz_read_into(archive, name, dtype, 2, shape, mlp->theta_0 + offset));
    }
    return SA_OK;
}

static size_t bytes(const sa_model *model) {
    const mlp_t *mlp = (const mlp_t *)model;
    return (4 + (mlp->moments ? 2 : 0)) * mlp->parameters * sizeof(real) + sa_gradients_bytes(&mlp->pass);
}

const sa_model_class REAL(sa_mlp) = {
    .create = create,
    .destroy = destroy,
    .redraw = REAL(mlp_redraw),
    .evaluate = evaluate,
    .train = REAL(mlp_train),
    .save = save,
    .load = load,
    .bytes = bytes,
};

/* The network: creation, forward and backward pass. Equations in mlp.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/products.h"
#include "model/mlp.h"

typedef REAL(mlp) mlp_t;

sa_pair_shape REAL(mlp_shape)(const mlp_t *mlp, size_t layer) {
    if (layer == mlp->depth) return (sa_pair_shape){.delta = 1, .input = mlp->inputs};
    return (sa_pair_shape){.delta = layer == mlp->depth - 1 ? 1 : mlp->hidden,
                           .input =
                               (layer == 0 ? mlp->inputs : mlp->hidden) + REAL(mlp_has_bias)(mlp, layer)};
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

static const real ROOT_HALF = (real)0.70710678118654752440; /* sqrt(1/2) */

/* The first `count` inputs of a sample; the rest stay. */
static void load_input(const mlp_t *mlp, const real *x, size_t count, real *to) {
    size_t dim = mlp->base.dim;
    if (mlp->doubled)
        for (size_t j = 0; j < count; j++) to[j] = to[dim + j] = ROOT_HALF * x[j];
    else
        memcpy(to, x, count * sizeof *x);
    if (REAL(mlp_has_bias)(mlp, 0)) to[mlp->inputs] = 1;
}

void REAL(mlp_transpose)(const real *w, size_t rows, size_t columns, real *to) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) to[j * rows + i] = w[i * columns + j];
}

/* h (count, width): the bias column, if any, is 1 */
static void set_bias(const mlp_t *mlp, size_t l, size_t count, const sa_pair *pair) {
    size_t width = pair->shape.input;
    real *h = pair->input;
    for (size_t i = 0; REAL(mlp_has_bias)(mlp, l) && i < count; i++) h[i * width + width - 1] = 1;
}

/* pair[l + 1].input = h_(l+1), from pair[l].input, of the batch's `count` samples */
static void forward_layer(const mlp_t *mlp, size_t l, size_t count, sa_gradients *batch) {
    const sa_pair *pair = &batch->pair[l], *next = &batch->pair[l + 1];
    REAL(gemm_nn_relu)
    (count, pair->shape.delta, pair->shape.input, pair->input, pair->shape.input,
     mlp->theta + REAL(mlp_offset)(mlp, l), pair->shape.delta, next->input, next->shape.input);
    set_bias(mlp, l + 1, count, next);
}

/* From h_1 in pair[1].input to the output; without the bypass. */
static void forward_from_first(const mlp_t *mlp, sa_gradients *batch, real *output) {
    size_t count = batch->count, last = mlp->depth - 1;
    for (size_t l = 1; l < last; l++) forward_layer(mlp, l, count, batch);
    const sa_pair *pair = &batch->pair[last];
    const real *weights = mlp->theta + REAL(mlp_offset)(mlp, last);
    REAL(dots)
    (count, pair->shape.input, (real)mlp->scale, pair->input, pair->shape.input, weights, 0, output, 1);
}

/* output (count) += v'x, for the inputs in pair[0] */
static void add_bypass(const mlp_t *mlp, const sa_gradients *batch, size_t count, real *output) {
    const real *v = mlp->theta + REAL(mlp_offset)(mlp, mlp->depth);
    if (mlp->bypass) REAL(dots)
    (count, mlp->inputs, 1, batch->pair[0].input, batch->pair[0].shape.input, v, 1, output, 1);
}

void REAL(mlp_forward)(const mlp_t *mlp, const real *inputs, const size_t *rows, size_t count,
                       sa_gradients *batch, real *output) {
    size_t width = batch->pair[0].shape.input, dim = mlp->base.dim;
    real *first = batch->pair[0].input;
    for (size_t i = 0; i < count; i++)
        load_input(mlp, inputs + (rows ? rows[i] : i) * dim, dim, first + i * width);
    batch->count = count;
    forward_layer(mlp, 0, count, batch);
    forward_from_first(mlp, batch, output);
    add_bypass(mlp, batch, count, output);
}

/* position_z: the columns of W_1 and of the bypass that belong to the one-hot position */
static void gather_positions(const mlp_t *mlp, REAL(mlp_work) * work, size_t positions) {
    size_t dim = mlp->base.dim, m = mlp->hidden;
    const real *v = mlp->theta + REAL(mlp_offset)(mlp, mlp->depth);
    for (size_t k = 0; k < positions; k++) {
        real *z = work->position_z + k * (m + 1);
        size_t column = dim - mlp->base.positions + k;
        for (size_t i = 0; i <= m; i++) {
            const real *w = i < m ? mlp->theta + i : v;
            size_t step = i < m ? m : 1;
            z[i] = i == m && !mlp->bypass ? 0
                   : mlp->doubled         ? ROOT_HALF * (w[column * step] + w[(dim + column) * step])
                                          : w[column * step];
        }
    }
}

void REAL(mlp_forward_positions)(const mlp_t *mlp, REAL(mlp_work) * work, const real *features,
                                 size_t positions, size_t first, size_t count, sa_gradients *batch,
                                 real *output) {
    size_t dim = mlp->base.dim, given = dim - mlp->base.positions, m = mlp->hidden;
    size_t arm = first / positions, arms = (first + count - 1) / positions - arm + 1;
    size_t width = batch->pair[0].shape.input, next_width = batch->pair[1].shape.input;
    real *shared = work->arms.pair[0].input, *shared_z = work->arms.pair[1].input, *bypassed = work->residual;
    const real one = mlp->doubled ? ROOT_HALF : 1;
    if (first == 0) gather_positions(mlp, work, positions);
    memset(shared, 0, arms * width * sizeof *shared);
    for (size_t i = 0; i < arms; i++)
        load_input(mlp, features + (arm + i) * given, given, shared + i * width);
    REAL(gemm_nn)
    (arms, m, width, 1, shared, width, mlp->theta, m, 0, shared_z, next_width);
    memset(bypassed, 0, arms * sizeof *bypassed);
    add_bypass(mlp, &work->arms, arms, bypassed);
    for (size_t i = 0; i < count; i++) {
        size_t of = (first + i) / positions - arm, k = (first + i) % positions;
        real *x = (real *)batch->pair[0].input + i * width,
             *z = (real *)batch->pair[1].input + i * next_width;
        const real *arm_z = shared_z + of * next_width, *position_z = work->position_z + k * (m + 1);
        memcpy(x, shared + of * width, width * sizeof *x);
        x[given + k] = one;
        if (mlp->doubled) x[dim + given + k] = one;
        for (size_t j = 0; j < m; j++) {
            real sum = arm_z[j] + position_z[j];
            z[j] = sum > 0 ? sum : 0;
        }
    }
    batch->count = count;
    set_bias(mlp, 1, count, &batch->pair[1]);
    forward_from_first(mlp, batch, output);
    for (size_t i = 0; i < count; i++)
        output[i] +=
            bypassed[(first + i) / positions - arm] + work->position_z[(first + i) % positions * (m + 1) + m];
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

/* The same for delta = above (count) w' (units), the last layer's; a product that is -0 becomes 0, as it does
 * in a sum */
static void mask_outer(real *restrict delta, const real *above, const real *restrict w,
                       const real *restrict h, size_t count, size_t units, size_t width) {
    for (size_t i = 0; i < count; i++) {
        real *d = delta + i * units, a = above[i];
        const real *on = h + i * width;
        for (size_t j = 0; j < units; j++) {
            real product = a * w[j] + 0; /* outside the choice, so that a compiler may do it for all */
            d[j] = on[j] > 0 ? product : 0;
        }
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
        if (above->shape.delta == 1) {
            mask_outer(pair->delta, above->delta, weights, above->input, count, pair->shape.delta,
                       above->shape.input);
            continue;
        }
        REAL(gemm_nt)
        (count, pair->shape.delta, above->shape.delta, 1, above->delta, above->shape.delta, weights,
         above->shape.delta, 0, pair->delta, pair->shape.delta);
        mask(pair->delta, above->input, count, pair->shape.delta, above->shape.input);
    }
    if (!mlp->bypass) return;
    real *bypass_delta = batch->pair[mlp->depth].delta, *bypass_input = batch->pair[mlp->depth].input;
    const real *first = batch->pair[0].input;
    for (size_t i = 0; i < count; i++) {
        bypass_delta[i] = start ? start[i] : (real)start_all;
        memcpy(bypass_input + i * mlp->inputs, first + i * batch->pair[0].shape.input,
               mlp->inputs * sizeof *first);
    }
}

/* One chunk through the network and back. positions 0: the inputs are whole */
static void evaluate_chunk(const mlp_t *mlp, REAL(mlp_work) * work, const real *x, size_t first, size_t count,
                           size_t positions, double *mean, sa_gradients *batch, bool back) {
    real output[SA_MLP_CHUNK];
    if (positions)
        REAL(mlp_forward_positions)(mlp, work, x, positions, first, count, batch, output);
    else
        REAL(mlp_forward)(mlp, x + first * mlp->base.dim, NULL, count, batch, output);
    for (size_t i = 0; i < count; i++) mean[first + i] = output[i];
    if (back) REAL(mlp_backward)(mlp, batch, NULL, 1 / mlp->divisor);
}

/* Chunks go through the caller's own batch, where there is one. */
static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *space, double *mean, sa_gradients *gradients) {
    const mlp_t *mlp = (const mlp_t *)model;
    REAL(mlp_work) work = {0};
    size_t samples = positions ? count * positions : count;
    if (gradients) SA_TRY(sa_gradients_reserve(gradients, samples));
    if (!gradients || positions || samples > SA_MLP_CHUNK)
        SA_TRY(REAL(mlp_lay)(mlp, false, &space->inner, &work));
    for (size_t first = 0; first < samples; first += SA_MLP_CHUNK) {
        size_t rows = samples - first < SA_MLP_CHUNK ? samples - first : SA_MLP_CHUNK;
        sa_gradients chunk = gradients && samples <= SA_MLP_CHUNK ? *gradients
                             : gradients ? sa_gradients_part(gradients, first, rows, work.pass.pair)
                                         : work.pass;
        evaluate_chunk(mlp, &work, inputs, first, rows, positions, mean, &chunk, gradients);
    }
    if (gradients) gradients->count = samples;
    return SA_OK;
}

/* ---- life ---- */

static void destroy(sa_model *model) {
    mlp_t *mlp = (mlp_t *)model;
    sa_free(mlp->base.shape);
    sa_free(mlp->theta);
    sa_free(mlp->theta_0);
    sa_free(mlp);
}

static sa_status fork_model(sa_model *model, sa_model **out) {
    mlp_t *mlp;
    SA_TRY(sa_alloc_array(1, sizeof *mlp, &mlp));
    *mlp = *(const mlp_t *)model;
    sa_hold(mlp->base.shape);
    sa_hold(mlp->theta_0);
    sa_hold(mlp->theta);
    *out = &mlp->base;
    return SA_OK;
}

/* A batch of a chunk with the first `pairs` pairs; memory: sa_gradients_length x SA_MLP_CHUNK of these. */
static sa_gradients batch_in(const mlp_t *mlp, size_t pairs, sa_pair *pair, real *memory) {
    for (size_t l = 0; l < pairs; l++) {
        sa_pair_shape shape = mlp->base.shape[l];
        pair[l] = (sa_pair){.shape = shape, .delta = memory, .input = memory + SA_MLP_CHUNK * shape.delta};
        memory += SA_MLP_CHUNK * (shape.delta + shape.input);
    }
    return (sa_gradients){
        .precision = mlp->base.precision, .capacity = SA_MLP_CHUNK, .pairs = pairs, .pair = pair};
}

static size_t length_of(const mlp_t *mlp, size_t pairs) {
    size_t length = 0;
    for (size_t l = 0; l < pairs; l++) length += mlp->base.shape[l].delta + mlp->base.shape[l].input;
    return length;
}

sa_status REAL(mlp_lay)(const mlp_t *mlp, bool training, sa_workspace *workspace, REAL(mlp_work) * work) {
    size_t pairs = mlp->base.pairs, positions = mlp->base.positions, arms = positions ? 2 : 0;
    size_t trained = training ? mlp->parameters : 0,
           adam = mlp->optimizer == SA_OPTIMIZER_ADAM ? 2 * trained : 0;
    sa_pair *pair;
    real *pass, *first_layer;
    SA_TRY(SA_LAY(workspace, {&pair, pairs + arms, sizeof *pair},
                  {&pass, SA_MLP_CHUNK * length_of(mlp, pairs), sizeof *pass},
                  {&first_layer, SA_MLP_CHUNK * length_of(mlp, arms), sizeof *first_layer},
                  {&work->position_z, positions * (mlp->hidden + 1), sizeof(real)},
                  {&work->output, SA_MLP_CHUNK, sizeof(real)}, {&work->residual, SA_MLP_CHUNK, sizeof(real)},
                  {&work->gradient, trained, sizeof(real)}, {&work->backup, trained, sizeof(real)},
                  {&work->moments, adam, sizeof(real)}));
    work->pass = batch_in(mlp, pairs, pair, pass);
    work->arms = batch_in(mlp, arms, pair + pairs, first_layer);
    return SA_OK;
}

static sa_status allocate(mlp_t *mlp) {
    sa_model *base = &mlp->base;
    base->pairs = mlp->depth + mlp->bypass;
    base->linear = 1 + mlp->bypass;
    SA_TRY(sa_alloc_array(base->pairs, sizeof *base->shape, &base->shape));
    size_t largest = 0, total = 0, copies = mlp->optimizer == SA_OPTIMIZER_ADAM ? 6 : 4;
    for (size_t l = 0; l < base->pairs; l++) {
        base->shape[l] = REAL(mlp_shape)(mlp, l);
        if (__builtin_mul_overflow(base->shape[l].delta, base->shape[l].input, &largest) ||
            __builtin_add_overflow(total, largest, &total))
            return sa_fail(SA_OUT_OF_MEMORY,
                           "--hidden %zu with --depth %zu gives more weights than can be counted",
                           mlp->hidden, mlp->depth);
    }
    mlp->parameters = total;
    SA_TRY(sa_memory_check(total, copies * sizeof(real))); /* a training's workspace included */
    SA_TRY(sa_memory_check(total * copies + length_of(mlp, base->pairs) * SA_MLP_CHUNK,
                           sizeof(real))); /* far from overflow, as options are bounded */
    SA_TRY(sa_alloc_array(total, sizeof(real), &mlp->theta));
    return sa_alloc_array(total, sizeof(real), &mlp->theta_0);
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    mlp_t *mlp;
    SA_TRY(sa_alloc_array(1, sizeof *mlp, &mlp));
    bool doubled = settings->init == SA_INIT_SYMMETRIC && settings->doubled_input;
    size_t positions = settings->positions, dim = (size_t)settings->dim + positions;
    *mlp = (mlp_t){
        .base = {.kind = &REAL(sa_mlp),
                 .precision = (sa_precision)settings->precision,
                 .dim = dim,
                 .positions = positions},
        .inputs = dim << doubled,
        .hidden = (size_t)settings->hidden,
        .depth = (size_t)settings->depth,
        .bias = settings->bias,
        .bypass = settings->bypass,
        .doubled = doubled,
        .scale = settings->output_scale == SA_OUTPUT_ROOT_M ? sqrt((double)settings->hidden) : 1,
        .divisor = sqrt((double)settings->hidden),
        .optimizer = settings->optimizer,
        .rate_rule = settings->rate_rule,
        .rate_decay = settings->rate_decay,
        .regularize = settings->regularize,
        .lambda = settings->regularization,
        .rate = settings->rate,
        .from_start = settings->train_from == SA_FROM_START,
        .weight_decay = settings->weight_decay,
        .steps = (size_t)settings->train_steps,
        .batch = (size_t)settings->train_batch,
    };
    sa_status status = allocate(mlp);
    if (status == SA_OK) status = REAL(mlp_init)(mlp, settings);
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
        for (int initial = 0; initial < 2; initial++) {
            real *w;
            weights_name(mlp, l, initial, name, sizeof name);
            SA_TRY(sa_npz_own(writer, shape[0] * shape[1], sizeof *w, &w));
            REAL(mlp_transpose)((initial ? mlp->theta_0 : mlp->theta) + offset, shape[1], shape[0], w);
            SA_TRY(sa_npz_add(writer, name, dtype, 2, shape, w));
        }
    }
    return SA_OK;
}

static sa_status load_layer(const mlp_t *mlp, size_t l, bool initial, sa_npz *archive, real *read) {
    char name[32];
    size_t shape[2] = {mlp->base.shape[l].delta, mlp->base.shape[l].input};
    weights_name(mlp, l, initial, name, sizeof name);
    SA_TRY(sa_npz_read_into(archive, name, dtype, 2, shape, read));
    REAL(mlp_transpose)
    (read, shape[0], shape[1], (initial ? mlp->theta_0 : mlp->theta) + REAL(mlp_offset)(mlp, l));
    return SA_OK;
}

static sa_status load(sa_model *model, sa_npz *archive) {
    const mlp_t *mlp = (const mlp_t *)model;
    real *read;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(mlp->parameters, sizeof *read, &read));
    for (size_t l = 0; status == SA_OK && l < model->pairs; l++) {
        status = load_layer(mlp, l, false, archive, read);
        if (status == SA_OK) status = load_layer(mlp, l, true, archive, read);
    }
    sa_free(read);
    return status;
}

static const sa_training_class training = {.train = REAL(mlp_train), .redraw = REAL(mlp_redraw)};

const sa_model_class REAL(sa_mlp) = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .positional = true,
    .save = save,
    .load = load,
    .training = &training,
};

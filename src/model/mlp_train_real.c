/* Training: J steps of gradient descent, or of Adam, from the present parameters, on the paper's Eq. (4),
 *
 * loss(theta) = 1/2 sum_k (f(x_k; theta) - v_k)^2 + (m lambda / 2) |theta - theta_0|^2        (the second
 *         part on request)
 *
 * or, with weights, (psi_k f(x_k; theta) - v_k)^2 in its place; of a sample that is a sum of rows, (psi
 * sum_k f(x_k; theta) - v)^2.
 *
 * A further pull to 0 is not the paper's: weight decay shrinks the weights by rate times it before each step,
 * and leaves the biases alone. What an output bias stands for is the score of arms of which nothing is known
 * yet: pulled to the mean of the slates' scores, it would promise them more or less than was seen.
 *
 * A step on a batch of b of the n samples takes n / b times the batch's sum, so that its mean is the whole
 * loss's gradient. The rate is a constant, or C / (n m L + m lambda) as in Theorem 1 with the present n for
 * TK (a sum of K rows counts as K^2: it may be so much steeper); inside a training it may fall to 0 along
 * half a cosine. Adam's moments begin again with each
 * training. */
#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "linalg/products.h"
#include "model/mlp.h"

typedef REAL(mlp) mlp_t;

typedef REAL(mlp_work) work_t;

/* gradient += that of the loss, by the residuals of the `count` rows that are in the pass */
static void add_pass(const mlp_t *mlp, work_t *work, size_t count) {
    REAL(mlp_backward)(mlp, &work->pass, work->residual, 0);
    real *to = work->gradient;
    for (size_t l = 0; l < mlp->base.pairs; l++) {
        const sa_pair *pair = &work->pass.pair[l];
        size_t deltas = pair->shape.delta, inputs = pair->shape.input;
        if (deltas == 1) /* a row is faster than a column */
            REAL(gemm_tn)(1, inputs, count, 1, pair->delta, 1, pair->input, inputs, 1, to, inputs);
        else
            REAL(gemm_tn)
        (inputs, deltas, count, 1, pair->input, inputs, pair->delta, deltas, 1, to, deltas);
        to += deltas * inputs;
    }
}

/* Adds the gradient of the loss on some samples, rows[0 .. count) of the batch, or [first, first + count):
 * where these are sums. */
static void add_sums(const mlp_t *mlp, work_t *work, const sa_batch *batch, const size_t *rows, size_t first,
                     size_t count, real weight) {
    const real *targets = batch->targets, *psi = batch->weights;
    size_t terms[SA_MLP_CHUNK] = {0}, used = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        size_t sample = rows ? rows[i] : first + i;
        for (size_t row = sample ? batch->end[sample - 1] : 0; row < batch->end[sample]; row++)
            terms[used++] = row;
    }
    REAL(mlp_forward)(mlp, batch->inputs, terms, used, &work->pass, work->output);
    for (size_t i = 0; i < count; i++) {
        size_t sample = rows ? rows[i] : first + i;
        size_t end = at + batch->end[sample] - (sample ? batch->end[sample - 1] : 0);
        real sum = 0, by = psi ? psi[sample] : 1;
        for (size_t k = at; k < end; k++) sum += work->output[k];
        for (; at < end; at++) work->residual[at] = weight * by * (by * sum - targets[sample]);
    }
    add_pass(mlp, work, used);
}

/* The same for any samples. */
static void add_chunk(const mlp_t *mlp, work_t *work, const sa_batch *batch, const size_t *rows, size_t first,
                      size_t count, real weight) {
    const real *targets = batch->targets, *psi = batch->weights;
    if (batch->end) {
        add_sums(mlp, work, batch, rows, first, count, weight);
        return;
    }
    const real *inputs = (const real *)batch->inputs + (rows ? 0 : first * mlp->base.dim);
    REAL(mlp_forward)(mlp, inputs, rows, count, &work->pass, work->output);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : first + i;
        work->residual[i] = psi ? weight * psi[row] * (psi[row] * work->output[i] - targets[row])
                                : weight * (work->output[i] - targets[row]);
    }
    add_pass(mlp, work, count);
}

/* Samples that are taken at a time. */
static size_t chunk_of(const sa_training *training) {
    return training->widest > 1 ? SA_MLP_CHUNK / training->widest : SA_MLP_CHUNK;
}

static void add_all(const mlp_t *mlp, work_t *work, const sa_training *training) {
    for (size_t first = 0, most = chunk_of(training); first < training->count; first += most) {
        size_t left = training->count - first;
        add_chunk(mlp, work, &training->all, NULL, first, left < most ? left : most, (real)training->factor);
    }
}

/* A batch drawn with replacement, again in each step. */
static void add_batch(const mlp_t *mlp, work_t *work, const sa_training *training, size_t step) {
    size_t rows[SA_MLP_CHUNK];
    real weight = (real)(training->total / (double)mlp->batch);
    for (size_t first = 0, most = chunk_of(training); first < mlp->batch; first += most) {
        size_t left = mlp->batch - first, count = left < most ? left : most;
        uint64_t draw = (uint64_t)step * mlp->batch + first;
        if (training->draw) {
            sa_batch drawn = training->draw(training->source, draw, count);
            add_chunk(mlp, work, &drawn, NULL, 0, count, weight);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            rows[i] = (size_t)sa_draw_below(&training->stream, draw + i, training->count);
        add_chunk(mlp, work, &training->all, rows, 0, count, weight);
    }
}

static void loss_gradient(const mlp_t *mlp, work_t *work, const sa_training *training, size_t step) {
    real back = mlp->regularize ? (real)((double)mlp->hidden * mlp->lambda) : 0;
    for (size_t i = 0; i < mlp->parameters; i++) work->gradient[i] = back * (mlp->theta[i] - mlp->theta_0[i]);
    if (mlp->batch == 0 || mlp->batch >= training->count)
        add_all(mlp, work, training);
    else
        add_batch(mlp, work, training, step);
}

static double rate_of(const mlp_t *mlp, const sa_training *training, size_t step, size_t steps) {
    double terms = training->widest > 1 ? (double)training->widest : 1,
           samples = training->total * terms * terms;
    double rate = mlp->rate, m = (double)mlp->hidden;
    if (mlp->rate_rule == SA_RATE_THEORY) rate /= samples * m * (double)mlp->depth + m * mlp->lambda;
    if (mlp->rate_decay == SA_DECAY_COSINE) rate *= 0.5 * (1 + sa_cos(SA_PI * (double)step / (double)steps));
    return rate;
}

/* Not where all scores are alike: nothing would hold the weights, and without weights all arms look alike.
 * */
static void shrink(mlp_t *mlp, const sa_training *training, double rate) {
    real factor = (real)(1 - rate * mlp->weight_decay);
    if (!(mlp->weight_decay > 0) || training->alike) return;
    for (size_t l = 0; l < mlp->base.pairs; l++) {
        sa_pair_shape shape = mlp->base.shape[l];
        size_t inputs = shape.input - REAL(mlp_has_bias)(mlp, l); /* the bias is the last row of W_l' */
        real *weights = mlp->theta + REAL(mlp_offset)(mlp, l);
        for (size_t i = 0; i < inputs * shape.delta; i++) weights[i] *= factor;
    }
}

static void descend(mlp_t *mlp, const work_t *work, double rate) {
    real eta = (real)rate;
    for (size_t i = 0; i < mlp->parameters; i++) mlp->theta[i] -= eta * work->gradient[i];
}

/* Adam with the usual 0.9, 0.999 and 1e-8; step counts from 0. */
static void descend_adam(mlp_t *mlp, work_t *work, double rate, size_t step) {
    const real beta_1 = (real)0.9, beta_2 = (real)0.999, epsilon = (real)1e-8;
    double k = (double)step + 1;
    real eta = (real)(rate / (1 - sa_pow(0.9, k))), root = (real)(1 / sqrt(1 - sa_pow(0.999, k)));
    real *first = work->moments, *second = work->moments + mlp->parameters;
    for (size_t i = 0; i < mlp->parameters; i++) {
        real g = work->gradient[i];
        first[i] = beta_1 * first[i] + (1 - beta_1) * g;
        second[i] = beta_2 * second[i] + (1 - beta_2) * g * g;
        mlp->theta[i] -= eta * first[i] / (real_sqrt(second[i]) * root + epsilon);
    }
}

static bool all_finite(const real *values, size_t count) {
    real sum = 0; /* 0 times a finite number is 0, times anything else NaN */
    for (size_t i = 0; i < count; i++) sum += 0 * values[i];
    return sum == 0;
}

static double norm_of(const real *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (double)values[i] * (double)values[i];
    return sqrt(sum);
}

/* Weights may be finite and their scores not, if not for these samples then for the next arm. |f| is at
 * most s |x| times the product of the layers' norms; a training that has multiplied this bound by half of
 * all the exponents there are, since the first weights, has diverged. */
static bool is_in_range(const mlp_t *mlp) {
    const double most = SA_REAL_BITS == 32 ? 1e18 : 1e150;
    double network = 1, bypass = 1;
    for (size_t l = 0; l < mlp->base.pairs; l++) {
        size_t offset = REAL(mlp_offset)(mlp, l), count = mlp->base.shape[l].delta * mlp->base.shape[l].input;
        double growth =
            fmax(norm_of(mlp->theta + offset, count), 1) / fmax(norm_of(mlp->theta_0 + offset, count), 1);
        if (l < mlp->depth)
            network *= growth;
        else
            bypass = growth;
    }
    return network <= most && bypass <= most;
}

sa_status REAL(mlp_train)(sa_model *model, const sa_training *training, sa_model_work *space,
                          bool *diverged) {
    mlp_t *mlp = (mlp_t *)model;
    work_t laid, *work = &laid;
    size_t steps = training->steps ? training->steps : mlp->steps;
    *diverged = false;
    if (training->count == 0) return SA_OK;
    SA_TRY(REAL(mlp_lay)(mlp, true, &space->inner, work));
    SA_TRY(sa_unshare(&mlp->theta));
    memcpy(work->backup, mlp->theta, mlp->parameters * sizeof(real));
    if (mlp->from_start) memcpy(mlp->theta, mlp->theta_0, mlp->parameters * sizeof(real));
    if (mlp->optimizer == SA_OPTIMIZER_ADAM) memset(work->moments, 0, 2 * mlp->parameters * sizeof(real));
    for (size_t step = 0; step < steps; step++) {
        loss_gradient(mlp, work, training, step);
        double rate = rate_of(mlp, training, step, steps);
        shrink(mlp, training, rate);
        if (mlp->optimizer == SA_OPTIMIZER_ADAM)
            descend_adam(mlp, work, rate, step);
        else
            descend(mlp, work, rate);
    }
    *diverged = !all_finite(mlp->theta, mlp->parameters) || !is_in_range(mlp);
    if (*diverged) memcpy(mlp->theta, work->backup, mlp->parameters * sizeof(real));
    return SA_OK;
}

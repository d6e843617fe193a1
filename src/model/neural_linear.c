/* A network with a Bayesian linear regression in place of its last layer (NeuralLinear, Riquelme et al.
 * 2018).
 *
 * The features phi of an input are what the network's score is linear in: the last hidden layer (with 1 for a
 * bias), times the output's factor s, and the input of the bypass, if there is one, all divided by sqrt(m).
 * They are the gradient of the score with respect to the last layer's weights, as Z counts it. Scores are
 * phi'beta, beta being the ridge regression of all feedback on the present features; a sample of beta comes
 * from N(beta, nu^2 Z^-1), Z = lambda I + sum of phi phi'.
 *
 * The regression is the linear model on features. It learns with each observation, the network with each
 * training. A training moves the features: then the regression has to forget all, and observe it again.
 *
 * Where this deviates from its paper: one beta for all arms, which are told apart by their contexts, instead
 * of one an arm; and the variance of the noise is nu^2 instead of a sample from an inverse gamma
 * distribution. */
#include "base/memory.h"
#include "model/model.h"

enum { CHUNK = SA_MOST_SUMMED }; /* inputs taken at a time */

typedef struct neural_linear {
    sa_model base;     /* what others see of it is the network's: dim, precision, the pairs of gradients */
    sa_model *network; /* its own last layer serves for training only */
    sa_model *regression;
    size_t skipped; /* pairs of a gradient before those of the last layer */
} neural_linear;

/* Workspace for a chunk: its gradients by the network, and its features. */
typedef struct chunk_work {
    sa_gradients pass;
    double *one; /* (CHUNK) */
    double *phi; /* (CHUNK, features) */
} chunk_work;

static sa_status lay(const neural_linear *self, sa_workspace *workspace, chunk_work *work) {
    const sa_model *base = &self->base;
    size_t length = 0, bytes = sa_precision_bytes(base->precision);
    for (size_t l = 0; l < base->pairs; l++) length += base->shape[l].delta + base->shape[l].input;
    sa_pair *pair;
    char *memory;
    SA_TRY(SA_LAY(workspace, {&pair, base->pairs, sizeof *pair}, {&work->one, CHUNK, sizeof(double)},
                  {&work->phi, CHUNK * self->regression->dim, sizeof(double)},
                  {&memory, CHUNK * length, bytes}));
    for (size_t i = 0; i < CHUNK; i++) work->one[i] = 1;
    for (size_t l = 0; l < base->pairs; l++) {
        sa_pair_shape shape = base->shape[l];
        pair[l] = (sa_pair){.shape = shape, .delta = memory, .input = memory + CHUNK * shape.delta * bytes};
        memory += CHUNK * (shape.delta + shape.input) * bytes;
    }
    work->pass =
        (sa_gradients){.precision = base->precision, .capacity = CHUNK, .pairs = base->pairs, .pair = pair};
    return SA_OK;
}

static void destroy(sa_model *model) {
    neural_linear *self = (neural_linear *)model;
    sa_model_destroy(self->regression);
    sa_model_destroy(self->network);
    sa_free(self);
}

static sa_status fork_model(sa_model *model, sa_model **out) {
    neural_linear *self = (neural_linear *)model, *copy;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    copy->network = copy->regression = NULL;
    SA_TRY_OR_FAIL(self->network->kind->fork(self->network, &copy->network));
    SA_TRY_OR_FAIL(self->regression->kind->fork(self->regression, &copy->regression));
    copy->base.shape = copy->network->shape;
    *out = &copy->base;
    return SA_OK;
fail:
    destroy(&copy->base);
    return status;
}

/* The regression, of `features` inputs, with everything else as the options say. */
static sa_status create_regression(const sa_model_settings *settings, size_t features, sa_model **out) {
    sa_model_settings own = *settings;
    own.dim = (int64_t)features;
    own.positions = 0;                   /* they are in the features */
    own.linear_form = SA_LINEAR_DEFINED; /* no published code has this one */
    return sa_model_create("linear", &own, out);
}

static sa_status create(const sa_model_settings *settings, sa_model **out) {
    neural_linear *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    SA_TRY_OR_FAIL(sa_model_create("mlp", settings, &self->network));
    self->base = *self->network;
    self->base.kind = &sa_neural_linear;
    self->skipped = self->base.pairs - self->base.linear;
    size_t features = 0;
    for (size_t l = self->skipped; l < self->base.pairs; l++) features += self->base.shape[l].input;
    SA_TRY_OR_FAIL(create_regression(settings, features, &self->regression));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* phi (count, features): the features of the batch's rows [first, first + count) */
static void take_features(const neural_linear *self, const sa_gradients *batch, size_t first, size_t count,
                          double *phi) {
    for (size_t i = first; i < first + count; i++)
        for (size_t l = self->skipped; l < batch->pairs; l++) {
            const sa_pair *pair = &batch->pair[l]; /* of one score: there is one delta */
            double delta = sa_real_get(batch->precision, pair->delta, i);
            for (size_t j = 0; j < pair->shape.input; j++)
                *phi++ = delta * sa_real_get(batch->precision, pair->input, i * pair->shape.input + j);
        }
}

static size_t chunk_of(size_t first, size_t count) { return count - first < CHUNK ? count - first : CHUNK; }

/* mean = phi'beta, for the network's gradients */
static sa_status regress(const neural_linear *self, const sa_gradients *batch, double *phi, double *mean) {
    for (size_t first = 0; first < batch->count; first += CHUNK) {
        size_t many = chunk_of(first, batch->count);
        take_features(self, batch, first, many, phi);
        SA_TRY(self->regression->kind->evaluate(self->regression, phi, many, 0, NULL, mean + first, NULL));
    }
    return SA_OK;
}

static sa_status evaluate(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *space, double *mean, sa_gradients *gradients) {
    const neural_linear *self = (const neural_linear *)model;
    size_t given = model->dim - (positions ? model->positions : 0);
    chunk_work work;
    SA_TRY(lay(self, &space->outer, &work));
    if (gradients) {
        SA_TRY(
            self->network->kind->evaluate(self->network, inputs, count, positions, space, mean, gradients));
        return regress(self, gradients, work.phi, mean);
    }
    for (size_t first = 0, most = positions ? CHUNK / positions : CHUNK; first < count; first += most) {
        size_t many = count - first < most ? count - first : most;
        double *part = mean + first * (positions ? positions : 1);
        const void *rows = sa_real_at(model->precision, inputs, first * given);
        SA_TRY(self->network->kind->evaluate(self->network, rows, many, positions, space, part, &work.pass));
        SA_TRY(regress(self, &work.pass, work.phi, part));
    }
    return SA_OK;
}

static sa_status train(sa_model *model, const sa_training *training, sa_model_work *work, bool *diverged) {
    neural_linear *self = (neural_linear *)model;
    return self->network->kind->training->train(self->network, training, work, diverged);
}

static void forget(sa_model *model) {
    neural_linear *self = (neural_linear *)model;
    self->regression->kind->observing->forget(self->regression);
}

typedef sa_status observe_call(sa_model *model, const void *inputs, const double *discounts,
                               const double *scores, size_t count, sa_model_work *work);

/* The regression takes the features of the inputs. */
static sa_status pass_on(neural_linear *self, observe_call *take, const void *inputs, const double *discounts,
                         const double *scores, size_t count, sa_model_work *space) {
    const sa_model *model = &self->base;
    double mean[CHUNK];
    chunk_work work;
    SA_TRY(lay(self, &space->outer, &work));
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t many = chunk_of(first, count);
        const void *part = sa_real_at(model->precision, inputs, first * model->dim);
        SA_TRY(self->network->kind->evaluate(self->network, part, many, 0, space, mean, &work.pass));
        take_features(self, &work.pass, 0, many, work.phi);
        SA_TRY(take(self->regression, work.phi, discounts ? discounts + first : NULL, scores + first, many,
                    space));
    }
    return SA_OK;
}

static sa_status observe(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *space) {
    neural_linear *self = (neural_linear *)model;
    return pass_on(self, self->regression->kind->observing->observe, inputs, discounts, scores, count, space);
}

/* Whole sums at a time, as many as there is room for: their features are the sums of the rows'. */
static sa_status observe_sums(sa_model *model, const void *inputs, const size_t *end, const double *discounts,
                              const double *scores, size_t count, sa_model_work *space) {
    neural_linear *self = (neural_linear *)model;
    const sa_model *regression = self->regression;
    double mean[CHUNK];
    size_t part_end[CHUNK], row = 0;
    chunk_work work;
    SA_TRY(lay(self, &space->outer, &work));
    for (size_t first = 0, many; first < count; first += many) {
        for (many = 0; first + many < count && end[first + many] - row <= CHUNK; many++)
            part_end[many] = end[first + many] - row;
        const void *part = sa_real_at(model->precision, inputs, row * model->dim);
        size_t rows = part_end[many - 1];
        SA_TRY(self->network->kind->evaluate(self->network, part, rows, 0, space, mean, &work.pass));
        take_features(self, &work.pass, 0, rows, work.phi);
        SA_TRY(regression->kind->observing->observe_sums(self->regression, work.phi, part_end,
                                                         discounts ? discounts + first : NULL, scores + first,
                                                         many, space));
        row += rows;
    }
    return SA_OK;
}

static sa_status revise(sa_model *model, const void *inputs, const double *discounts,
                        const double *differences, size_t count, sa_model_work *space) {
    neural_linear *self = (neural_linear *)model;
    return pass_on(self, self->regression->kind->observing->revise, inputs, discounts, differences, count,
                   space);
}

static void fade(sa_model *model, double factor) {
    neural_linear *self = (neural_linear *)model;
    self->regression->kind->observing->fade(self->regression, factor);
}

/* The same draw for each chunk, as it comes from the same place of the stream. */
static sa_status sample(const sa_model *model, const sa_gradients *batch, double deviation,
                        const sa_stream *stream, sa_model_work *space, double *score) {
    const neural_linear *self = (const neural_linear *)model;
    chunk_work work;
    SA_TRY(lay(self, &space->outer, &work));
    for (size_t first = 0; first < batch->count; first += CHUNK) {
        size_t many = chunk_of(first, batch->count);
        sa_pair pair = {.shape = self->regression->shape[0], .delta = work.one, .input = work.phi};
        sa_gradients features = {.precision = SA_PRECISION_DOUBLE, .count = many, .pairs = 1, .pair = &pair};
        take_features(self, batch, first, many, work.phi);
        SA_TRY(self->regression->kind->exploring->sample(self->regression, &features, deviation, stream,
                                                         space, score + first));
    }
    return SA_OK;
}

static sa_status save(const sa_model *model, sa_npz_writer *writer) {
    const neural_linear *self = (const neural_linear *)model;
    SA_TRY(self->network->kind->save(self->network, writer));
    return self->regression->kind->save(self->regression, writer);
}

static sa_status load(sa_model *model, sa_npz *archive) {
    neural_linear *self = (neural_linear *)model;
    SA_TRY(self->network->kind->load(self->network, archive));
    return self->regression->kind->load(self->regression, archive);
}

static const sa_training_class training_class = {.train = train};
static const sa_observing_class observing = {
    .observe = observe, .observe_sums = observe_sums, .revise = revise, .fade = fade, .forget = forget};
static const sa_exploring_class exploring = {.sample = sample};

const sa_model_class sa_neural_linear = {
    .create = create,
    .destroy = destroy,
    .fork = fork_model,
    .evaluate = evaluate,
    .positional = true,
    .save = save,
    .load = load,
    .training = &training_class,
    .observing = &observing,
    .exploring = &exploring,
};

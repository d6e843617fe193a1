/* A network with a Bayesian linear regression in place of its last layer (NeuralLinear, Riquelme et al. 2018).
 *
 * The features phi of an input are what the network's score is linear in: the last hidden layer (with 1 for a bias), times the
 * output's factor s, and the input of the bypass, if there is one, all divided by sqrt(m). They are the gradient of the score with
 * respect to the last layer's weights, as Z counts it. Scores are phi'beta, beta being the ridge regression of all feedback
 * on the present features; a sample of beta comes from N(beta, nu^2 Z^-1), Z = lambda I + sum of phi phi'.
 *
 * The regression is the linear model on features. It learns with each observation, the network with each training. A training
 * moves the features: then the regression has to forget all, and observe it again.
 *
 * Where this deviates from its paper: one beta for all arms, which are told apart by their contexts, instead of one an arm; and the
 * variance of the noise is nu^2 instead of a sample from an inverse gamma distribution. */
#include "base/memory.h"
#include "model/model.h"

enum { CHUNK = 256 }; /* inputs taken at a time */

typedef struct neural_linear {
    sa_model base;     /* what others see of it is the network's: dim, precision, the pairs of gradients */
    sa_model *network; /* its own last layer serves for training only */
    sa_model *regression;
    size_t skipped;        /* pairs of a gradient before those of the last layer */
    sa_gradients pass;     /* a chunk's gradients by the network */
    sa_gradients features; /* a chunk's by the regression: pairs (1, phi) */
} neural_linear;

static void destroy(sa_model *model) {
    neural_linear *self = (neural_linear *)model;
    sa_gradients_clear(&self->pass);
    sa_gradients_clear(&self->features);
    sa_model_destroy(self->regression);
    sa_model_destroy(self->network);
    sa_free(self);
}

/* The regression, of `features` inputs, with everything else as the options say. */
static sa_status create_regression(const sa_options *options, size_t features, sa_model **out) {
    sa_options *own = sa_options_copy(options);
    if (!own) return SA_OUT_OF_MEMORY;
    own->dim = (int64_t)features;
    own->feedback = SA_FEEDBACK_SEMI_BANDIT; /* positions are in the features */
    own->linear_form = SA_LINEAR_DEFINED;    /* no published code has this one */
    sa_status status = sa_model_create("linear", own, out);
    sa_options_destroy(own);
    return status;
}

static sa_status create(const sa_options *options, sa_model **out) {
    neural_linear *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    SA_TRY_OR_FAIL(sa_model_create("mlp", options, &self->network));
    self->base = *self->network;
    self->base.kind = &sa_neural_linear;
    self->skipped = self->base.pairs - 1 - options->bypass;
    size_t features = 0;
    for (size_t l = self->skipped; l < self->base.pairs; l++) features += self->base.shape[l].input;
    SA_TRY_OR_FAIL(create_regression(options, features, &self->regression));
    SA_TRY_OR_FAIL(sa_gradients_init(&self->pass, self->base.precision, self->base.pairs, self->base.shape));
    SA_TRY_OR_FAIL(sa_gradients_reserve(&self->pass, CHUNK));
    SA_TRY_OR_FAIL(sa_gradients_init(&self->features, SA_PRECISION_DOUBLE, 1, self->regression->shape));
    SA_TRY_OR_FAIL(sa_gradients_reserve(&self->features, CHUNK));
    for (size_t i = 0; i < CHUNK; i++) ((double *)self->features.pair[0].delta)[i] = 1;
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

static double element(const void *array, sa_precision precision, size_t index) {
    return precision == SA_PRECISION_SINGLE ? (double)((const float *)array)[index] : ((const double *)array)[index];
}

/* self->features = those of the batch's rows [first, first + count); returns phi (count, features) */
static const double *take_features(neural_linear *self, const sa_gradients *batch, size_t first, size_t count) {
    double *phi = self->features.pair[0].input;
    for (size_t i = first; i < first + count; i++)
        for (size_t l = self->skipped; l < batch->pairs; l++) {
            const sa_pair *pair = &batch->pair[l]; /* of one score: there is one delta */
            double delta = element(pair->delta, batch->precision, i);
            for (size_t j = 0; j < pair->shape.input; j++)
                *phi++ = delta * element(pair->input, batch->precision, i * pair->shape.input + j);
        }
    self->features.count = count;
    return self->features.pair[0].input;
}

static size_t chunk_of(size_t first, size_t count) { return count - first < CHUNK ? count - first : CHUNK; }

/* mean = phi'beta, for the network's gradients */
static sa_status regress(neural_linear *self, const sa_gradients *batch, double *mean) {
    for (size_t first = 0; first < batch->count; first += CHUNK) {
        size_t many = chunk_of(first, batch->count);
        const double *phi = take_features(self, batch, first, many);
        SA_TRY(self->regression->kind->evaluate(self->regression, phi, many, mean + first, NULL));
    }
    return SA_OK;
}

static sa_status evaluate(sa_model *model, const void *inputs, size_t count, double *mean, sa_gradients *gradients) {
    neural_linear *self = (neural_linear *)model;
    sa_gradients *batch = gradients ? gradients : &self->pass;
    SA_TRY(self->network->kind->evaluate(self->network, inputs, count, mean, batch));
    return regress(self, batch, mean);
}

static sa_status evaluate_positions(sa_model *model, const void *inputs, size_t count, size_t positions, double *mean,
                                    sa_gradients *gradients) {
    neural_linear *self = (neural_linear *)model;
    sa_gradients *batch = gradients ? gradients : &self->pass;
    SA_TRY(self->network->kind->evaluate_positions(self->network, inputs, count, positions, mean, batch));
    return regress(self, batch, mean);
}

static sa_status train(sa_model *model, const sa_training *training, bool *diverged) {
    neural_linear *self = (neural_linear *)model;
    return self->network->kind->train(self->network, training, diverged);
}

static void forget(sa_model *model) {
    neural_linear *self = (neural_linear *)model;
    self->regression->kind->forget(self->regression);
}

static void observe(sa_model *model, const void *inputs, const double *discounts, const double *scores, size_t count) {
    neural_linear *self = (neural_linear *)model;
    size_t row = model->dim * sa_precision_bytes(model->precision);
    double mean[CHUNK];
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t many = chunk_of(first, count);
        const void *part = (const char *)inputs + first * row;
        (void)self->network->kind->evaluate(self->network, part, many, mean, &self->pass); /* cannot fail: there is room */
        const double *phi = take_features(self, &self->pass, 0, many);
        self->regression->kind->observe(self->regression, phi, discounts ? discounts + first : NULL, scores + first, many);
    }
}

static void discount(sa_model *model, double factor) {
    neural_linear *self = (neural_linear *)model;
    self->regression->kind->discount(self->regression, factor);
}

/* The same draw for each chunk, as it comes from the same place of the stream. */
static void sample(sa_model *model, const sa_gradients *batch, double deviation, const sa_stream *stream, double *score) {
    neural_linear *self = (neural_linear *)model;
    for (size_t first = 0; first < batch->count; first += CHUNK) {
        take_features(self, batch, first, chunk_of(first, batch->count));
        self->regression->kind->sample(self->regression, &self->features, deviation, stream, score + first);
    }
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

static size_t bytes(const sa_model *model) {
    const neural_linear *self = (const neural_linear *)model;
    return self->network->kind->bytes(self->network) + self->regression->kind->bytes(self->regression) +
           sa_gradients_bytes(&self->pass) + sa_gradients_bytes(&self->features);
}

const sa_model_class sa_neural_linear = {
    .create = create,
    .destroy = destroy,
    .evaluate = evaluate,
    .evaluate_positions = evaluate_positions,
    .train = train,
    .observe = observe,
    .discount = discount,
    .forget = forget,
    .sample = sample,
    .save = save,
    .load = load,
    .bytes = bytes,
};

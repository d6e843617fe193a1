/* Widths from the last layer alone: the network below it is taken for a fixed map to features, and
 *
 *     width^2 = g' Z^-1 g,   g the gradient of the score with respect to the weights that it is linear in
 *
 * (Riquelme et al. 2018, NeuralLinear). These are W_L, with its bias if it has one, and the linear bypass if
 * there is one: f = s W_L [h, 1] + v'x. They are the last pairs of a gradient, so this is the exact engine,
 * shown the last pairs only. With q such weights a round costs q^2 (N + 3 K) operations once more than q
 * gradients are counted.
 *
 * The features move as the network trains, and Z then holds features that no longer are; --rebuild makes it
 * again from the present ones after each training. */
#include "base/memory.h"
#include "confidence/confidence.h"

typedef struct last_layer {
    sa_confidence base;
    sa_confidence *exact; /* on the last pairs */
    size_t skipped;       /* pairs before them */
} last_layer_t;

static void destroy(sa_confidence *confidence) {
    last_layer_t *self = (last_layer_t *)confidence;
    sa_confidence_destroy(self->exact);
    sa_free(self);
}

static sa_status create(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out) {
    last_layer_t *self;
    if (pairs < 2)
        return sa_fail(SA_INVALID,
                       "--confidence last-layer needs a network, and %s is linear: use exact or diagonal",
                       settings->algorithm);
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = &sa_confidence_last_layer;
    self->skipped = pairs - settings->linear;
    sa_status status =
        sa_confidence_exact.create(settings, pairs - self->skipped, shape + self->skipped, &self->exact);
    if (status != SA_OK) {
        destroy(&self->base);
        return status;
    }
    *out = &self->base;
    return SA_OK;
}

/* The batch's last pairs, borrowed. */
static sa_gradients last_pairs(const last_layer_t *self, const sa_gradients *batch) {
    sa_gradients view = *batch;
    view.pairs -= self->skipped;
    view.pair += self->skipped;
    return view;
}

static sa_status fork_engine(sa_confidence *confidence, sa_confidence **out) {
    last_layer_t *self = (last_layer_t *)confidence, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    sa_status status = self->exact->kind->fork(self->exact, &copy->exact);
    if (status == SA_OK)
        *out = &copy->base;
    else
        sa_free(copy);
    return status;
}

static sa_status widths(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width) {
    const last_layer_t *self = (const last_layer_t *)confidence;
    sa_gradients view = last_pairs(self, batch);
    return sa_confidence_exact.widths(self->exact, &view, rows, count, label, work, width);
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work) {
    last_layer_t *self = (last_layer_t *)confidence;
    sa_gradients view = last_pairs(self, batch);
    self->exact->asked = confidence->asked;
    return sa_confidence_exact.count(self->exact, &view, label, work);
}

static sa_status expect(sa_confidence *confidence, size_t count) {
    return sa_confidence_exact.expect(((last_layer_t *)confidence)->exact, count);
}

static sa_status widen(sa_confidence *confidence) {
    return sa_confidence_exact.widen(((last_layer_t *)confidence)->exact);
}

static sa_status fade(sa_confidence *confidence, double factor) {
    last_layer_t *self = (last_layer_t *)confidence;
    return sa_confidence_exact.fade(self->exact, factor);
}

static sa_status regularize(sa_confidence *confidence, double lambda) {
    return sa_confidence_exact.regularize(((last_layer_t *)confidence)->exact, lambda);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const last_layer_t *self = (const last_layer_t *)confidence;
    sa_confidence_exact.state(self->exact, state);
}

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const last_layer_t *self = (const last_layer_t *)confidence;
    return sa_confidence_exact.save(self->exact, writer);
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    last_layer_t *self = (last_layer_t *)confidence;
    return sa_confidence_exact.load(self->exact, archive);
}

const sa_confidence_class sa_confidence_last_layer = {
    .name = "last-layer",
    .sums = true,
    .summary = "exact for the q weights of the last layer alone: q^2 (N + 3 K) operations a round; the "
               "layers below are features",
    .create = create,
    .destroy = destroy,
    .fork = fork_engine,
    .widths = widths,
    .count = count,
    .fade = fade,
    .regularize = regularize,
    .expect = expect,
    .widen = widen,
    .state = state,
    .save = save,
    .load = load,
};

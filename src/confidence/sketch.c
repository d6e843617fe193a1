/* Widths at a cost and in a memory that are the same however many gradients were counted: at most B + B/4 of them, the elements of
 * the sketch, stand for all,
 *
 *     Z^ = lambda I + D A D',   g' Z^^-1 g = (g'g - |C^-1 D'g|^2) / lambda,   C C' = D'D + lambda A^-1
 *
 * which with A = I is the exact engine, and is computed by it (exact.h). A gradient that is counted becomes an element, with
 * weight 1 in A: the sketch is exact with respect to it. When there is no more room, elements are folded into the others until B
 * are left (sketch_fold.c), those first whose removal loses least of tr(D A D'). Gradients stay as they were when they were counted,
 * as they do in the exact engine, and old ones go as new ones make up for them.
 *
 * The certificate. Let G be the counted gradients, G^ what the sketch has in their place, R = G - G^. For any e > 0
 *
 *     G G' <= (1 + e) G^ G^' + (1 + 1/e) R R',  and the same with G and G^ exchanged,
 *
 * so with |R|^2 <= s^2 lambda, and e such that 1 + e = 1 + (1 + 1/e) s^2 = c^2, Z <= c^2 Z^ and Z^ <= c^2 Z: an exact width is
 * between w / c and w c, c = s / 2 + sqrt(1 + s^2 / 4). Folding keeps the bound on |R|. Forgetting is by way of phi (exact.c), which
 * adds 1 / sqrt(phi) to c as a factor; each fold, and a phi that has grown small, take it into A. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/exact.h"
#include "confidence/sketch_fold.h"

#define SA_REAL_BITS 64
#include "model/gradients_real.h"

static const double ROUNDING = 1e-3;     /* what single precision may add to the certificate of a sketch that has folded */
static const double LEAST_FACTOR = 1e-9; /* of one discount: what is left then weighs nothing */
static const double LEAST_WEIGHT = 1e-100;
enum { LEAST_FRESH = 16 }; /* elements between two folds, at least */

typedef struct sketch {
    sa_confidence base;
    double lambda;
    sa_confidence *exact; /* holds the elements */
    size_t size, room;    /* elements after a fold, and before */
    uint64_t counted;
    sa_fold fold;
    sa_gradients wide; /* the elements in double precision, for a moment */
    double *work;      /* for gradients_inner_wide */
    sa_pair *pair;     /* of a part of a batch */
} sketch_t;

static void destroy(sa_confidence *confidence) {
    sketch_t *self = (sketch_t *)confidence;
    sa_confidence_destroy(self->exact);
    sa_fold_clear(&self->fold);
    sa_gradients_clear(&self->wide);
    sa_free(self->work);
    sa_free(self->pair);
    sa_free(self);
}

/* ---- elements ---- */

/* The elements in double precision, and their Gram matrix for the fold. */
static void look_at_elements(sketch_t *self) {
    const sa_gradients *held = sa_exact_held(self->exact);
    self->wide.count = 0;
    sa_gradients_append(&self->wide, held, NULL, held->count);
    gradients_inner_wide_f64(&self->wide, &self->wide, self->fold.gram, held->count, self->work);
}

/* What the exact engine asks for when it changes to double precision. */
static const double *present_factor(void *owner) {
    sketch_t *self = owner;
    look_at_elements(self);
    sa_fold_factor(&self->fold);
    return self->fold.factor;
}

/* Folds until at most `keep` elements are left. What was forgotten goes into A on the way, and elements that have faded away go: a
 * weight must not come to 0, which has no inverse. */
static void fold(sketch_t *self, size_t keep) {
    bool all = keep >= self->fold.count && sa_fold_least_weight(&self->fold) > LEAST_WEIGHT;
    look_at_elements(self);
    sa_fold_discount(&self->fold, *sa_exact_faded(self->exact));
    if (!all) sa_fold_until(&self->fold, keep);
    sa_fold_factor(&self->fold);
    sa_exact_hold(self->exact, &self->wide, all ? NULL : self->fold.kept, self->fold.count, self->fold.factor);
}

/* ---- making one ---- */

/* Asked before the first array is touched. */
static sa_status check_memory(const sketch_t *self) {
    double length = (double)sa_gradients_length(&self->wide), room = (double)self->room;
    double bytes = sa_fold_bytes(room) + room * (room / 2 + 2 * length) * sizeof(double),
           have = (double)sa_memory_available();
    if (have == 0 || bytes < have) return SA_OK;
    return sa_fail(SA_INVALID, "--sketch-size %zu needs %.3g GB, and %.3g GB are free: use a smaller one", self->size,
                   bytes / 1e9, have / 1e9);
}

static sa_status create(const sa_options *options, size_t pairs, const sa_pair_shape *shape, sa_confidence **out) {
    sketch_t *self;
    sa_status status;
    sa_options dual = *options; /* for this call: it owns nothing */
    dual.exact_form = SA_EXACT_DUAL;
    dual.discount = 1; /* the sketch forgets by itself */
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = &sa_confidence_sketch;
    self->lambda = options->regularization;
    self->size = (size_t)options->sketch_size;
    self->room = self->size + (self->size / 4 > LEAST_FRESH ? self->size / 4 : LEAST_FRESH);
    SA_TRY_OR_FAIL(sa_gradients_init(&self->wide, SA_PRECISION_DOUBLE, pairs, shape));
    SA_TRY_OR_FAIL(check_memory(self));
    SA_TRY_OR_FAIL(sa_fold_init(&self->fold, self->room, self->lambda));
    SA_TRY_OR_FAIL(sa_gradients_reserve(&self->wide, self->room));
    SA_TRY_OR_FAIL(sa_alloc_matrix(2 * SA_INNER_ROWS, SA_INNER_WIDE, sizeof(double), &self->work));
    SA_TRY_OR_FAIL(sa_alloc_array(pairs, sizeof *self->pair, &self->pair));
    SA_TRY_OR_FAIL(sa_confidence_exact.create(&dual, pairs, shape, &self->exact));
    sa_exact_own(self->exact, present_factor, self);
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* ---- widths and counting ---- */

static sa_status widths(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                        double *width, uint64_t *ticket) {
    sketch_t *self = (sketch_t *)confidence;
    return sa_confidence_exact.widths(self->exact, batch, rows, count, width, ticket);
}

static sa_status tighten(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                         double *width) {
    sketch_t *self = (sketch_t *)confidence;
    return sa_confidence_exact.tighten(self->exact, batch, rows, count, width);
}

/* Once there is room for all elements, and for a batch that fills it, nothing more is needed. */
static sa_status reserve(sa_confidence *confidence, size_t count, size_t at_once) {
    sketch_t *self = (sketch_t *)confidence;
    size_t left = self->room - self->fold.count;
    if (count < left) return sa_confidence_exact.reserve(self->exact, count, at_once < count ? at_once : count);
    return sa_confidence_exact.reserve(self->exact, left, self->room);
}

/* Rows [first, first + count) of the batch, borrowed. */
static sa_gradients part_of(sketch_t *self, const sa_gradients *batch, size_t first, size_t count) {
    size_t bytes = sa_precision_bytes(batch->precision);
    sa_gradients part = *batch;
    part.count = part.capacity = count;
    part.pair = self->pair;
    for (size_t l = 0; l < batch->pairs; l++) {
        sa_pair *pair = &self->pair[l];
        *pair = batch->pair[l];
        pair->delta = (char *)pair->delta + first * pair->shape.delta * bytes;
        pair->input = (char *)pair->input + first * pair->shape.input * bytes;
    }
    return part;
}

/* Fills the room that there is, folds, and so on. There is memory for all of it. */
static sa_status count_in_parts(sketch_t *self, const sa_gradients *batch, uint64_t ticket, const size_t *rows) {
    for (size_t first = 0; first < batch->count;) {
        size_t left = batch->count - first, room = self->room - self->fold.count, many = left < room ? left : room;
        sa_gradients part = part_of(self, batch, first, many);
        SA_TRY(sa_confidence_exact.count(self->exact, &part, ticket, rows));
        for (size_t i = 0; i < many; i++) sa_fold_add(&self->fold);
        if (self->fold.count == self->room) fold(self, self->size);
        first += many;
        ticket = 0; /* it named a batch of the elements before the fold */
    }
    self->counted += batch->count;
    return SA_OK;
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, uint64_t ticket, const size_t *rows) {
    sketch_t *self = (sketch_t *)confidence;
    bool in_parts = batch->count > self->room - self->fold.count;
    SA_TRY(sa_exact_prepare(self->exact, batch));
    if (in_parts) SA_TRY(reserve(confidence, self->room, self->room));
    return count_in_parts(self, batch, ticket, rows);
}

static sa_status discount(sa_confidence *confidence, double factor) {
    sketch_t *self = (sketch_t *)confidence;
    if (factor < LEAST_FACTOR) factor = LEAST_FACTOR;
    if (sa_exact_fade(self->exact, factor)) fold(self, self->room);
    return SA_OK;
}

/* ---- numbers about it ---- */

static double certificate(const sa_confidence *confidence) {
    const sketch_t *self = (const sketch_t *)confidence;
    double s = self->fold.lost / sqrt(self->lambda), faded = sa_confidence_certificate(self->exact);
    return faded * (s > 0 ? (s / 2 + sqrt(1 + s * s / 4)) * (1 + ROUNDING) : 1);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const sketch_t *self = (const sketch_t *)confidence;
    sa_confidence_exact.state(self->exact, state);
    state->counted = self->counted;
    state->log_det += self->fold.log_det;
    state->bytes += (size_t)sa_fold_bytes((double)self->room) + sa_gradients_bytes(&self->wide) +
                    2 * SA_INNER_ROWS * SA_INNER_WIDE * sizeof(double);
}

/* ---- files ---- */

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const sketch_t *self = (const sketch_t *)confidence;
    const sa_fold *fold = &self->fold;
    size_t fresh = fold->count - fold->old, old[2] = {fold->old, fold->old};
    SA_TRY(sa_npz_add(writer, "sketch_counted", SA_INT64, 0, NULL, &self->counted));
    SA_TRY(sa_npz_add(writer, "sketch_fade", SA_FLOAT64, 0, NULL, sa_exact_faded(self->exact)));
    SA_TRY(sa_npz_add(writer, "sketch_lost", SA_FLOAT64, 0, NULL, &fold->lost));
    SA_TRY(sa_npz_add(writer, "sketch_log_det", SA_FLOAT64, 0, NULL, &fold->log_det));
    SA_TRY(sa_npz_add(writer, "sketch_old", SA_FLOAT64, 2, old, fold->weights));
    SA_TRY(sa_npz_add(writer, "sketch_fresh", SA_FLOAT64, 1, &fresh, fold->weight + fold->old));
    return sa_confidence_exact.save(self->exact, writer);
}

/* A is positive definite; more than its diagonal need not be looked at. */
static sa_status check_weights(const sa_fold *fold) {
    for (size_t i = 0; i < fold->count; i++) {
        double weight = sa_fold_weight(fold, i);
        if (!(weight > 0 && isfinite(weight)))
            return sa_fail(SA_FORMAT, "element %zu of the sketch has the weight %g, and must have one above 0", i, weight);
    }
    return SA_OK;
}

static sa_status read_weights(sketch_t *self, sa_npz *archive) {
    sa_fold *fold = &self->fold;
    size_t held = sa_exact_held(self->exact)->count;
    sa_array fresh = {0};
    SA_TRY(sa_npz_get_exactly(archive, "sketch_fresh", SA_FLOAT64, 0, NULL, &fresh));
    size_t count = sa_array_count(&fresh);
    sa_status status = SA_OK;
    if (held >= self->room || count > held)
        status = sa_fail(SA_FORMAT, "a sketch of %zu elements, %zu of them fresh, does not fit --sketch-size %zu", held,
                         count, self->size);
    else
        memcpy(fold->weight + held - count, fresh.data, count * sizeof(double));
    sa_array_clear(&fresh);
    if (status != SA_OK) return status;
    fold->count = held;
    fold->old = held - count;
    SA_TRY(sa_npz_read_into(archive, "sketch_old", SA_FLOAT64, 2, (size_t[]){fold->old, fold->old}, fold->weights));
    return check_weights(fold);
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    sketch_t *self = (sketch_t *)confidence;
    int64_t counted;
    double fade;
    SA_TRY(sa_npz_get_integer(archive, "sketch_counted", 0, INT64_MAX, &counted));
    SA_TRY(sa_confidence_exact.load(self->exact, archive));
    if (!sa_exact_held(self->exact)) return sa_fail(SA_FORMAT, "a sketch has no p x p factor");
    SA_TRY(read_weights(self, archive));
    SA_TRY(sa_npz_get_number(archive, "sketch_fade", &fade));
    if (!(fade > 0 && fade <= 1))
        return sa_fail(SA_FORMAT, "'sketch_fade' is %g, and must be more than 0 and at most 1", fade);
    (void)sa_exact_fade(self->exact, fade);
    SA_TRY(sa_npz_get_number(archive, "sketch_lost", &self->fold.lost));
    SA_TRY(sa_npz_get_number(archive, "sketch_log_det", &self->fold.log_det));
    if (!(self->fold.lost >= 0)) return sa_fail(SA_FORMAT, "'sketch_lost' is %g, below 0", self->fold.lost);
    self->counted = (uint64_t)counted;
    return SA_OK;
}

const sa_confidence_class sa_confidence_sketch = {
    .name = "sketch",
    .summary =
        "B gradients (--sketch-size) stand for all: cost and memory of a round stay the same; widths come with a bound",
    .create = create,
    .destroy = destroy,
    .widths = widths,
    .tighten = tighten,
    .count = count,
    .reserve = reserve,
    .discount = discount,
    .certificate = certificate,
    .state = state,
    .save = save,
    .load = load,
};

/* Widths at a cost and in a memory that are the same however many gradients were counted: at most B + B/4 of
 * them, the elements of the sketch, stand for all,
 *
 *     Z^ = lambda I + D A D',   g' Z^^-1 g = (g'g - |C^-1 D'g|^2) / lambda,   C C' = D'D + lambda A^-1
 *
 * which with A = I is the exact engine, and is computed from the same kind of factor (dual_real.c). A
 * gradient that is counted becomes an element, with weight 1 in A: the sketch is exact with respect to it.
 * When there is no more room, elements are folded into the others until B are left (sketch_fold.c), those
 * first whose removal loses least of tr(D A D'). Gradients stay as they were when they were counted, as they
 * do in the exact engine, and old ones go as new ones make up for them.
 *
 * The certificate. Let G be the counted gradients, G^ what the sketch has in their place, R = G - G^. For any
 * e > 0
 *
 *     G G' <= (1 + e) G^ G^' + (1 + 1/e) R R',  and the same with G and G^ exchanged,
 *
 * so with |R|^2 <= s^2 lambda, and e such that 1 + e = 1 + (1 + 1/e) s^2 = c^2, Z <= c^2 Z^ and Z^ <= c^2 Z:
 * an exact width is between w / c and w c, c = s / 2 + sqrt(1 + s^2 / 4). Folding keeps the bound on |R|.
 * Forgetting is by way of phi (fading.h), which adds 1 / sqrt(phi) to c as a factor; each fold, and a phi
 * that has grown small, take it into A. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/fading.h"
#include "confidence/sketch_fold.h"

#define SA_REAL_BITS 64
#include "model/gradients_real.h"

static const double ROUNDING =
    1e-3; /* what single precision may add to the certificate of a sketch that has folded */
static const double LEAST_FACTOR = 1e-9; /* of one discount: what is left then weighs nothing */
static const double LEAST_ELEMENT_WEIGHT = 1e-100;
enum { LEAST_FRESH = 16 }; /* elements between two folds, at least */

/* What only counting needs. */
typedef struct elements {
    sa_fold fold;
    sa_gradients wide; /* the elements in double precision, for a moment */
    double *inner;     /* workspace of gradients_inner */
    sa_pair *pair;     /* of a part of a batch */
} elements;

typedef struct sketch {
    sa_confidence base;
    double lambda;
    sa_factor *dual;   /* holds the elements */
    double phi;        /* see fading.h */
    size_t size, room; /* elements after a fold, and before */
    uint64_t counted;
    double lost, log_det; /* of the fold, for those who only ask */
    elements *elements;   /* NULL in an engine that others hold, once there is a fork of it */
} sketch_t;

static void destroy_elements(elements *self) {
    if (!self) return;
    sa_fold_clear(&self->fold);
    sa_gradients_clear(&self->wide);
    sa_free(self->inner);
    sa_free(self->pair);
    sa_free(self);
}

static void destroy(sa_confidence *confidence) {
    sketch_t *self = (sketch_t *)confidence;
    sa_factor_destroy(self->dual);
    destroy_elements(self->elements);
    sa_free(self);
}

static sa_status fork_engine(sa_confidence *confidence, sa_confidence **out) {
    sketch_t *self = (sketch_t *)confidence, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    sa_status status = self->dual->kind->fork(self->dual, &copy->dual);
    if (status != SA_OK) {
        sa_free(copy);
        return status;
    }
    self->elements = NULL;
    *out = &copy->base;
    return SA_OK;
}

/* ---- elements ---- */

/* The elements in double precision, and their Gram matrix for the fold. */
static void measure_elements(sketch_t *self) {
    const sa_gradients *held = sa_dual_gradients(self->dual);
    elements *all = self->elements;
    all->wide.count = 0;
    sa_gradients_append(&all->wide, held, NULL, held->count);
    gradients_inner_f64(&all->wide, &all->wide, all->fold.gram, held->count, all->inner);
}

/* Holds the elements `kept` (NULL: all) with the factor of the fold, in this precision. */
static sa_status hold(sketch_t *self, sa_precision precision, const size_t *kept) {
    sa_fold *fold = &self->elements->fold;
    sa_factor *next;
    SA_TRY(sa_fold_factor(fold));
    SA_TRY(
        sa_dual_from(precision, self->lambda, &self->elements->wide, kept, fold->count, fold->factor, &next));
    sa_factor_replace(&self->dual, next);
    self->lost = fold->lost;
    self->log_det = fold->log_det;
    return SA_OK;
}

static sa_status widen(sa_confidence *confidence) {
    sketch_t *self = (sketch_t *)confidence;
    if (self->dual->kind->precision == SA_PRECISION_DOUBLE) return SA_OK;
    measure_elements(self);
    return hold(self, SA_PRECISION_DOUBLE, NULL);
}

/* Folds until at most `keep` elements are left. What was forgotten goes into A on the way, and elements that
 * have faded away go: a weight must not come to 0, which has no inverse. */
static sa_status fold_until(sketch_t *self, size_t keep) {
    sa_fold *fold = &self->elements->fold;
    bool all = keep >= fold->count && sa_fold_least_weight(fold) > LEAST_ELEMENT_WEIGHT;
    measure_elements(self);
    sa_fold_fade(fold, self->phi);
    if (!all) sa_fold_until(fold, keep);
    self->phi = 1;
    return hold(self, self->dual->kind->precision, all ? NULL : fold->kept);
}

/* ---- making one ---- */

/* Asked before the first array is touched. */
static sa_status check_memory(const sketch_t *self, const sa_gradients *like) {
    double length = (double)sa_gradients_length(like), room = (double)self->room;
    double bytes = sa_fold_bytes(room) + room * (room / 2 + 2 * length) * sizeof(double),
           have = (double)sa_memory_available();
    if (have == 0 || bytes < have) return SA_OK;
    return sa_fail(SA_INVALID, "--sketch-size %zu needs %.3g GB, and %.3g GB are free: use a smaller one",
                   self->size, bytes / 1e9, have / 1e9);
}

static sa_status create_elements(sketch_t *self, size_t pairs, const sa_pair_shape *shape) {
    elements *all;
    SA_TRY(sa_alloc_array(1, sizeof *all, &all));
    self->elements = all;
    SA_TRY(sa_gradients_init(&all->wide, SA_PRECISION_DOUBLE, pairs, shape));
    SA_TRY(check_memory(self, &all->wide));
    SA_TRY(sa_fold_init(&all->fold, self->room, self->lambda));
    SA_TRY(sa_gradients_reserve(&all->wide, self->room));
    SA_TRY(sa_alloc_matrix(2 * SA_INNER_ROWS, SA_INNER_COLUMNS, sizeof(double), &all->inner));
    return sa_alloc_array(pairs, sizeof *all->pair, &all->pair);
}

static sa_status create(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out) {
    sketch_t *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = &sa_confidence_sketch;
    self->lambda = settings->regularization;
    self->phi = 1;
    self->size = (size_t)settings->sketch_size;
    self->room = self->size + (self->size / 4 > LEAST_FRESH ? self->size / 4 : LEAST_FRESH);
    SA_TRY_OR_FAIL(create_elements(self, pairs, shape));
    const sa_factor_class *kind = sa_factor_class_of(false, (sa_precision)settings->precision);
    SA_TRY_OR_FAIL(kind->create(self->lambda, &self->elements->wide, &self->dual));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* ---- widths and counting ---- */

static sa_status widths(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width) {
    const sketch_t *self = (const sketch_t *)confidence;
    return sa_factor_widths(self->dual, self->phi, batch, rows, count, label, work, width);
}

static sa_status tighten(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                         size_t count, sa_width_work *work, double *width) {
    const sketch_t *self = (const sketch_t *)confidence;
    return sa_factor_tighten(self->dual, self->phi, batch, rows, count, work, width);
}

/* Fills the room that there is, folds, and so on. */
static sa_status count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work) {
    sketch_t *self = (sketch_t *)confidence;
    sa_fold *fold = &self->elements->fold;
    bool fits;
    SA_TRY(sa_factor_fits(self->dual, batch, &fits));
    if (!fits) {
        SA_TRY(widen(confidence));
        label = NULL; /* what was kept is of the factor before */
    }
    for (size_t first = 0, many; first < batch->count; first += many) {
        size_t left = batch->count - first, room = self->room - fold->count;
        many = left < room ? left : room;
        sa_gradients part = sa_gradients_part(batch, first, many, self->elements->pair);
        SA_TRY(self->dual->kind->count(self->dual, &part, label, 1 / sqrt(self->phi), work));
        for (size_t i = 0; i < many; i++) sa_fold_add(fold);
        if (fold->count == self->room) SA_TRY(fold_until(self, self->size));
        label = NULL; /* it named gradients by the elements before the fold */
    }
    self->counted += batch->count;
    return SA_OK;
}

static sa_status fade(sa_confidence *confidence, double factor) {
    sketch_t *self = (sketch_t *)confidence;
    self->phi *= factor < LEAST_FACTOR ? LEAST_FACTOR : factor;
    return self->phi < SA_LEAST_FADE ? fold_until(self, self->room) : SA_OK;
}

static sa_status regularize(sa_confidence *confidence, double lambda) {
    sketch_t *self = (sketch_t *)confidence;
    self->lambda = self->elements->fold.lambda = lambda;
    return fold_until(self, self->room);
}

/* ---- numbers about it ---- */

static double certificate(const sa_confidence *confidence) {
    const sketch_t *self = (const sketch_t *)confidence;
    double s = self->lost / sqrt(self->lambda), faded = sqrt(1 / self->phi);
    return faded * (s > 0 ? (s / 2 + sqrt(1 + s * s / 4)) * (1 + ROUNDING) : 1);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const sketch_t *self = (const sketch_t *)confidence;
    *state = (sa_confidence_state){
        .counted = self->counted,
        .log_det = self->dual->kind->log_det(self->dual) + self->log_det,
        .in_double = self->dual->kind->precision == SA_PRECISION_DOUBLE,
    };
}

/* ---- files ---- */

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const sketch_t *self = (const sketch_t *)confidence;
    const sa_fold *fold = &self->elements->fold;
    static const int64_t yes = 1, no = 0;
    bool wide = self->dual->kind->precision == SA_PRECISION_DOUBLE;
    size_t fresh = fold->count - fold->old, old[2] = {fold->old, fold->old};
    SA_TRY(sa_npz_add(writer, "sketch_double", SA_INT64, 0, NULL, wide ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "sketch_counted", SA_INT64, 0, NULL, &self->counted));
    SA_TRY(sa_npz_add(writer, "sketch_fade", SA_FLOAT64, 0, NULL, &self->phi));
    SA_TRY(sa_npz_add(writer, "sketch_lost", SA_FLOAT64, 0, NULL, &fold->lost));
    SA_TRY(sa_npz_add(writer, "sketch_log_det", SA_FLOAT64, 0, NULL, &fold->log_det));
    SA_TRY(sa_npz_add(writer, "sketch_old", SA_FLOAT64, 2, old, fold->weights));
    SA_TRY(sa_npz_add(writer, "sketch_fresh", SA_FLOAT64, 1, &fresh, fold->weight + fold->old));
    return self->dual->kind->save(self->dual, writer);
}

/* A is positive definite; more than its diagonal need not be looked at. */
static sa_status check_weights(const sa_fold *fold) {
    for (size_t i = 0; i < fold->count; i++) {
        double weight = sa_fold_weight(fold, i);
        if (!(weight > 0 && isfinite(weight)))
            return sa_fail(SA_FORMAT,
                           "element %zu of the sketch has the weight %g, and must have one above 0", i,
                           weight);
    }
    return SA_OK;
}

/* The weights of all elements, old and fresh; how many there are. */
static sa_status read_weights(sketch_t *self, sa_npz *archive) {
    sa_fold *fold = &self->elements->fold;
    sa_array fresh = {0}, old = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "sketch_fresh", SA_FLOAT64, 0, NULL, &fresh));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "sketch_old", SA_FLOAT64, 0, NULL, &old));
    size_t count = sa_array_count(&fresh), folded = old.axes == 2 ? old.shape[0] : 0;
    if (old.axes != 2 || old.shape[1] != folded || folded > self->room || count >= self->room - folded) {
        status =
            sa_fail(SA_FORMAT, "a sketch of %zu elements, %zu of them fresh, does not fit --sketch-size %zu",
                    folded + count, count, self->size);
        goto fail;
    }
    memcpy(fold->weights, old.data, folded * folded * sizeof(double));
    memcpy(fold->weight + folded, fresh.data, count * sizeof(double));
    fold->old = folded;
    fold->count = folded + count;
    status = check_weights(fold);
fail:
    sa_array_clear(&fresh);
    sa_array_clear(&old);
    return status;
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    sketch_t *self = (sketch_t *)confidence;
    sa_fold *fold = &self->elements->fold;
    int64_t counted, wide;
    sa_factor *dual;
    SA_TRY(sa_npz_get_integer(archive, "sketch_double", 0, 1, &wide));
    SA_TRY(sa_npz_get_integer(archive, "sketch_counted", 0, INT64_MAX, &counted));
    SA_TRY(read_weights(self, archive));
    SA_TRY(sa_npz_get_number(archive, "sketch_fade", &self->phi));
    if (!(self->phi > 0 && self->phi <= 1))
        return sa_fail(SA_FORMAT, "'sketch_fade' is %g, and must be more than 0 and at most 1", self->phi);
    SA_TRY(sa_npz_get_number(archive, "sketch_lost", &fold->lost));
    SA_TRY(sa_npz_get_number(archive, "sketch_log_det", &fold->log_det));
    if (!(fold->lost >= 0)) return sa_fail(SA_FORMAT, "'sketch_lost' is %g, below 0", fold->lost);
    const sa_factor_class *kind = sa_factor_class_of(false, wide ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE);
    SA_TRY(kind->create(self->lambda, sa_dual_gradients(self->dual), &dual)); /* of none: it is empty still */
    sa_factor_replace(&self->dual, dual);
    self->counted = (uint64_t)counted;
    self->lost = fold->lost;
    self->log_det = fold->log_det;
    return kind->load(self->dual, archive, fold->count);
}

const sa_confidence_class sa_confidence_sketch = {
    .name = "sketch",
    .summary = "B gradients (--sketch-size) stand for all: cost and memory of a round stay the same; widths "
               "come with a bound",
    .create = create,
    .destroy = destroy,
    .fork = fork_engine,
    .widths = widths,
    .tighten = tighten,
    .count = count,
    .fade = fade,
    .regularize = regularize,
    .widen = widen,
    .certificate = certificate,
    .state = state,
    .save = save,
    .load = load,
};

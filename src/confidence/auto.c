/* Exact as long as that is cheap, then a sketch of all that was counted. In operations, with n gradients
 * counted, N arms, gradients kept as w numbers, and F = 4 M^2 w + 8 M^3 for a fold of the sketch's M = B +
 * B/4 elements, a round that counts k gradients costs
 *
 *     exact   n^2 N + 2 n N w         sketch   M^2 N + 2 M N w + k F / (B/4)
 *
 * and the sketch of n gradients is made for n F / (B/4). Nobody knows how many rounds will come, so it is
 * made when exact widths have cost as much more than a sketch's would have (change_over.h). With few
 * parameters, p <= 2 M, the p x p side is no dearer than a sketch, and the engine stays exact, whether the
 * agent discounts or not. With more, an agent that discounts has a sketch from the first on. */
#include <string.h>

#include "base/memory.h"
#include "confidence/change_over.h"
#include "confidence/confidence.h"

enum { LARGE_BATCH = 8 }; /* more than so many times M at once are counted by a sketch from the first on */

typedef struct automatic {
    sa_confidence base;
    sa_confidence_settings settings; /* of the engines within */
    size_t pairs;
    sa_pair_shape *shape;           /* (pairs) */
    sa_confidence *now;             /* exact, or a sketch */
    bool stays;                     /* exact for good */
    double elements, fresh, length; /* M, B/4, w */
    uint64_t counted;
    sa_rent rent; /* of exact widths */
} automatic_t;

static bool is_exact(const automatic_t *self) { return self->now->kind == &sa_confidence_exact; }

static void destroy(sa_confidence *confidence) {
    automatic_t *self = (automatic_t *)confidence;
    sa_confidence_destroy(self->now);
    sa_free(self->shape);
    sa_free(self);
}

static sa_status fork_engine(sa_confidence *confidence, sa_confidence **out) {
    automatic_t *self = (automatic_t *)confidence, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *self;
    sa_status status = self->now->kind->fork(self->now, &copy->now);
    if (status != SA_OK) {
        sa_free(copy);
        return status;
    }
    sa_hold(copy->shape);
    *out = &copy->base;
    return SA_OK;
}

static void measure(automatic_t *self, double size) {
    double parameters = 0;
    self->fresh = size / 4 > 16 ? size / 4 : 16;
    self->elements = size + self->fresh;
    for (size_t l = 0; l < self->pairs; l++) {
        parameters += (double)self->shape[l].delta * (double)self->shape[l].input;
        self->length += (double)(self->shape[l].delta + self->shape[l].input);
    }
    self->stays = parameters <= 2 * self->elements;
}

static sa_status create(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out) {
    automatic_t *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base.kind = &sa_confidence_auto;
    self->settings = (sa_confidence_settings){.precision = settings->precision,
                                              .regularization = settings->regularization,
                                              .sketch_size = settings->sketch_size,
                                              .discount = 1}; /* of a sketch, which forgets by itself */
    self->pairs = pairs;
    SA_TRY_OR_FAIL(sa_alloc_array(pairs, sizeof *shape, &self->shape));
    memcpy(self->shape, shape, pairs * sizeof *shape);
    measure(self, (double)settings->sketch_size);
    self->settings.exact_form = self->stays ? SA_EXACT_AUTO : SA_EXACT_DUAL;
    const sa_confidence_class *first =
        settings->discount < 1 && !self->stays ? &sa_confidence_sketch : &sa_confidence_exact;
    sa_confidence_settings within = self->settings;
    if (self->stays) within.discount = settings->discount;
    SA_TRY_OR_FAIL(first->create(&within, pairs, shape, &self->now));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

/* ---- changing over ---- */

static double fold_cost(const automatic_t *self) {
    return 4 * self->elements * self->elements * (self->length + 2 * self->elements);
}

/* A sketch of `held` (NULL: of none), as precise as exact widths had to be. */
static sa_status change_over(automatic_t *self, const sa_gradients *held) {
    sa_confidence *sketch;
    sa_confidence_settings settings = self->settings;
    sa_width_work work = {0};
    if (held) settings.precision = (int)held->precision;
    SA_TRY(sa_confidence_sketch.create(&settings, self->pairs, self->shape, &sketch));
    sa_status status = held && held->count ? sketch->kind->count(sketch, held, NULL, &work) : SA_OK;
    sa_width_work_clear(&work);
    if (status != SA_OK) {
        sa_confidence_destroy(sketch);
        return status;
    }
    sa_confidence_destroy(self->now);
    self->now = sketch;
    return SA_OK;
}

/* After a round. When memory for a sketch is short, exact widths go on. */
static void consider(automatic_t *self, size_t round_counted) {
    double n = (double)self->counted, m = self->elements, arms = self->base.asked, w = self->length;
    if (self->stays || !is_exact(self)) return;
    double more = (n * n - m * m) * arms + 2 * (n - m) * arms * w -
                  (double)round_counted * fold_cost(self) / self->fresh;
    if (!sa_rent_is_up(&self->rent, more, n * fold_cost(self) / self->fresh)) return;
    if (change_over(self, sa_exact_gradients(self->now)) != SA_OK) self->rent.excess = 0;
}

static sa_status expect(sa_confidence *confidence, size_t count) {
    automatic_t *self = (automatic_t *)confidence;
    if (!self->stays && is_exact(self) && (double)count > LARGE_BATCH * self->elements)
        SA_TRY(change_over(self, sa_exact_gradients(self->now)));
    return self->now->kind->expect ? self->now->kind->expect(self->now, count) : SA_OK;
}

/* ---- the engine ---- */

static sa_status widths(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width) {
    const automatic_t *self = (const automatic_t *)confidence;
    return self->now->kind->widths(self->now, batch, rows, count, label, work, width);
}

static sa_status tighten(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                         size_t count, sa_width_work *work, double *width) {
    const automatic_t *self = (const automatic_t *)confidence;
    return self->now->kind->tighten(self->now, batch, rows, count, work, width);
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work) {
    automatic_t *self = (automatic_t *)confidence;
    self->now->asked = confidence->asked;
    SA_TRY(self->now->kind->count(self->now, batch, label, work));
    self->counted += batch->count;
    consider(self, batch->count);
    return SA_OK;
}

static sa_status fade(sa_confidence *confidence, double factor) {
    automatic_t *self = (automatic_t *)confidence;
    if (is_exact(self) && !self->stays) SA_TRY(change_over(self, sa_exact_gradients(self->now)));
    return self->now->kind->fade(self->now, factor);
}

static sa_status regularize(sa_confidence *confidence, double lambda) {
    automatic_t *self = (automatic_t *)confidence;
    SA_TRY(self->now->kind->regularize(self->now, lambda));
    self->settings.regularization = lambda;
    return SA_OK;
}

static sa_status widen(sa_confidence *confidence) {
    automatic_t *self = (automatic_t *)confidence;
    return self->now->kind->widen(self->now);
}

static double certificate(const sa_confidence *confidence) {
    return sa_confidence_certificate(((const automatic_t *)confidence)->now);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const automatic_t *self = (const automatic_t *)confidence;
    self->now->kind->state(self->now, state);
}

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const automatic_t *self = (const automatic_t *)confidence;
    static const int64_t yes = 1, no = 0;
    SA_TRY(sa_npz_add(writer, "auto_exact", SA_INT64, 0, NULL, is_exact(self) ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "auto_counted", SA_INT64, 0, NULL, &self->counted));
    SA_TRY(sa_npz_add(writer, "auto_excess", SA_FLOAT64, 0, NULL, &self->rent.excess));
    return self->now->kind->save(self->now, writer);
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    automatic_t *self = (automatic_t *)confidence;
    int64_t exact, counted;
    SA_TRY(sa_npz_get_integer(archive, "auto_exact", 0, 1, &exact));
    SA_TRY(sa_npz_get_integer(archive, "auto_counted", 0, INT64_MAX, &counted));
    SA_TRY(sa_npz_get_number(archive, "auto_excess", &self->rent.excess));
    if (!exact && is_exact(self)) SA_TRY(change_over(self, NULL)); /* of none: the file has the rest */
    self->counted = (uint64_t)counted;
    return self->now->kind->load(self->now, archive);
}

const sa_confidence_class sa_confidence_auto = {
    .name = "auto",
    .summary = "exact until that has cost more than a sketch would, then a sketch of all that was counted",
    .create = create,
    .destroy = destroy,
    .fork = fork_engine,
    .widths = widths,
    .tighten = tighten,
    .count = count,
    .fade = fade,
    .regularize = regularize,
    .expect = expect,
    .widen = widen,
    .certificate = certificate,
    .state = state,
    .save = save,
    .load = load,
};

/* The exact engine: a factor of all of Z, and the rule of when to change to another.
 *
 * Which side. A round with N gradients costs, in operations,
 *
 *     dual    n^2 N + 2 n N w       (triangular solve; inner products of factored gradients of length w)
 *     primal  p^2 N + 3 p^2 K       (triangular solve; rank-K update)
 *
 * and changing from dual to primal costs p^2 n + p^3 / 3 once (change_over.h). For small p the primal side is
 * taken at once.
 *
 * Which precision. The dual width loses digits as rho = lambda width^2 / |g|^2 falls, about 2e-7 / rho in
 * single precision. Once rho is below 1e-3, or a gradient too large for single precision, the engine is to be
 * widened: the factor is made again in double precision, and stays there.
 *
 * Forgetting: fading.h. */
#include <math.h>

#include "base/memory.h"
#include "confidence/change_over.h"
#include "confidence/fading.h"

static const size_t PRIMAL_AT_ONCE = 256; /* parameters up to which p x p is cheaper than thinking about it */

typedef struct exact {
    sa_confidence base;
    double lambda;
    int form_wanted; /* sa_exact_form */
    sa_factor *factor;
    sa_gradients none;         /* an empty batch: the pairs of gradients */
    size_t parameters, length; /* p; w, the numbers kept of one gradient */
    uint64_t counted;
    sa_rent rent; /* of the dual side */
    sa_fading fading;
} exact_t;

static void destroy(sa_confidence *confidence) {
    exact_t *exact = (exact_t *)confidence;
    sa_factor_destroy(exact->factor);
    sa_gradients_clear(&exact->none);
    sa_free(exact->fading.weight);
    sa_free(exact);
}

static sa_status create(const sa_confidence_settings *settings, size_t pairs, const sa_pair_shape *shape,
                        sa_confidence **out) {
    exact_t *exact;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *exact, &exact));
    exact->base.kind = &sa_confidence_exact;
    exact->lambda = settings->regularization;
    exact->form_wanted = settings->exact_form;
    exact->fading.phi = 1;
    SA_TRY_OR_FAIL(sa_gradients_init(&exact->none, (sa_precision)settings->precision, pairs, shape));
    exact->none.summed = settings->totals;
    exact->parameters = sa_gradients_parameters(&exact->none);
    exact->length = sa_gradients_length(&exact->none);
    bool primal = exact->form_wanted == SA_EXACT_PRIMAL ||
                  (exact->form_wanted == SA_EXACT_AUTO && exact->parameters <= PRIMAL_AT_ONCE);
    const sa_factor_class *kind = sa_factor_class_of(primal, exact->none.precision);
    SA_TRY_OR_FAIL(kind->create(exact->lambda, &exact->none, &exact->factor));
    if (settings->discount < 1)
        SA_TRY_OR_FAIL(
            sa_grow_array(&exact->fading.weight, &exact->fading.capacity, 1, sizeof *exact->fading.weight));
    *out = &exact->base;
    return SA_OK;
fail:
    destroy(&exact->base);
    return status;
}

static sa_status fork_engine(sa_confidence *confidence, sa_confidence **out) {
    exact_t *exact = (exact_t *)confidence, *copy;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    *copy = *exact;
    copy->factor = NULL;
    copy->none = (sa_gradients){0};
    copy->fading.weight = NULL;
    sa_status status = sa_gradients_init_like(&copy->none, exact->none.precision, &exact->none);
    if (status == SA_OK) status = exact->factor->kind->fork(exact->factor, &copy->factor);
    if (status != SA_OK) {
        destroy(&copy->base);
        return status;
    }
    copy->fading.weight = exact->fading.weight; /* only counting needs it */
    exact->fading.weight = NULL;
    *out = &copy->base;
    return SA_OK;
}

/* ---- changing over ---- */

static sa_status widen(sa_confidence *confidence) {
    exact_t *exact = (exact_t *)confidence;
    const sa_factor *factor = exact->factor;
    sa_factor *next;
    if (factor->kind->precision == SA_PRECISION_DOUBLE) return SA_OK;
    if (factor->kind->primal)
        SA_TRY(sa_primal_widen(factor, &next));
    else
        SA_TRY(sa_dual_f64.create(exact->lambda, sa_dual_gradients(factor), &next));
    sa_factor_replace(&exact->factor, next);
    return SA_OK;
}

static sa_status change_to_primal(exact_t *exact) {
    const sa_factor_class *kind = sa_factor_class_of(true, exact->factor->kind->precision);
    sa_factor *next;
    SA_TRY(kind->create(exact->lambda, sa_dual_gradients(exact->factor), &next));
    sa_factor_replace(&exact->factor, next);
    return SA_OK;
}

/* After a round: changes over when it is due. When memory for it is short, the dual side goes on. */
static void consider_primal(exact_t *exact, size_t round_counted) {
    double n = (double)exact->counted, p = (double)exact->parameters, w = (double)exact->length;
    double arms = exact->base.asked;
    if (exact->form_wanted != SA_EXACT_AUTO || exact->factor->kind->primal) return;
    double more = n * n * arms + 2 * n * arms * w - p * p * arms - 3 * p * p * (double)round_counted;
    if (!sa_rent_is_up(&exact->rent, more, p * p * n + p * p * p / 3)) return;
    if (change_to_primal(exact) != SA_OK) exact->rent.excess = 0;
}

/* So many at once, and more than the p x p side is wide: change over before any of them is counted. */
static sa_status expect(sa_confidence *confidence, size_t count) {
    exact_t *exact = (exact_t *)confidence;
    bool empty = exact->form_wanted == SA_EXACT_AUTO && !exact->factor->kind->primal && exact->counted == 0;
    return empty && count > exact->parameters ? change_to_primal(exact) : SA_OK;
}

/* ---- widths and counting ---- */

static sa_status widths(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                        size_t count, const size_t *label, sa_width_work *work, double *width) {
    const exact_t *exact = (const exact_t *)confidence;
    return sa_factor_widths(exact->factor, exact->fading.phi, batch, rows, count, label, work, width);
}

static sa_status tighten(const sa_confidence *confidence, const sa_gradients *batch, const size_t *rows,
                         size_t count, sa_width_work *work, double *width) {
    const exact_t *exact = (const exact_t *)confidence;
    return sa_factor_tighten(exact->factor, exact->fading.phi, batch, rows, count, work, width);
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, const size_t *label,
                       sa_width_work *work) {
    exact_t *exact = (exact_t *)confidence;
    size_t many = sa_gradients_many(batch);
    bool fits = true;
    if (!label) SA_TRY(sa_factor_fits(exact->factor, batch, &fits));
    if (!fits) SA_TRY(widen(confidence));
    SA_TRY(exact->factor->kind->count(exact->factor, batch, label, 1 / sqrt(exact->fading.phi), work));
    SA_TRY(sa_fading_count(&exact->fading, exact->factor, exact->counted, many));
    exact->counted += many;
    consider_primal(exact, many);
    return SA_OK;
}

static sa_status fade(sa_confidence *confidence, double factor) {
    exact_t *exact = (exact_t *)confidence;
    bool small = exact->parameters <= PRIMAL_AT_ONCE;
    return sa_fading_count_less(&exact->fading, &exact->factor, factor, small, &exact->counted);
}

static sa_status regularize(sa_confidence *confidence, double lambda) {
    exact_t *exact = (exact_t *)confidence;
    sa_factor *next;
    if (exact->factor->kind->primal)
        SA_TRY(sa_primal_regularize(exact->factor, lambda));
    else {
        SA_TRY(exact->factor->kind->create(lambda, sa_dual_gradients(exact->factor), &next));
        sa_factor_replace(&exact->factor, next);
    }
    exact->lambda = lambda;
    return SA_OK;
}

const sa_gradients *sa_exact_gradients(const sa_confidence *confidence) {
    const exact_t *exact = (const exact_t *)confidence;
    return exact->factor->kind->primal ? NULL : sa_dual_gradients(exact->factor);
}

static double certificate(const sa_confidence *confidence) {
    const exact_t *exact = (const exact_t *)confidence;
    return sa_fading_certificate(&exact->fading, exact->lambda);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const exact_t *exact = (const exact_t *)confidence;
    *state = (sa_confidence_state){
        .counted = exact->counted,
        .log_det = exact->factor->kind->log_det(exact->factor),
        .in_double = exact->factor->kind->precision == SA_PRECISION_DOUBLE,
        .from_primal = exact->factor->kind->primal,
    };
}

/* ---- files ---- */

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const exact_t *exact = (const exact_t *)confidence;
    static const int64_t yes = 1, no = 0;
    const sa_factor_class *kind = exact->factor->kind;
    SA_TRY(sa_npz_add(writer, "exact_primal", SA_INT64, 0, NULL, kind->primal ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "exact_double", SA_INT64, 0, NULL,
                      kind->precision == SA_PRECISION_DOUBLE ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "exact_counted", SA_INT64, 0, NULL, &exact->counted));
    SA_TRY(sa_npz_add(writer, "exact_excess", SA_FLOAT64, 0, NULL, &exact->rent.excess));
    SA_TRY(sa_fading_save(&exact->fading, exact->factor, exact->counted, writer));
    return kind->save(exact->factor, writer);
}

/* An empty factor of the file's kind, for the pairs of the present one. */
static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    exact_t *exact = (exact_t *)confidence;
    int64_t primal, in_double, counted;
    SA_TRY(sa_npz_get_integer(archive, "exact_primal", 0, 1, &primal));
    SA_TRY(sa_npz_get_integer(archive, "exact_double", 0, 1, &in_double));
    SA_TRY(sa_npz_get_integer(archive, "exact_counted", 0, INT64_MAX / 64, &counted));
    SA_TRY(sa_npz_get_number(archive, "exact_excess", &exact->rent.excess));
    const sa_factor_class *kind =
        sa_factor_class_of(primal, in_double ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE);
    sa_factor *next;
    SA_TRY(kind->create(exact->lambda, &exact->none, &next));
    sa_factor_replace(&exact->factor, next);
    exact->counted = (uint64_t)counted;
    SA_TRY(sa_fading_load(&exact->fading, exact->factor, exact->counted, archive));
    return kind->load(exact->factor, archive, (size_t)counted);
}

const sa_confidence_class sa_confidence_exact = {
    .name = "exact",
    .sums = true,
    .summary =
        "sqrt(g' Z^-1 g / m) from a Cholesky factor, of the n x n or the p x p side, whichever is cheaper",
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

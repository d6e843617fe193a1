/* The exact engine: chooses between the dual and the primal side, and between single and double precision.
 *
 * Which side. A round with N gradients costs, in operations,
 *
 *     dual    n^2 N + 2 n N w       (triangular solve; inner products of factored gradients of length w)
 *     primal  p^2 N + 3 p^2 K       (triangular solve; rank-K update)
 *
 * and changing from dual to primal costs p^2 n + p^3 / 3 once. The number of rounds to come is unknown, so the rule is that
 * of renting and buying: change over when the rounds so far have cost on the dual side, in excess of the primal one, what the
 * change costs. Whatever comes, that is at most twice the cost of knowing. For small p the primal side is taken at once.
 *
 * Which precision. The dual width loses digits as rho = lambda width^2 / |g|^2 falls, about 2e-7 / rho in single precision.
 * Once rho is below 1e-3, or a gradient too large for single precision, the factor is rebuilt in double precision, and stays
 * there.
 *
 * Forgetting. With phi the product of the factors that Z was discounted by since the form was made, the form stands for
 *
 *     phi (lambda I + G G') = phi lambda I + (what was counted, discounted)
 *
 * and gradients are counted divided by sqrt(phi). So all is right but lambda, which counts as phi lambda: widths are never too
 * small, and at most 1 / sqrt(phi) times the right ones. When phi falls below LEAST_FADE the form is made anew, with lambda as it
 * should be: on the dual side from the gradients, those left out that weigh less than LEAST_WEIGHT by then, on the primal side
 * from Z. No width is above |g| / sqrt(lambda), the one before anything was counted. */
#include "confidence/exact.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/exact_form.h"

static const size_t PRIMAL_AT_ONCE = 256; /* parameters up to which p x p is cheaper than thinking about it */
static const double SMALLEST_RHO = 1e-3;  /* in single precision */
static const double LEAST_FADE = 0.8, LEAST_WEIGHT = 0.01;

typedef struct exact {
    sa_confidence base;
    double lambda;
    int form_wanted; /* sa_exact_form */
    const sa_exact_form_class *kind;
    void *form;
    sa_gradients converted;    /* a batch in the form's precision, when the model's is another */
    size_t parameters, length; /* p; w, the numbers kept of one gradient */
    uint64_t counted, ticket;
    double excess;     /* operations that the dual side has cost more than the primal one would have */
    double last_batch; /* N of the last widths */
    /* forgetting: */
    double fade;    /* phi; 1 for an engine that forgets nothing */
    double *weight; /* (counted) of the gradients that the form keeps, in units of phi; NULL: nothing is forgotten */
    size_t weight_capacity;
    double dropped; /* what was left out, as it would weigh now: sum of weight |g|^2 */
    /* as the inside of another engine (exact.h): */
    sa_exact_factor factor; /* NULL: lambda I + G'G = C C' */
    void *owner;
} exact_t;

static const sa_exact_form_class *form_class(bool primal, sa_precision precision) {
    static const sa_exact_form_class *const classes[2][2] = {{&sa_dual_f32, &sa_dual_f64},
                                                             {&sa_primal_f32, &sa_primal_f64}};
    return classes[primal][precision];
}

static bool is_primal(const exact_t *exact) { return exact->kind == form_class(true, exact->kind->precision); }

static void destroy(sa_confidence *confidence) {
    exact_t *exact = (exact_t *)confidence;
    if (exact->kind) exact->kind->destroy(exact->form);
    sa_gradients_clear(&exact->converted);
    sa_free(exact->weight);
    sa_free(exact);
}

static void replace_form(exact_t *exact, const sa_exact_form_class *kind, void *form) {
    exact->kind->destroy(exact->form);
    exact->kind = kind;
    exact->form = form;
}

static sa_status create(const sa_options *options, size_t pairs, const sa_pair_shape *shape, sa_confidence **out) {
    exact_t *exact;
    sa_status status;
    sa_gradients none = {0};
    SA_TRY(sa_alloc_array(1, sizeof *exact, &exact));
    exact->base.kind = &sa_confidence_exact;
    exact->lambda = options->regularization;
    exact->form_wanted = options->exact_form;
    exact->fade = 1;
    SA_TRY_OR_FAIL(sa_gradients_init(&none, (sa_precision)options->precision, pairs, shape));
    SA_TRY_OR_FAIL(sa_gradients_init(&exact->converted, SA_PRECISION_DOUBLE, pairs, shape));
    exact->parameters = sa_gradients_parameters(&none);
    exact->length = sa_gradients_length(&none);
    bool primal = exact->form_wanted == SA_EXACT_PRIMAL ||
                  (exact->form_wanted == SA_EXACT_AUTO && exact->parameters <= PRIMAL_AT_ONCE);
    const sa_exact_form_class *kind = form_class(primal, none.precision);
    SA_TRY_OR_FAIL(kind->create(exact->lambda, &none, &exact->form));
    exact->kind = kind;
    if (options->discount < 1)
        SA_TRY_OR_FAIL(sa_grow_array(&exact->weight, &exact->weight_capacity, 1, sizeof *exact->weight));
    sa_gradients_clear(&none);
    *out = &exact->base;
    return SA_OK;
fail:
    sa_gradients_clear(&none);
    destroy(&exact->base);
    return status;
}

/* The batch in the form's precision: itself, or a converted copy that lasts until the next call. */
static sa_status in_precision(exact_t *exact, const sa_gradients *batch, const sa_gradients **out) {
    *out = batch;
    if (batch->precision == exact->kind->precision) return SA_OK;
    exact->converted.count = 0;
    SA_TRY(sa_gradients_reserve(&exact->converted, batch->count));
    sa_gradients_append(&exact->converted, batch, NULL, batch->count);
    *out = &exact->converted;
    return SA_OK;
}

/* ---- precision ---- */

/* A double-precision form that holds the same as the present one, with the owner's factor. */
static sa_status hold_in_double(exact_t *exact, const sa_exact_form_class *kind, void **out) {
    const sa_gradients *held = exact->kind->counted(exact->form);
    sa_gradients none;
    SA_TRY(sa_gradients_init_like(&none, SA_PRECISION_DOUBLE, held));
    sa_status status = kind->create(exact->lambda, &none, out);
    sa_gradients_clear(&none);
    if (status != SA_OK) return status;
    status = kind->hold(*out, held, NULL, held->count, exact->factor(exact->owner));
    if (status != SA_OK) kind->destroy(*out);
    return status;
}

static sa_status count_in_double(exact_t *exact, const sa_exact_form_class *kind, void **out) {
    const sa_gradients *counted = exact->kind->counted(exact->form);
    sa_gradients wide;
    SA_TRY(sa_gradients_init_like(&wide, SA_PRECISION_DOUBLE, counted));
    sa_status status = sa_gradients_reserve(&wide, counted->count);
    if (status == SA_OK) {
        sa_gradients_append(&wide, counted, NULL, counted->count);
        status = kind->create(exact->lambda, &wide, out);
    }
    sa_gradients_clear(&wide);
    return status;
}

static sa_status rebuild_in_double(exact_t *exact) {
    const sa_exact_form_class *kind = form_class(is_primal(exact), SA_PRECISION_DOUBLE);
    void *form;
    if (!exact->kind->counted(exact->form))
        SA_TRY(kind->widen(exact->form, &form));
    else
        SA_TRY(exact->factor ? hold_in_double(exact, kind, &form) : count_in_double(exact, kind, &form));
    replace_form(exact, kind, form);
    return SA_OK;
}

/* ---- forgetting ---- */

/* The gradients of a dual form that still count, with the weights they have now. */
static sa_status take_counting(const exact_t *exact, const sa_gradients *counted, sa_gradients *out) {
    size_t first = 0;
    while (first < counted->count && exact->weight[first] * exact->fade < LEAST_WEIGHT) first++;
    SA_TRY(sa_gradients_init_like(out, counted->precision, counted));
    sa_status status = sa_gradients_reserve(out, counted->count - first);
    for (size_t i = first; status == SA_OK && i < counted->count; i++) {
        sa_gradients_append(out, counted, &i, 1);
        sa_gradients_scale(out, i - first, sqrt(exact->fade));
    }
    if (status != SA_OK) sa_gradients_clear(out);
    return status;
}

/* sum of |g|^2 over the first so many, as they are kept */
static sa_status energy_of(const sa_gradients *counted, size_t many, double *energy) {
    double *norm;
    SA_TRY(sa_alloc_array(counted->count, sizeof *norm, &norm));
    sa_gradients_norms(counted, norm);
    *energy = 0;
    for (size_t i = 0; i < many; i++) *energy += norm[i];
    sa_free(norm);
    return SA_OK;
}

/* The form made anew, so that phi is 1. On failure it is as it was. */
static sa_status freshen(exact_t *exact) {
    const sa_gradients *counted = exact->kind->counted(exact->form);
    if (!counted) {
        SA_TRY(exact->kind->fade(exact->form, exact->fade));
        exact->fade = 1;
        return SA_OK;
    }
    sa_gradients counting;
    void *form;
    SA_TRY(take_counting(exact, counted, &counting));
    size_t left = counting.count, dropped = counted->count - left;
    double energy;
    sa_status status = energy_of(counted, dropped, &energy);
    if (status == SA_OK) status = exact->kind->create(exact->lambda, &counting, &form);
    sa_gradients_clear(&counting);
    if (status != SA_OK) return status;
    replace_form(exact, exact->kind, form);
    for (size_t i = 0; i < left; i++) exact->weight[i] = exact->weight[i + dropped] * exact->fade;
    exact->counted = left;
    exact->dropped += energy * exact->fade;
    exact->fade = 1;
    return SA_OK;
}

static sa_status discount(sa_confidence *confidence, double factor) {
    exact_t *exact = (exact_t *)confidence;
    bool first = !exact->weight;
    if (factor == 1) return SA_OK;
    SA_TRY(sa_grow_array(&exact->weight, &exact->weight_capacity, is_primal(exact) ? 1 : exact->counted + 1,
                         sizeof *exact->weight));
    for (size_t i = 0; first && !is_primal(exact) && i < exact->counted; i++) exact->weight[i] = 1;
    double before = exact->fade, dropped = exact->dropped;
    exact->fade *= factor;
    exact->dropped *= factor;
    sa_status status = exact->fade < LEAST_FADE ? freshen(exact) : SA_OK;
    if (status != SA_OK) {
        exact->fade = before;
        exact->dropped = dropped;
    }
    return status;
}

/* Widths by a form that stands for phi times its Z: squared[i] of the rows, and no more than |g|^2 / lambda. */
static sa_status fade_widths(const exact_t *exact, const sa_gradients *batch, const size_t *rows, size_t count,
                             double *squared) {
    double *norm;
    if (exact->fade == 1) return SA_OK;
    SA_TRY(sa_alloc_array(batch->count, sizeof *norm, &norm));
    sa_gradients_norms(batch, norm);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        double faded = squared[row] / exact->fade, most = norm[row] / exact->lambda;
        squared[row] = faded > most ? most : faded; /* NaN stays NaN */
    }
    sa_free(norm);
    return SA_OK;
}

/* ---- widths and counting ---- */

static sa_status widths(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                        double *width, uint64_t *ticket) {
    exact_t *exact = (exact_t *)confidence;
    uint64_t name = *ticket ? *ticket : exact->ticket + 1;
    const sa_gradients *ours;
    double rho;
    SA_TRY(in_precision(exact, batch, &ours));
    SA_TRY(exact->kind->squared_widths(exact->form, ours, rows, count, name, width, &rho));
    if (rho < SMALLEST_RHO && exact->kind->precision == SA_PRECISION_SINGLE) {
        SA_TRY(rebuild_in_double(exact));
        SA_TRY(in_precision(exact, batch, &ours));
        SA_TRY(exact->kind->squared_widths(exact->form, ours, rows, count, name, width, &rho));
    }
    SA_TRY(fade_widths(exact, ours, rows, count, width));
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        width[row] = sqrt(width[row]);
    }
    exact->last_batch = (double)count + (*ticket ? exact->last_batch : 0);
    if (name > exact->ticket) exact->ticket = name; /* a name is never given twice, whichever batch was asked for last */
    *ticket = name;
    return SA_OK;
}

static sa_status tighten(sa_confidence *confidence, const sa_gradients *batch, const size_t *rows, size_t count,
                         double *width) {
    exact_t *exact = (exact_t *)confidence;
    const sa_gradients *ours;
    if (!exact->kind->tighten) return SA_OK;
    SA_TRY(in_precision(exact, batch, &ours));
    for (size_t i = 0; i < count; i++) width[rows[i]] *= width[rows[i]] * exact->fade;
    SA_TRY(exact->kind->tighten(exact->form, ours, rows, count, width));
    for (size_t i = 0; i < count; i++) width[rows[i]] = sqrt(width[rows[i]] / exact->fade);
    return SA_OK;
}

/* After a round: changes over when it is due. When memory for it is short, the dual side goes on. */
static void consider_primal(exact_t *exact, size_t round_counted) {
    double n = (double)exact->counted, p = (double)exact->parameters, w = (double)exact->length;
    double batch = exact->last_batch;
    if (exact->form_wanted != SA_EXACT_AUTO || is_primal(exact)) return;
    exact->excess += n * n * batch + 2 * n * batch * w - p * p * batch - 3 * p * p * (double)round_counted;
    if (exact->excess < 0) exact->excess = 0;
    if (exact->excess <= p * p * n + p * p * p / 3) return;
    const sa_exact_form_class *kind = form_class(true, exact->kind->precision);
    void *form;
    if (kind->create(exact->lambda, exact->kind->counted(exact->form), &form) == SA_OK)
        replace_form(exact, kind, form);
    else
        exact->excess = 0;
}

/* Gradients whose widths nobody has asked for may be too large for single precision. */
static sa_status guard_precision(exact_t *exact, const sa_gradients *batch) {
    double *squared, largest = 0;
    if (exact->kind->precision != SA_PRECISION_SINGLE) return SA_OK;
    SA_TRY(sa_alloc_array(batch->count, sizeof *squared, &squared));
    sa_gradients_norms(batch, squared);
    for (size_t i = 0; i < batch->count; i++)
        if (!(squared[i] <= largest)) largest = squared[i]; /* NaN counts as large */
    sa_free(squared);
    return largest <= SA_LARGEST_SQUARE ? SA_OK : rebuild_in_double(exact);
}

static sa_status count(sa_confidence *confidence, const sa_gradients *batch, uint64_t ticket, const size_t *rows) {
    exact_t *exact = (exact_t *)confidence;
    const sa_gradients *ours;
    if (batch->count == 0) return SA_OK;
    if (ticket == 0 && !exact->factor) SA_TRY(guard_precision(exact, batch)); /* an owner has prepared for them */
    SA_TRY(in_precision(exact, batch, &ours));
    bool weighs = exact->weight && !is_primal(exact);
    if (weighs)
        SA_TRY(
            sa_grow_array(&exact->weight, &exact->weight_capacity, exact->counted + batch->count, sizeof *exact->weight));
    SA_TRY(exact->kind->count(exact->form, ours, ticket, rows, 1 / sqrt(exact->fade)));
    for (size_t i = 0; weighs && i < batch->count; i++) exact->weight[exact->counted + i] = 1 / exact->fade;
    exact->counted += batch->count;
    consider_primal(exact, batch->count);
    return SA_OK;
}

/* So many at once, and more than the p x p side is wide: change over before any of them is counted. */
static sa_status reserve(sa_confidence *confidence, size_t count, size_t at_once) {
    exact_t *exact = (exact_t *)confidence;
    if (exact->form_wanted == SA_EXACT_AUTO && !is_primal(exact) && exact->counted == 0 && count > exact->parameters) {
        const sa_exact_form_class *kind = form_class(true, exact->kind->precision);
        void *form;
        SA_TRY(kind->create(exact->lambda, exact->kind->counted(exact->form), &form));
        replace_form(exact, kind, form);
    }
    if (exact->kind->precision == SA_PRECISION_DOUBLE) /* they may come in single precision */
        SA_TRY(sa_gradients_reserve(&exact->converted, at_once));
    if (exact->weight && !is_primal(exact))
        SA_TRY(sa_grow_array(&exact->weight, &exact->weight_capacity, exact->counted + count, sizeof *exact->weight));
    return exact->kind->reserve(exact->form, count, at_once);
}

static void state(const sa_confidence *confidence, sa_confidence_state *state) {
    const exact_t *exact = (const exact_t *)confidence;
    *state = (sa_confidence_state){
        .counted = exact->counted,
        .log_det = exact->kind->log_det(exact->form),
        .bytes = exact->kind->bytes(exact->form) + sa_gradients_bytes(&exact->converted) +
                 exact->weight_capacity * sizeof *exact->weight,
        .in_double = exact->kind->precision == SA_PRECISION_DOUBLE,
        .from_primal = is_primal(exact),
    };
}

/* The form stands for phi Z', and Z is more than that by at most (1 - phi) lambda and what was left out, in any direction. As
 * Z' is at least lambda I, Z <= phi Z' (1 + (1 - phi + dropped / lambda) / phi). */
static double certificate(const sa_confidence *confidence) {
    const exact_t *exact = (const exact_t *)confidence;
    return sqrt((1 + exact->dropped / exact->lambda) / exact->fade);
}

/* ---- as the inside of another engine ---- */

const sa_gradients *sa_exact_held(const sa_confidence *confidence) {
    const exact_t *exact = (const exact_t *)confidence;
    return exact->kind->counted(exact->form);
}

void sa_exact_hold(sa_confidence *confidence, const sa_gradients *from, const size_t *rows, size_t count,
                   const double *factor) {
    exact_t *exact = (exact_t *)confidence;
    (void)exact->kind->hold(exact->form, from, rows, count, factor); /* cannot fail: there is room */
    exact->counted = count;
    exact->fade = 1;
}

bool sa_exact_fade(sa_confidence *confidence, double factor) {
    exact_t *exact = (exact_t *)confidence;
    exact->fade *= factor;
    return exact->fade < LEAST_FADE;
}

const double *sa_exact_faded(const sa_confidence *confidence) { return &((const exact_t *)confidence)->fade; }

void sa_exact_own(sa_confidence *confidence, sa_exact_factor factor, void *owner) {
    exact_t *exact = (exact_t *)confidence;
    exact->factor = factor;
    exact->owner = owner;
}

sa_status sa_exact_prepare(sa_confidence *confidence, const sa_gradients *batch) {
    return guard_precision((exact_t *)confidence, batch);
}

/* ---- files ---- */

static sa_status save(const sa_confidence *confidence, sa_npz_writer *writer) {
    const exact_t *exact = (const exact_t *)confidence;
    static const int64_t yes = 1, no = 0;
    SA_TRY(sa_npz_add(writer, "exact_primal", SA_INT64, 0, NULL, is_primal(exact) ? &yes : &no));
    SA_TRY(
        sa_npz_add(writer, "exact_double", SA_INT64, 0, NULL, exact->kind->precision == SA_PRECISION_DOUBLE ? &yes : &no));
    SA_TRY(sa_npz_add(writer, "exact_counted", SA_INT64, 0, NULL, &exact->counted));
    SA_TRY(sa_npz_add(writer, "exact_ticket", SA_INT64, 0, NULL, &exact->ticket));
    SA_TRY(sa_npz_add(writer, "exact_excess", SA_FLOAT64, 0, NULL, &exact->excess));
    SA_TRY(sa_npz_add(writer, "exact_last_batch", SA_FLOAT64, 0, NULL, &exact->last_batch));
    if (exact->weight) { /* it forgets */
        size_t weights = is_primal(exact) ? 0 : exact->counted;
        SA_TRY(sa_npz_add(writer, "exact_fade", SA_FLOAT64, 0, NULL, &exact->fade));
        SA_TRY(sa_npz_add(writer, "exact_dropped", SA_FLOAT64, 0, NULL, &exact->dropped));
        SA_TRY(sa_npz_add(writer, "exact_weight", SA_FLOAT64, 1, &weights, exact->weight));
    }
    return exact->kind->save(exact->form, writer);
}

static sa_status load_weights(exact_t *exact, sa_npz *archive) {
    size_t weights = is_primal(exact) ? 0 : exact->counted;
    if (!exact->weight) return SA_OK;
    SA_TRY(sa_npz_get_number(archive, "exact_fade", &exact->fade));
    SA_TRY(sa_npz_get_number(archive, "exact_dropped", &exact->dropped));
    if (!(exact->fade > 0 && exact->fade <= 1))
        return sa_fail(SA_FORMAT, "'exact_fade' is %g, and must be more than 0 and at most 1", exact->fade);
    SA_TRY(sa_grow_array(&exact->weight, &exact->weight_capacity, weights + 1, sizeof *exact->weight));
    return sa_npz_read_into(archive, "exact_weight", SA_FLOAT64, 1, &weights, exact->weight);
}

static sa_status load(sa_confidence *confidence, sa_npz *archive) {
    exact_t *exact = (exact_t *)confidence;
    int64_t primal, in_double, counted, ticket;
    SA_TRY(sa_npz_get_integer(archive, "exact_primal", 0, 1, &primal));
    SA_TRY(sa_npz_get_integer(archive, "exact_double", 0, 1, &in_double));
    SA_TRY(sa_npz_get_integer(archive, "exact_counted", 0, INT64_MAX / 64, &counted));
    SA_TRY(sa_npz_get_integer(archive, "exact_ticket", 0, INT64_MAX, &ticket));
    SA_TRY(sa_npz_get_number(archive, "exact_excess", &exact->excess));
    SA_TRY(sa_npz_get_number(archive, "exact_last_batch", &exact->last_batch));
    const sa_exact_form_class *kind = form_class(primal, in_double ? SA_PRECISION_DOUBLE : SA_PRECISION_SINGLE);
    sa_gradients none;
    void *form;
    SA_TRY(sa_gradients_init_like(&none, kind->precision, &exact->converted));
    sa_status status = kind->create(exact->lambda, &none, &form);
    sa_gradients_clear(&none);
    if (status != SA_OK) return status;
    replace_form(exact, kind, form);
    exact->counted = (uint64_t)counted;
    exact->ticket = (uint64_t)ticket;
    SA_TRY(load_weights(exact, archive));
    return kind->load(form, archive, (size_t)counted);
}

const sa_confidence_class sa_confidence_exact = {
    .name = "exact",
    .summary = "sqrt(g' Z^-1 g / m) from a Cholesky factor, of the n x n or the p x p side, whichever is cheaper",
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

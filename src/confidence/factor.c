#include "confidence/factor.h"

#include <math.h>

#include "base/memory.h"

static const double SMALLEST_RHO = 1e-3; /* in single precision */

const sa_factor_class *sa_factor_class_of(bool primal, sa_precision precision) {
    static const sa_factor_class *const classes[2][2] = {{&sa_dual_f32, &sa_dual_f64},
                                                         {&sa_primal_f32, &sa_primal_f64}};
    return classes[primal][precision];
}

void sa_factor_destroy(sa_factor *factor) {
    if (factor) factor->kind->destroy(factor);
}

void sa_factor_replace(sa_factor **factor, sa_factor *next) {
    sa_factor_destroy(*factor);
    *factor = next;
}

double sa_smaller_rho(double rho, double part, double norm) {
    if (!(norm <= SA_LARGEST_SQUARE) || isnan(part)) return 0;
    return part < rho * norm ? part / norm : rho;
}

/* ---- workspace ---- */

sa_status sa_work_take(sa_width_work *work, sa_precision precision, const sa_gradients *batch,
                       const size_t *rows, size_t first, size_t count) {
    size_t taken = rows ? count : sa_gradients_row(batch, first + count) - sa_gradients_row(batch, first);
    SA_TRY(sa_gradients_fit(&work->part, precision, batch));
    SA_TRY(sa_gradients_reserve(&work->part, taken));
    if (rows)
        sa_gradients_append(&work->part, batch, rows + first, count);
    else
        sa_gradients_append_range(&work->part, batch, first, count);
    return SA_OK;
}

/* ---- widths ---- */

/* squared[i] of the rows, by a factor that stands for phi times its Z, and no more than |g|^2 / lambda. */
static sa_status fade_widths(const sa_factor *factor, double phi, const sa_gradients *batch,
                             const size_t *rows, size_t count, double *squared) {
    double *norm;
    if (phi == 1) return SA_OK;
    SA_TRY(sa_alloc_array(batch->count, sizeof *norm, &norm));
    sa_gradients_norms(batch, norm);
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        double faded = squared[row] / phi, most = norm[row] / factor->lambda;
        squared[row] = faded > most ? most : faded; /* NaN stays NaN */
    }
    sa_free(norm);
    return SA_OK;
}

sa_status sa_factor_widths(const sa_factor *factor, double phi, const sa_gradients *batch, const size_t *rows,
                           size_t count, const size_t *label, sa_width_work *work, double *width) {
    double rho;
    SA_TRY(factor->kind->squared_widths(factor, batch, rows, count, label, work, width, &rho));
    if (rho < SMALLEST_RHO && factor->kind->precision == SA_PRECISION_SINGLE) work->imprecise = true;
    SA_TRY(fade_widths(factor, phi, batch, rows, count, width));
    for (size_t i = 0; i < count; i++) {
        size_t row = rows ? rows[i] : i;
        width[row] = sqrt(width[row]);
    }
    return SA_OK;
}

sa_status sa_factor_tighten(const sa_factor *factor, double phi, const sa_gradients *batch,
                            const size_t *rows, size_t count, sa_width_work *work, double *width) {
    if (!factor->kind->tighten) return SA_OK;
    for (size_t i = 0; i < count; i++) width[rows[i]] *= width[rows[i]] * phi;
    SA_TRY(factor->kind->tighten(factor, batch, rows, count, work, width));
    for (size_t i = 0; i < count; i++) width[rows[i]] = sqrt(width[rows[i]] / phi);
    return SA_OK;
}

sa_status sa_factor_fits(const sa_factor *factor, const sa_gradients *batch, bool *fits) {
    double *squared;
    *fits = true;
    if (factor->kind->precision != SA_PRECISION_SINGLE) return SA_OK;
    size_t many = sa_gradients_many(batch);
    SA_TRY(sa_alloc_array(many, sizeof *squared, &squared));
    sa_gradients_norms(batch, squared);
    for (size_t i = 0; i < many; i++)
        if (!(squared[i] <= SA_LARGEST_SQUARE)) *fits = false; /* NaN is too large */
    sa_free(squared);
    return SA_OK;
}

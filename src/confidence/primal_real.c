/* Exact widths from the primal side: Z = L L' (Cholesky, p x p), g' Z^-1 g = |L^-1 g|^2, and counting k
 * gradients is a rank-k update of L. Nothing cancels here, so single precision keeps its digits.
 *
 * Taking over from the dual side forms Z = lambda I + G G' from the gradients counted so far and factors
 * it: p^2 n + p^3 / 3 operations, once. Many gradients are taken in likewise, from Z = L L', where they
 * come so many at a time that p^2 k + 4 p^3 / 3 operations of matrix products take less time than the 3 p^2
 * k of k updates. */
#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "confidence/primal_real.h"
#include "linalg/factors.h"
#include "linalg/products.h"
#include "linalg/triangle.h"
#include "linalg/triangle_file.h"
#include "model/gradients_real.h"

enum {
    UPDATE_ROWS = 8, /* gradients in one rank-k update */
    FORM_ROWS = 128, /* gradients written out at a time when Z is formed */
    MANY = 64,       /* Z is formed for at least so many at a time, */
    SHARE = 4        /* and for at least p / SHARE of them */
};

static const sa_precision PRECISION = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE;

typedef struct primal {
    sa_factor base;
    size_t parameters;     /* p */
    REAL(triangle) factor; /* L */
} primal_t;

static void destroy(sa_factor *factor) {
    primal_t *primal = (primal_t *)factor;
    REAL(triangle_clear)(&primal->factor);
    sa_free(primal);
}

static size_t padded(size_t rows) { return (rows + SA_PANEL - 1) / SA_PANEL * SA_PANEL; }

/* Everything but the factor. */
static sa_status create_empty(double lambda, size_t parameters, primal_t **out) {
    SA_TRY(sa_alloc_array(1, sizeof **out, out));
    (*out)->base = (sa_factor){.kind = &REAL(sa_primal), .lambda = lambda};
    (*out)->parameters = parameters;
    return SA_OK;
}

/* ---- Z itself, for a moment ---- */

typedef struct dense {
    size_t p;
    real *z;     /* (p, p), lower triangle */
    real *added; /* (FORM_ROWS, p) what is added to it */
} dense;

static sa_status dense_create(size_t p, dense *out) {
    *out = (dense){.p = p};
    SA_TRY(sa_alloc_matrix(FORM_ROWS, p, sizeof(real), &out->added));
    sa_status status = sa_alloc_matrix(p, p, sizeof(real), &out->z);
    if (status != SA_OK) sa_free(out->added);
    return status;
}

static void dense_clear(dense *self) {
    sa_free(self->z);
    sa_free(self->added);
}

/* out (p) = gradient `index` times `scale` */
static void write_scaled(const sa_gradients *batch, size_t index, double scale, size_t p, real *out) {
    REAL(gradients_write_out)(batch, index, out);
    for (size_t i = 0; scale != 1 && i < p; i++) out[i] *= (real)scale;
}

/* z, lower triangle += the sum of g g', g times `scale` */
static sa_status add_gradients(dense *self, const sa_gradients *batch, double scale, sa_width_work *work) {
    for (size_t first = 0, all = sa_gradients_many(batch); first < all; first += FORM_ROWS) {
        size_t left = all - first, many = left < FORM_ROWS ? left : FORM_ROWS;
        SA_TRY(sa_work_take(work, PRECISION, batch, NULL, first, many));
        for (size_t i = 0; i < many; i++)
            write_scaled(&work->part, i, scale, self->p, self->added + i * self->p);
        REAL(syrk_tn)(self->p, many, 1, self->added, self->p, self->z, self->p);
    }
    return SA_OK;
}

/* z, lower triangle += L L', the sum of l l' over the columns l of L */
static void add_factor(dense *self, const primal_t *primal) {
    size_t p = self->p;
    for (size_t first = 0; first < p; first += FORM_ROWS) {
        size_t many = p - first < FORM_ROWS ? p - first : FORM_ROWS;
        for (size_t k = 0; k < many; k++)
            for (size_t i = 0; i < p; i++)
                self->added[k * p + i] = REAL(triangle_get)(&primal->factor, i, first + k);
        REAL(syrk_tn)(p, many, 1, self->added, p, self->z, p);
    }
}

/* Factors z into the primal's L, in place of what is there. SA_INVALID, and L stays, when rounding makes Z
 * indefinite. */
static sa_status dense_factor(dense *self, primal_t *primal) {
    SA_TRY(REAL(cholesky)(self->p, self->z, self->p));
    REAL(triangle) fresh = {0};
    sa_status status = REAL(triangle_from_dense)(&fresh, self->p, self->z, self->p);
    if (status != SA_OK) {
        REAL(triangle_clear)(&fresh);
        return status;
    }
    REAL(triangle_clear)(&primal->factor);
    primal->factor = fresh;
    return SA_OK;
}

/* ---- life ---- */

static sa_status take_over(primal_t *primal, const sa_gradients *counted) {
    size_t p = primal->parameters;
    sa_width_work work = {0};
    dense form;
    SA_TRY(dense_create(p, &form));
    for (size_t i = 0; i < p; i++) form.z[i * p + i] = (real)primal->base.lambda;
    sa_status status = add_gradients(&form, counted, 1, &work);
    if (status == SA_OK) status = dense_factor(&form, primal);
    dense_clear(&form);
    sa_width_work_clear(&work);
    return status;
}

static sa_status create(double lambda, const sa_gradients *counted, sa_factor **out) {
    primal_t *primal;
    SA_TRY(create_empty(lambda, sa_gradients_parameters(counted), &primal));
    sa_status status = counted->count ? take_over(primal, counted)
                                      : REAL(triangle_diagonal)(&primal->factor, primal->parameters, lambda);
    if (status == SA_OK)
        *out = &primal->base;
    else
        destroy(&primal->base);
    return status;
}

static sa_status fork_factor(const sa_factor *factor, sa_factor **out) {
    const primal_t *primal = (const primal_t *)factor;
    primal_t *copy;
    SA_TRY(create_empty(factor->lambda, primal->parameters, &copy));
    sa_status status = REAL(triangle_share)(&copy->factor, &primal->factor);
    if (status == SA_OK)
        *out = &copy->base;
    else
        destroy(&copy->base);
    return status;
}

/* ---- widths ---- */

/* dense (p, columns) = the gradients of the part, as columns; zero past them */
static void write_columns(const sa_gradients *part, size_t p, size_t columns, real *row, real *columns_out) {
    for (size_t j = 0; j < columns; j++) {
        if (j < part->count) REAL(gradients_write_out)(part, j, row);
        for (size_t i = 0; i < p; i++) columns_out[i * columns + j] = j < part->count ? row[i] : 0;
    }
}

/* sum[j] = |column j|^2 of columns (p, ld) */
static void column_norms(const real *columns, size_t p, size_t count, size_t ld, double *sum) {
    memset(sum, 0, count * sizeof *sum);
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j < count; j++)
            sum[j] += (double)columns[i * ld + j] * (double)columns[i * ld + j];
}

static sa_status squared_widths(const sa_factor *factor, const sa_gradients *batch, const size_t *rows,
                                size_t count, const size_t *label, sa_width_work *work, double *squared,
                                double *rho) {
    const primal_t *primal = (const primal_t *)factor;
    double norms[SA_WIDTH_COLUMNS];
    size_t p = primal->parameters, elements;
    size_t most = sa_padded_columns(count < SA_WIDTH_COLUMNS ? count : SA_WIDTH_COLUMNS);
    real *row, *column;
    (void)label; /* an update starts from the gradient itself: nothing to keep */
    if (__builtin_mul_overflow(p, most, &elements))
        return sa_fail(SA_OUT_OF_MEMORY, "too many parameters: %zu", p);
    SA_TRY(SA_LAY(&work->solution, {&row, p, sizeof *row}, {&column, elements, sizeof *column}));
    *rho = 1;
    for (size_t first = 0; first < count; first += SA_WIDTH_COLUMNS) {
        size_t left = count - first, many = left < SA_WIDTH_COLUMNS ? left : SA_WIDTH_COLUMNS;
        size_t columns = sa_padded_columns(many);
        SA_TRY(sa_work_take(work, PRECISION, batch, rows, first, many));
        write_columns(&work->part, p, columns, row, column);
        REAL(triangle_solve)(&primal->factor, column, columns);
        column_norms(column, p, many, columns, norms);
        for (size_t j = 0; j < many; j++) {
            double norm = REAL(gradients_dot)(&work->part, j, &work->part, j);
            squared[rows ? rows[first + j] : first + j] = norms[j];
            *rho = sa_smaller_rho(*rho, factor->lambda * norms[j], norm);
        }
    }
    return SA_OK;
}

/* ---- counting ---- */

static sa_status count_many(primal_t *primal, const sa_gradients *batch, double scale, sa_width_work *work) {
    dense form;
    SA_TRY(dense_create(primal->parameters, &form));
    add_factor(&form, primal);
    sa_status status = add_gradients(&form, batch, scale, work);
    if (status == SA_OK) status = dense_factor(&form, primal);
    dense_clear(&form);
    return status;
}

static sa_status update(primal_t *primal, const sa_gradients *batch, double scale, sa_width_work *work) {
    size_t width = padded(primal->parameters);
    real *added, *rotation;
    SA_TRY(REAL(triangle_unshare)(&primal->factor));
    for (size_t first = 0, all = sa_gradients_many(batch); first < all; first += UPDATE_ROWS) {
        size_t left = all - first, many = left < UPDATE_ROWS ? left : UPDATE_ROWS;
        SA_TRY(sa_work_take(work, PRECISION, batch, NULL, first, many));
        SA_TRY(SA_LAY(&work->solution, {&added, UPDATE_ROWS * width, sizeof *added},
                      {&rotation, 2 * UPDATE_ROWS * width, sizeof *rotation}));
        memset(added, 0, many * width * sizeof *added);
        for (size_t i = 0; i < many; i++)
            write_scaled(&work->part, i, scale, primal->parameters, added + i * width);
        REAL(triangle_update)(&primal->factor, added, many, rotation);
    }
    return SA_OK;
}

/* Where Z cannot be formed (memory, or rounding that makes it indefinite), the updates do. */
static sa_status count(sa_factor *factor, const sa_gradients *batch, const size_t *label, double scale,
                       sa_width_work *work) {
    primal_t *primal = (primal_t *)factor;
    (void)label;
    bool many = sa_gradients_many(batch) >= MANY && sa_gradients_many(batch) >= primal->parameters / SHARE;
    if (many && count_many(primal, batch, scale, work) == SA_OK) return SA_OK;
    return update(primal, batch, scale, work);
}

sa_status REAL(primal_discount)(sa_factor *factor, double by) {
    primal_t *primal = (primal_t *)factor;
    size_t p = primal->parameters;
    dense form;
    SA_TRY(dense_create(p, &form));
    add_factor(&form, primal);
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j <= i; j++) form.z[i * p + j] *= (real)by;
        form.z[i * p + i] += (real)((1 - by) * factor->lambda);
    }
    sa_status status = dense_factor(&form, primal);
    dense_clear(&form);
    return status;
}

sa_status REAL(primal_regularize)(sa_factor *factor, double lambda) {
    primal_t *primal = (primal_t *)factor;
    size_t p = primal->parameters;
    dense form;
    SA_TRY(dense_create(p, &form));
    add_factor(&form, primal);
    for (size_t i = 0; i < p; i++) form.z[i * p + i] += (real)(lambda - factor->lambda);
    sa_status status = dense_factor(&form, primal);
    dense_clear(&form);
    if (status == SA_OK) factor->lambda = lambda;
    return status;
}

static double log_det(const sa_factor *factor) {
    const primal_t *primal = (const primal_t *)factor;
    return 2 * REAL(triangle_log_diagonal)(&primal->factor) -
           (double)primal->parameters * sa_log(factor->lambda);
}

static sa_status save(const sa_factor *factor, sa_npz_writer *writer) {
    return REAL(triangle_save)(&((const primal_t *)factor)->factor, writer, "factor");
}

static sa_status load(sa_factor *factor, sa_npz *archive, size_t counted) {
    primal_t *primal = (primal_t *)factor;
    (void)counted;
    REAL(triangle_clear)(&primal->factor);
    return REAL(triangle_load)(&primal->factor, archive, "factor", primal->parameters);
}

#if SA_REAL_BITS == 64
sa_status primal_from_single(double lambda, size_t parameters, const float *const *panel, sa_factor **out) {
    primal_t *primal;
    SA_TRY(create_empty(lambda, parameters, &primal));
    sa_status status = REAL(triangle_diagonal)(&primal->factor, parameters, lambda);
    if (status != SA_OK) {
        destroy(&primal->base);
        return status;
    }
    for (size_t i = 0; i < padded(parameters) / SA_PANEL; i++)
        for (size_t e = 0; e < sa_panel_elements(i); e++) primal->factor.panel[i][e] = panel[i][e];
    *out = &primal->base;
    return SA_OK;
}
#else
sa_status sa_primal_widen(const sa_factor *single, sa_factor **out) {
    const primal_t *primal = (const primal_t *)single;
    return primal_from_single(single->lambda, primal->parameters, (const float *const *)primal->factor.panel,
                              out);
}

sa_status sa_primal_fade(sa_factor *primal, double by) {
    return primal->kind->precision == SA_PRECISION_SINGLE ? primal_discount_f32(primal, by)
                                                          : primal_discount_f64(primal, by);
}

sa_status sa_primal_regularize(sa_factor *primal, double lambda) {
    return primal->kind->precision == SA_PRECISION_SINGLE ? primal_regularize_f32(primal, lambda)
                                                          : primal_regularize_f64(primal, lambda);
}
#endif

const sa_factor_class REAL(sa_primal) = {
    .primal = true,
    .precision = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE,
    .create = create,
    .destroy = destroy,
    .fork = fork_factor,
    .squared_widths = squared_widths,
    .count = count,
    .log_det = log_det,
    .save = save,
    .load = load,
};

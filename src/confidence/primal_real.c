/* Exact widths from the primal side: Z = L L' (Cholesky, p x p), g' Z^-1 g = |L^-1 g|^2, and counting k gradients is a rank-k
 * update of L. Nothing cancels here, so single precision keeps its digits.
 *
 * Taking over from the dual side forms Z = lambda I + G G' from the gradients counted so far and factors it:
 * p^2 n + p^3 / 3 operations, once. Gradients that are announced (reserve) are taken in likewise, from Z = L L', where they come so
 * many at a time that p^2 k + 4 p^3 / 3 operations of matrix products take less time than the 3 p^2 k of k updates. */
#include "confidence/primal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/exact_form.h"
#include "linalg/blas.h"
#include "linalg/triangle.h"
#include "linalg/triangle_file.h"
#include "model/gradients_real.h"

enum {
    UPDATE_ROWS = 8,      /* gradients in one rank-k update */
    TAKE_OVER_ROWS = 128, /* gradients written out at a time when Z is formed */
    MANY = 64,            /* Z is formed anew for at least so many at a time, */
    SHARE = 4             /* and for at least p / SHARE of them */
};

typedef struct primal {
    double lambda;
    size_t parameters;     /* p */
    REAL(triangle) factor; /* L */
    real *dense;           /* (p, columns): gradients written out, one a column */
    size_t dense_capacity; /* elements */
    real *row;             /* (p) one gradient written out */
    real *update;          /* (UPDATE_ROWS, padded p) */
    real *rotation;        /* (2, UPDATE_ROWS, padded p) */
    /* while Z is formed anew, else NULL: */
    real *z;          /* (p, p) */
    real *taken;      /* (TAKE_OVER_ROWS, p) what is added to it */
    size_t announced; /* gradients still to come that there is room for */
} primal_t;

static void destroy(void *form) {
    primal_t *primal = form;
    if (!primal) return;
    REAL(triangle_clear)(&primal->factor);
    sa_free(primal->dense);
    sa_free(primal->row);
    sa_free(primal->update);
    sa_free(primal->rotation);
    sa_free(primal->z);
    sa_free(primal->taken);
    sa_free(primal);
}

static size_t padded(size_t rows) { return (rows + SA_PANEL - 1) / SA_PANEL * SA_PANEL; }

/* Everything but the factor. */
static sa_status create_empty(double lambda, size_t parameters, primal_t **out) {
    primal_t *primal;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *primal, &primal));
    primal->lambda = lambda;
    primal->parameters = parameters;
    SA_TRY_OR_FAIL(sa_alloc_array(parameters, sizeof(real), &primal->row));
    SA_TRY_OR_FAIL(sa_alloc_matrix(UPDATE_ROWS, padded(parameters), sizeof(real), &primal->update));
    SA_TRY_OR_FAIL(sa_alloc_matrix(2 * UPDATE_ROWS, padded(parameters), sizeof(real), &primal->rotation));
    *out = primal;
    return SA_OK;
fail:
    destroy(primal);
    return status;
}

/* ---- Z formed anew ---- */

/* Memory for it. What is there stays. */
static sa_status reserve_z(primal_t *primal) {
    size_t p = primal->parameters;
    if (!primal->taken) SA_TRY(sa_alloc_matrix(TAKE_OVER_ROWS, p, sizeof(real), &primal->taken));
    return primal->z ? SA_OK : sa_alloc_matrix(p, p, sizeof(real), &primal->z);
}

static void release_z(primal_t *primal) {
    sa_free(primal->z);
    sa_free(primal->taken);
    primal->z = primal->taken = NULL;
}

/* out (p) = gradient `row` times `scale` */
static void write_scaled(const primal_t *primal, const sa_gradients *batch, size_t row, double scale, real *out) {
    REAL(gradients_write_out)(batch, row, out);
    for (size_t i = 0; scale != 1 && i < primal->parameters; i++) out[i] *= (real)scale;
}

/* z, lower triangle += the sum of g g', g times `scale` */
static void add_gradients(primal_t *primal, const sa_gradients *batch, double scale) {
    size_t p = primal->parameters;
    for (size_t first = 0; first < batch->count; first += TAKE_OVER_ROWS) {
        size_t left = batch->count - first, count = left < TAKE_OVER_ROWS ? left : TAKE_OVER_ROWS;
        for (size_t i = 0; i < count; i++) write_scaled(primal, batch, first + i, scale, primal->taken + i * p);
        REAL(syrk_tn)(p, count, 1, primal->taken, p, primal->z, p);
    }
}

/* z, lower triangle = L L', the sum of l l' over the columns l of L */
static void unfactor(primal_t *primal) {
    size_t p = primal->parameters;
    memset(primal->z, 0, p * p * sizeof(real));
    for (size_t first = 0; first < p; first += TAKE_OVER_ROWS) {
        size_t count = p - first < TAKE_OVER_ROWS ? p - first : TAKE_OVER_ROWS;
        for (size_t k = 0; k < count; k++)
            for (size_t i = 0; i < p; i++) primal->taken[k * p + i] = REAL(triangle_get)(&primal->factor, i, first + k);
        REAL(syrk_tn)(p, count, 1, primal->taken, p, primal->z, p);
    }
}

/* Into an empty factor. */
static sa_status take_over(primal_t *primal, const sa_gradients *counted) {
    size_t p = primal->parameters;
    SA_TRY(reserve_z(primal));
    for (size_t i = 0; i < p; i++) primal->z[i * p + i] = (real)primal->lambda;
    add_gradients(primal, counted, 1);
    SA_TRY(REAL(cholesky)(p, primal->z, p));
    SA_TRY(REAL(triangle_from_dense)(&primal->factor, p, primal->z, p));
    release_z(primal);
    return SA_OK;
}

static sa_status create(double lambda, const sa_gradients *counted, void **out) {
    primal_t *primal;
    SA_TRY(create_empty(lambda, sa_gradients_parameters(counted), &primal));
    sa_status status =
        counted->count ? take_over(primal, counted) : REAL(triangle_diagonal)(&primal->factor, primal->parameters, lambda);
    if (status != SA_OK) {
        destroy(primal);
        return status;
    }
    *out = primal;
    return SA_OK;
}

/* dense (p, columns) = the gradients row[0 .. count), or [first, first + count) without, as columns; zero past them */
static void write_columns(primal_t *primal, const sa_gradients *batch, const size_t *row, size_t first, size_t count,
                          size_t columns) {
    size_t p = primal->parameters;
    for (size_t j = 0; j < columns; j++) {
        if (j < count) REAL(gradients_write_out)(batch, row ? row[j] : first + j, primal->row);
        for (size_t i = 0; i < p; i++) primal->dense[i * columns + j] = j < count ? primal->row[i] : 0;
    }
}

/* sum[j] = |column j of dense|^2 */
static void column_norms(const primal_t *primal, size_t count, size_t columns, double *sum) {
    memset(sum, 0, count * sizeof *sum);
    for (size_t i = 0; i < primal->parameters; i++) {
        const real *row = primal->dense + i * columns;
        for (size_t j = 0; j < count; j++) sum[j] += (double)row[j] * (double)row[j];
    }
}

static sa_status squared_widths(void *form, const sa_gradients *batch, const size_t *rows, size_t count, uint64_t ticket,
                                double *squared, double *rho) {
    primal_t *primal = form;
    (void)ticket; /* an update starts from the gradient itself: nothing to reuse */
    double norms[SA_WIDTH_COLUMNS];
    size_t p = primal->parameters, elements;
    size_t most = sa_padded_columns(count < SA_WIDTH_COLUMNS ? count : SA_WIDTH_COLUMNS);
    if (__builtin_mul_overflow(p, most, &elements)) return sa_fail(SA_OUT_OF_MEMORY, "too many parameters: %zu", p);
    SA_TRY(sa_grow_array(&primal->dense, &primal->dense_capacity, elements, sizeof(real)));
    *rho = 1;
    for (size_t first = 0; first < count; first += SA_WIDTH_COLUMNS) {
        size_t many = count - first < SA_WIDTH_COLUMNS ? count - first : SA_WIDTH_COLUMNS,
               columns = sa_padded_columns(many);
        write_columns(primal, batch, rows ? rows + first : NULL, first, many, columns);
        REAL(triangle_solve)(&primal->factor, primal->dense, columns);
        column_norms(primal, many, columns, norms);
        for (size_t j = 0; j < many; j++) {
            size_t row = rows ? rows[first + j] : first + j;
            double norm = REAL(gradients_dot)(batch, row, batch, row);
            squared[row] = norms[j];
            *rho = sa_smaller_rho(*rho, primal->lambda * norms[j], norm);
        }
    }
    return SA_OK;
}

/* Memory was reserved. False, and nothing is changed, when rounding makes Z indefinite. */
static bool count_many(primal_t *primal, const sa_gradients *batch, double scale) {
    size_t p = primal->parameters;
    unfactor(primal);
    add_gradients(primal, batch, scale);
    if (REAL(cholesky)(p, primal->z, p) != SA_OK) return false;
    primal->factor.n = 0; /* its memory stays, so this cannot fail */
    return REAL(triangle_from_dense)(&primal->factor, p, primal->z, p) == SA_OK;
}

static void update(primal_t *primal, const sa_gradients *batch, double scale) {
    size_t width = padded(primal->parameters);
    for (size_t first = 0; first < batch->count; first += UPDATE_ROWS) {
        size_t left = batch->count - first, many = left < UPDATE_ROWS ? left : UPDATE_ROWS;
        memset(primal->update, 0, many * width * sizeof *primal->update);
        for (size_t i = 0; i < many; i++) write_scaled(primal, batch, first + i, scale, primal->update + i * width);
        REAL(triangle_update)(&primal->factor, primal->update, many, primal->rotation);
    }
}

static bool is_many(const primal_t *primal, size_t count) { return count >= MANY && count >= primal->parameters / SHARE; }

static sa_status reserve(void *form, size_t count, size_t at_once) {
    primal_t *primal = form;
    primal->announced = 0;
    if (!is_many(primal, count < at_once ? count : at_once)) {
        release_z(primal);
        return SA_OK;
    }
    SA_TRY(reserve_z(primal));
    primal->announced = count;
    return SA_OK;
}

static sa_status count(void *form, const sa_gradients *batch, uint64_t ticket, const size_t *rows, double scale) {
    primal_t *primal = form;
    (void)ticket;
    (void)rows;
    bool many = primal->announced > 0 && is_many(primal, batch->count);
    if (!many || !count_many(primal, batch, scale)) update(primal, batch, scale);
    primal->announced -= batch->count < primal->announced ? batch->count : primal->announced;
    if (primal->announced == 0) release_z(primal);
    return SA_OK;
}

static sa_status fade(void *form, double factor) {
    primal_t *primal = form;
    size_t p = primal->parameters;
    bool kept = primal->z != NULL; /* for gradients that are announced */
    SA_TRY(reserve_z(primal));
    unfactor(primal);
    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j <= i; j++) primal->z[i * p + j] *= (real)factor;
        primal->z[i * p + i] += (real)((1 - factor) * primal->lambda);
    }
    sa_status status = REAL(cholesky)(p, primal->z, p);
    if (status == SA_OK) {
        primal->factor.n = 0; /* its memory stays, so this cannot fail */
        status = REAL(triangle_from_dense)(&primal->factor, p, primal->z, p);
    }
    if (!kept) release_z(primal);
    return status;
}

static double log_det(const void *form) {
    const primal_t *primal = form;
    return 2 * REAL(triangle_log_diagonal)(&primal->factor) - (double)primal->parameters * log(primal->lambda);
}

static size_t bytes(const void *form) {
    const primal_t *primal = form;
    return REAL(triangle_bytes)(&primal->factor) +
           (primal->dense_capacity + (3 * UPDATE_ROWS + 1) * padded(primal->parameters)) * sizeof(real) +
           (primal->z ? (primal->parameters + TAKE_OVER_ROWS) * primal->parameters * sizeof(real) : 0);
}

static sa_status save(const void *form, sa_npz_writer *writer) {
    return REAL(triangle_save)(&((const primal_t *)form)->factor, writer, "factor");
}

static sa_status load(void *form, sa_npz *archive, size_t counted) {
    primal_t *primal = form;
    (void)counted;
    REAL(triangle_clear)(&primal->factor);
    return REAL(triangle_load)(&primal->factor, archive, "factor", primal->parameters);
}

static const sa_gradients *none_kept(const void *form) {
    (void)form;
    return NULL;
}

#if SA_REAL_BITS == 32

sa_primal_view sa_primal_view_of(const void *single_form) {
    const primal_t *primal = single_form;
    return (sa_primal_view){primal->lambda, primal->parameters, (const float *const *)primal->factor.panel};
}

static sa_status widen(const void *single, void **out) {
    (void)single;
    (void)out;
    return sa_fail(SA_UNSUPPORTED, "single precision cannot be widened to itself");
}

#else

static sa_status widen(const void *single, void **out) {
    sa_primal_view view = sa_primal_view_of(single);
    primal_t *primal;
    SA_TRY(create_empty(view.lambda, view.parameters, &primal));
    sa_status status = REAL(triangle_diagonal)(&primal->factor, view.parameters, view.lambda);
    if (status != SA_OK) {
        destroy(primal);
        return status;
    }
    for (size_t i = 0; i < padded(view.parameters) / SA_PANEL; i++)
        for (size_t e = 0; e < sa_panel_elements(i); e++) primal->factor.panel[i][e] = view.panel[i][e];
    *out = primal;
    return SA_OK;
}

#endif

const sa_exact_form_class REAL(sa_primal) = {
    .name = "primal",
    .precision = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE,
    .create = create,
    .destroy = destroy,
    .squared_widths = squared_widths,
    .count = count,
    .reserve = reserve,
    .log_det = log_det,
    .bytes = bytes,
    .save = save,
    .load = load,
    .counted = none_kept,
    .fade = fade,
    .widen = widen,
};

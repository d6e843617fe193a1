/* Exact widths from the dual side. With G the n gradients counted so far (columns, divided by sqrt(m)),
 *
 *     Z = lambda I + G G',   lambda I + G'G = C C'  (Cholesky, n x n),   c = G'g
 *     g' Z^-1 g = (g'g - |C^-1 c|^2) / lambda                                            (Woodbury)
 *     log det Z / det(lambda I) = 2 sum log C_ii - n log lambda
 *
 * Counting k more gradients appends k rows to C: left of the corner stand the C^-1 c of these gradients,
 * which the solve for their widths has found already; the corner is the factor of lambda I + g_i'g_j -
 * (C^-1 c_i)'(C^-1 c_j). Its pivots are at least sqrt(lambda), whatever rounding says, so appending cannot
 * break down. Many at once are a Cholesky factorisation in blocks (dual_block_real.c), nearly all of it
 * matrix products.
 *
 * Where a gradient is the sum of those of a slate's arms, its inner products are the sums of theirs, and so
 * is its C^-1 c: n counts sums. */
#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "confidence/dual_real.h"
#include "linalg/triangle_file.h"
#include "model/gradients_real.h"

enum { APPEND_COLUMNS = 64 }; /* gradients appended with a corner in double precision throughout */

typedef REAL(dual) dual_t;

static const sa_precision PRECISION = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE;

static void destroy(sa_factor *factor) {
    dual_t *dual = (dual_t *)factor;
    sa_gradients_clear(&dual->counted);
    REAL(triangle_clear)(&dual->factor);
    sa_free(dual);
}

/* ---- widths ---- */

/* solution (n, columns) = the first n elements of C^-1 G' g for those gradients, at most SA_WIDTH_COLUMNS
 * of them, which are left in work->part. They come from the first n gradients and rows of C alone. */
static sa_status solve(const dual_t *dual, size_t n, const sa_gradients *batch, const size_t *rows,
                       size_t first, size_t count, sa_width_work *work, real **solution) {
    size_t columns = sa_padded_columns(count), elements;
    sa_gradients leading = dual->counted;
    REAL(triangle) corner = dual->factor;
    real *inner;
    leading.count = sa_gradients_row(&leading, n);
    leading.sums = corner.n = n;
    if (__builtin_mul_overflow(n, columns, &elements))
        return sa_fail(SA_OUT_OF_MEMORY, "too many gradients: %zu", n);
    SA_TRY(sa_work_take(work, PRECISION, batch, rows, first, count));
    bool summed = leading.summed;
    SA_TRY(SA_LAY(&work->solution, {&inner, (2 + summed) * SA_INNER_ROWS * SA_INNER_COLUMNS, sizeof(real)},
                  {solution, elements, sizeof(real)}));
    if (summed)
        REAL(gradients_inner_sums)(&leading, &work->part, *solution, columns, inner);
    else
        REAL(gradients_inner)(&leading, &work->part, *solution, columns, inner);
    REAL(triangle_solve)(&corner, *solution, columns);
    return SA_OK;
}

/* sum[j] = |column j of the solution|^2, its first n rows */
static void column_norms(const real *solution, size_t n, size_t columns, double *sum) {
    size_t ld = sa_padded_columns(columns);
    memset(sum, 0, columns * sizeof *sum);
    for (size_t k = 0; k < n; k++) {
        const real *row = solution + k * ld;
        for (size_t j = 0; j < columns; j++) sum[j] += (double)row[j] * (double)row[j];
    }
}

/* Keeps the solution's columns, by the labels of their rows; all is forgotten when there are too many. */
static sa_status keep(const dual_t *dual, const size_t *rows, size_t first, size_t count, const size_t *label,
                      const real *solution, sa_solved *solved) {
    size_t ld = sa_padded_columns(count), n = sa_gradients_many(&dual->counted);
    if (!label || !solved->version) return SA_OK;
    if (solved->count == 0) {
        solved->columns = sa_padded_columns(solved->columns);
        SA_TRY(sa_grow_array(&solved->column, &solved->bytes, n * solved->columns * sizeof(real), 1));
    }
    if (solved->count + count > solved->columns) {
        solved->version = 0;
        return SA_OK;
    }
    for (size_t k = 0; k < n; k++)
        memcpy((real *)solved->column + k * solved->columns + solved->count, solution + k * ld,
               count * sizeof(real));
    for (size_t j = 0; j < count; j++)
        solved->label[solved->count + j] = label[rows ? rows[first + j] : first + j];
    solved->count += count;
    return SA_OK;
}

static sa_status squared_widths(const sa_factor *factor, const sa_gradients *batch, const size_t *rows,
                                size_t count, const size_t *label, sa_width_work *work, double *squared,
                                double *rho) {
    const dual_t *dual = (const dual_t *)factor;
    double norms[SA_WIDTH_COLUMNS];
    size_t n = sa_gradients_many(&dual->counted);
    real *solution;
    *rho = 1;
    for (size_t first = 0; first < count; first += SA_WIDTH_COLUMNS) {
        size_t columns = count - first < SA_WIDTH_COLUMNS ? count - first : SA_WIDTH_COLUMNS;
        SA_TRY(solve(dual, n, batch, rows, first, columns, work, &solution));
        SA_TRY(keep(dual, rows, first, columns, label, solution, &work->solved));
        column_norms(solution, n, columns, norms);
        for (size_t j = 0; j < columns; j++) {
            double norm = REAL(gradients_dot)(&work->part, j, &work->part, j), rest = norm - norms[j];
            squared[rows ? rows[first + j] : first + j] =
                rest <= 0 ? 0 : rest / factor->lambda; /* NaN stays NaN */
            *rho = sa_smaller_rho(*rho, rest, norm);
        }
    }
    return SA_OK;
}

/* A quarter of the gradients takes a sixteenth of the work, and what it leaves of g'g can only shrink with
 * the rest. */
static sa_status tighten(const sa_factor *factor, const sa_gradients *batch, const size_t *rows, size_t count,
                         sa_width_work *work, double *squared) {
    const dual_t *dual = (const dual_t *)factor;
    double norms[SA_WIDTH_COLUMNS];
    size_t n = sa_gradients_many(&dual->counted) / 4 / SA_PANEL * SA_PANEL;
    real *solution;
    for (size_t first = 0; n > 0 && first < count; first += SA_WIDTH_COLUMNS) {
        size_t columns = count - first < SA_WIDTH_COLUMNS ? count - first : SA_WIDTH_COLUMNS;
        SA_TRY(solve(dual, n, batch, rows, first, columns, work, &solution));
        column_norms(solution, n, columns, norms);
        for (size_t j = 0; j < columns; j++) {
            double rest = REAL(gradients_dot)(&work->part, j, &work->part, j) - norms[j];
            double bound = rest <= 0 ? 0 : rest / factor->lambda;
            if (!(bound >= squared[rows[first + j]])) squared[rows[first + j]] = bound;
        }
    }
    return SA_OK;
}

/* ---- counting ---- */

/* corner (k, k), lower triangle = the Cholesky factor of lambda I + <g_i, g_j> - <column i, column j of
 * left>; left (n, ld) */
static void factor_corner(const dual_t *dual, const sa_gradients *batch, const real *left, size_t ld,
                          const size_t *column, double *corner) {
    size_t k = sa_gradients_many(batch), n = sa_gradients_many(&dual->counted);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++)
            corner[i * k + j] = REAL(gradients_dot)(batch, i, batch, j) + (i == j ? dual->base.lambda : 0);
    for (size_t r = 0; r < n; r++) {
        const real *row = left + r * ld;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++)
                corner[i * k + j] -= (double)row[column[i]] * (double)row[column[j]];
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = corner[i * k + j];
            for (size_t l = 0; l < j; l++) sum -= corner[i * k + l] * corner[j * k + l];
            if (i == j)
                corner[i * k + i] = sqrt(sum > dual->base.lambda ? sum : dual->base.lambda);
            else
                corner[i * k + j] = sum / corner[j * k + j];
        }
}

/* Appends a batch of at most APPEND_COLUMNS; left (n, ld) has their C^-1 c in the columns named. Room is
 * reserved. */
static void append(dual_t *dual, const sa_gradients *batch, const real *left, size_t ld,
                   const size_t *column) {
    double corner[APPEND_COLUMNS * APPEND_COLUMNS];
    size_t many = sa_gradients_many(batch);
    factor_corner(dual, batch, left, ld, column, corner);
    REAL(triangle_append)(&dual->factor, many, left, ld, column, corner);
    sa_gradients_append(&dual->counted, batch, NULL, many);
}

/* Are the columns of all these rows kept? Then column[i] is that of label[i]. */
static bool find_kept(const sa_solved *solved, const size_t *label, size_t count, size_t *column) {
    if (!label || count > APPEND_COLUMNS) return false;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < solved->count && solved->label[j] != label[i]) j++;
        if (j == solved->count) return false;
        column[i] = j;
    }
    return true;
}

/* column[i] becomes that of gradient i, and has the sum of its rows' columns of left (n, ld). */
static void sum_columns(const sa_gradients *batch, size_t n, real *left, size_t ld, size_t *column) {
    for (size_t i = 0; batch->summed && i < batch->sums; i++) {
        size_t first = sa_gradients_row(batch, i), to = column[first];
        for (size_t row = first + 1; row < batch->end[i]; row++)
            for (size_t k = 0; k < n; k++) left[k * ld + to] += left[k * ld + column[row]];
        column[i] = to;
    }
}

/* part, and its C^-1 c in the columns of left (n, ld), times `scale`: they are linear in the gradient. */
static void scale_part(const dual_t *dual, sa_gradients *part, real *left, size_t ld, const size_t *column,
                       double scale) {
    size_t many = sa_gradients_many(part), n = sa_gradients_many(&dual->counted);
    if (scale == 1) return;
    for (size_t i = 0; i < many; i++) sa_gradients_scale(part, i, scale);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < many; i++) left[k * ld + column[i]] *= (real)scale;
}

/* The C^-1 c of gradients of which nothing was kept, as columns of left (n, ld). Sums of few rows are
 * solved for row by row, so that they have the bits that kept columns would have had. */
static sa_status solve_new(const dual_t *dual, const sa_gradients *batch, sa_width_work *work, size_t *column,
                           real **left, size_t *ld) {
    size_t many = sa_gradients_many(batch), n = sa_gradients_many(&dual->counted);
    bool by_rows = batch->summed && batch->count <= APPEND_COLUMNS;
    sa_gradients rows = *batch;
    rows.summed = false;
    size_t solved = by_rows ? batch->count : many;
    *ld = sa_padded_columns(solved);
    for (size_t i = 0; i < solved; i++) column[i] = i;
    SA_TRY(solve(dual, n, by_rows ? &rows : batch, NULL, 0, solved, work, left));
    if (!by_rows) return SA_OK;
    sum_columns(batch, n, *left, *ld, column);
    return sa_work_take(work, PRECISION, batch, NULL, 0, many);
}

static sa_status count(sa_factor *factor, const sa_gradients *batch, const size_t *label, double scale,
                       sa_width_work *work) {
    dual_t *dual = (dual_t *)factor;
    size_t many = sa_gradients_many(batch), n = sa_gradients_many(&dual->counted);
    size_t column[APPEND_COLUMNS], ld;
    SA_TRY(sa_gradients_reserve(&dual->counted, dual->counted.count + batch->count));
    SA_TRY(REAL(triangle_reserve)(&dual->factor, many));
    if (many > APPEND_COLUMNS) return REAL(dual_append_blocks)(dual, batch, scale, work);
    real *left = work->solved.column;
    if (find_kept(&work->solved, label, batch->count, column)) {
        SA_TRY(sa_work_take(work, PRECISION, batch, NULL, 0, many));
        ld = work->solved.columns;
        sum_columns(batch, n, left, ld, column);
    } else {
        SA_TRY(solve_new(dual, batch, work, column, &left, &ld));
    }
    scale_part(dual, &work->part, left, ld, column, scale);
    append(dual, &work->part, left, ld, column);
    return SA_OK;
}

/* ---- life ---- */

static sa_status create_empty(double lambda, const sa_gradients *like, dual_t **out) {
    dual_t *dual;
    SA_TRY(sa_alloc_array(1, sizeof *dual, &dual));
    dual->base = (sa_factor){.kind = &REAL(sa_dual), .lambda = lambda};
    sa_status status = sa_gradients_init_like(&dual->counted, PRECISION, like);
    if (status == SA_OK)
        *out = dual;
    else
        sa_free(dual);
    return status;
}

static sa_status create(double lambda, const sa_gradients *counted, sa_factor **out) {
    sa_width_work work = {0};
    dual_t *dual;
    SA_TRY(create_empty(lambda, counted, &dual));
    sa_status status = counted->count ? count(&dual->base, counted, NULL, 1, &work) : SA_OK;
    sa_width_work_clear(&work);
    if (status == SA_OK)
        *out = &dual->base;
    else
        destroy(&dual->base);
    return status;
}

static sa_status fork_factor(const sa_factor *factor, sa_factor **out) {
    const dual_t *dual = (const dual_t *)factor;
    dual_t *copy;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *copy, &copy));
    copy->base = dual->base;
    SA_TRY_OR_FAIL(sa_gradients_share(&copy->counted, &dual->counted));
    SA_TRY_OR_FAIL(REAL(triangle_share)(&copy->factor, &dual->factor));
    *out = &copy->base;
    return SA_OK;
fail:
    destroy(&copy->base);
    return status;
}

sa_status REAL(dual_from)(double lambda, const sa_gradients *from, const size_t *rows, size_t many,
                          const double *lower, sa_factor **out) {
    dual_t *dual;
    sa_status status;
    SA_TRY(create_empty(lambda, from, &dual));
    SA_TRY_OR_FAIL(sa_gradients_reserve(&dual->counted, many));
    SA_TRY_OR_FAIL(REAL(triangle_reserve)(&dual->factor, many));
    sa_gradients_append(&dual->counted, from, rows, many);
    REAL(triangle_assign)(&dual->factor, many, lower);
    *out = &dual->base;
    return SA_OK;
fail:
    destroy(&dual->base);
    return status;
}

static double log_det(const sa_factor *factor) {
    const dual_t *dual = (const dual_t *)factor;
    return 2 * REAL(triangle_log_diagonal)(&dual->factor) -
           (double)sa_gradients_many(&dual->counted) * sa_log(factor->lambda);
}

static sa_status save(const sa_factor *factor, sa_npz_writer *writer) {
    const dual_t *dual = (const dual_t *)factor;
    SA_TRY(sa_gradients_save(&dual->counted, writer, "counted"));
    return REAL(triangle_save)(&dual->factor, writer, "factor");
}

static sa_status load(sa_factor *factor, sa_npz *archive, size_t counted) {
    dual_t *dual = (dual_t *)factor;
    SA_TRY(sa_gradients_load(&dual->counted, archive, "counted", counted));
    return REAL(triangle_load)(&dual->factor, archive, "factor", counted);
}

const sa_factor_class REAL(sa_dual) = {
    .precision = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE,
    .create = create,
    .destroy = destroy,
    .fork = fork_factor,
    .squared_widths = squared_widths,
    .tighten = tighten,
    .count = count,
    .log_det = log_det,
    .save = save,
    .load = load,
};

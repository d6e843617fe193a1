/* Exact widths from the dual side. With G the n gradients counted so far (columns, divided by sqrt(m)),
 *
 *     Z = lambda I + G G',   lambda I + G'G = C C'  (Cholesky, n x n),   c = G'g
 *     g' Z^-1 g = (g'g - |C^-1 c|^2) / lambda                                            (Woodbury)
 *     log det Z / det(lambda I) = 2 sum log C_ii - n log lambda
 *
 * Counting k more gradients appends k rows to C: left of the corner stand the C^-1 c of these gradients, which the solve for
 * their widths has found already; the corner is the factor of lambda I + g_i'g_j - (C^-1 c_i)'(C^-1 c_j). Its pivots are at
 * least sqrt(lambda), whatever rounding says, so appending cannot break down. Many at once are a Cholesky factorisation in blocks
 * of BLOCK_COLUMNS, nearly all of it matrix products. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/exact_form.h"
#include "linalg/blas.h"
#include "linalg/triangle.h"
#include "linalg/triangle_file.h"
#include "model/gradients_real.h"

enum {
    APPEND_COLUMNS = 64,             /* gradients appended with a corner in double precision throughout */
    BLOCK_COLUMNS = SA_WIDTH_COLUMNS /* gradients appended at a time when there are more */
};

/* Workspace for many gradients at once, there once it was needed. */
typedef struct block {
    double *corner; /* (BLOCK_COLUMNS, BLOCK_COLUMNS) */
    double *column; /* (BLOCK_COLUMNS) */
    real *product;  /* (BLOCK_COLUMNS, BLOCK_COLUMNS) */
    real *work;     /* for gradients_inner_wide */
} block;

typedef struct dual {
    double lambda;
    sa_gradients counted;  /* the columns of G */
    REAL(triangle) factor; /* C */
    /* workspace of one solve */
    sa_gradients part; /* the gradients solved for */
    real *solution;    /* (n, columns) */
    size_t solution_capacity;
    real *work; /* for gradients_inner */
    size_t work_capacity;
    block block;
    /* C^-1 c of the last batch, kept for counting: column j belongs to the batch's row kept_row[j] */
    uint64_t ticket; /* of that batch; 0: nothing is kept */
    size_t kept, kept_columns;
    size_t kept_row[SA_WIDTH_COLUMNS];
    real *solved; /* (n, kept_columns) */
    size_t solved_capacity;
} dual_t;

static void destroy(void *form) {
    dual_t *dual = form;
    if (!dual) return;
    sa_gradients_clear(&dual->counted);
    sa_gradients_clear(&dual->part);
    REAL(triangle_clear)(&dual->factor);
    sa_free(dual->solution);
    sa_free(dual->work);
    sa_free(dual->solved);
    sa_free(dual->block.corner);
    sa_free(dual->block.column);
    sa_free(dual->block.product);
    sa_free(dual->block.work);
    sa_free(dual);
}

static sa_status grow(real **array, size_t *capacity, size_t rows, size_t columns) {
    size_t elements;
    if (__builtin_mul_overflow(rows, columns, &elements))
        return sa_fail(SA_OUT_OF_MEMORY, "too many gradients: %zu", rows);
    return sa_grow_array(array, capacity, elements, sizeof(real));
}

/* part = the batch's rows [first, first + count), or rows[first ...]. There is room for whole blocks of inner products, or
 * else the last bits of a width would hang on how many others were asked for with it. */
static sa_status take_part(dual_t *dual, const sa_gradients *batch, const size_t *rows, size_t first, size_t count) {
    dual->part.count = 0;
    SA_TRY(sa_gradients_reserve(&dual->part, sa_inner_room(count)));
    for (size_t j = 0; j < count; j++) {
        size_t row = rows ? rows[first + j] : first + j;
        sa_gradients_append(&dual->part, batch, &row, 1);
    }
    return SA_OK;
}

/* solution (n, columns) = the first n elements of C^-1 G' g for those gradients, at most SA_WIDTH_COLUMNS of them. They come
 * from the first n gradients and rows of C alone. */
static sa_status solve(dual_t *dual, size_t n, const sa_gradients *batch, const size_t *rows, size_t first, size_t count) {
    size_t columns = sa_padded_columns(count);
    sa_gradients leading = dual->counted;
    REAL(triangle) corner = dual->factor;
    leading.count = corner.n = n;
    SA_TRY(take_part(dual, batch, rows, first, count));
    SA_TRY(grow(&dual->solution, &dual->solution_capacity, n, columns));
    SA_TRY(grow(&dual->work, &dual->work_capacity, 2 * SA_INNER_ROWS, SA_INNER_COLUMNS));
    REAL(gradients_inner)(&leading, &dual->part, dual->solution, columns, dual->work);
    REAL(triangle_solve)(&corner, dual->solution, columns);
    return SA_OK;
}

/* sum[j] = |column j of the solution|^2, its first n rows */
static void column_norms(const dual_t *dual, size_t n, size_t columns, double *sum) {
    size_t ld = sa_padded_columns(columns);
    memset(sum, 0, columns * sizeof *sum);
    for (size_t k = 0; k < n; k++) {
        const real *row = dual->solution + k * ld;
        for (size_t j = 0; j < columns; j++) sum[j] += (double)row[j] * (double)row[j];
    }
}

/* Keeps the solution's columns for the batch named by the ticket; forgets all of it when there are too many. */
static sa_status keep(dual_t *dual, const sa_gradients *batch, uint64_t ticket, const size_t *rows, size_t first,
                      size_t count) {
    size_t ld = sa_padded_columns(count), n = dual->counted.count;
    if (ticket != dual->ticket) {
        size_t columns = sa_padded_columns(batch->count < SA_WIDTH_COLUMNS ? batch->count : SA_WIDTH_COLUMNS);
        dual->ticket = 0;
        SA_TRY(grow(&dual->solved, &dual->solved_capacity, n, columns));
        dual->ticket = ticket;
        dual->kept_columns = columns;
        dual->kept = 0;
    }
    if (dual->kept + count > dual->kept_columns) {
        dual->ticket = 0;
        return SA_OK;
    }
    for (size_t k = 0; k < n; k++)
        memcpy(dual->solved + k * dual->kept_columns + dual->kept, dual->solution + k * ld, count * sizeof(real));
    for (size_t j = 0; j < count; j++) dual->kept_row[dual->kept + j] = rows ? rows[first + j] : first + j;
    dual->kept += count;
    return SA_OK;
}

static sa_status squared_widths(void *form, const sa_gradients *batch, const size_t *rows, size_t count, uint64_t ticket,
                                double *squared, double *rho) {
    dual_t *dual = form;
    double norms[SA_WIDTH_COLUMNS];
    *rho = 1;
    for (size_t first = 0; first < count; first += SA_WIDTH_COLUMNS) {
        size_t columns = count - first < SA_WIDTH_COLUMNS ? count - first : SA_WIDTH_COLUMNS;
        SA_TRY(solve(dual, dual->counted.count, batch, rows, first, columns));
        SA_TRY(keep(dual, batch, ticket, rows, first, columns));
        column_norms(dual, dual->counted.count, columns, norms);
        for (size_t j = 0; j < columns; j++) {
            double norm = REAL(gradients_dot)(&dual->part, j, &dual->part, j), rest = norm - norms[j];
            squared[rows ? rows[first + j] : first + j] = rest <= 0 ? 0 : rest / dual->lambda; /* NaN stays NaN */
            *rho = sa_smaller_rho(*rho, rest, norm);
        }
    }
    return SA_OK;
}

/* A quarter of the gradients takes a sixteenth of the work, and what it leaves of g'g can only shrink with the rest. */
static sa_status tighten(void *form, const sa_gradients *batch, const size_t *rows, size_t count, double *squared) {
    dual_t *dual = form;
    double norms[SA_WIDTH_COLUMNS];
    size_t n = dual->counted.count / 4 / SA_PANEL * SA_PANEL;
    for (size_t first = 0; n > 0 && first < count; first += SA_WIDTH_COLUMNS) {
        size_t columns = count - first < SA_WIDTH_COLUMNS ? count - first : SA_WIDTH_COLUMNS;
        SA_TRY(solve(dual, n, batch, rows, first, columns));
        column_norms(dual, n, columns, norms);
        for (size_t j = 0; j < columns; j++) {
            double rest = REAL(gradients_dot)(&dual->part, j, &dual->part, j) - norms[j];
            double bound = rest <= 0 ? 0 : rest / dual->lambda;
            if (!(bound >= squared[rows[first + j]])) squared[rows[first + j]] = bound;
        }
    }
    return SA_OK;
}

/* corner (k, k), lower triangle = the Cholesky factor of lambda I + <g_i, g_j> - <column i, column j of left>;
 * left (n, ld) */
static void factor_corner(const dual_t *dual, const sa_gradients *batch, const real *left, size_t ld, const size_t *column,
                          double *corner) {
    size_t k = batch->count;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++)
            corner[i * k + j] = REAL(gradients_dot)(batch, i, batch, j) + (i == j ? dual->lambda : 0);
    for (size_t r = 0; r < dual->counted.count; r++) {
        const real *row = left + r * ld;
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++) corner[i * k + j] -= (double)row[column[i]] * (double)row[column[j]];
    }
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = corner[i * k + j];
            for (size_t l = 0; l < j; l++) sum -= corner[i * k + l] * corner[j * k + l];
            if (i == j)
                corner[i * k + i] = sqrt(sum > dual->lambda ? sum : dual->lambda);
            else
                corner[i * k + j] = sum / corner[j * k + j];
        }
}

/* Appends a batch of at most APPEND_COLUMNS; left (n, ld) has their C^-1 c in the columns named. Room is reserved. */
static void append(dual_t *dual, const sa_gradients *batch, const real *left, size_t ld, const size_t *column) {
    double corner[APPEND_COLUMNS * APPEND_COLUMNS];
    factor_corner(dual, batch, left, ld, column, corner);
    REAL(triangle_append)(&dual->factor, batch->count, left, ld, column, corner);
    sa_gradients_append(&dual->counted, batch, NULL, batch->count);
    dual->ticket = 0;
}

/* ---- many at once ---- */

static sa_status reserve_block(block *work) {
    if (!work->corner) SA_TRY(sa_alloc_matrix(BLOCK_COLUMNS, BLOCK_COLUMNS, sizeof(double), &work->corner));
    if (!work->column) SA_TRY(sa_alloc_array(BLOCK_COLUMNS, sizeof(double), &work->column));
    if (!work->product) SA_TRY(sa_alloc_matrix(BLOCK_COLUMNS, BLOCK_COLUMNS, sizeof(real), &work->product));
    if (!work->work) SA_TRY(sa_alloc_matrix(2 * SA_INNER_ROWS, SA_INNER_WIDE, sizeof(real), &work->work));
    return SA_OK;
}

static size_t block_bytes(const block *work) {
    return work->work ? BLOCK_COLUMNS * (BLOCK_COLUMNS + 1) * sizeof(double) +
                            (BLOCK_COLUMNS * BLOCK_COLUMNS + 2 * SA_INNER_ROWS * SA_INNER_WIDE) * sizeof(real)
                      : 0;
}

/* corner (k, k), lower triangle = lambda I + <g_i, g_j> - <column i, column j of the solution (n, ld)>. Products of some rows at
 * a time are added up in double precision. */
static void form_corner(dual_t *dual, size_t ld) {
    block *work = &dual->block;
    size_t k = dual->part.count, n = dual->counted.count;
    REAL(gradients_inner_wide)(&dual->part, &dual->part, work->product, k, work->work);
    for (size_t i = 0; i < k * k; i++) work->corner[i] = (double)work->product[i];
    for (size_t i = 0; i < k; i++) work->corner[i * k + i] += dual->lambda;
    for (size_t first = 0; first < n; first += SA_INNER_ROWS) {
        size_t rows = n - first < SA_INNER_ROWS ? n - first : SA_INNER_ROWS;
        memset(work->product, 0, k * k * sizeof(real));
        REAL(syrk_tn)(k, rows, 1, dual->solution + first * ld, ld, work->product, k);
        for (size_t i = 0; i < k * k; i++) work->corner[i] -= (double)work->product[i];
    }
}

/* corner (k, k) becomes its lower Cholesky factor, column by column */
static void factor_block(dual_t *dual) {
    block *work = &dual->block;
    size_t k = dual->part.count;
    for (size_t j = 0; j < k; j++) {
        double pivot = work->corner[j * k + j];
        pivot = sqrt(pivot > dual->lambda ? pivot : dual->lambda);
        work->corner[j * k + j] = pivot;
        for (size_t i = j + 1; i < k; i++) work->column[i] = work->corner[i * k + j] /= pivot;
        for (size_t i = j + 1; i < k; i++) {
            double factor = work->column[i], *row = work->corner + i * k;
            for (size_t l = j + 1; l <= i; l++) row[l] -= factor * work->column[l];
        }
    }
}

/* Appends the batch, times `scale`, block by block; room is reserved. */
static sa_status append_blocks(dual_t *dual, const sa_gradients *batch, double scale) {
    for (size_t first = 0; first < batch->count; first += BLOCK_COLUMNS) {
        size_t many = batch->count - first < BLOCK_COLUMNS ? batch->count - first : BLOCK_COLUMNS;
        size_t ld = sa_padded_columns(many);
        SA_TRY(take_part(dual, batch, NULL, first, many)); /* cannot fail: its memory is there */
        for (size_t i = 0; scale != 1 && i < many; i++) sa_gradients_scale(&dual->part, i, scale);
        REAL(gradients_inner_wide)(&dual->counted, &dual->part, dual->solution, ld, dual->block.work);
        REAL(triangle_solve)(&dual->factor, dual->solution, ld);
        form_corner(dual, ld);
        factor_block(dual);
        REAL(triangle_append)(&dual->factor, many, dual->solution, ld, NULL, dual->block.corner);
        sa_gradients_append(&dual->counted, &dual->part, NULL, many);
    }
    dual->ticket = 0;
    return SA_OK;
}

/* ---- counting ---- */

/* All that can fail while `count` gradients are added, so that adding them cannot. */
static sa_status reserve(void *form, size_t count, size_t at_once) {
    dual_t *dual = form;
    size_t most = at_once > APPEND_COLUMNS ? BLOCK_COLUMNS : APPEND_COLUMNS;
    size_t n = dual->counted.count + count, columns = sa_padded_columns(at_once < most ? at_once : most);
    if (at_once > APPEND_COLUMNS) SA_TRY(reserve_block(&dual->block));
    SA_TRY(sa_gradients_reserve(&dual->counted, n));
    SA_TRY(sa_gradients_reserve(&dual->part, sa_inner_room(columns)));
    SA_TRY(grow(&dual->solution, &dual->solution_capacity, n, columns));
    SA_TRY(grow(&dual->work, &dual->work_capacity, 2 * SA_INNER_ROWS, SA_INNER_COLUMNS));
    return REAL(triangle_reserve)(&dual->factor, count);
}

/* Are all these rows' columns kept? Then column[i] is that of rows[i]. */
static bool find_kept(const dual_t *dual, uint64_t ticket, const size_t *rows, size_t count, size_t *column) {
    if (ticket == 0 || ticket != dual->ticket || count > APPEND_COLUMNS) return false;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < dual->kept && dual->kept_row[j] != rows[i]) j++;
        if (j == dual->kept) return false;
        column[i] = j;
    }
    return true;
}

/* part, and its C^-1 c in the columns of left (n, ld), times `scale`: they are linear in the gradient. */
static void scale_part(dual_t *dual, real *left, size_t ld, const size_t *column, double scale) {
    if (scale == 1) return;
    for (size_t i = 0; i < dual->part.count; i++) sa_gradients_scale(&dual->part, i, scale);
    for (size_t k = 0; k < dual->counted.count; k++)
        for (size_t i = 0; i < dual->part.count; i++) left[k * ld + column[i]] *= (real)scale;
}

static sa_status count(void *form, const sa_gradients *batch, uint64_t ticket, const size_t *rows, double scale) {
    dual_t *dual = form;
    size_t column[APPEND_COLUMNS], ld = sa_padded_columns(batch->count), n = dual->counted.count;
    SA_TRY(reserve(dual, batch->count, batch->count)); /* so that nothing below can fail */
    if (batch->count > APPEND_COLUMNS) return append_blocks(dual, batch, scale);
    bool kept = find_kept(dual, ticket, rows, batch->count, column);
    for (size_t i = 0; !kept && i < APPEND_COLUMNS; i++) column[i] = i;
    SA_TRY(kept ? take_part(dual, batch, NULL, 0, batch->count) : solve(dual, n, batch, NULL, 0, batch->count));
    real *left = kept ? dual->solved : dual->solution;
    if (kept) ld = dual->kept_columns;
    scale_part(dual, left, ld, column, scale);
    append(dual, &dual->part, left, ld, column);
    return SA_OK;
}

static sa_status create(double lambda, const sa_gradients *counted, void **out) {
    dual_t *dual;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *dual, &dual));
    dual->lambda = lambda;
    SA_TRY_OR_FAIL(sa_gradients_init_like(&dual->counted, counted->precision, counted));
    SA_TRY_OR_FAIL(sa_gradients_init_like(&dual->part, counted->precision, counted));
    SA_TRY_OR_FAIL(count(dual, counted, 0, NULL, 1));
    *out = dual;
    return SA_OK;
fail:
    destroy(dual);
    return status;
}

static double log_det(const void *form) {
    const dual_t *dual = form;
    return 2 * REAL(triangle_log_diagonal)(&dual->factor) - (double)dual->counted.count * log(dual->lambda);
}

static size_t bytes(const void *form) {
    const dual_t *dual = form;
    return REAL(triangle_bytes)(&dual->factor) + sa_gradients_bytes(&dual->counted) + sa_gradients_bytes(&dual->part) +
           (dual->solved_capacity + dual->solution_capacity + dual->work_capacity) * sizeof(real) +
           block_bytes(&dual->block);
}

static const sa_gradients *counted_gradients(const void *form) { return &((const dual_t *)form)->counted; }

static sa_status hold(void *form, const sa_gradients *from, const size_t *rows, size_t count, const double *factor) {
    dual_t *dual = form;
    size_t before = dual->counted.count;
    SA_TRY(sa_gradients_reserve(&dual->counted, count));
    SA_TRY(REAL(triangle_reserve)(&dual->factor, count > before ? count - before : 0));
    dual->counted.count = 0;
    sa_gradients_append(&dual->counted, from, rows, count);
    REAL(triangle_assign)(&dual->factor, count, factor);
    dual->ticket = 0;
    return SA_OK;
}

/* ---- files: the gradients, the factor, and the last solve, which a decision still to be answered may want ---- */

static const sa_dtype dtype = SA_REAL_BITS == 32 ? SA_FLOAT32 : SA_FLOAT64;

static sa_status save(const void *form, sa_npz_writer *writer) {
    const dual_t *dual = form;
    size_t kept = dual->ticket ? dual->kept : 0;
    size_t shape[2] = {kept ? dual->counted.count : 0, kept ? dual->kept_columns : 0};
    SA_TRY(sa_gradients_save(&dual->counted, writer, "counted"));
    SA_TRY(REAL(triangle_save)(&dual->factor, writer, "factor"));
    SA_TRY(sa_npz_add(writer, "solved_ticket", SA_INT64, 0, NULL, &dual->ticket));
    SA_TRY(sa_npz_add(writer, "solved_row", SA_INT64, 1, &kept, dual->kept_row));
    return sa_npz_add(writer, "solved", dtype, 2, shape, dual->solved);
}

/* Takes over the kept columns; they must fit each other and the gradients. */
static sa_status load_solved(dual_t *dual, sa_npz *archive) {
    int64_t ticket;
    sa_array row = {0}, solved = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_integer(archive, "solved_ticket", 0, INT64_MAX, &ticket));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "solved_row", SA_INT64, 0, NULL, &row));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "solved", dtype, 0, NULL, &solved));
    size_t kept = sa_array_count(&row), columns = solved.axes == 2 ? solved.shape[1] : 0;
    if (kept > 0 && (solved.axes != 2 || solved.shape[0] != dual->counted.count || kept > columns ||
                     columns > SA_WIDTH_COLUMNS || columns % SA_COLUMN_ALIGN != 0)) {
        status = sa_fail(SA_FORMAT, "the array 'solved' does not fit the others");
        goto fail;
    }
    for (size_t j = 0; j < kept; j++) dual->kept_row[j] = (size_t)((const int64_t *)row.data)[j];
    dual->kept = kept;
    dual->kept_columns = columns;
    dual->ticket = kept ? (uint64_t)ticket : 0;
    dual->solved = solved.data; /* ours now */
    dual->solved_capacity = sa_array_count(&solved);
    solved.data = NULL;
fail:
    sa_array_clear(&row);
    sa_array_clear(&solved);
    return status;
}

static sa_status load(void *form, sa_npz *archive, size_t counted) {
    dual_t *dual = form;
    SA_TRY(sa_gradients_load(&dual->counted, archive, "counted", counted));
    SA_TRY(REAL(triangle_load)(&dual->factor, archive, "factor", counted));
    return load_solved(dual, archive);
}

const sa_exact_form_class REAL(sa_dual) = {
    .name = "dual",
    .precision = SA_REAL_BITS == 32 ? SA_PRECISION_SINGLE : SA_PRECISION_DOUBLE,
    .create = create,
    .destroy = destroy,
    .squared_widths = squared_widths,
    .tighten = tighten,
    .count = count,
    .reserve = reserve,
    .log_det = log_det,
    .bytes = bytes,
    .save = save,
    .load = load,
    .counted = counted_gradients,
    .hold = hold,
};

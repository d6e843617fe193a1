/* Exact widths from the dual side. With G the n gradients counted so far (columns, divided by sqrt(m)),
 *
 *     Z = lambda I + G G',   lambda I + G'G = C C'  (Cholesky, n x n),   c = G'g
 *     g' Z^-1 g = (g'g - |C^-1 c|^2) / lambda                                            (Woodbury)
 *     log det Z / det(lambda I) = 2 sum log C_ii - n log lambda
 *
 * Counting k more gradients appends k rows to C: left of the corner stand the C^-1 c of these gradients, which the solve for
 * their widths has found already; the corner is the factor of lambda I + g_i'g_j - (C^-1 c_i)'(C^-1 c_j). Its pivots are at
 * least sqrt(lambda), whatever rounding says, so appending cannot break down. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "confidence/exact_form.h"
#include "linalg/triangle.h"
#include "linalg/triangle_file.h"
#include "model/gradients_real.h"

enum { APPEND_COLUMNS = 64 }; /* gradients appended at a time when their solve is not at hand */

typedef struct dual {
    double lambda;
    sa_gradients counted;   /* the columns of G */
    REAL(triangle) factor;  /* C */
    sa_pair *slice;         /* (pairs) room for slices of batches */
    real *solved;           /* (solved_rows, solved_columns): C^-1 c of the last batch */
    size_t solved_capacity; /* elements */
    size_t solved_rows, solved_columns;
    uint64_t ticket; /* of the batch that `solved` belongs to; 0: none */
    real *work;      /* for gradients_inner */
    size_t work_capacity;
} dual_t;

static void destroy(void *form) {
    dual_t *dual = form;
    if (!dual) return;
    sa_gradients_clear(&dual->counted);
    REAL(triangle_clear)(&dual->factor);
    sa_free(dual->slice);
    sa_free(dual->solved);
    sa_free(dual->work);
    sa_free(dual);
}

/* dual->solved = C^-1 G' (the batch's gradients), at most SA_WIDTH_COLUMNS of them */
static sa_status solve(dual_t *dual, const sa_gradients *batch) {
    size_t n = dual->counted.count, columns = sa_padded_columns(batch->count), elements;
    dual->ticket = 0;
    if (__builtin_mul_overflow(n + 1, columns, &elements)) return sa_fail(SA_OUT_OF_MEMORY, "too many gradients: %zu", n);
    SA_TRY(sa_grow_array(&dual->solved, &dual->solved_capacity, elements, sizeof(real)));
    SA_TRY(sa_grow_array(&dual->work, &dual->work_capacity, 2 * SA_INNER_ROWS * columns, sizeof(real)));
    REAL(gradients_inner)(&dual->counted, batch, dual->solved, columns, dual->work);
    REAL(triangle_solve)(&dual->factor, dual->solved, columns);
    dual->solved_rows = n;
    dual->solved_columns = columns;
    return SA_OK;
}

/* sum[j] = |column j of solved|^2, j < columns */
static void column_norms(const dual_t *dual, size_t columns, double *sum) {
    memset(sum, 0, columns * sizeof *sum);
    for (size_t k = 0; k < dual->solved_rows; k++) {
        const real *row = dual->solved + k * dual->solved_columns;
        for (size_t j = 0; j < columns; j++) sum[j] += (double)row[j] * (double)row[j];
    }
}

static sa_status squared_widths(void *form, const sa_gradients *batch, uint64_t ticket, double *squared, double *rho) {
    dual_t *dual = form;
    *rho = 1;
    for (size_t first = 0; first < batch->count; first += SA_WIDTH_COLUMNS) {
        size_t left = batch->count - first, columns = left < SA_WIDTH_COLUMNS ? left : SA_WIDTH_COLUMNS;
        sa_gradients slice = sa_gradients_slice(batch, first, columns, dual->slice);
        SA_TRY(solve(dual, &slice));
        column_norms(dual, columns, squared + first);
        for (size_t j = 0; j < columns; j++) {
            double norm = REAL(gradients_dot)(&slice, j, &slice, j), rest = norm - squared[first + j];
            squared[first + j] = rest > 0 ? rest / dual->lambda : 0;
            if (rest < *rho * norm) *rho = rest / norm;
        }
    }
    if (batch->count <= SA_WIDTH_COLUMNS) dual->ticket = ticket;
    return SA_OK;
}

/* corner (k, k), lower triangle = the Cholesky factor of lambda I + <g_i, g_j> - <column i, column j of solved> */
static void factor_corner(const dual_t *dual, const sa_gradients *batch, const size_t *column, double *corner) {
    size_t k = batch->count;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++)
            corner[i * k + j] = REAL(gradients_dot)(batch, i, batch, j) + (i == j ? dual->lambda : 0);
    for (size_t r = 0; r < dual->solved_rows; r++) {
        const real *row = dual->solved + r * dual->solved_columns;
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

/* Appends a batch of at most APPEND_COLUMNS whose solve is at hand; `rows` are its columns there. Room is reserved. */
static void append(dual_t *dual, const sa_gradients *batch, const size_t *rows) {
    double corner[APPEND_COLUMNS * APPEND_COLUMNS];
    factor_corner(dual, batch, rows, corner);
    REAL(triangle_append)(&dual->factor, batch->count, dual->solved, dual->solved_columns, rows, corner);
    sa_gradients_append(&dual->counted, batch, NULL, batch->count);
    dual->ticket = 0;
}

/* All that can fail while `count` gradients are added, so that adding them cannot. */
static sa_status reserve(dual_t *dual, size_t count) {
    size_t n = dual->counted.count + count, columns = sa_padded_columns(APPEND_COLUMNS), elements;
    if (__builtin_mul_overflow(n + 1, columns, &elements)) return sa_fail(SA_OUT_OF_MEMORY, "too many gradients: %zu", n);
    SA_TRY(sa_gradients_reserve(&dual->counted, n));
    SA_TRY(sa_grow_array(&dual->work, &dual->work_capacity, 2 * SA_INNER_ROWS * columns, sizeof(real)));
    SA_TRY(REAL(triangle_reserve)(&dual->factor, count));
    return SA_OK;
}

static sa_status count(void *form, const sa_gradients *batch, uint64_t ticket, const size_t *rows) {
    dual_t *dual = form;
    size_t identity[APPEND_COLUMNS];
    SA_TRY(reserve(dual, batch->count));
    if (ticket && ticket == dual->ticket && batch->count <= APPEND_COLUMNS) {
        append(dual, batch, rows);
        return SA_OK;
    }
    size_t most = batch->count < APPEND_COLUMNS ? batch->count : APPEND_COLUMNS;
    SA_TRY(sa_grow_array(&dual->solved, &dual->solved_capacity,
                         (dual->counted.count + batch->count + 1) * sa_padded_columns(most), sizeof(real)));
    for (size_t i = 0; i < APPEND_COLUMNS; i++) identity[i] = i;
    for (size_t first = 0; first < batch->count; first += APPEND_COLUMNS) {
        size_t left = batch->count - first;
        sa_gradients slice = sa_gradients_slice(batch, first, left < APPEND_COLUMNS ? left : APPEND_COLUMNS, dual->slice);
        SA_TRY(solve(dual, &slice)); /* cannot fail: its memory is there */
        append(dual, &slice, identity);
    }
    return SA_OK;
}

static sa_status create(double lambda, const sa_gradients *counted, void **out) {
    dual_t *dual;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *dual, &dual));
    dual->lambda = lambda;
    SA_TRY_OR_FAIL(sa_gradients_init_like(&dual->counted, counted->precision, counted));
    SA_TRY_OR_FAIL(sa_alloc_array(counted->pairs, sizeof *dual->slice, &dual->slice));
    SA_TRY_OR_FAIL(count(dual, counted, 0, NULL));
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
    return REAL(triangle_bytes)(&dual->factor) + sa_gradients_bytes(&dual->counted) +
           (dual->solved_capacity + dual->work_capacity) * sizeof(real);
}

static const sa_gradients *counted_gradients(const void *form) { return &((const dual_t *)form)->counted; }

/* ---- files: the gradients, the factor, and the last solve, which a decision still to be answered may want ---- */

static const sa_dtype dtype = SA_REAL_BITS == 32 ? SA_FLOAT32 : SA_FLOAT64;

static sa_status save(const void *form, sa_npz_writer *writer) {
    const dual_t *dual = form;
    bool kept = dual->ticket != 0;
    size_t shape[2] = {kept ? dual->solved_rows : 0, kept ? dual->solved_columns : 0};
    SA_TRY(sa_gradients_save(&dual->counted, writer, "counted"));
    SA_TRY(REAL(triangle_save)(&dual->factor, writer, "factor"));
    SA_TRY(sa_npz_add(writer, "solved_ticket", SA_INT64, 0, NULL, &dual->ticket));
    return sa_npz_add(writer, "solved", dtype, 2, shape, dual->solved);
}

static sa_status load_solved(dual_t *dual, sa_npz *archive) {
    sa_array ticket = {0}, solved = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "solved_ticket", SA_INT64, 0, NULL, &ticket));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "solved", dtype, 0, NULL, &solved));
    uint64_t number = sa_array_count(&ticket) == 1 ? (uint64_t)*(int64_t *)ticket.data : 0;
    if (number != 0) {
        if (solved.axes != 2 || solved.shape[0] != dual->counted.count || solved.shape[1] > SA_WIDTH_COLUMNS ||
            solved.shape[1] % SA_COLUMN_ALIGN != 0) {
            status = sa_fail(SA_FORMAT, "the array 'solved' does not fit the others");
            goto fail;
        }
        size_t elements = sa_array_count(&solved);
        SA_TRY_OR_FAIL(sa_grow_array(&dual->solved, &dual->solved_capacity, elements, sizeof(real)));
        if (elements) memcpy(dual->solved, solved.data, elements * sizeof(real));
        dual->solved_rows = solved.shape[0];
        dual->solved_columns = solved.shape[1];
    }
    dual->ticket = number;
    status = SA_OK;
fail:
    sa_array_clear(&ticket);
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
    .count = count,
    .log_det = log_det,
    .bytes = bytes,
    .save = save,
    .load = load,
    .counted = counted_gradients,
};

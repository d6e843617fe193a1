/* Many gradients at once into the dual factor: a Cholesky factorisation in blocks of BLOCK_COLUMNS, nearly
 * all of it matrix products. With B the inner products of the counted gradients and the new ones,
 *
 *     left = C^-1 B,   corner = the factor of lambda I + <g_i, g_j> - left'left */
#include <math.h>
#include <string.h>

#include "confidence/dual_real.h"
#include "linalg/products.h"
#include "model/gradients_real.h"

enum { BLOCK_COLUMNS = SA_WIDTH_COLUMNS }; /* gradients appended at a time */

typedef REAL(dual) dual_t;

typedef struct block {
    real *inner;    /* workspace of gradients_inner */
    double *corner; /* (BLOCK_COLUMNS, BLOCK_COLUMNS) */
    double *column; /* (BLOCK_COLUMNS) */
    real *product;  /* (BLOCK_COLUMNS, BLOCK_COLUMNS) */
    real *solution; /* (n, BLOCK_COLUMNS) */
} block;

static sa_status lay(const dual_t *dual, sa_workspace *workspace, block *work) {
    size_t n = sa_gradients_many(&dual->counted), square = (size_t)BLOCK_COLUMNS * BLOCK_COLUMNS;
    return SA_LAY(workspace, {&work->inner, 3 * SA_INNER_ROWS * SA_INNER_COLUMNS, sizeof(real)},
                  {&work->corner, square, sizeof(double)}, {&work->column, BLOCK_COLUMNS, sizeof(double)},
                  {&work->product, square, sizeof(real)}, {&work->solution, n * BLOCK_COLUMNS, sizeof(real)});
}

static void inner_products(const sa_gradients *left, const sa_gradients *right, real *out, size_t ld,
                           real *work) {
    if (left->summed)
        REAL(gradients_inner_sums)(left, right, out, ld, work);
    else
        REAL(gradients_inner)(left, right, out, ld, work);
}

/* corner (k, k), lower triangle = lambda I + <g_i, g_j> - <column i, column j of the solution (n, ld)>.
 * Products of some rows at a time are added up in double precision. */
static void form_corner(const dual_t *dual, const sa_gradients *part, const block *work, size_t ld) {
    size_t k = sa_gradients_many(part), n = sa_gradients_many(&dual->counted);
    inner_products(part, part, work->product, k, work->inner);
    for (size_t i = 0; i < k * k; i++) work->corner[i] = (double)work->product[i];
    for (size_t i = 0; i < k; i++) work->corner[i * k + i] += dual->base.lambda;
    for (size_t first = 0; first < n; first += SA_INNER_ROWS) {
        size_t rows = n - first < SA_INNER_ROWS ? n - first : SA_INNER_ROWS;
        memset(work->product, 0, k * k * sizeof(real));
        REAL(syrk_tn)(k, rows, 1, work->solution + first * ld, ld, work->product, k);
        for (size_t i = 0; i < k * k; i++) work->corner[i] -= (double)work->product[i];
    }
}

/* corner (k, k) becomes its lower Cholesky factor, column by column */
static void factor_block(double lambda, size_t k, const block *work) {
    for (size_t j = 0; j < k; j++) {
        double pivot = work->corner[j * k + j];
        pivot = sqrt(pivot > lambda ? pivot : lambda);
        work->corner[j * k + j] = pivot;
        for (size_t i = j + 1; i < k; i++) work->column[i] = work->corner[i * k + j] /= pivot;
        for (size_t i = j + 1; i < k; i++) {
            double factor = work->column[i], *row = work->corner + i * k;
            for (size_t l = j + 1; l <= i; l++) row[l] -= factor * work->column[l];
        }
    }
}

sa_status REAL(dual_append_blocks)(dual_t *dual, const sa_gradients *batch, double scale,
                                   sa_width_work *space) {
    block work;
    size_t all = sa_gradients_many(batch);
    for (size_t first = 0; first < all; first += BLOCK_COLUMNS) {
        size_t many = all - first < BLOCK_COLUMNS ? all - first : BLOCK_COLUMNS;
        size_t ld = sa_padded_columns(many);
        SA_TRY(sa_work_take(space, dual->counted.precision, batch, NULL, first, many));
        SA_TRY(lay(dual, &space->solution, &work));
        sa_gradients *part = &space->part;
        for (size_t i = 0; scale != 1 && i < many; i++) sa_gradients_scale(part, i, scale);
        inner_products(&dual->counted, part, work.solution, ld, work.inner);
        REAL(triangle_solve)(&dual->factor, work.solution, ld);
        form_corner(dual, part, &work, ld);
        factor_block(dual->base.lambda, many, &work);
        REAL(triangle_append)(&dual->factor, many, work.solution, ld, NULL, work.corner);
        sa_gradients_append(&dual->counted, part, NULL, many);
    }
    return SA_OK;
}

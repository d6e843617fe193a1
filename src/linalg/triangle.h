/* A growing lower-triangular factor L of a positive definite matrix, L L' = A.
 *
 * Rows are stored in panels of SA_PANEL rows. A panel is one allocation and holds its rows column by column:
 * element (i, j) of L is panel[i / P][j * P + i % P], P = SA_PANEL; a panel has P ceil((last row + 1) / P)
 * columns, so the diagonal block is a full P x P square with zeros above the diagonal. A solve therefore
 * streams each panel once, from its first byte to its last, with P rows in the lanes of a vector register,
 * and appending rows never moves what is stored.
 *
 * Rows past `n` in the last panel have 1 on the diagonal and 0 elsewhere, so that kernels need no special
 * case for them. */
#ifndef SA_LINALG_TRIANGLE_H
#define SA_LINALG_TRIANGLE_H

#include <stddef.h>

#include "base/memory.h"
#include "linalg/real.h"

enum {
    SA_PANEL = 16,       /* rows of a panel */
    SA_COLUMN_ALIGN = 4, /* right-hand sides come in multiples of this: round up with sa_padded_columns */
};

static inline size_t sa_padded_columns(size_t columns) {
    return (columns + SA_COLUMN_ALIGN - 1) / SA_COLUMN_ALIGN * SA_COLUMN_ALIGN;
}

/* Elements of one panel; files hold the panels one after another. */
static inline size_t sa_panel_elements(size_t index) { return (size_t)SA_PANEL * SA_PANEL * (index + 1); }

typedef struct REAL(triangle) {
    size_t n;              /* rows in use */
    size_t panels;         /* panels allocated, at least ceil(n / SA_PANEL) */
    size_t panel_capacity; /* of the pointer array */
    real **panel;          /* (panels) */
    sa_region *region;     /* where the next ones are allocated, side by side */
} REAL(triangle);

/* An empty factor needs no create: a zeroed struct is one. */
void REAL(triangle_clear)(REAL(triangle) * factor);
/* A factor that shares the panels of `from` (base/memory.h); each copies those that it writes to. */
sa_status REAL(triangle_share)(REAL(triangle) * factor, const REAL(triangle) * from);
/* Copies all panels that others share, before they are rewritten by assign, update or from_dense. */
sa_status REAL(triangle_unshare)(REAL(triangle) * factor);
/* Makes room for rows [n, n + rows), so that append cannot fail; the panel that they begin in is copied where
 * others share it. On failure nothing is lost. */
sa_status REAL(triangle_reserve)(REAL(triangle) * factor, size_t rows);
/* Appends `rows` rows. `left` (n, ld): column column[r] holds the elements of new row r left of the old
 * corner, that is L^-1 a_r, as triangle_solve leaves it; column[r] = r when `column` is NULL. `corner` (rows,
 * rows): lower triangle, the factor of the new diagonal block. Room must have been reserved. */
void REAL(triangle_append)(REAL(triangle) * factor, size_t rows, const real *left, size_t ld,
                           const size_t *column, const double *corner);
/* Copies a dense lower factor (n, n), row-major, into an empty triangle. */
sa_status REAL(triangle_from_dense)(REAL(triangle) * factor, size_t n, const real *dense, size_t ld);
/* Puts a dense lower factor (n, n), row-major, in place of what the triangle holds. Room must have been
 * reserved. */
void REAL(triangle_assign)(REAL(triangle) * factor, size_t n, const double *dense);
/* A diagonal factor, sqrt(value) I, into an empty triangle. */
sa_status REAL(triangle_diagonal)(REAL(triangle) * factor, size_t n, double value);
/* Solves L Y = B in place; b is (n, columns) row-major with leading dimension `columns`, a multiple of
 * SA_COLUMN_ALIGN, and 64-byte aligned. A column's result has the same bits whatever the other columns are,
 * and however many. */
void REAL(triangle_solve)(const REAL(triangle) * factor, real *b, size_t columns);
/* L L' += W W' for W given transposed: w is (count, n_padded) row-major, n_padded = panels in use x SA_PANEL,
 * zero past n, overwritten. Givens rotations, row panel by row panel, so that each panel is read and written
 * once. `rotation` is workspace of 2 count n_padded reals. */
void REAL(triangle_update)(REAL(triangle) * factor, real *w, size_t count, real *rotation);
/* Row `row` times `by`; its panel must not be shared. */
void REAL(triangle_scale_row)(REAL(triangle) * factor, size_t row, real by);
real REAL(triangle_get)(const REAL(triangle) * factor, size_t row, size_t column);
/* sum_i log L_ii */
double REAL(triangle_log_diagonal)(const REAL(triangle) * factor);
size_t REAL(triangle_bytes)(const REAL(triangle) * factor);

#endif

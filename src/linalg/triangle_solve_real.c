/* Forward substitution, L Y = B, in place, for all right-hand sides at once. With rows in panels of P,
 *
 *     Y_p = D_p^-1 ( B_p - sum over blocks q of L_pq Y_q ),   D_p the diagonal block of panel p.
 *
 * The order is that of a matrix product: a group of panels (GROUP rows) is brought up to date with all
 * earlier rows, BLOCK of them at a time, before its own panels are solved one after another. A GROUP x BLOCK
 * piece of L then sits in the second-level cache while all right-hand sides pass, and a BLOCK x width piece
 * of Y in the first.
 *
 * Each sum over a block is formed on its own and then subtracted, which also keeps rounding errors small:
 * they grow with BLOCK + n / BLOCK, not with n. Which terms form a block depends on p alone, so a column's
 * result depends on L and on that column only. */
#include <string.h>

#include "linalg/triangle.h"
#include "linalg/triangle_kernel.h"

enum { GROUP = 256, BLOCK = 256 }; /* rows; BLOCK is a multiple of GROUP, GROUP of SA_PANEL */

typedef struct solver {
    const REAL(triangle_kernel) * kernel;
    const REAL(triangle) * factor;
    real *b;        /* (n, columns) */
    size_t columns; /* of b, and its leading dimension */
    real *packed;   /* (BLOCK, kernel->columns) */
} solver;

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Columns [start, return value) form the next chunk: as few chunks as the kernel allows, of nearly equal
 * width. */
static size_t chunk_end(const solver *s, size_t start) {
    size_t left = (s->columns - start) / SA_COLUMN_ALIGN, most = s->kernel->columns / SA_COLUMN_ALIGN;
    size_t chunks = (left + most - 1) / most;
    return start + (left + chunks - 1) / chunks * SA_COLUMN_ALIGN;
}

/* Rows of the last panel that exist in b; the kernels work on whole panels, so a short one is done in a
 * copy. */
static size_t panel_rows(const solver *s, size_t p) {
    return min_size(s->factor->n - p * SA_PANEL, SA_PANEL);
}

static void copy_rows(size_t rows, size_t width, const real *from, size_t ld_from, real *to, size_t ld_to) {
    for (size_t i = 0; i < rows; ++i) memcpy(to + i * ld_to, from + i * ld_from, width * sizeof *to);
}

/* B_p -= L[p, first..last) Y[first..last), for the columns [start, end) of b. */
static void subtract_block(const solver *s, size_t p, size_t first, size_t last, const real *y, size_t ldy,
                           size_t start, size_t end, const real *next) {
    const real *a = s->factor->panel[p] + first * SA_PANEL;
    real *b = s->b + p * SA_PANEL * s->columns + start;
    size_t rows = panel_rows(s, p), width = end - start;
    if (rows == SA_PANEL) {
        s->kernel->subtract_product(a, last - first, y, ldy, width, b, s->columns, next);
        return;
    }
    real copy[SA_PANEL * SA_KERNEL_COLUMNS] = {0};
    copy_rows(rows, width, b, s->columns, copy, width);
    s->kernel->subtract_product(a, last - first, y, ldy, width, copy, width, next);
    copy_rows(rows, width, copy, width, b, s->columns);
}

/* B_p <- D_p^-1 B_p, for the columns [start, end). */
static void solve_diagonal(const solver *s, size_t p, size_t start, size_t end) {
    const real *square = s->factor->panel[p] + p * SA_PANEL * SA_PANEL;
    real *b = s->b + p * SA_PANEL * s->columns + start;
    size_t rows = panel_rows(s, p), width = end - start;
    if (rows == SA_PANEL) {
        s->kernel->solve_square(square, width, b, s->columns);
        return;
    }
    real copy[SA_PANEL * SA_KERNEL_COLUMNS] = {0};
    copy_rows(rows, width, b, s->columns, copy, width);
    s->kernel->solve_square(square, width, copy, width);
    copy_rows(rows, width, copy, width, b, s->columns);
}

/* Panels [p_first, p_last) -= their part in the rows [first, last), all of them solved. */
static void subtract_from_group(const solver *s, size_t p_first, size_t p_last, size_t first, size_t last) {
    for (size_t start = 0, end; start < s->columns; start = end) {
        end = chunk_end(s, start);
        const real *y = s->b + first * s->columns + start;
        size_t ldy = s->columns;
        if (end - start < s->columns) { /* rows far apart would fight for the same cache lines */
            copy_rows(last - first, end - start, y, ldy, s->packed, end - start);
            y = s->packed;
            ldy = end - start;
        }
        for (size_t p = p_first; p < p_last; ++p) {
            const real *next = s->factor->panel[p + 1 < p_last ? p + 1 : p_first] + first * SA_PANEL;
            if (p + 1 == p_last && end == s->columns)
                next += (last - first) * SA_PANEL; /* the next block; always in the panel */
            subtract_block(s, p, first, last, y, ldy, start, end, next);
        }
    }
}

/* The triangle of a group: its panels one after another. */
static void solve_group(const solver *s, size_t p_first, size_t p_last) {
    size_t first = p_first * SA_PANEL;
    for (size_t start = 0, end; start < s->columns; start = end) {
        end = chunk_end(s, start);
        for (size_t p = p_first; p < p_last; ++p) {
            const real *next = s->factor->panel[p] + first * SA_PANEL;
            if (p > p_first)
                subtract_block(s, p, first, p * SA_PANEL, s->b + first * s->columns + start, s->columns,
                               start, end, next);
            solve_diagonal(s, p, start, end);
        }
    }
}

void REAL(triangle_solve_with)(const REAL(triangle_kernel) * kernel, const REAL(triangle) * factor, real *b,
                               size_t columns) {
    real packed[BLOCK * SA_KERNEL_COLUMNS] __attribute__((aligned(64)));
    const solver s = {kernel, factor, b, columns, packed};
    size_t panels = (factor->n + SA_PANEL - 1) / SA_PANEL;
    for (size_t p = 0; p < panels; p += GROUP / SA_PANEL) {
        size_t end = min_size(p + GROUP / SA_PANEL, panels);
        for (size_t first = 0; first < p * SA_PANEL; first += BLOCK)
            subtract_from_group(&s, p, end, first, min_size(first + BLOCK, p * SA_PANEL));
        solve_group(&s, p, end);
    }
}

void REAL(triangle_solve)(const REAL(triangle) * factor, real *b, size_t columns) {
    REAL(triangle_solve_with)(REAL(triangle_kernel_best)(), factor, b, columns);
}

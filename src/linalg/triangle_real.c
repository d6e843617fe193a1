/* Storage of the packed triangle (see triangle.h): element (i, j) is panel[i / P][j * P + i % P], P =
 * SA_PANEL.
 *
 * Appending rows X to L L' = A, with A_new = [A, B; B', D]:
 *
 *     L_new = [L, 0; (L^-1 B)', C],   C C' = D - (L^-1 B)' (L^-1 B)
 *
 * The caller solves for L^-1 B and factorises the small corner; here they are only put in place. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/functions.h"

#include "linalg/triangle.h"

static real *element(const REAL(triangle) * factor, size_t row, size_t column) {
    return &factor->panel[row / SA_PANEL][column * SA_PANEL + row % SA_PANEL];
}

void REAL(triangle_clear)(REAL(triangle) * factor) {
    for (size_t p = 0; p < factor->panels; ++p) sa_free(factor->panel[p]);
    sa_free(factor->panel);
    sa_region_release(factor->region);
    memset(factor, 0, sizeof *factor);
}

sa_status REAL(triangle_share)(REAL(triangle) * factor, const REAL(triangle) * from) {
    *factor = (REAL(triangle)){0};
    SA_TRY(sa_alloc_array(from->panels, sizeof *factor->panel, &factor->panel));
    factor->n = from->n;
    factor->region = sa_region_hold(from->region);
    factor->panels = factor->panel_capacity = from->panels;
    for (size_t p = 0; p < from->panels; ++p) factor->panel[p] = sa_hold(from->panel[p]);
    return SA_OK;
}

static sa_status unshare_panels(REAL(triangle) * factor, size_t first, size_t end) {
    for (size_t p = first; p < end && p < factor->panels; ++p) SA_TRY(sa_unshare(&factor->panel[p]));
    return SA_OK;
}

sa_status REAL(triangle_unshare)(REAL(triangle) * factor) {
    return unshare_panels(factor, 0, factor->panels);
}

sa_status REAL(triangle_reserve)(REAL(triangle) * factor, size_t rows) {
    size_t needed = factor->n + rows;
    if (needed < rows) return sa_fail(SA_OUT_OF_MEMORY, "no memory for a factor of %zu more rows", rows);
    needed = needed / SA_PANEL + (needed % SA_PANEL != 0);
    size_t square; /* times P^2 / 2: all elements. Panel by panel, memory would run out only at the last */
    if (__builtin_mul_overflow(needed, needed, &square)) square = SIZE_MAX;
    SA_TRY(sa_memory_check(square, SA_PANEL * SA_PANEL / 2 * sizeof(real)));
    if (rows > 0) SA_TRY(unshare_panels(factor, factor->n / SA_PANEL, needed));
    SA_TRY(sa_grow_array(&factor->panel, &factor->panel_capacity, needed, sizeof *factor->panel));
    while (factor->panels < needed) {
        size_t p = factor->panels;
        real *panel;
        SA_TRY(sa_alloc_in_region(&factor->region, sa_panel_elements(p), sizeof *panel, &panel));
        factor->panel[p] = panel;
        factor->panels = p + 1;
        for (size_t row = p * SA_PANEL; row < (p + 1) * SA_PANEL; ++row) *element(factor, row, row) = 1;
    }
    return SA_OK;
}

void REAL(triangle_append)(REAL(triangle) * factor, size_t rows, const real *left, size_t ld,
                           const size_t *column, const double *corner) {
    size_t n = factor->n;
    for (size_t r = 0; r < rows; ++r) {
        const real *source = left + (column ? column[r] : r);
        real *target = element(factor, n + r, 0);
        for (size_t j = 0; j < n; ++j) target[j * SA_PANEL] = source[j * ld];
        for (size_t j = 0; j <= r; ++j) target[(n + j) * SA_PANEL] = (real)corner[r * rows + j];
    }
    factor->n = n + rows;
}

sa_status REAL(triangle_from_dense)(REAL(triangle) * factor, size_t n, const real *dense, size_t ld) {
    SA_TRY(REAL(triangle_reserve)(factor, n));
    for (size_t i = 0; i < n; ++i) {
        real *target = element(factor, i, 0);
        for (size_t j = 0; j <= i; ++j) target[j * SA_PANEL] = dense[i * ld + j];
    }
    factor->n = n;
    return SA_OK;
}

sa_status REAL(triangle_diagonal)(REAL(triangle) * factor, size_t n, double value) {
    SA_TRY(REAL(triangle_reserve)(factor, n));
    for (size_t i = 0; i < n; ++i) *element(factor, i, i) = (real)sqrt(value);
    factor->n = n;
    return SA_OK;
}

static void set_identity(REAL(triangle) * factor, size_t p) {
    memset(factor->panel[p], 0, sa_panel_elements(p) * sizeof(real));
    for (size_t row = p * SA_PANEL; row < (p + 1) * SA_PANEL; ++row) *element(factor, row, row) = 1;
}

void REAL(triangle_assign)(REAL(triangle) * factor, size_t n, const double *dense) {
    for (size_t p = 0; p < factor->panels; ++p) set_identity(factor, p);
    for (size_t i = 0; i < n; ++i) {
        real *target = element(factor, i, 0);
        for (size_t j = 0; j <= i; ++j) target[j * SA_PANEL] = (real)dense[i * n + j];
    }
    factor->n = n;
}

void REAL(triangle_scale_row)(REAL(triangle) * factor, size_t row, real by) {
    for (size_t j = 0; j <= row; ++j) *element(factor, row, j) *= by;
}

real REAL(triangle_get)(const REAL(triangle) * factor, size_t row, size_t column) {
    return column > row ? 0 : *element(factor, row, column);
}

double REAL(triangle_log_diagonal)(const REAL(triangle) * factor) {
    double sum = 0;
    for (size_t i = 0; i < factor->n; ++i) sum += sa_log((double)*element(factor, i, i));
    return sum;
}

size_t REAL(triangle_bytes)(const REAL(triangle) * factor) {
    size_t bytes = factor->panel_capacity * sizeof *factor->panel;
    for (size_t p = 0; p < factor->panels; ++p) bytes += sa_panel_elements(p) * sizeof(real);
    return bytes;
}

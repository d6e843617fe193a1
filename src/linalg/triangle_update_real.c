/* L L' += W W' by Givens rotations (Golub and Van Loan, Matrix Computations, section 6.5.4). For column k and
 * vector w,
 *
 *     r = sqrt(L_kk^2 + w_k^2),  c = L_kk / r,  s = w_k / r,  L_kk <- r,  w_k <- 0,
 *     (L_ik, w_i) <- (c L_ik + s w_i, c w_i - s L_ik)   for the rows i > k.
 *
 * A rotation is three shears, each one fused multiply-add, where the form above takes four operations:
 *
 *     t = s / (1 + c) = tan(angle / 2);   L_ik += t w_i;   w_i -= s L_ik;   L_ik += t w_i.
 *
 * As c >= 0, |t| <= 1 and |s| <= 1: no step enlarges an error by more than the rotation itself would.
 *
 * A row i meets the rotations of the columns k < i in order, and nothing else; so rows are done panel by
 * panel, with the rotations of all earlier columns kept, and each panel passes through the processor once.
 * The vectors go in sets of SA_KERNEL_ROTATIONS, a set after the other within the panel, which is the same as
 * one rank-4 update after another. */
#include <math.h>
#include <string.h>

#include "linalg/triangle.h"
#include "linalg/triangle_kernel.h"

/* (column, rest) rotated, all P lanes. */
static void shear(real *restrict column, real *restrict rest, real t, real s) {
    for (size_t i = 0; i < SA_PANEL; ++i) {
        column[i] += t * rest[i];
        rest[i] -= s * column[i];
        column[i] += t * rest[i];
    }
}

/* The diagonal block: the rotations of its P columns are made, stored, and applied to its own rows. Lanes up
 * to k are rotated along, as lanes never mix, and set right afterwards: a store into the middle of a vector
 * that is about to be loaded would stall the processor. The squares cannot overflow where L L' does not. */
static void rotate_diagonal(real *square, real *rotation, size_t count, real *w, size_t ldw) {
    for (size_t k = 0; k < SA_PANEL; ++k) {
        real *column = square + k * SA_PANEL;
        double diagonal = (double)column[k];
        for (size_t r = 0; r < count; ++r, rotation += 2) {
            double added = (double)w[r * ldw + k], root = sqrt(diagonal * diagonal + added * added);
            rotation[0] = (real)(added / (root + diagonal));
            rotation[1] = (real)(added / root);
            shear(column, w + r * ldw, rotation[0], rotation[1]);
            diagonal = root;
        }
        for (size_t i = 0; i < k; ++i) column[i] = 0;
        column[k] = (real)diagonal;
    }
    for (size_t r = 0; r < count; ++r) memset(w + r * ldw, 0, SA_PANEL * sizeof *w);
}

void REAL(triangle_update_with)(const REAL(triangle_kernel) * kernel, REAL(triangle) * factor, real *w,
                                size_t count, real *rotation) {
    size_t panels = (factor->n + SA_PANEL - 1) / SA_PANEL, padded = panels * SA_PANEL;
    for (size_t p = 0; p < panels; ++p) {
        size_t first = p * SA_PANEL;
        for (size_t start = 0; start < count; start += SA_KERNEL_ROTATIONS) {
            size_t set = count - start < SA_KERNEL_ROTATIONS ? count - start : SA_KERNEL_ROTATIONS;
            real *kept = rotation + 2 * start * padded; /* (padded, set, 2) */
            real *rest = w + start * padded + first;
            kernel->rotate(factor->panel[p], first, kept, set, rest, padded);
            rotate_diagonal(factor->panel[p] + first * SA_PANEL, kept + 2 * set * first, set, rest, padded);
        }
    }
}

void REAL(triangle_update)(REAL(triangle) * factor, real *w, size_t count, real *rotation) {
    REAL(triangle_update_with)(REAL(triangle_kernel_best)(), factor, w, count, rotation);
}

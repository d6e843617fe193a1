/* L L' += W W' by Givens rotations (Golub and Van Loan, Matrix Computations, section 6.5.4). For column k and vector w,
 *
 *     r = sqrt(L_kk^2 + w_k^2),  c = L_kk / r,  s = w_k / r,  L_kk <- r,  w_k <- 0,
 *     (L_ik, w_i) <- (c L_ik + s w_i, c w_i - s L_ik)   for the rows i > k.
 *
 * A row i meets the rotations of the columns k < i in order, and nothing else; so rows are done panel by panel, with the
 * rotations of all earlier columns kept, and each panel passes through the processor once. The vectors go in sets of
 * SA_KERNEL_ROTATIONS, a set after the other within the panel, which is the same as one rank-4 update after another. */
#include <math.h>

#include "linalg/triangle.h"
#include "linalg/triangle_kernel.h"

/* The diagonal block: the rotations of its P columns are made, stored, and applied to its own rows. */
static void rotate_diagonal(real *square, real *rotation, size_t count, real *w, size_t ldw) {
    for (size_t k = 0; k < SA_PANEL; ++k, square += SA_PANEL)
        for (size_t r = 0; r < count; ++r, rotation += 2) {
            real *rest = w + r * ldw;
            double hypotenuse = hypot((double)square[k], (double)rest[k]);
            real cosine = (real)((double)square[k] / hypotenuse), sine = (real)((double)rest[k] / hypotenuse);
            rotation[0] = cosine;
            rotation[1] = sine;
            for (size_t i = k + 1; i < SA_PANEL; ++i) {
                real l = square[i];
                square[i] = cosine * l + sine * rest[i];
                rest[i] = cosine * rest[i] - sine * l;
            }
            square[k] = (real)hypotenuse;
            rest[k] = 0;
        }
}

void REAL(triangle_update_with)(const REAL(triangle_kernel) * kernel, REAL(triangle) * factor, real *w, size_t count,
                                real *rotation) {
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

/* The inner loops of solve and update, once per instruction set (each_set.inc). All do the same operations in
 * the same order for every element, so a result depends neither on the CPU, nor on the number of right-hand
 * sides, nor on a column's place among them. */
#ifndef SA_LINALG_TRIANGLE_KERNEL_H
#define SA_LINALG_TRIANGLE_KERNEL_H

#include <stddef.h>

#include "linalg/real.h"
#include "linalg/triangle.h"

enum {
    SA_KERNEL_COLUMNS = 24,  /* no kernel takes more right-hand sides in one call */
    SA_KERNEL_ROTATIONS = 4, /* nor more vectors of an update */
};

typedef struct REAL(triangle_kernel) {
    const char *name;
    size_t columns; /* right-hand sides a call takes at most; a multiple of SA_COLUMN_ALIGN */
    /* B (P, width) -= A Y; A (P, inner) stored by columns as in a panel, Y (inner, width) with leading
     * dimension ldy, B with ldb. The sum is formed on its own and subtracted once. `next` (same size as A) is
     * prefetched. */
    void (*subtract_product)(const real *a, size_t inner, const real *y, size_t ldy, size_t width, real *b,
                             size_t ldb, const real *next);
    /* Solves D X = B in place, D the P x P diagonal block of a panel. */
    void (*solve_square)(const real *square, size_t width, real *b, size_t ldb);
    /* Applies the rotations of `inner` columns to P rows of L and of W: A (P, inner) as above; `rotation`
     * (inner, count, 2) holds tan(angle / 2) and sine; w (count, ldw), P elements of each row. count <=
     * SA_KERNEL_ROTATIONS. */
    void (*rotate)(real *a, size_t inner, const real *rotation, size_t count, real *w, size_t ldw);
} REAL(triangle_kernel);

/* The kernel in use (kernel_sets.h), and that of a name; NULL where this CPU has none. */
const REAL(triangle_kernel) * REAL(triangle_kernel_best)(void);
const REAL(triangle_kernel) * REAL(triangle_kernel_named)(const char *name);

/* triangle_solve and triangle_update with a kernel of one's choice. */
void REAL(triangle_solve_with)(const REAL(triangle_kernel) * kernel, const REAL(triangle) * factor, real *b,
                               size_t columns);
void REAL(triangle_update_with)(const REAL(triangle_kernel) * kernel, REAL(triangle) * factor, real *w,
                                size_t count, real *rotation);

#endif

/* The inner loops of matrix products, once per instruction set (each_set.inc).
 *
 * What an element is, whatever the set, its place, and the rows and columns around it: with blocks of
 * SA_PRODUCT_BLOCK terms, s_b = one chain of fused multiply-adds over block b, in order, from 0,
 *
 *     c <- beta c,   then   c <- c + alpha s_b   fused, block by block. */
#ifndef SA_LINALG_PRODUCT_KERNEL_H
#define SA_LINALG_PRODUCT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "linalg/real.h"

enum {
    SA_PRODUCT_BLOCK = 256,                 /* terms of a chain */
    SA_PRODUCT_WIDEST = 256 / sizeof(real), /* columns of B that a kernel takes at most */
    SA_DOT_LANES = 16,                      /* sums that a dot product is formed in */
    SA_SOLVE_SQUARE = 16,                   /* rows of a triangle that solve_rows takes at most */
};

/* C (rows, columns) = alpha A B + beta C, one block. */
typedef struct REAL(product) {
    size_t rows, columns, inner;
    real alpha, beta;
    bool relu;     /* what is negative becomes 0 */
    const real *a; /* element (i, k) at a[i lda + k], or at a[k lda + i] when `across` */
    size_t lda;
    bool across;
    const real *b; /* (inner, ldb): may be read past `columns`, up to whole registers, unless `short_b` */
    size_t ldb;
    bool short_b;
    real *c;
    size_t ldc;
} REAL(product);

typedef struct REAL(product_kernel) {
    const char *name;
    size_t lanes;                                    /* numbers in a register */
    size_t vectors;                                  /* registers that a call's columns may fill */
    bool takes_parts;                                /* knows short_b */
    void (*multiply)(const REAL(product) * product); /* columns <= vectors lanes */
    /* c (rows), step `ldc`, = alpha <a_i, b> + beta c; see dots in products.h. */
    void (*dots)(size_t rows, size_t inner, real alpha, const real *a, size_t lda, const real *b, real beta,
                 real *c, size_t ldc);
    /* to (inner, ld) = from' for from (columns, inner) */
    void (*transpose)(size_t columns, size_t inner, const real *from, size_t ldf, real *to, size_t ld);
    /* X (rows, n) = X L'^-1, L (n, n) lower triangular, n <= SA_SOLVE_SQUARE */
    void (*solve_rows)(size_t rows, size_t n, const real *l, size_t ldl, real *x, size_t ldx);
} REAL(product_kernel);

/* The kernel in use (kernel_sets.h), and that of a name; NULL where this CPU has none. */
const REAL(product_kernel) * REAL(product_kernel_best)(void);
const REAL(product_kernel) * REAL(product_kernel_named)(const char *name);

#endif

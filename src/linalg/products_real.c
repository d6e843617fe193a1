/* A product is cut into panels of columns and blocks of terms; a piece of B that is not laid out as a kernel
 * reads it is packed first. */
#include "linalg/products.h"

#include <string.h>

#include "linalg/product_kernel.h"

enum { FAR = 256, MANY = 24 }; /* numbers; rows of C that pay for packing B */

/* B: element (k, j) at start[k ld + j], or at start[j ld + k] when transposed. */
typedef struct operand {
    const real *start;
    size_t ld;
    bool transposed;
} operand;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t divided_up(size_t a, size_t by) { return a / by + (a % by > 0); }

/* The piece of B that begins at (k, j), as a kernel reads it: where it lies, or packed. */
static void lay_b(const REAL(product_kernel) * kernel, REAL(product) * p, operand b, size_t k, size_t j,
                  bool stays, real *packed) {
    p->b = packed;
    p->ldb = divided_up(p->columns, kernel->lanes) * kernel->lanes;
    if (b.transposed) {
        if (p->columns < p->ldb) memset(packed, 0, p->inner * p->ldb * sizeof *packed);
        kernel->transpose(p->columns, p->inner, b.start + j * b.ld + k, b.ld, packed, p->ldb);
    } else if (stays && (p->ldb == p->columns || p->short_b)) {
        p->b = b.start + k * b.ld + j;
        p->ldb = b.ld;
    } else {
        for (size_t i = 0; i < p->inner; ++i) {
            const real *from = b.start + (k + i) * b.ld + j;
            real *to = packed + i * p->ldb;
            memcpy(to, from, p->columns * sizeof *to);
            for (size_t l = p->columns; l < p->ldb; ++l) to[l] = 0;
        }
    }
}

static void scale(size_t rows, size_t columns, real beta, real *c, size_t ldc) {
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
}

static void gemm(REAL(product) p, operand b) {
    real packed[SA_PRODUCT_BLOCK * SA_PRODUCT_WIDEST] __attribute__((aligned(64)));
    const REAL(product_kernel) *kernel = REAL(product_kernel_best)();
    const size_t columns = p.columns, inner = p.inner;
    const real *a = p.a, beta = p.beta;
    const bool relu = p.relu;
    real *c = p.c;
    if (p.rows == 0 || columns == 0) return;
    if (inner == 0) scale(p.rows, columns, beta, c, p.ldc);
    size_t vectors = divided_up(columns, kernel->lanes), panels = divided_up(vectors, kernel->vectors);
    size_t width = divided_up(vectors, panels) * kernel->lanes;
    /* B stays where it is, unless its rows are so far apart that they would fight for the same cache lines */
    const bool stays = !b.transposed && (b.ld <= FAR || p.rows < MANY);
    p.short_b = stays && kernel->takes_parts;
    for (size_t k = 0; k < inner; k += SA_PRODUCT_BLOCK) {
        p.inner = smaller(inner - k, SA_PRODUCT_BLOCK);
        p.a = a + k * (p.across ? p.lda : 1);
        p.beta = k == 0 ? beta : 1;
        p.relu = relu && k + p.inner == inner;
        for (size_t j = 0; j < columns; j += width) {
            p.columns = smaller(columns - j, width);
            p.c = c + j;
            lay_b(kernel, &p, b, k, j, stays, packed);
            kernel->multiply(&p);
        }
    }
}

void REAL(gemm_nt)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm((REAL(product)){rows, columns, inner, alpha, beta, .a = a, .lda = lda, .c = c, .ldc = ldc},
         (operand){b, ldb, true});
}

void REAL(gemm_nn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm((REAL(product)){rows, columns, inner, alpha, beta, .a = a, .lda = lda, .c = c, .ldc = ldc},
         (operand){b, ldb, false});
}

void REAL(gemm_nn_relu)(size_t rows, size_t columns, size_t inner, const real *a, size_t lda, const real *b,
                        size_t ldb, real *c, size_t ldc) {
    gemm((REAL(product)){rows, columns, inner, 1, 0, .relu = true, .a = a, .lda = lda, .c = c, .ldc = ldc},
         (operand){b, ldb, false});
}

void REAL(gemm_tn)(size_t rows, size_t columns, size_t inner, real alpha, const real *a, size_t lda,
                   const real *b, size_t ldb, real beta, real *c, size_t ldc) {
    gemm((REAL(product)){rows, columns, inner, alpha, beta, .a = a, .lda = lda, .across = true, .c = c,
                         .ldc = ldc},
         (operand){b, ldb, false});
}

/* Strips of columns, each from its diagonal block down. What a block has above the diagonal is formed aside
 * and left out. */
void REAL(syrk_tn)(size_t n, size_t inner, real alpha, const real *a, size_t lda, real *c, size_t ldc) {
    enum { STRIP = 48 };
    real square[STRIP * STRIP];
    for (size_t j = 0; j < n; j += STRIP) {
        size_t width = smaller(n - j, STRIP);
        for (size_t i = 0; i < width; ++i)
            memcpy(square + i * STRIP, c + (j + i) * ldc + j, (i + 1) * sizeof *c);
        for (size_t i = 0; i < width; ++i)
            for (size_t l = i + 1; l < STRIP; ++l) square[i * STRIP + l] = 0;
        REAL(gemm_tn)(width, width, inner, alpha, a + j, lda, a + j, lda, 1, square, STRIP);
        for (size_t i = 0; i < width; ++i)
            memcpy(c + (j + i) * ldc + j, square + i * STRIP, (i + 1) * sizeof *c);
        size_t below = j + width;
        REAL(gemm_tn)
        (n - below, width, inner, alpha, a + below, lda, a + j, lda, 1, c + below * ldc + j, ldc);
    }
}

void REAL(dots)(size_t rows, size_t inner, real alpha, const real *a, size_t lda, const real *b, real beta,
                real *c, size_t ldc) {
    REAL(product_kernel_best)()->dots(rows, inner, alpha, a, lda, b, beta, c, ldc);
}

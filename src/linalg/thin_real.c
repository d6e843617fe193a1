#include "linalg/thin.h"

#include <string.h>

#include "linalg/triangle_kernel.h"

_Static_assert((int)SA_THIN_ROWS == SA_KERNEL_ROWS && (int)SA_THIN_COLUMNS == SA_PANEL,
               "as the kernel has them");

void REAL(thin_nt)(size_t rows, size_t columns, size_t inner, const real *a, size_t lda, const real *b,
                   size_t ldb, real *c, size_t ldc) {
    const REAL(triangle_kernel) *kernel = REAL(triangle_kernel_best)();
    real packed[SA_THIN_INNER * SA_PANEL] __attribute__((aligned(64))); /* (inner, P): B', and zeros */
    real product[SA_KERNEL_ROWS * SA_PANEL] __attribute__((aligned(64)));
    memset(packed, 0, inner * SA_PANEL * sizeof *packed);
    for (size_t j = 0; j < columns; ++j)
        for (size_t k = 0; k < inner; ++k) packed[k * SA_PANEL + j] = b[j * ldb + k];
    for (size_t i = 0; i < rows; i += SA_KERNEL_ROWS) {
        const real *next = a + (i + SA_KERNEL_ROWS < rows ? i + SA_KERNEL_ROWS : i) * lda;
        kernel->multiply_rows(packed, inner, a + i * lda, lda, product, next);
        for (size_t r = 0; r < SA_KERNEL_ROWS; ++r)
            memcpy(c + (i + r) * ldc, product + r * SA_PANEL, columns * sizeof *c);
    }
}

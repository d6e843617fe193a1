/* Linear equations the plain way, for tests that check those of the library. */
#ifndef TESTS_ELIMINATION_H
#define TESTS_ELIMINATION_H

#include <math.h>
#include <stddef.h>

/* A (n, n + 1) in place, by elimination with pivots; the solution in the last column. Returns log |det|. */
static inline double eliminate(size_t n, double *a) {
    double log_det = 0;
    size_t w = n + 1;
    for (size_t c = 0; c < n; c++) {
        size_t p = c;
        for (size_t r = c; r < n; r++)
            if (fabs(a[r * w + c]) > fabs(a[p * w + c])) p = r;
        for (size_t k = 0; k < w; k++) {
            double swapped = a[c * w + k];
            a[c * w + k] = a[p * w + k];
            a[p * w + k] = swapped;
        }
        log_det += log(fabs(a[c * w + c]));
        for (size_t r = 0; r < n; r++) {
            if (r == c) continue;
            double factor = a[r * w + c] / a[c * w + c];
            for (size_t k = c; k < w; k++) a[r * w + k] -= factor * a[c * w + k];
        }
    }
    for (size_t c = 0; c < n; c++) a[c * w + n] /= a[c * w + c];
    return log_det;
}

#endif

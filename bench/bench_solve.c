/* How near the packed triangular solve and update come to what the machine can do.
 *
 * For n rows and R right-hand sides a solve takes n^2 R flops and reads the triangle once, n^2 / 2 numbers.
 * The roof is min(bandwidth x flops per byte, GEMM peak), both measured here on one thread. Other work on the
 * machine moves all of these, so each round measures GEMM, solve and trsm in turn, and the best of the rounds
 * counts for each. "trsm" is OpenBLAS on the same problem stored as a dense square. An update of rank K takes
 * 3 n^2 K flops, and reads and writes the triangle. */
#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/triangle.h"

#if SA_REAL_BITS == 32
#define GEMM cblas_sgemm
#define TRSM cblas_strsm
#else
#define GEMM cblas_dgemm
#define TRSM cblas_dtrsm
#endif

enum { ROUNDS = 8, GEMM_SIZE = 1024 };

static void must(sa_status status) {
    if (status == SA_OK) return;
    fprintf(stderr, "bench_solve: %s\n", sa_last_error());
    exit(1);
}

static real *numbers(size_t count) {
    real *array;
    must(sa_alloc_array(count, sizeof *array, &array));
    unsigned state = 1;
    for (size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        array[i] = (real)(state >> 8) / (real)(1 << 24) - (real)0.5;
    }
    return array;
}

static double gemm_seconds(const real *a, const real *b, real *c) {
    double start = machine_seconds();
    GEMM(CblasRowMajor, CblasNoTrans, CblasNoTrans, GEMM_SIZE, GEMM_SIZE, GEMM_SIZE, 1, a, GEMM_SIZE, b,
         GEMM_SIZE, 0, c, GEMM_SIZE);
    return machine_seconds() - start;
}

static void row(size_t n, size_t columns, const char *what, double time, double flops, double roof) {
    printf("%6zu %4zu  %-7s %9.3f %8.1f %8.1f %6.0f%%\n", n, columns, what, 1e3 * time, flops / time / 1e9,
           roof / 1e9, 100 * flops / time / roof);
    fflush(stdout);
}

static void bench_solve(size_t n, size_t columns, double bandwidth) {
    real *dense = numbers(n * n), *right = numbers(n * columns), *y = numbers(n * columns);
    real *a = numbers((size_t)GEMM_SIZE * GEMM_SIZE), *c = numbers((size_t)GEMM_SIZE * GEMM_SIZE);
    for (size_t i = 0; i < n; ++i) dense[i * n + i] = (real)n;
    REAL(triangle) factor = {0};
    must(REAL(triangle_from_dense)(&factor, n, dense, n));
    double solve = INFINITY, trsm = INFINITY, gemm = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        gemm = fmin(gemm, gemm_seconds(a, a, c));
        memcpy(y, right, n * columns * sizeof *y);
        double start = machine_seconds();
        REAL(triangle_solve)(&factor, y, columns);
        solve = fmin(solve, machine_seconds() - start);
        memcpy(y, right, n * columns * sizeof *y);
        start = machine_seconds();
        TRSM(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)columns, 1, dense,
             (int)n, y, (int)columns);
        trsm = fmin(trsm, machine_seconds() - start);
    }
    double flops = (double)n * (double)n * (double)columns, peak = 2 * pow(GEMM_SIZE, 3) / gemm;
    double roof = fmin(peak, bandwidth * flops / (double)REAL(triangle_bytes)(&factor));
    row(n, columns, "solve", solve, flops, roof);
    row(n, columns, "trsm", trsm, flops, roof);
    REAL(triangle_clear)(&factor);
    sa_free(dense);
    sa_free(right);
    sa_free(y);
    sa_free(a);
    sa_free(c);
}

/* The roof of an update is bandwidth alone, its bytes counted twice: once read, once written. */
static void bench_update(size_t n, size_t count, double bandwidth) {
    size_t padded = (n + SA_PANEL - 1) / SA_PANEL * SA_PANEL;
    real *rotation = numbers(2 * count * padded);
    REAL(triangle) factor = {0};
    must(REAL(triangle_diagonal)(&factor, n, 1));
    double update = INFINITY;
    for (int round = 0; round < ROUNDS; ++round) {
        real *w = numbers(count * padded);
        for (size_t r = 0; r < count; ++r) memset(w + r * padded + n, 0, (padded - n) * sizeof *w);
        double start = machine_seconds();
        REAL(triangle_update)(&factor, w, count, rotation);
        update = fmin(update, machine_seconds() - start);
        sa_free(w);
    }
    double flops = 3.0 * (double)n * (double)n * (double)count;
    row(n, count, "update", update, flops, bandwidth * flops / (2 * (double)REAL(triangle_bytes)(&factor)));
    REAL(triangle_clear)(&factor);
    sa_free(rotation);
}

int main(void) {
    openblas_set_num_threads(1);
    double bandwidth = machine_bandwidth();
    printf("%s precision, one thread, read bandwidth %.1f GB/s\n", SA_REAL_BITS == 32 ? "single" : "double",
           bandwidth / 1e9);
    printf("%6s %4s  %-7s %9s %8s %8s %7s\n", "n", "R", "", "ms", "GF/s", "roof", "share");
    for (size_t n = 2000; n <= 8000; n *= 2) {
        bench_solve(n, 20, bandwidth);
        bench_solve(n, 200, bandwidth);
    }
    for (size_t n = 2000; n <= 8000; n *= 2) bench_update(n, 4, bandwidth);
    return 0;
}

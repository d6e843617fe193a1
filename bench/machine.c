#include "machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 8 };

static double clock_of(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double machine_seconds(void) { return clock_of(CLOCK_THREAD_CPUTIME_ID); }
double machine_wall(void) { return clock_of(CLOCK_MONOTONIC); }

double machine_bandwidth(void) {
    enum { COUNT = 1 << 26, AT_ONCE = 64 };
    float *array = malloc(COUNT * sizeof *array);
    if (!array) return -1;
    for (size_t i = 0; i < COUNT; i++) array[i] = 1; /* pages that were never written are all the same one */
    double best = INFINITY;
    volatile float sink = 0;
    for (int round = 0; round < ROUNDS; round++) {
        float sum[AT_ONCE] = {0};
        double start = machine_seconds();
        for (size_t i = 0; i < COUNT; i += AT_ONCE) {
            __builtin_prefetch(array + i + 1024);
            __builtin_prefetch(array + i + 1024 + 16);
            __builtin_prefetch(array + i + 1024 + 32);
            __builtin_prefetch(array + i + 1024 + 48);
            for (size_t j = 0; j < AT_ONCE; j++) sum[j] += array[i + j];
        }
        best = fmin(best, machine_seconds() - start);
        for (size_t j = 0; j < AT_ONCE; j++) sink = sink + sum[j];
    }
    free(array);
    return COUNT * sizeof(float) / best;
}

double machine_peak(void) {
    enum { SIZE = 1024 };
    float *a = calloc((size_t)SIZE * SIZE, sizeof *a), *c = calloc((size_t)SIZE * SIZE, sizeof *c);
    double best = INFINITY;
    for (int round = 0; a && c && round < ROUNDS; round++) {
        double start = machine_seconds();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, a, SIZE, a, SIZE, 0, c,
                    SIZE);
        best = fmin(best, machine_seconds() - start);
    }
    double peak = a && c ? 2 * pow(SIZE, 3) / best : -1;
    free(a);
    free(c);
    return peak;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double machine_quantile(double *time, size_t count, double share) {
    qsort(time, count, sizeof *time, ascending);
    return time[(size_t)(share * (double)(count - 1) + 0.5)];
}

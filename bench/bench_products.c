/* Matrix products and Cholesky factors beside OpenBLAS's and LAPACK's in the same process, one thread, the
 * best of many turns of each.
 *
 *   OPENBLAS_CORETYPE=SkylakeX bench_products
 *   OPENBLAS_CORETYPE=Haswell SUPERARM_KERNELS=avx2 bench_products */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <superarm/kernels.h>

#include "linalg/factors.h"
#include "linalg/products.h"

enum { TURNS = 40 };

typedef enum layout { NT, NN, TN, DOTS } layout;

typedef struct shape {
    const char *name;
    layout kind;
    size_t rows, columns, inner;
} shape;

static double now(void) { /* of this thread's processor time: other work on the machine does not count */
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *random_floats(size_t count) {
    float *out = aligned_alloc(64, (count * sizeof *out + 127) / 64 * 64);
    for (size_t i = 0; out && i < count; i++) out[i] = (float)rand() / (float)RAND_MAX - 0.5F;
    return out;
}

static void theirs(const shape *s, const float *a, const float *b, float *c) {
    int rows = (int)s->rows, columns = (int)s->columns, inner = (int)s->inner;
    cblas_sgemm(CblasRowMajor, s->kind == TN ? CblasTrans : CblasNoTrans,
                s->kind == NT || s->kind == DOTS ? CblasTrans : CblasNoTrans, rows, columns, inner, 1, a,
                s->kind == TN ? rows : inner, b, s->kind == NT || s->kind == DOTS ? inner : columns, 0, c,
                columns);
}

static void ours(const shape *s, const float *a, const float *b, float *c) {
    size_t rows = s->rows, columns = s->columns, inner = s->inner;
    switch (s->kind) {
    case NT: gemm_nt_f32(rows, columns, inner, 1, a, inner, b, inner, 0, c, columns); break;
    case NN: gemm_nn_f32(rows, columns, inner, 1, a, inner, b, columns, 0, c, columns); break;
    case TN: gemm_tn_f32(rows, columns, inner, 1, a, rows, b, columns, 0, c, columns); break;
    case DOTS: dots_f32(rows, inner, 1, a, inner, b, 0, c, 1); break;
    }
}

static void measure(const shape *s) {
    float *a = random_floats(s->rows * s->inner), *b = random_floats(s->columns * s->inner);
    float *c = random_floats(s->rows * s->columns);
    double flops = 2.0 * (double)(s->rows * s->columns * s->inner), best[2] = {INFINITY, INFINITY};
    size_t times = (size_t)(1e7 / flops) + 1;
    if (!a || !b || !c) exit(1);
    for (int turn = 0; turn < TURNS; turn++)
        for (int who = 0; who < 2; who++) {
            double start = now();
            for (size_t i = 0; i < times; i++) (who ? ours : theirs)(s, a, b, c);
            best[who] = fmin(best[who], (now() - start) / (double)times);
        }
    printf("%-34s %5zu x %4zu x %4zu %8.1f %8.1f %7.2f\n", s->name, s->rows, s->columns, s->inner,
           flops / best[0] / 1e9, flops / best[1] / 1e9, best[0] / best[1]);
    free(a);
    free(b);
    free(c);
}

static void measure_cholesky(size_t n) {
    float *gram = calloc(n * n, sizeof *gram), *copy = malloc(n * n * sizeof *copy);
    double flops = (double)n * (double)n * (double)n / 3, best[2] = {INFINITY, INFINITY};
    if (!gram || !copy) exit(1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) gram[i * n + j] = i == j ? (float)n : (float)rand() / (float)RAND_MAX;
    for (int turn = 0; turn < TURNS / 2; turn++)
        for (int who = 0; who < 2; who++) {
            memcpy(copy, gram, n * n * sizeof *copy);
            double start = now();
            if (who)
                cholesky_f32(n, copy, n);
            else
                LAPACKE_spotrf(LAPACK_COL_MAJOR, 'U', (int)n, copy, (int)n);
            best[who] = fmin(best[who], now() - start);
        }
    printf("%-34s %5zu               %8.1f %8.1f %7.2f\n", "Cholesky factor", n, flops / best[0] / 1e9,
           flops / best[1] / 1e9, best[0] / best[1]);
    free(gram);
    free(copy);
}

int main(void) {
    static const shape shapes[] = {
        {"forward, a training's chunk", NN, 128, 100, 80},
        {"the same, transposed", NT, 128, 100, 80},
        {"forward, a round's arms", NN, 20, 100, 80},
        {"the same, transposed", NT, 20, 100, 80},
        {"gradient", TN, 100, 80, 128},
        {"gradient, as weights lie", TN, 80, 100, 128},
        {"forward, a large chunk", NN, 512, 100, 80},
        {"the same, transposed", NT, 512, 100, 80},
        {"inner products of gradients", NT, 256, 12, 100},
        {"output layer", DOTS, 128, 1, 100},
        {"output layer's gradient", TN, 1, 100, 128},
        {"one arm", NN, 1, 100, 128},
        {"n 8000 panel", NT, 8000, 64, 100},
        {"n 8000 panel, wide", NT, 8000, 240, 100},
    };
    openblas_set_num_threads(1);
    printf("Single precision, one thread, GF/s: OpenBLAS as %s, ours as %s\n", openblas_get_corename(),
           sa_kernels());
    printf("%-34s %20s %8s %8s %7s\n", "", "rows, columns, inner", "OpenBLAS", "ours", "ratio");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) measure(&shapes[i]);
    measure_cholesky(256);
    measure_cholesky(1024);
    return 0;
}

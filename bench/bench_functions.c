/* What a call of our own exp, log, cos... costs beside the C library's, which may differ from machine to
 * machine. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/functions.h"

enum { COUNT = 4096, REPEATS = 50 };
static double arguments[COUNT], results[COUNT];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double nanoseconds(double (*function)(double)) {
    double best = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double begin = now();
        for (int i = 0; i < COUNT; i++) results[i] = function(arguments[i]);
        best = fmin(best, now() - begin);
    }
    return best / COUNT * 1e9;
}

static double our_power(double x) { return sa_pow(x, 0.37); }
static double their_power(double x) { return pow(x, 0.37); }

int main(void) {
    static const struct {
        const char *name;
        double (*ours)(double), (*theirs)(double), low, high;
    } rows[] = {
        {"exp", sa_exp, exp, -10, 10},         {"expm1", sa_expm1, expm1, -1, 1},
        {"log", sa_log, log, 0.1, 10},         {"log1p", sa_log1p, log1p, -0.9, 3},
        {"pow", our_power, their_power, 0, 1}, {"sin", sa_sin, sin, -4, 4},
        {"cos", sa_cos, cos, -4, 4},           {"cos, large", sa_cos, cos, 1e5, 1e9},
        {"tanh", sa_tanh, tanh, -2, 2},        {"atan", sa_atan, atan, -4, 4},
        {"erfc", sa_erfc, erfc, -4, 4},
    };
    printf("| ns a call  | ours | C library |\n|---|---|---|\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint64_t state = 1;
        for (int i = 0; i < COUNT; i++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            arguments[i] = rows[r].low + (rows[r].high - rows[r].low) * ((double)(state >> 11) * 0x1p-53);
        }
        printf("| %-10s | %4.1f | %4.1f |\n", rows[r].name, nanoseconds(rows[r].ours),
               nanoseconds(rows[r].theirs));
    }
    return 0;
}

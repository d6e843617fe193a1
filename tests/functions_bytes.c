/* Prints a line with a hash of what each function gives for many arguments: functions_bytes.sh compares the
 * lines of several compilers, options and processors. */
#include <inttypes.h>
#include <stdio.h>

#include "base/functions.h"
#include "functions_arguments.h"

static uint64_t hash;

static void add(double result) {
    uint64_t bits;
    memcpy(&bits, &result, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3;
    hash ^= hash >> 29;
}

static double atan2_near(double x) { return sa_atan2(x, 0.7 - x); }
static double atan2_far(double x) { return sa_atan2(x * 1e-200, x + 2); }
static double pow_root(double x) { return sa_pow(fabs(x), 1.7); }
static double pow_cube(double x) { return sa_pow(x, 3); }
static double pow_base(double x) { return sa_pow(1.0001, x); }

static const struct {
    const char *name;
    double (*of)(double);
} functions[] = {
    {"exp", sa_exp},     {"expm1", sa_expm1}, {"log", sa_log},       {"log1p", sa_log1p},
    {"log10", sa_log10}, {"sin", sa_sin},     {"cos", sa_cos},       {"tan", sa_tan},
    {"tanh", sa_tanh},   {"atan", sa_atan},   {"erfc", sa_erfc},     {"pow", pow_root},
    {"pow", pow_cube},   {"pow", pow_base},   {"atan2", atan2_near}, {"atan2", atan2_far},
};

int main(void) {
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        hash = 0xcbf29ce484222325;
        for (size_t i = 0; i < SPECIAL_ARGUMENTS; i++) add(functions[f].of(special_arguments[i]));
        for (int i = 0; i < 20000; i++) {
            add(functions[f].of(argument_between(-4, 4)));
            add(functions[f].of(argument_by_size(1e-12, 1e12)));
            double x = argument_of_any_bits();
            if (!isnan(x)) add(functions[f].of(x));
        }
        printf("%s %016" PRIx64 "\n", functions[f].name, hash);
    }
    return 0;
}

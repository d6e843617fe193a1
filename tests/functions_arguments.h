/* Arguments for the tests of functions, the same on every machine. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t argument_bits(void) { /* splitmix64 */
    static uint64_t state = 1;
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline double argument_of_any_bits(void) {
    uint64_t bits = argument_bits();
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double argument_between(double low, double high) {
    return low + (high - low) * ((double)(argument_bits() >> 11) * 0x1p-53);
}

/* Each power of two is as likely as the others; low > 0. */
static inline double argument_by_size(double low, double high) {
    int least, most;
    frexp(low, &least);
    frexp(high, &most);
    int exponent = least + (int)(argument_bits() % (uint64_t)(most - least + 1));
    double x = ldexp(0.5 + (double)(argument_bits() >> 11) * 0x1p-54, exponent);
    return x < low ? low : x > high ? high : x;
}

static const double special_arguments[] = {0.0,
                                           -0.0,
                                           1,
                                           -1,
                                           2,
                                           -2,
                                           3,
                                           -3,
                                           0.5,
                                           -0.5,
                                           1.5,
                                           NAN,
                                           1e-10,
                                           -1e-10,
                                           INFINITY,
                                           -INFINITY,
                                           1e308,
                                           -1e308,
                                           0x1p-1074,
                                           -0x1p-1074,
                                           0x1p-1022,
                                           -0x1p-1022,
                                           0x1.fffffffffffffp1023,
                                           0x1.fffffffffffffp-1,
                                           0x1.0000000000001p0,
                                           709.78,
                                           710,
                                           -745,
                                           -746,
                                           1e15,
                                           9007199254740991.0,
                                           9007199254740994.0,
                                           1e22,
                                           -40,
                                           40,
                                           60,
                                           27};
enum { SPECIAL_ARGUMENTS = sizeof special_arguments / sizeof *special_arguments };

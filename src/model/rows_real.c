#include "model/rows_real.h"

#include <float.h>
#include <math.h>

#include "linalg/real.h"

static const real LARGEST = SA_REAL_BITS == 32 ? (real)FLT_MAX : (real)DBL_MAX;

static real size_of(real x) { return x < 0 ? -x : x; }

bool REAL(rows_are_finite)(const real *from, size_t count) {
    int bad = 0;
    for (size_t i = 0; i < count; i++) bad |= !(size_of(from[i]) <= LARGEST);
    return !bad;
}

bool REAL(rows_take_wide)(const double *from, size_t count, real *to) {
    for (size_t i = 0; i < count; i++) to[i] = (real)from[i];
    return REAL(rows_are_finite)(to, count);
}

bool REAL(rows_take_narrow)(const float *from, size_t count, real *to) {
    for (size_t i = 0; i < count; i++) to[i] = (real)from[i];
    return REAL(rows_are_finite)(to, count);
}

/* The product of two single-precision numbers is exact in double precision, and rounded once here. */
void REAL(rows_join)(const sa_joined *from, real *to) {
    if (from->concatenated) {
        for (size_t i = 0; i < from->items; i++) *to++ = (real)from->item[i];
        for (size_t j = 0; j < from->shares; j++) *to++ = (real)from->shared[j];
    }
    for (size_t i = 0; from->multiplied && i < from->items; i++, to += from->shares)
        for (size_t j = 0; j < from->shares; j++) {
            double product = from->item[i] * from->shared[j];
            to[j] = from->narrow ? (real)(float)product : (real)product;
        }
}

void REAL(rows_to_unit)(real *row, size_t dim) {
    double sum = 0, largest = 0;
    for (size_t j = 0; j < dim; j++) {
        double size = fabs((double)row[j]);
        if (size > largest) largest = size;
    }
    if (largest == 0) return;
    for (size_t j = 0; j < dim;
         j++) { /* in units of the largest, so that squares neither overflow nor vanish */
        double x = (double)row[j] / largest;
        sum += x * x;
    }
    double norm = sqrt(sum);
    for (size_t j = 0; j < dim; j++) row[j] = (real)((double)row[j] / largest / norm);
}

void REAL(rows_see)(const real *raw, size_t count, size_t dim, double seen, double *restrict mean,
                    double *restrict squares) {
    for (size_t i = 0; i < count; i++) {
        const real *row = raw + i * dim;
        double total = seen + (double)i + 1;
        for (size_t j = 0; j < dim; j++) {
            double x = (double)row[j], before = x - mean[j];
            mean[j] += before / total;
            squares[j] += before * (x - mean[j]);
        }
    }
}

void REAL(rows_extremes)(const real *raw, size_t count, size_t dim, bool first, double *restrict low,
                         double *restrict high) {
    for (size_t j = 0; first && count > 0 && j < dim; j++) low[j] = high[j] = (double)raw[j];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < dim; j++) {
            double x = (double)raw[i * dim + j];
            low[j] = x < low[j] ? x : low[j];
            high[j] = x > high[j] ? x : high[j];
        }
}

size_t REAL(rows_count_far)(const real *row, size_t dim, double seen, const double *restrict mean,
                            const double *restrict squares, double times) {
    size_t far = 0;
    for (size_t j = 0; j < dim; j++) {
        double off = (double)row[j] - mean[j];
        far += off * off * (seen / (times * times)) > squares[j] && squares[j] > 0;
    }
    return far;
}

void REAL(rows_standardise)(const real *raw, size_t count, size_t dim, const double *restrict mean,
                            const double *restrict factor, double most, real *restrict out, size_t width) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < dim; j++) {
            double x = ((double)raw[i * dim + j] - mean[j]) * factor[j];
            out[i * width + j] = (real)(fabs(x) > most ? 0 : x);
        }
}

/* One sum waits for itself at every step; so several rows go side by side. */
void REAL(rows_regress)(const real *x, size_t count, size_t dim, double start, const double *theta,
                        const double *centre, double *sum) {
    enum { ABREAST = 8 };
    size_t i = 0;
    for (; i + ABREAST <= count; i += ABREAST) {
        const real *row = x + i * dim;
        double part[ABREAST];
        for (size_t r = 0; r < ABREAST; r++) part[r] = start;
        for (size_t j = 0; j < dim; j++)
            for (size_t r = 0; r < ABREAST; r++) part[r] += theta[j] * ((double)row[r * dim + j] - centre[j]);
        for (size_t r = 0; r < ABREAST; r++) sum[i + r] = part[r];
    }
    for (; i < count; i++) {
        sum[i] = start;
        for (size_t j = 0; j < dim; j++) sum[i] += theta[j] * ((double)x[i * dim + j] - centre[j]);
    }
}

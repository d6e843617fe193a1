#define SA_REAL_BITS 64

#include "theory/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/factors.h"

/* ---- lambda_0: Lanczos' method on H^-1, whose largest eigenvalue is 1 / lambda_0 ---- */

enum { MOST_STEPS = 300, STEPS_A_CHECK = 10 };

typedef struct lanczos {
    const double *factor; /* U (rank, rank) in (rank, ld) */
    size_t rank, ld, steps;
    double *basis;                                   /* (MOST_STEPS + 1, rank), orthonormal */
    double diagonal[MOST_STEPS], beside[MOST_STEPS]; /* of the tridiagonal matrix */
} lanczos;

static double dot(const double *x, const double *y, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Any start will do that no eigenvector is orthogonal to. */
static void start(lanczos *self) {
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < self->rank; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        self->basis[i] = (double)(x >> 11) / 9007199254740992.0 - 0.5;
    }
    double length = sqrt(dot(self->basis, self->basis, self->rank));
    for (size_t i = 0; i < self->rank; i++) self->basis[i] /= length;
}

/* One more vector; false when the space is used up. */
static bool step(lanczos *self) {
    size_t n = self->rank, k = self->steps;
    double *last = self->basis + k * n, *next = last + n;
    memcpy(next, last, n * sizeof *next);
    upper_solve_f64(n, self->factor, self->ld, 1, next);
    upper_solve_f64(n, self->factor, self->ld, 0, next);
    self->diagonal[k] = dot(last, next, n);
    for (int again = 0; again < 2; again++) /* once is not enough for orthogonality to the last digit */
        for (size_t i = 0; i <= k; i++) {
            double *v = self->basis + i * n, part = dot(v, next, n);
            for (size_t j = 0; j < n; j++) next[j] -= part * v[j];
        }
    double length = sqrt(dot(next, next, n));
    self->beside[k] = length;
    self->steps++;
    if (self->steps == n || length <= DBL_EPSILON * self->diagonal[0]) return false;
    for (size_t j = 0; j < n; j++) next[j] /= length;
    return true;
}

/* Are all eigenvalues of the tridiagonal matrix below x? So it is when x I less it is positive definite. */
static bool all_below(const lanczos *self, double x) {
    double pivot = 1;
    for (size_t i = 0; i < self->steps; i++) {
        double beside = i ? self->beside[i - 1] : 0;
        pivot = x - self->diagonal[i] - beside * beside / pivot;
        if (!(pivot > 0)) return false;
    }
    return true;
}

/* The largest eigenvalue of the tridiagonal matrix, between its largest diagonal element and Gershgorin's
 * bound, by halving to the last bit. */
static double largest_found(const lanczos *self) {
    double low = 0, high = 0;
    for (size_t i = 0; i < self->steps; i++) {
        double beside = (i ? self->beside[i - 1] : 0) + (i + 1 < self->steps ? self->beside[i] : 0);
        low = fmax(low, self->diagonal[i]);
        high = fmax(high, self->diagonal[i] + beside);
    }
    while (true) {
        double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return high;
        if (all_below(self, middle))
            high = middle;
        else
            low = middle;
    }
}

static sa_status smallest_eigenvalue(const double *factor, size_t rank, size_t ld, double *smallest) {
    lanczos self = {.factor = factor, .rank = rank, .ld = ld};
    double largest = 0, before = 0;
    bool more = true;
    size_t most = rank < MOST_STEPS ? rank : MOST_STEPS;
    SA_TRY(sa_alloc_matrix(most + 1, rank, sizeof *self.basis, &self.basis));
    start(&self);
    while (more && self.steps < most) {
        more = step(&self);
        if (more && self.steps % STEPS_A_CHECK && self.steps < most) continue;
        largest = largest_found(&self);
        if (largest - before <= 1e-11 * largest) more = false;
        before = largest;
    }
    *smallest = 1 / largest;
    sa_free(self.basis);
    return SA_OK;
}

/* ---- S ---- */

/* sqrt(2 y'y) with U' y = the scores of the independent contexts; the others' scores must then be what y says
 * they are. */
static sa_status find_norm(const double *factor, size_t count, const size_t *pivot, size_t rank,
                           const double *scores, double *norm) {
    double *y, largest = 0;
    SA_TRY(sa_alloc_array(count, sizeof *y, &y));
    for (size_t i = 0; i < count; i++) {
        y[i] = scores[pivot[i]];
        largest = fmax(largest, fabs(y[i]));
    }
    upper_solve_f64(rank, factor, count, 1, y);
    for (size_t i = 0; i < rank; i++)
        for (size_t j = rank; j < count; j++) y[j] -= factor[i * count + j] * y[i];
    *norm = sqrt(2 * dot(y, y, rank));
    for (size_t j = rank; j < count; j++)
        if (fabs(y[j]) > 1e-6 * largest) *norm = INFINITY;
    sa_free(y);
    return SA_OK;
}

double sa_spectrum_rounding(size_t count, double largest) {
    return 4 * (double)count * DBL_EPSILON * largest;
}

sa_status sa_spectrum_find(double *kernel, size_t count, const double *scores, sa_spectrum *spectrum) {
    size_t *pivot = NULL;
    double largest = 0;
    sa_status status;
    spectrum->norm = NAN;
    spectrum->smallest = 0;
    for (size_t i = 0; i < count; i++) largest = fmax(largest, kernel[i * count + i]);
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *pivot, &pivot));
    SA_TRY_OR_FAIL(pivoted_cholesky_f64(count, kernel, count, sa_spectrum_rounding(count, largest), pivot,
                                        &spectrum->rank));
    if (spectrum->rank > 0)
        SA_TRY_OR_FAIL(smallest_eigenvalue(kernel, spectrum->rank, count, &spectrum->smallest));
    if (scores) SA_TRY_OR_FAIL(find_norm(kernel, count, pivot, spectrum->rank, scores, &spectrum->norm));
fail:
    sa_free(pivot);
    return status;
}

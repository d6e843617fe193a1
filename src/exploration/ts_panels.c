/* A panel is no wider than the smallest deviation of the arms whose distribution rises in it, so 16 nodes
 * of Gauss and Legendre integrate what is smooth there to rounding. Arms of deviation 0 get a tiny one: a
 * step is then a very steep rise. */
#include <math.h>
#include <string.h>

#include "base/functions.h"
#include "base/memory.h"
#include "exploration/ts_propensity.h"
#include "rng/stream.h"

enum { N = SA_PANEL_NODES };
static const double NEGLIGIBLE = 1e-18;

/* P_0 ... P_count-1 at x. */
static void legendre(double x, size_t count, double *p) {
    p[0] = 1;
    p[1] = x;
    for (size_t m = 2; m < count; m++) {
        double n = (double)m;
        p[m] = ((2 * n - 1) * x * p[m - 1] - (n - 1) * p[m - 2]) / n;
    }
}

/* Nodes are roots of P_N, by Newton's method; the interpolating polynomial of a node is
 * l_j(x) = sum_m (2 m + 1) / 2 w_j P_m(x_j) P_m(x), and (2 m + 1) P_m = P'_m+1 - P'_m-1. */
static void set_rule(sa_panels *self) {
    double p[N + 1], at_node[N][N + 1];
    for (size_t i = 0; i < N; i++) {
        double x = sa_cos(3.14159265358979323846 * ((double)(N - i) - 0.25) / (N + 0.5)), slope = 1;
        for (int step = 0; step < 100; step++) {
            legendre(x, N + 1, p);
            slope = N * (x * p[N] - p[N - 1]) / (x * x - 1);
            double next = x - p[N] / slope;
            if (fabs(next - x) < 1e-16) break;
            x = next;
        }
        self->node[i] = x;
        self->weight[i] = 2 / ((1 - x * x) * slope * slope);
        legendre(x, N + 1, at_node[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double sum = (self->node[i] + 1) / 2;
            for (size_t m = 1; m < N; m++) sum += (at_node[i][m + 1] - at_node[i][m - 1]) / 2 * at_node[j][m];
            self->running[i][j] = sum * self->weight[j];
        }
}

void sa_panels_clear(sa_panels *panels) {
    sa_free(panels->deviation);
    sa_free(panels->low);
    sa_free(panels->high);
    sa_free(panels->below);
    sa_free(panels->density);
}

/* Where each arm's distribution function is between 0 and 1. */
static void set_ranges(sa_panels *self, const sa_ts_scores *scores) {
    double M = self->samples, lowest = INFINITY, highest = -INFINITY, widest = 0;
    double low = sa_normal_quantile(sa_pow(NEGLIGIBLE, 1 / M)), high = -sa_normal_quantile(NEGLIGIBLE / M);
    for (size_t a = 0; a < self->arms; a++) {
        lowest = fmin(lowest, scores->mean[a]);
        highest = fmax(highest, scores->mean[a]);
        widest = fmax(widest, scores->deviation[a]);
    }
    double least = 1e-9 * (highest - lowest + widest);
    if (least < 1e-300) least = 1e-300;
    for (size_t a = 0; a < self->arms; a++) {
        self->deviation[a] = fmax(scores->deviation[a], least);
        self->low[a] = self->mean[a] + low * self->deviation[a];
        self->high[a] = self->mean[a] + high * self->deviation[a];
    }
}

sa_status sa_panels_begin(const sa_ts_scores *scores, const bool *outside, sa_panels *out) {
    sa_panels self = {.arms = scores->arms, .mean = scores->mean, .samples = (double)scores->samples};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(self.arms, sizeof(double), &self.deviation));
    SA_TRY_OR_FAIL(sa_alloc_array(self.arms, sizeof(double), &self.low));
    SA_TRY_OR_FAIL(sa_alloc_array(self.arms, sizeof(double), &self.high));
    SA_TRY_OR_FAIL(sa_alloc_matrix(self.arms, N, sizeof(double), &self.below));
    SA_TRY_OR_FAIL(sa_alloc_matrix(self.arms, N, sizeof(double), &self.density));
    set_rule(&self);
    set_ranges(&self, scores);
    double lowest = INFINITY, barrier = -INFINITY;
    self.to = -INFINITY;
    for (size_t a = 0; a < self.arms; a++) {
        lowest = fmin(lowest, self.low[a]);
        if (outside && outside[a]) barrier = fmax(barrier, self.low[a]);
        self.to = fmax(self.to, self.high[a]);
    }
    self.at = fmax(lowest, barrier);
    *out = self;
    return SA_OK;
fail:
    sa_panels_clear(&self);
    return status;
}

static double whole_power(double x, size_t n) {
    double power = 1;
    for (; n > 0; n /= 2, x *= x)
        if (n % 2) power *= x;
    return power;
}

static void fill(sa_panels *self, double from) {
    const double root_half = 0.70710678118654752440, one_over_root_two_pi = 0.39894228040143267794;
    double M = self->samples;
    for (size_t a = 0; a < self->arms; a++) {
        double *below = self->below + a * N, *density = self->density + a * N;
        for (size_t i = 0; i < N; i++) {
            double t = from + self->half * (1 + self->node[i]), z = (t - self->mean[a]) / self->deviation[a];
            density[i] = 0;
            below[i] = t >= self->high[a];
            if (t <= self->low[a] || t >= self->high[a]) continue;
            double one = 0.5 * sa_erfc(-z * root_half), others = whole_power(one, (size_t)M - 1);
            below[i] = others * one;
            density[i] = M * others * one_over_root_two_pi * sa_exp(-0.5 * z * z) / self->deviation[a];
        }
    }
}

/* Where a panel that begins at `from` may end: no wider than the deviation of any arm that rises in it. */
static double panel_end(const sa_panels *self, double from) {
    double step = INFINITY, next = INFINITY; /* next: where a first arm begins */
    for (size_t a = 0; a < self->arms; a++) {
        if (self->low[a] > from) next = fmin(next, self->low[a]);
        if (self->low[a] <= from && from < self->high[a]) step = fmin(step, self->deviation[a]);
    }
    if (isinf(step)) return next; /* nothing rises here */
    double end = from + step;
    for (size_t a = 0; a < self->arms; a++) /* a narrower one begins before that */
        if (self->low[a] > from && self->low[a] < end && self->deviation[a] < step) end = self->low[a];
    return end;
}

bool sa_panels_next(sa_panels *self) {
    for (;;) {
        double from = self->at, end = fmin(panel_end(self, from), self->to);
        if (!(from < self->to)) return false;
        if (!(end > from)) end = nextafter(from, INFINITY);
        self->at = end;
        self->half = (end - from) / 2;
        fill(self, from);
        for (size_t i = 0; i < self->arms * N; i++)
            if (self->density[i] != 0) return true;
    }
}

double sa_panel_integral(const sa_panels *self, const double *values) {
    double sum = 0;
    for (size_t i = 0; i < N; i++) sum += self->weight[i] * values[i];
    return self->half * sum;
}

void sa_panel_running(const sa_panels *self, double total, const double *values, double *out) {
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t j = 0; j < N; j++) sum += self->running[i][j] * values[j];
        out[i] = total + self->half * sum;
    }
}

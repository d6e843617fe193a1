/* Agents with position and cascade feedback beside a witness that shares no numerics with src: a network W2
 * relu(W1 x), or a linear model, on inputs that are written out in full, a dense matrix Z, and training by
 * differences of the loss. */
#ifndef TEST_FEEDBACK_REFERENCE_H
#define TEST_FEEDBACK_REFERENCE_H

#include "test_agent_rig.h"
#include "test_elimination.h"

#include "base/npy.h"

enum {
    UNITS = 4,
    PLACES = 3,
    WIDEST = RIG_DIM + PLACES,
    MOST = UNITS * WIDEST + UNITS,
    ARMS = 6,
    OBSERVATIONS = 200
};

/* double precision, no centre or scale, one step of gradient descent after each answer unless told
 * otherwise */
#define PLAIN                                                                                                \
    "preset=icml23 widths=all precision=double hidden=4 optimizer=gd rate-decay=none train-batch=0 slate=3 " \
    "train-window=0 "

typedef struct observation {
    double x[WIDEST], psi, y;
} observation;

typedef struct witness {
    size_t inputs, parameters; /* (parameters): W1 row by row, W2; or theta */
    bool linear;
    double theta[MOST], z[MOST][MOST];
    double centre, scale;
    size_t count;
    observation seen[OBSERVATIONS];
} witness;

static inline witness witness_of(size_t inputs, bool linear, double lambda) {
    witness w = {.inputs = inputs,
                 .linear = linear,
                 .parameters = linear ? inputs : UNITS * inputs + UNITS,
                 .scale = 1};
    for (size_t i = 0; i < w.parameters; i++) w.z[i][i] = lambda;
    return w;
}

static inline double witness_score(const witness *w, const double *theta, const double *x) {
    double f = 0;
    for (size_t j = 0; w->linear && j < w->inputs; j++) f += theta[j] * x[j];
    for (size_t i = 0; !w->linear && i < UNITS; i++) {
        double z = 0;
        for (size_t j = 0; j < w->inputs; j++) z += theta[i * w->inputs + j] * x[j];
        f += theta[UNITS * w->inputs + i] * fmax(z, 0);
    }
    return f;
}

/* df/dtheta over sqrt(m), m = 1 for a linear model; exact between kinks, where f is linear in each weight */
static inline void witness_gradient(const witness *w, const double *x, double g[MOST]) {
    double theta[MOST], step = 1e-4;
    memcpy(theta, w->theta, sizeof theta);
    for (size_t i = 0; i < w->parameters; i++) {
        theta[i] = w->theta[i] + step;
        double up = witness_score(w, theta, x);
        theta[i] = w->theta[i] - step;
        g[i] = (up - witness_score(w, theta, x)) / (2 * step) / (w->linear ? 1 : sqrt(UNITS));
        theta[i] = w->theta[i];
    }
}

/* x = Z^-1 y by elimination */
static inline void witness_solve(const witness *w, const double *y, double *x) {
    static double a[MOST * (MOST + 1)];
    size_t p = w->parameters;
    for (size_t i = 0; i < p; i++) {
        memcpy(a + i * (p + 1), w->z[i], p * sizeof(double));
        a[i * (p + 1) + p] = y[i];
    }
    eliminate(p, a);
    for (size_t i = 0; i < p; i++) x[i] = a[i * (p + 1) + p];
}

static inline double witness_width(const witness *w, const double *x) {
    double g[MOST], solved[MOST], sum = 0;
    witness_gradient(w, x, g);
    witness_solve(w, g, solved);
    for (size_t i = 0; i < w->parameters; i++) sum += g[i] * solved[i];
    return sqrt(sum);
}

/* Z + psi^2 g g' */
static inline void witness_count(witness *w, const double *g, double psi) {
    for (size_t i = 0; i < w->parameters; i++)
        for (size_t j = 0; j < w->parameters; j++) w->z[i][j] += psi * psi * g[i] * g[j];
}

/* 1/2 sum (psi f - (y - psi centre) / scale)^2 */
static inline double witness_loss(const witness *w, const double *theta) {
    double sum = 0;
    for (size_t i = 0; i < w->count; i++) {
        const observation *o = &w->seen[i];
        double rest = o->psi * witness_score(w, theta, o->x) - (o->y - o->psi * w->centre) / w->scale;
        sum += rest * rest / 2;
    }
    return sum;
}

/* One step of gradient descent; the loss is quadratic in each weight, so that differences are exact between
 * kinks. */
static inline void witness_step(witness *w, double rate) {
    double theta[MOST], next[MOST], step = 1e-4;
    memcpy(theta, w->theta, sizeof theta);
    for (size_t i = 0; i < w->parameters; i++) {
        theta[i] = w->theta[i] + step;
        double up = witness_loss(w, theta);
        theta[i] = w->theta[i] - step;
        next[i] = w->theta[i] - rate * (up - witness_loss(w, theta)) / (2 * step);
        theta[i] = w->theta[i];
    }
    memcpy(w->theta, next, w->parameters * sizeof *next);
}

/* theta = Z^-1 sum psi y x, with Z of all that was seen: ridge regression with rows psi x */
static inline void witness_regress(witness *w) {
    double b[MOST] = {0};
    for (size_t i = 0; i < w->count; i++)
        for (size_t j = 0; j < w->inputs; j++) b[j] += w->seen[i].psi * w->seen[i].y * w->seen[i].x[j];
    witness_solve(w, b, w->theta);
}

/* The network's weights as they are now, from the agent's file. */
static inline void witness_read(witness *w, const sa_agent *agent) {
    sa_npz *archive;
    assert_ok(sa_agent_save(agent, scratch("weights.npz")));
    assert_ok(sa_npz_open(scratch("weights.npz"), &archive));
    assert_ok(sa_npz_read_into(archive, "W1", SA_FLOAT64, 2, (size_t[]){UNITS, w->inputs}, w->theta));
    assert_ok(
        sa_npz_read_into(archive, "W2", SA_FLOAT64, 2, (size_t[]){1, UNITS}, w->theta + UNITS * w->inputs));
    sa_npz_close(archive);
}

/* An arm's features with place k one-hot behind them, where the witness has inputs for places. */
static inline void witness_input(const witness *w, const double *features, size_t k, double *x) {
    memcpy(x, features, RIG_DIM * sizeof *x);
    for (size_t j = RIG_DIM; j < w->inputs; j++) x[j] = j - RIG_DIM == k;
}

static inline void near(const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected))))
        fail_msg("%s is %.17g, not %.17g", what, value, expected);
}

#endif

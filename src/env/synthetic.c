/* The paper's synthetic scores (Section 5): x and a uniform on the unit sphere,
 *
 *   h1(x) = x'a,   h2(x) = (x'a)^2,   h3(x) = cos(w x'a),  w = pi (--h3-frequency)
 *
 * `a` depends on the seed alone; contexts and noise on seed, run and round. h3 takes cos from the C library: its last bit
 * may differ from one C library to another; everything else is basic arithmetic and the same everywhere. */
#include <math.h>

#include "base/memory.h"
#include "env/environment.h"
#include "env/noise.h"

extern const sa_environment_class sa_environment_h1, sa_environment_h2, sa_environment_h3;

typedef struct synthetic {
    sa_environment base;
    uint64_t seed;
    double frequency;
    double *a; /* (dim) */
} synthetic;

static double product(const double *x, const double *a, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += x[i] * a[i];
    return sum;
}

static double score(const synthetic *self, double product) {
    if (self->base.kind == &sa_environment_h1) return product;
    if (self->base.kind == &sa_environment_h2) return product * product;
    return cos(self->frequency * product);
}

static sa_status synthetic_draw(const sa_environment *environment, uint64_t run, uint64_t round, sa_round *out) {
    const synthetic *self = (const synthetic *)environment;
    size_t arms = self->base.arms, dim = self->base.dim;
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    sa_draw_sphere(&stream, 0, arms, dim, out->contexts);
    for (size_t i = 0; i < arms; i++) out->expected[i] = score(self, product(out->contexts + i * dim, self->a, dim));
    sa_draw_noise(self->seed, run, round, self->base.noise, arms, out->noise);
    return SA_OK;
}

static void synthetic_destroy(sa_environment *environment) {
    sa_free(((synthetic *)environment)->a);
    sa_free(environment);
}

static sa_status synthetic_create(const sa_options *options, const sa_environment_class *kind, sa_environment **out) {
    synthetic *self = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_environment){
        .kind = kind, .rounds = (size_t)options->rounds, .arms = (size_t)options->arms, .dim = (size_t)options->dim};
    self->seed = (uint64_t)options->seed;
    self->base.noise = options->noise;
    self->frequency = options->h3_frequency;
    SA_TRY_OR_FAIL(sa_alloc_array(self->base.dim, sizeof *self->a, &self->a));
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, 1, self->base.dim, self->a);
    *out = &self->base;
    return SA_OK;
fail:
    sa_free(self);
    return status;
}

#define SYNTHETIC(title, line)                                                                                            \
    { .name = title, .summary = line, .create = synthetic_create, .draw = synthetic_draw, .destroy = synthetic_destroy }

const sa_environment_class sa_environment_h1 = SYNTHETIC("h1", "x'a, linear; x and a uniform on the unit sphere");
const sa_environment_class sa_environment_h2 = SYNTHETIC("h2", "(x'a)^2");
const sa_environment_class sa_environment_h3 = SYNTHETIC("h3", "cos(pi x'a); --h3-frequency replaces pi");

/* The paper's synthetic scores (Section 5): x and a uniform on the unit sphere,
 *
 *   h1(x) = x'a,   h2(x) = (x'a)^2,   h3(x) = cos(w x'a),  w = pi (3.14 under --preset icml23)
 *
 * `a` depends on the seed alone; contexts and noise on seed, run and round. With --turn it moves: in round
 * t (from 0) it is
 *
 *   a_t = cos(t turn) a + sin(t turn) c,   c a unit vector at right angles to a, drawn with it
 *
 * so that it turns in one plane, and expected scores are those of the round's own a. h3 and turning take
 * cos and sin from the C library: their last bit may differ from one C library to another; everything else
 * is basic arithmetic and the same everywhere. */
#include <math.h>

#include "base/functions.h"
#include "base/memory.h"
#include "env/environment.h"
#include "env/noise.h"

extern const sa_environment_class sa_environment_h1, sa_environment_h2, sa_environment_h3;

typedef struct synthetic {
    sa_environment base;
    uint64_t seed;
    double frequency, turn;
    double *a;      /* (dim) */
    double *across; /* (dim) c; NULL: a stays as it is */
} synthetic;

static double product(const double *x, const double *a, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += x[i] * a[i];
    return sum;
}

static double score(const synthetic *self, double product) {
    if (self->base.kind == &sa_environment_h1) return product;
    if (self->base.kind == &sa_environment_h2) return product * product;
    return sa_cos(self->frequency * product);
}

/* x'a_t, which needs no a_t: threads share what is here */
static double turned(const synthetic *self, const double *x, uint64_t round) {
    double along = product(x, self->a, self->base.dim), angle = self->turn * (double)round;
    if (!self->across) return along;
    return sa_cos(angle) * along + sa_sin(angle) * product(x, self->across, self->base.dim);
}

static sa_status synthetic_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                                sa_round *out) {
    const synthetic *self = (const synthetic *)environment;
    size_t arms = self->base.arms, dim = self->base.dim;
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    sa_draw_sphere(&stream, 0, arms, dim, out->contexts);
    for (size_t i = 0; i < arms; i++)
        out->expected[i] = score(self, turned(self, out->contexts + i * dim, round));
    sa_draw_noise(self->seed, run, round, self->base.noise, arms, out->noise);
    return SA_OK;
}

static void synthetic_destroy(sa_environment *environment) {
    synthetic *self = (synthetic *)environment;
    sa_free(self->a);
    sa_free(self->across);
    sa_free(self);
}

/* c: the next vector of the sphere, less its part along a. */
static sa_status draw_across(synthetic *self, const sa_stream *stream) {
    size_t dim = self->base.dim;
    if (dim < 2) return sa_fail(SA_INVALID, "--turn %g needs a plane to turn in, and --dim is 1", self->turn);
    SA_TRY(sa_alloc_array(dim, sizeof *self->across, &self->across));
    sa_draw_sphere(stream, dim, 1, dim, self->across);
    double along = product(self->across, self->a, dim);
    for (size_t i = 0; i < dim; i++) self->across[i] -= along * self->a[i];
    double length = sqrt(product(self->across, self->across, dim));
    for (size_t i = 0; i < dim; i++) self->across[i] /= length;
    return SA_OK;
}

static sa_status synthetic_create(const sa_options *options, const sa_environment_class *kind,
                                  sa_environment **out) {
    synthetic *self = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_environment){.kind = kind,
                                  .rounds = (size_t)options->rounds,
                                  .arms = (size_t)options->arms,
                                  .dim = (size_t)options->dim};
    self->seed = (uint64_t)options->seed;
    self->base.noise = options->noise;
    self->frequency = options->h3_frequency;
    self->turn = options->turn;
    SA_TRY_OR_FAIL(sa_alloc_array(self->base.dim, sizeof *self->a, &self->a));
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, 1, self->base.dim, self->a);
    if (self->turn != 0) SA_TRY_OR_FAIL(draw_across(self, &stream));
    *out = &self->base;
    return SA_OK;
fail:
    if (self) synthetic_destroy(&self->base);
    return status;
}

#define SYNTHETIC(title, line)                                                                               \
    {                                                                                                        \
        .name = title, .summary = line, .create = synthetic_create, .draw = synthetic_draw,                  \
        .destroy = synthetic_destroy                                                                         \
    }

const sa_environment_class sa_environment_h1 =
    SYNTHETIC("h1", "x'a, linear; x and a uniform on the unit sphere");
const sa_environment_class sa_environment_h2 = SYNTHETIC("h2", "(x'a)^2");
const sa_environment_class sa_environment_h3 = SYNTHETIC("h3", "cos(pi x'a)");

/* Scores by a formula of one's own: x uniform on the unit sphere, as in the paper's environments, and hidden
 * unit vectors a, b, c, which depend on the seed alone; "x.a", "(x.a)^2" and "cos(pi*x.a)" are h1, h2 and
 * h3. */
#include <math.h>

#include "base/memory.h"
#include "env/environment.h"
#include "env/formula_parse.h"
#include "env/noise.h"

extern const sa_environment_class sa_environment_formula;

typedef struct formula_environment {
    sa_environment base;
    uint64_t seed;
    sa_formula formula;
    double *hidden; /* (SA_FORMULA_VECTORS, dim) */
} formula_environment;

static double product(const double *x, const double *a, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += x[i] * a[i];
    return sum;
}

static sa_status formula_draw(const sa_environment *environment, uint64_t run, uint64_t round,
                              sa_round *out) {
    const formula_environment *self = (const formula_environment *)environment;
    size_t arms = self->base.arms, dim = self->base.dim;
    double products[SA_FORMULA_VECTORS] = {0}, stack[SA_FORMULA_STEPS];
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_CONTEXTS, run, round);
    sa_draw_sphere(&stream, 0, arms, dim, out->contexts);
    for (size_t i = 0; i < arms; i++) {
        const double *x = out->contexts + i * dim;
        for (size_t k = 0; k < SA_FORMULA_VECTORS; k++)
            if (self->formula.used[k]) products[k] = product(x, self->hidden + k * dim, dim);
        out->expected[i] = sa_formula_value(&self->formula, x, products, (double)round + 1, stack);
        if (!isfinite(out->expected[i]))
            return sa_fail(SA_INVALID, "--score gives arm %zu of round %llu a score of %s", i,
                           (unsigned long long)round + 1, isnan(out->expected[i]) ? "nan" : "infinity");
    }
    sa_draw_noise(self->seed, run, round, self->base.noise, arms, out->noise);
    return SA_OK;
}

static void formula_destroy(sa_environment *environment) {
    formula_environment *self = (formula_environment *)environment;
    sa_formula_clear(&self->formula);
    sa_free(self->hidden);
    sa_free(self);
}

static sa_status read_formula(formula_environment *self, const sa_options *options) {
    if (!*options->score)
        return sa_fail(SA_INVALID,
                       "--environment formula needs --score, as in --score \"(x.a)*(x.b) + 0.1*abs(x.a)\"");
    SA_TRY(sa_formula_parse(options->score, &self->formula));
    if (self->formula.features <= self->base.dim) return SA_OK;
    return sa_fail(SA_INVALID, "--score has x[%zu], and with --dim %zu there are x[0] to x[%zu]",
                   self->formula.features - 1, self->base.dim, self->base.dim - 1);
}

/* What the first round says is said before anything is run. */
static sa_status try_round(const formula_environment *self, uint64_t run) {
    sa_round round = {0};
    sa_status status = sa_round_init(&round, &self->base);
    if (status == SA_OK) status = formula_draw(&self->base, run, 0, &round);
    sa_round_clear(&round);
    return status;
}

static sa_status formula_create(const sa_options *options, const sa_environment_class *kind,
                                sa_environment **out) {
    formula_environment *self;
    sa_status status;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_environment){.kind = kind,
                                  .rounds = (size_t)options->rounds,
                                  .arms = (size_t)options->arms,
                                  .dim = (size_t)options->dim,
                                  .noise = options->noise};
    self->seed = (uint64_t)options->seed;
    SA_TRY_OR_FAIL(read_formula(self, options));
    SA_TRY_OR_FAIL(sa_alloc_matrix(SA_FORMULA_VECTORS, self->base.dim, sizeof *self->hidden, &self->hidden));
    sa_stream stream = sa_stream_at(self->seed, SA_PURPOSE_PARAMETER, 0, 0);
    sa_draw_sphere(&stream, 0, SA_FORMULA_VECTORS, self->base.dim, self->hidden);
    SA_TRY_OR_FAIL(try_round(self, (uint64_t)options->first_run));
    *out = &self->base;
    return SA_OK;
fail:
    formula_destroy(&self->base);
    return status;
}

const sa_environment_class sa_environment_formula = {
    .name = "formula",
    .summary =
        "--score, as in \"(x.a)*(x.b) + 0.1*abs(x.a)\"; x and hidden a, b, c uniform on the unit sphere",
    .create = formula_create,
    .draw = formula_draw,
    .destroy = formula_destroy,
};

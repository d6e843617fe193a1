/* Ridge regression,
 *
 *     theta_g = (lambda I + sum over i outside g of phi phi')^-1 sum over i outside g of y_ig phi,
 *
 * of which only the sums are kept. */
#define SA_REAL_BITS 64

#include <string.h>

#include "base/memory.h"
#include "evaluate/regression.h"
#include "linalg/products.h"
#include "model/gram.h"

enum { BATCH = 64 };
static const double LAMBDA = 1;

typedef struct ridge {
    sa_regression base;
    double *gram;    /* (folds, dim, dim) lower triangles: of each fold's own decisions */
    double *moments; /* (folds, dim) of each model */
    double *theta;   /* (folds, dim) */
    double *rows;    /* (folds, batch, dim) waiting to be added to gram */
    size_t *waiting; /* (folds) */
} ridge;

static void let_go(ridge *self) {
    sa_free(self->gram);
    sa_free(self->moments);
    sa_free(self->rows);
    sa_free(self->waiting);
    self->gram = self->moments = self->rows = NULL;
    self->waiting = NULL;
}

static void destroy(sa_regression *base) {
    ridge *self = (ridge *)base;
    if (!self) return;
    let_go(self);
    sa_free(self->theta);
    sa_free(self);
}

static sa_status create(size_t folds, size_t dim, uint64_t seed, sa_regression **out) {
    ridge *self;
    sa_status status;
    (void)seed;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_regression){.kind = &sa_regression_ridge, .folds = folds, .dim = dim};
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds * dim, dim, sizeof(double), &self->gram));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds, dim, sizeof(double), &self->moments));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds, dim, sizeof(double), &self->theta));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds * BATCH, dim, sizeof(double), &self->rows));
    SA_TRY_OR_FAIL(sa_alloc_array(folds, sizeof *self->waiting, &self->waiting));
    *out = &self->base;
    return SA_OK;
fail:
    destroy(&self->base);
    return status;
}

static void count_rows(ridge *self, size_t fold) {
    size_t dim = self->base.dim;
    syrk_tn_f64(dim, self->waiting[fold], 1, self->rows + fold * BATCH * dim, dim,
                self->gram + fold * dim * dim, dim);
    self->waiting[fold] = 0;
}

static sa_status add(sa_regression *base, size_t fold, const double *phi, const double *targets) {
    ridge *self = (ridge *)base;
    size_t dim = base->dim;
    memcpy(self->rows + (fold * BATCH + self->waiting[fold]) * dim, phi, dim * sizeof *phi);
    if (++self->waiting[fold] == BATCH) count_rows(self, fold);
    for (size_t model = 0; model < base->folds; model++) {
        if (model == fold) continue;
        double *moment = self->moments + model * dim;
        for (size_t j = 0; j < dim; j++) moment[j] += targets[model] * phi[j];
    }
    return SA_OK;
}

static sa_status solve(ridge *self, size_t model, double *matrix) {
    size_t dim = self->base.dim;
    memset(matrix, 0, dim * dim * sizeof *matrix);
    for (size_t fold = 0; fold < self->base.folds; fold++) {
        const double *gram = self->gram + fold * dim * dim;
        for (size_t i = 0; fold != model && i < dim * dim; i++) matrix[i] += gram[i];
    }
    double *factor = matrix + dim * dim, *theta = self->theta + model * dim;
    if (!sa_gram_factor(dim, matrix, LAMBDA, factor))
        return sa_fail(SA_INVALID, "the reward model cannot be fitted: its sums are not finite");
    memcpy(theta, self->moments + model * dim, dim * sizeof *theta);
    sa_gram_lower(dim, factor, theta);
    sa_gram_upper(dim, factor, theta);
    return SA_OK;
}

static sa_status fit(sa_regression *base) {
    ridge *self = (ridge *)base;
    double *matrix;
    SA_TRY(sa_alloc_matrix(2 * base->dim, base->dim, sizeof *matrix, &matrix)); /* and its factor */
    sa_status status = SA_OK;
    for (size_t fold = 0; fold < base->folds; fold++) count_rows(self, fold);
    for (size_t model = 0; model < base->folds && status == SA_OK; model++)
        status = solve(self, model, matrix);
    sa_free(matrix);
    let_go(self);
    return status;
}

static sa_status predict(sa_regression *base, size_t model, const double *rows, size_t count, double *out) {
    const double *theta = ((const ridge *)base)->theta + model * base->dim;
    for (size_t i = 0; i < count; i++) {
        const double *phi = rows + i * base->dim;
        out[i] = 0;
        for (size_t j = 0; j < base->dim; j++) out[i] += theta[j] * phi[j];
    }
    return SA_OK;
}

const sa_regression_class sa_regression_ridge = {.name = "ridge",
                                                 .linear = true,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .add = add,
                                                 .fit = fit,
                                                 .predict = predict};

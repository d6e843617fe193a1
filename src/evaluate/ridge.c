#define SA_REAL_BITS 64

#include "evaluate/ridge.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/blas.h"

enum { BATCH = 64 };
static const double LAMBDA = 1;

sa_status sa_ridge_begin(size_t folds, size_t dim, sa_ridge *out) {
    sa_ridge ridge = {.folds = folds, .dim = dim};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds * dim, dim, sizeof(double), &ridge.gram));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds, dim, sizeof(double), &ridge.moments));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds, dim, sizeof(double), &ridge.theta));
    SA_TRY_OR_FAIL(sa_alloc_matrix(folds * BATCH, dim, sizeof(double), &ridge.rows));
    SA_TRY_OR_FAIL(sa_alloc_array(folds, sizeof *ridge.waiting, &ridge.waiting));
    *out = ridge;
    return SA_OK;
fail:
    sa_ridge_clear(&ridge);
    return status;
}

static void let_go(sa_ridge *ridge) {
    sa_free(ridge->gram);
    sa_free(ridge->moments);
    sa_free(ridge->rows);
    sa_free(ridge->waiting);
    ridge->gram = ridge->moments = ridge->rows = NULL;
    ridge->waiting = NULL;
}

void sa_ridge_clear(sa_ridge *ridge) {
    let_go(ridge);
    sa_free(ridge->theta);
    ridge->theta = NULL;
}

static void count_rows(sa_ridge *ridge, size_t fold) {
    size_t dim = ridge->dim;
    syrk_tn_f64(dim, ridge->waiting[fold], 1, ridge->rows + fold * BATCH * dim, dim,
                ridge->gram + fold * dim * dim, dim);
    ridge->waiting[fold] = 0;
}

void sa_ridge_add(sa_ridge *ridge, size_t fold, const double *phi, const double *targets) {
    size_t dim = ridge->dim;
    memcpy(ridge->rows + (fold * BATCH + ridge->waiting[fold]) * dim, phi, dim * sizeof *phi);
    if (++ridge->waiting[fold] == BATCH) count_rows(ridge, fold);
    for (size_t model = 0; model < ridge->folds; model++) {
        if (model == fold) continue;
        double *moment = ridge->moments + model * dim;
        for (size_t j = 0; j < dim; j++) moment[j] += targets[model] * phi[j];
    }
}

static sa_status solve(sa_ridge *ridge, size_t model, double *matrix) {
    size_t dim = ridge->dim;
    memset(matrix, 0, dim * dim * sizeof *matrix);
    for (size_t fold = 0; fold < ridge->folds; fold++) {
        const double *gram = ridge->gram + fold * dim * dim;
        for (size_t i = 0; fold != model && i < dim * dim; i++) matrix[i] += gram[i];
    }
    for (size_t i = 0; i < dim; i++) matrix[i * dim + i] += LAMBDA;
    SA_TRY(cholesky_f64(dim, matrix, dim));
    SA_TRY(cholesky_inverse_f64(dim, matrix, dim));
    for (size_t i = 0; i < dim; i++) {
        double sum = 0;
        for (size_t j = 0; j < dim; j++) sum += matrix[i * dim + j] * ridge->moments[model * dim + j];
        ridge->theta[model * dim + i] = sum;
    }
    return SA_OK;
}

sa_status sa_ridge_fit(sa_ridge *ridge) {
    double *matrix;
    SA_TRY(sa_alloc_matrix(ridge->dim, ridge->dim, sizeof *matrix, &matrix));
    sa_status status = SA_OK;
    for (size_t fold = 0; fold < ridge->folds; fold++) count_rows(ridge, fold);
    for (size_t model = 0; model < ridge->folds && status == SA_OK; model++)
        status = solve(ridge, model, matrix);
    sa_free(matrix);
    let_go(ridge);
    return status;
}

double sa_ridge_predict_one(const sa_ridge *ridge, size_t model, const double *phi) {
    const double *theta = ridge->theta + model * ridge->dim;
    double sum = 0;
    for (size_t j = 0; j < ridge->dim; j++) sum += theta[j] * phi[j];
    return sum;
}

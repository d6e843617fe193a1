/* Ridge regressions with cross-fitting: one model a fold, fitted on all decisions but that fold's own.
 *
 *     theta_g = (lambda I + sum over i outside g of phi phi')^-1 sum over i outside g of y_ig phi
 *
 * The target y may differ from model to model: a reward to go is predicted by the same fold's model of the
 * next position. */
#ifndef SA_EVALUATE_RIDGE_H
#define SA_EVALUATE_RIDGE_H

#include <stddef.h>

#include "base/status.h"

typedef struct sa_ridge {
    size_t folds, dim;
    double *gram;    /* (folds, dim, dim) lower triangles: of each fold's own decisions */
    double *moments; /* (folds, dim) of each model */
    double *theta;   /* (folds, dim) */
    double *rows;    /* (folds, batch, dim) waiting to be added to gram */
    size_t *waiting; /* (folds) */
} sa_ridge;

sa_status sa_ridge_begin(size_t folds, size_t dim, sa_ridge *out);
void sa_ridge_clear(sa_ridge *ridge);
/* phi (dim), targets (folds), of which the decision's own fold's is not looked at. */
void sa_ridge_add(sa_ridge *ridge, size_t fold, const double *phi, const double *targets);
/* Solves for theta, and lets go of everything else. */
sa_status sa_ridge_fit(sa_ridge *ridge);
double sa_ridge_predict_one(const sa_ridge *ridge, size_t model, const double *phi);

#endif

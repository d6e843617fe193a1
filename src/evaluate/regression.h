/* Regressions with cross-fitting: one model a fold, fitted on all decisions but that fold's own. The target
 * may differ from model to model: a reward to go is predicted by the same fold's model of the next position.
 *
 * One struct of functions a kind (ridge.c, network.c); predict.c sees only this. */
#ifndef SA_EVALUATE_REGRESSION_H
#define SA_EVALUATE_REGRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct sa_regression sa_regression;

typedef struct sa_regression_class {
    const char *name; /* --model */
    bool linear;      /* a mean of predictions is the prediction at the mean features */
    /* dim: of features, the first of which is always 1. */
    sa_status (*create)(size_t folds, size_t dim, uint64_t seed, sa_regression **out);
    void (*destroy)(sa_regression *self);
    /* Is the next decision of this fold to be added? To be asked once a decision. NULL: all are. */
    bool (*takes)(sa_regression *self, size_t fold);
    /* phi (dim), targets (folds), of which the decision's own fold's is not looked at. */
    sa_status (*add)(sa_regression *self, size_t fold, const double *phi, const double *targets);
    /* After the last; lets go of what was added. */
    sa_status (*fit)(sa_regression *self);
    /* rows (count, dim), out (count): by the model of this number. */
    sa_status (*predict)(sa_regression *self, size_t model, const double *rows, size_t count, double *out);
} sa_regression_class;

/* Every regression begins with this. */
struct sa_regression {
    const sa_regression_class *kind;
    size_t folds, dim;
};

extern const sa_regression_class sa_regression_ridge, sa_regression_network;

#endif

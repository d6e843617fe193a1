#include "model/gram.h"

#include <string.h>

#include "base/functions.h"
#define SA_REAL_BITS 64
#include "linalg/factors.h"

static const double SPREAD = 3; /* of the prior of log lambda */

bool sa_gram_factor(size_t dim, const double *gram, double lambda, double *factor) {
    memcpy(factor, gram, dim * dim * sizeof *factor);
    for (size_t j = 0; lambda > 0 && j < dim; j++) factor[j * dim + j] += lambda;
    return cholesky_f64(dim, factor, dim) == SA_OK;
}

void sa_gram_lower(size_t dim, const double *factor, double *y) {
    for (size_t j = 0; j < dim; j++) {
        for (size_t k = 0; k < j; k++) y[j] -= factor[j * dim + k] * y[k];
        y[j] /= factor[j * dim + j];
    }
}

void sa_gram_upper(size_t dim, const double *factor, double *y) {
    for (size_t j = dim; j-- > 0;) {
        y[j] /= factor[j * dim + j];
        for (size_t k = 0; k < j; k++) y[k] -= factor[j * dim + k] * y[j];
    }
}

bool sa_gram_judge(size_t dim, const double *gram, const double *b, double lambda, double *factor, double *u,
                   sa_gram_fit *fit) {
    if (!sa_gram_factor(dim, gram, lambda, factor)) return false;
    memcpy(u, b, dim * sizeof *u);
    sa_gram_lower(dim, factor, u);
    *fit = (sa_gram_fit){.log_det = -(double)dim * sa_log(lambda)};
    for (size_t j = 0; j < dim; j++) {
        fit->explained += u[j] * u[j];
        fit->log_det += 2 * sa_log(factor[j * dim + j]);
    }
    return true;
}

double sa_gram_evidence(double observations, double left, double log_det, double lambda_ratio) {
    double unlikely = sa_log(lambda_ratio) / SPREAD;
    return -0.5 * observations * sa_log(left) - 0.5 * log_det - 0.5 * unlikely * unlikely;
}

/* Ridge regression from its sums, wherever one is made. Of observations y = x'theta + noise,
 *
 *     G = sum x x',   b = sum y x,   Z = G + lambda I = C C',   theta = Z^-1 b
 *
 * With noise of variance s^2 and a prior of variance s^2 / lambda of each weight, what is left of the
 * squares, and how likely lambda is, come from the same factor:
 *
 *     left = sum y^2 - |C^-1 b|^2,   log det(I + G / lambda) = 2 sum log C_jj - d log lambda
 *     evidence = -n/2 log(left / n) - 1/2 log det(I + G / lambda) - log(lambda / lambda_0)^2 / 18
 *
 * whose last term says that lambda is within a factor of e^3 = 20 of lambda_0 for a start. Matrices are
 * (dim, dim), of symmetric ones the lower triangle counts. */
#ifndef SA_MODEL_GRAM_H
#define SA_MODEL_GRAM_H

#include <stdbool.h>
#include <stddef.h>

/* factor = C. false: rounding makes Z indefinite. */
bool sa_gram_factor(size_t dim, const double *gram, double lambda, double *factor);
/* y (dim) = C^-1 y, and y = C'^-1 y */
void sa_gram_lower(size_t dim, const double *factor, double *y);
void sa_gram_upper(size_t dim, const double *factor, double *y);

typedef struct sa_gram_fit {
    double explained; /* |C^-1 b|^2, of the squares of y */
    double log_det;   /* log det(I + G / lambda) */
} sa_gram_fit;
/* factor = C, u = C^-1 b. false: rounding makes Z indefinite. */
bool sa_gram_judge(size_t dim, const double *gram, const double *b, double lambda, double *factor, double *u,
                   sa_gram_fit *fit);
/* Up to a constant; left is per observation, in any unit. */
double sa_gram_evidence(double observations, double left, double log_det, double lambda_ratio);

#endif

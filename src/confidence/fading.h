/* Forgetting. With phi the product of the factors that Z was discounted by since its factor was made, the
 * factor stands for
 *
 *     phi (lambda I + G G') = phi lambda I + (what was counted, discounted)
 *
 * and gradients are counted divided by sqrt(phi). So all is right but lambda, which counts as phi lambda:
 * widths are never too small, and at most 1 / sqrt(phi) times the right ones. When phi falls below
 * SA_LEAST_FADE the factor is made again, with lambda as it should be: on the dual side from the gradients,
 * without those that weigh less than a hundredth by then, on the primal side from Z. No width is above |g| /
 * sqrt(lambda), the one before anything was counted. Where the factor is small and of the primal side, as
 * those of linear models are, it is made again each time, and widths are exact. */
#ifndef SA_CONFIDENCE_FADING_H
#define SA_CONFIDENCE_FADING_H

#include "confidence/factor.h"

#define SA_LEAST_FADE 0.8

typedef struct sa_fading {
    double phi; /* 1 for an engine that forgets nothing */
    /* (counted) of the gradients that a dual factor keeps, in units of phi; NULL: nothing was
     * forgotten */
    double *weight;
    size_t capacity; /* of weight */
    double dropped;  /* what was left out, as it would weigh now: sum of weight |g|^2 */
} sa_fading;

/* Gradients were counted, `counted` before them. */
sa_status sa_fading_count(sa_fading *fading, const sa_factor *factor, size_t counted, size_t more);
/* Discounts; makes the factor again when it is time, or, where it is `small` and of the primal side, at once.
 * `*counted` is what it then holds. */
sa_status sa_fading_count_less(sa_fading *fading, sa_factor **factor, double by, bool small,
                               uint64_t *counted);
/* Of the widths: the factor stands for phi Z', and Z is more than that by at most (1 - phi) lambda and what
 * was left out, in any direction. As Z' is at least lambda I, Z <= phi Z' (1 + (1 - phi + dropped / lambda) /
 * phi). */
double sa_fading_certificate(const sa_fading *fading, double lambda);
sa_status sa_fading_save(const sa_fading *fading, const sa_factor *factor, size_t counted,
                         sa_npz_writer *writer);
sa_status sa_fading_load(sa_fading *fading, const sa_factor *factor, size_t counted, sa_npz *archive);

#endif

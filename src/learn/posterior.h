/* What --bonus posterior has learnt from feedback (bonus.h), and a policy that goes by it. */
#ifndef SA_LEARN_POSTERIOR_H
#define SA_LEARN_POSTERIOR_H

#include "options/options.h"
#include "policy/policy.h"

/* Saved as one array. */
typedef struct sa_posterior {
    double counted, norms;    /* gradients that were counted, and the sum of their squared lengths */
    double pairs, products;   /* pairs of neighbours among them, and the sum of their inner products */
    double variance;          /* of the scores that the last training learnt from */
    double deviation, lambda; /* the policy's */
    double all;               /* gradients that were counted, each for 1 however old it is */
    double early;             /* the policy's */
} sa_posterior;

/* Is it in force? Not for models that are regressions, nor where theory gives gamma or nu. */
bool sa_posterior_is_used(const sa_policy *policy, const sa_options *options);
/* A policy whose Z is empty goes by `known`. */
sa_status sa_posterior_adopt(const sa_posterior *known, sa_policy *policy);

sa_status sa_posterior_save(const sa_posterior *known, sa_npz_writer *writer);
sa_status sa_posterior_load(sa_posterior *known, sa_npz *archive);

#endif

#include "learn/bonus.h"

#include <math.h>

static const double LEAST_ERROR = 1e-4; /* share of the variance: no noise at all would make Z singular */
static const double LEAST_KERNEL = 0.1; /* share: gradients that are nearly all the same still differ */
static const double MOVED = 2;          /* factor on lambda that is worth another factorisation */

static bool is_used(const sa_learner *learner) {
    return sa_posterior_is_used(learner->policy, learner->options);
}

/* Of what overflows nothing is learnt. */
static void add(double *count, double *sum, double term) {
    if (!isfinite(*sum + term)) return;
    ++*count;
    *sum += term;
}

void sa_bonus_take(sa_learner *learner, const sa_gradients *gradients) {
    sa_posterior *known = &learner->posterior;
    if (!is_used(learner)) return;
    for (size_t i = 0; i < gradients->count; i++) {
        add(&known->counted, &known->norms, sa_gradients_product(gradients, i, i));
        if (i > 0) add(&known->pairs, &known->products, sa_gradients_product(gradients, i - 1, i));
    }
}

void sa_bonus_discount(sa_learner *learner, double factor) {
    sa_posterior *known = &learner->posterior;
    double *const each[] = {&known->counted, &known->norms, &known->pairs, &known->products};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] *= factor;
}

void sa_bonus_forget(sa_learner *learner, size_t left) {
    double kept = (double)left / learner->posterior.counted;
    if (learner->options->discount == 1 && kept < 1) sa_bonus_discount(learner, kept);
}

static sa_status regularize(sa_policy *policy, double lambda) {
    double moved = lambda / policy->lambda;
    if (!isfinite(lambda) || !(lambda > 0) || (moved < MOVED && moved > 1 / MOVED)) return SA_OK;
    sa_status status = sa_confidence_regularize(policy->confidence, lambda);
    if (status == SA_INVALID) return SA_OK; /* rounding makes Z indefinite: the lambda before goes on */
    if (status == SA_OK) policy->lambda = lambda;
    return status;
}

/* The mean of k(x, x), less that of k(x, x'): how much gradients differ. */
static double kernel(const sa_posterior *known) {
    double mean = known->norms / known->counted,
           shared = known->pairs > 0 ? known->products / known->pairs : 0;
    return fmax(mean - shared, LEAST_KERNEL * mean);
}

/* Arms of an observation: where only totals are seen, Z has sums of so many gradients, and errors are those
 * of y / sqrt(K). */
static double arms_of(const sa_history *history) {
    return history->totals && history->answered ? (double)history->count / (double)history->answered : 1;
}

sa_status sa_bonus_follow(sa_learner *learner) {
    sa_policy *policy = learner->policy;
    sa_posterior *known = &learner->posterior;
    double arms = arms_of(&learner->memory->history), n = known->counted / arms;
    double error = fmax(learner->error, LEAST_ERROR * known->variance), noise = arms * error;
    if (!is_used(learner) || !(n > 0) || !(known->variance > 0) || !isfinite(error)) return SA_OK;
    double m = (double)learner->options->hidden, h = m / 2, early = m / n;
    const sa_companion *companion = policy->estimator.companion;
    double explained = (h + n * fmax(0, 1 - error / known->variance)) / (h + n);
    SA_TRY(regularize(policy, noise * kernel(known) / (explained * known->variance)));
    policy->deviation = sqrt(noise) * ((companion ? sa_companion_share(companion) : 1) + early * early);
    known->deviation = policy->deviation;
    known->lambda = policy->lambda;
    return SA_OK;
}

sa_status sa_bonus_take_over(const sa_learner *now, sa_learner *next) {
    if (!is_used(next)) return SA_OK;
    next->posterior = now->posterior;
    return sa_posterior_adopt(&next->posterior, next->policy);
}

#include "learn/bonus.h"

#include <math.h>

static const double LEAST_ERROR = 1e-4; /* share of the variance: no noise at all would make Z singular */
static const double LEAST_KERNEL = 0.1; /* share: gradients that are nearly all the same still differ */
static const double EARLY = 2,
                    MOST_EARLY = 50; /* observations a feature that a beginning is long, and at most */
static const double MOVED = 2;       /* factor on lambda that is worth another factorisation */

static bool is_used(const sa_learner *learner) {
    return sa_posterior_is_used(learner->policy, learner->options);
}

/* Of what overflows nothing is learnt. */
static void add(double *count, double *sum, double term) {
    if (!isfinite(*sum + term)) return;
    ++*count;
    *sum += term;
}

/* The gradient beside the one that was counted before it: the product of the two. */
static void take_pair(sa_learner *learner, const sa_gradients *gradients, size_t index) {
    sa_posterior *known = &learner->posterior;
    sa_gradients *last = &learner->last;
    bool paired = last->count > 0;
    sa_gradients_append_range(last, gradients, index, 1);
    if (!paired) return;
    add(&known->pairs, &known->products, sa_gradients_product(last, 0, 1));
    sa_gradients_move(last, 1, 0);
    last->count = 1;
}

sa_status sa_bonus_take(sa_learner *learner, const sa_gradients *gradients) {
    sa_posterior *known = &learner->posterior;
    const sa_gradients *none = &learner->policy->none;
    if (!is_used(learner)) return SA_OK;
    if (!learner->last.pairs) SA_TRY(sa_gradients_init_like(&learner->last, none->precision, none));
    SA_TRY(sa_gradients_reserve(&learner->last, 2));
    known->all += (double)gradients->count;
    for (size_t i = 0; i < gradients->count; i++) {
        add(&known->counted, &known->norms, sa_gradients_product(gradients, i, i));
        take_pair(learner, gradients, i);
    }
    return SA_OK;
}

void sa_bonus_fade(sa_learner *learner, double factor) {
    sa_posterior *known = &learner->posterior;
    double *const each[] = {&known->counted, &known->norms, &known->pairs, &known->products};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) *each[i] *= factor;
}

void sa_bonus_forget(sa_learner *learner, size_t left) {
    double kept = (double)left / learner->posterior.counted;
    if (learner->options->discount == 1 && kept < 1) sa_bonus_fade(learner, kept);
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
    double arms = arms_of(&learner->past->history), n = known->counted / arms;
    double error = fmax(learner->error, LEAST_ERROR * known->variance), noise = arms * error;
    if (!is_used(learner) || !(n > 0) || !(known->variance > 0) || !isfinite(error)) return SA_OK;
    double h = (double)learner->options->hidden / 2;
    const sa_companion *companion = policy->estimator.companion;
    double explained = (h + n * fmax(0, 1 - error / known->variance)) / (h + n);
    SA_TRY(regularize(policy, noise * kernel(known) / (explained * known->variance)));
    policy->deviation = sqrt(noise * (companion ? sa_companion_share(companion) : 1));
    double early = fmin(EARLY * (double)policy->estimator.inputs.dim, MOST_EARLY) * arms / known->all;
    policy->early = sqrt(noise) * early * early;
    known->deviation = policy->deviation;
    known->early = policy->early;
    known->lambda = policy->lambda;
    return SA_OK;
}

sa_status sa_bonus_take_over(const sa_learner *now, sa_learner *next) {
    if (!is_used(next)) return SA_OK;
    next->posterior = now->posterior;
    return sa_posterior_adopt(&next->posterior, next->policy);
}

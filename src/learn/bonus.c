#include "learn/bonus.h"

#include <math.h>
#include <string.h>

static const double LEAST_ERROR = 1e-4; /* share of the variance: no noise at all would make Z singular */
static const double LEAST_KERNEL = 0.1; /* share: gradients that are nearly all the same still differ */
static const double MOVED = 2;          /* factor on lambda that is worth another factorisation */

bool sa_bonus_is_posterior(const sa_learner *learner) {
    const sa_policy *policy = learner->policy;
    const sa_model *model = policy->estimator.model;
    return learner->options->bonus == SA_BONUS_POSTERIOR && policy->confidence && model &&
           model->kind->training && !model->kind->observing && !policy->exploration.by_theory;
}

/* Of what overflows nothing is learnt. */
static void add(double *count, double *sum, double term) {
    if (!isfinite(*sum + term)) return;
    ++*count;
    *sum += term;
}

void sa_bonus_take(sa_learner *learner, const sa_gradients *gradients) {
    sa_posterior *known = &learner->posterior;
    if (!sa_bonus_is_posterior(learner)) return;
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

sa_status sa_bonus_follow(sa_learner *learner) {
    sa_policy *policy = learner->policy;
    sa_posterior *known = &learner->posterior;
    double n = known->counted, error = fmax(learner->error, LEAST_ERROR * known->variance);
    if (!sa_bonus_is_posterior(learner) || !(n > 0) || !(known->variance > 0) || !isfinite(error))
        return SA_OK;
    double h = (double)learner->options->hidden / 2, early = h / n;
    double explained = (h + n * fmax(0, 1 - error / known->variance)) / (h + n);
    SA_TRY(regularize(policy, error * kernel(known) / (explained * known->variance)));
    policy->deviation = sqrt(error) * (1 + early * early);
    known->deviation = policy->deviation;
    known->lambda = policy->lambda;
    return SA_OK;
}

/* Into a policy whose Z is empty. */
static sa_status adopt(sa_learner *learner, const sa_posterior *known) {
    learner->posterior = *known;
    if (!(known->lambda > 0)) return SA_OK; /* nothing was known yet */
    learner->policy->deviation = known->deviation;
    learner->policy->lambda = known->lambda;
    return sa_confidence_regularize(learner->policy->confidence, known->lambda);
}

sa_status sa_bonus_take_over(const sa_learner *now, sa_learner *next) {
    return sa_bonus_is_posterior(next) ? adopt(next, &now->posterior) : SA_OK;
}

/* ---- files ---- */

enum { NUMBERS = sizeof(sa_posterior) / sizeof(double) };

sa_status sa_bonus_save(const sa_learner *learner, sa_npz_writer *writer) {
    size_t numbers = NUMBERS;
    if (!sa_bonus_is_posterior(learner)) return SA_OK;
    return sa_npz_add(writer, "posterior", SA_FLOAT64, 1, &numbers, &learner->posterior);
}

sa_status sa_bonus_load(sa_learner *learner, sa_npz *archive) {
    double number[NUMBERS];
    sa_posterior known;
    if (!sa_bonus_is_posterior(learner)) return SA_OK;
    SA_TRY(sa_npz_read_into(archive, "posterior", SA_FLOAT64, 1, (size_t[]){NUMBERS}, number));
    for (size_t i = 0; i < NUMBERS; i++)
        if (!(number[i] >= 0 && isfinite(number[i])))
            return sa_fail(SA_FORMAT, "'posterior' has the number %g, and must have finite ones of 0 or more",
                           number[i]);
    memcpy(&known, number, sizeof known);
    return adopt(learner, &known);
}

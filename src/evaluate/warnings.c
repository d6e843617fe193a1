/* Sentences about estimates that a user should not trust. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "evaluate/evaluate.h"

static const double HANDFUL = 30, FEW = 100; /* decisions: below, a normal interval is not to be trusted */

sa_status sa_warn_of_lengths(sa_evaluation *evaluation, const sa_evaluate_settings *settings,
                             const char *log) {
    if (!evaluation->varying_line || settings->lengths_by_policy) return SA_OK;
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (evaluation->asked[i] && sa_estimators[i].by_position)
            return sa_warn(
                evaluation,
                "%s:%" PRIu64
                ": the slate is not as long as those before. That is fine where the request said how "
                "long; where the policy decided it, only ips and snips are right (--lengths policy)",
                log, evaluation->varying_line);
    return SA_OK;
}

static bool weigh_alike(const sa_policy_result *policy, size_t one, size_t other) {
    (void)policy;
    return sa_estimators[one].weights == sa_estimators[other].weights;
}

static bool count_alike(const sa_policy_result *policy, size_t one, size_t other) {
    const sa_estimate *estimates = policy->estimates;
    return estimates[one].effective_sample_size == estimates[other].effective_sample_size &&
           estimates[one].largest_weight == estimates[other].largest_weight;
}

/* "ips, snips": those that are alike in this to the estimator `at`; "" when one before it is. */
static void name_alike(const sa_policy_result *policy, size_t at,
                       bool (*alike)(const sa_policy_result *policy, size_t one, size_t other),
                       char names[256]) {
    size_t size = 0;
    names[0] = 0;
    for (size_t i = 0; i < sa_estimator_count; i++) {
        if (!policy->computed[i] || !alike(policy, i, at)) continue;
        if (i < at) return;
        size += (size_t)snprintf(names + size, 256 - size, "%s%s", size ? ", " : "", sa_estimators[i].name);
    }
}

/* Does one of those with these weights divide by their sum? */
static bool any_normalised(const sa_policy_result *policy, size_t at) {
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (policy->computed[i] && sa_estimators[i].self_normalised && weigh_alike(policy, i, at))
            return true;
    return false;
}

/* A few large weights among many small ones: there may be enough decisions for the value, and too few for its
 * error. */
static sa_status warn_of_error(sa_evaluation *evaluation, const sa_policy_result *policy, size_t at) {
    char names[256];
    double size;
    SA_TRY(sa_error_sample(&sa_estimators[at], &policy->sample, &size));
    if (!(size < HANDFUL)) return SA_OK;
    name_alike(policy, at, count_alike, names);
    if (!*names) return SA_OK;
    return sa_warn(
        evaluation,
        "policy %s, %s: the standard error rests on a handful of decisions with large weights (they "
        "count as %.1f equally weighted ones; largest weight %.4g); the interval may be too narrow",
        policy->target.name, names, size, policy->estimates[at].largest_weight);
}

static sa_status warn_of_few(sa_evaluation *evaluation, const sa_policy_result *policy, size_t at) {
    const sa_estimate *estimate = &policy->estimates[at];
    double size = estimate->effective_sample_size, n = (double)evaluation->table.count;
    char names[256];
    if (!(size < FEW)) return warn_of_error(evaluation, policy, at);
    name_alike(policy, at, count_alike, names);
    if (!*names) return SA_OK;
    if (size > 0.9 * n)
        return sa_warn(evaluation, "policy %s, %s: there are only %.0f decisions", policy->target.name, names,
                       n);
    if (size < HANDFUL)
        return sa_warn(evaluation,
                       "policy %s, %s: this rests on a handful of decisions. %.0f count as %.1f equally "
                       "weighted ones (largest "
                       "weight %.4g); trust neither the value nor its interval",
                       policy->target.name, names, n, size, estimate->largest_weight);
    return sa_warn(evaluation,
                   "policy %s, %s: this rests on few decisions. %.0f count as %.1f equally weighted ones "
                   "(largest weight "
                   "%.4g); the interval may be too narrow",
                   policy->target.name, names, n, size, estimate->largest_weight);
}

/* The mean is 1 but for chance: a test of whether it can be. Who divides by it, hides it. */
static sa_status warn_of_mean(sa_evaluation *evaluation, const sa_policy_result *policy, size_t at) {
    double mean, error;
    char names[256];
    SA_TRY(sa_mean_weight(&sa_estimators[at], &policy->sample, &mean, &error));
    if (fabs(mean - 1) <= 5 * error + 1e-6) return SA_OK;
    name_alike(policy, at, weigh_alike, names);
    if (!*names) return SA_OK;
    return sa_warn(evaluation,
                   "policy %s, %s: the weights' mean is %.4g, and it should be 1 (standard error %.2g). "
                   "Either the logged probabilities are wrong, or the policy makes choices that the log "
                   "never has, or has so rarely that the few of large weight did not come up%s",
                   policy->target.name, names, mean, error,
                   any_normalised(policy, at) ? ". An estimate that divides by it is of those choices alone "
                                                "that the log has"
                                              : "");
}

sa_status sa_warn_of_estimates(sa_evaluation *evaluation, const sa_policy_result *policy) {
    if (policy->target.ruled)
        SA_TRY(sa_warn(evaluation,
                       "policy %s: %" PRIu64
                       " decisions had rules (problem, pin, at_most...), which are not kept "
                       "here: its probabilities are those of slates without rules",
                       policy->target.name, policy->target.ruled));
    for (size_t i = 0; i < sa_estimator_count; i++) {
        if (!policy->computed[i] || sa_estimators[i].weights == SA_WEIGHT_NONE) continue;
        SA_TRY(warn_of_few(evaluation, policy, i));
        SA_TRY(warn_of_mean(evaluation, policy, i));
    }
    return SA_OK;
}

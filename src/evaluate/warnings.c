/* Sentences about estimates that a user should not trust. */
#include <inttypes.h>
#include <math.h>

#include "evaluate/evaluate.h"

static const double FEW = 100; /* decisions: below, a normal interval is not to be trusted */

sa_status sa_warn_of_lengths(sa_evaluation *evaluation, const sa_evaluate_settings *settings, const char *log) {
    if (!evaluation->varying_line || settings->lengths_by_policy) return SA_OK;
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (evaluation->asked[i] && sa_estimators[i].by_position)
            return sa_warn(evaluation,
                           "%s:%" PRIu64
                           ": the slate is not as long as those before. That is fine where the request said how "
                           "long; where the policy decided it, only ips and snips are right (--lengths policy)",
                           log, evaluation->varying_line);
    return SA_OK;
}

static sa_status warn_of_few(sa_evaluation *evaluation, const sa_policy_result *policy, size_t at) {
    const sa_estimate *estimate = &policy->estimates[at];
    double size = estimate->effective_sample_size, n = (double)evaluation->table.count;
    if (!(size < FEW)) return SA_OK;
    if (size > 0.9 * n)
        return sa_warn(evaluation, "%s of %s: there are only %.0f decisions", sa_estimators[at].name, policy->target.name,
                       n);
    return sa_warn(evaluation,
                   "%s of %s rests on a handful of decisions: %.0f count as %.1f equally weighted ones (largest weight "
                   "%.4g). Do not trust its value or its interval",
                   sa_estimators[at].name, policy->target.name, n, size, estimate->largest_weight);
}

static sa_status warn_of_mean(sa_evaluation *evaluation, const sa_policy_result *policy, size_t at) {
    double mean, error;
    SA_TRY(sa_mean_weight(&sa_estimators[at], &policy->sample, &mean, &error));
    if (fabs(mean - 1) <= 5 * error + 1e-6) return SA_OK;
    return sa_warn(evaluation,
                   "%s of %s: the weights' mean is %.4g, and it should be 1 (standard error %.2g). Either the logged "
                   "probabilities are wrong, or the policy makes choices that the log never has",
                   sa_estimators[at].name, policy->target.name, mean, error);
}

sa_status sa_warn_of_estimates(sa_evaluation *evaluation, const sa_policy_result *policy) {
    for (size_t i = 0; i < sa_estimator_count; i++) {
        if (!policy->computed[i] || sa_estimators[i].weights == SA_WEIGHT_NONE) continue;
        SA_TRY(warn_of_few(evaluation, policy, i));
        if (!sa_estimators[i].self_normalised) SA_TRY(warn_of_mean(evaluation, policy, i));
    }
    return SA_OK;
}

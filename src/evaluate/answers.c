/* What an evaluation says when it is asked. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "evaluate/evaluate.h"

const char *sa_estimator_at(size_t index) {
    return index < sa_estimator_count ? sa_estimators[index].name : NULL;
}

uint64_t sa_evaluation_events(const sa_evaluation *evaluation) { return evaluation->table.count; }
uint64_t sa_evaluation_without_feedback(const sa_evaluation *evaluation) {
    return evaluation->without_feedback;
}
uint64_t sa_evaluation_not_final(const sa_evaluation *evaluation) { return evaluation->not_final; }
uint64_t sa_evaluation_other_sides(const sa_evaluation *evaluation) { return evaluation->other_sides; }
size_t sa_evaluation_policies(const sa_evaluation *evaluation) { return evaluation->policy_count; }
const char *sa_evaluation_json(const sa_evaluation *evaluation) { return evaluation->json.text; }

const char *sa_evaluation_policy(const sa_evaluation *evaluation, size_t policy) {
    return policy < evaluation->policy_count ? evaluation->policies[policy].target.name : NULL;
}

const char *sa_evaluation_warning(const sa_evaluation *evaluation, size_t index) {
    return index < evaluation->warning_count ? evaluation->warnings[index] : NULL;
}

const char *sa_evaluation_estimator(const sa_evaluation *evaluation, size_t policy, size_t index) {
    if (policy >= evaluation->policy_count) return NULL;
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (evaluation->policies[policy].computed[i] && index-- == 0) return sa_estimators[i].name;
    return NULL;
}

static sa_status find(const sa_evaluation *evaluation, size_t policy, const char *name, size_t *out) {
    char printable[SA_PRINTABLE];
    if (policy >= evaluation->policy_count)
        return sa_fail(SA_INVALID, "policy %zu: there are %zu, counted from 0", policy,
                       evaluation->policy_count);
    for (size_t i = 0; i < sa_estimator_count; i++) {
        if (strcmp(sa_estimators[i].name, name) || !evaluation->policies[policy].computed[i]) continue;
        *out = i;
        return SA_OK;
    }
    return sa_fail(SA_INVALID, "%s was not computed for the policy %s", sa_printable(name, printable),
                   evaluation->policies[policy].target.name);
}

sa_status sa_evaluation_get(const sa_evaluation *evaluation, size_t policy, const char *estimator,
                            sa_estimate *out) {
    size_t at = 0;
    SA_TRY(find(evaluation, policy, estimator, &at));
    *out = evaluation->policies[policy].estimates[at];
    return SA_OK;
}

static const sa_estimate UNKNOWN = {.value = NAN,
                                    .standard_error = NAN,
                                    .ci95 = {NAN, NAN},
                                    .bootstrap95 = {NAN, NAN},
                                    .effective_sample_size = NAN,
                                    .largest_weight = NAN,
                                    .no_overlap = NAN};

static void set_interval(sa_estimate *estimate) {
    estimate->ci95[0] = estimate->value - 1.959963984540054 * estimate->standard_error;
    estimate->ci95[1] = estimate->value + 1.959963984540054 * estimate->standard_error;
}

uint64_t sa_evaluation_control(const sa_evaluation *evaluation, sa_estimate *out) {
    const sa_side *control = &evaluation->control;
    double n = control->count;
    *out = UNKNOWN;
    if (n > 0) out->value = control->mean;
    if (n > 1) out->standard_error = sqrt(control->squares / (n - 1) / n);
    set_interval(out);
    return (uint64_t)n;
}

/* The two rest on different visitors, so their errors are independent. */
sa_status sa_evaluation_minus_control(const sa_evaluation *evaluation, size_t policy, const char *estimator,
                                      sa_estimate *out) {
    size_t at = 0;
    sa_estimate control;
    SA_TRY(find(evaluation, policy, estimator, &at));
    const sa_estimate *estimate = &evaluation->policies[policy].estimates[at];
    if (sa_evaluation_control(evaluation, &control) < 2)
        return sa_fail(SA_INVALID, "the log has no two decisions of the control side");
    *out = UNKNOWN;
    out->value = estimate->value - control.value;
    out->standard_error = sqrt(estimate->standard_error * estimate->standard_error +
                               control.standard_error * control.standard_error);
    set_interval(out);
    return SA_OK;
}

sa_status sa_evaluation_difference(const sa_evaluation *evaluation, size_t policy, const char *estimator,
                                   sa_estimate *out) {
    size_t at = 0, count = evaluation->table.count;
    double *terms, *minus;
    SA_TRY(find(evaluation, 0, estimator, &at));
    SA_TRY(find(evaluation, policy, estimator, &at));
    if (sa_estimators[at].replay)
        return sa_fail(SA_INVALID, "replays of two agents rest on different decisions");
    const sa_policy_result *one = &evaluation->policies[policy], *first = &evaluation->policies[0];
    double value = one->estimates[at].value, base = first->estimates[at].value;
    SA_TRY(sa_alloc_matrix(2, count, sizeof *terms, &terms));
    minus = terms + count;
    sa_status status = sa_estimate_terms(&sa_estimators[at], &one->sample, value, terms);
    if (status == SA_OK) status = sa_estimate_terms(&sa_estimators[at], &first->sample, base, minus);
    if (status == SA_OK) {
        for (size_t i = 0; i < count; i++) terms[i] -= minus[i];
        *out = UNKNOWN;
        sa_estimate_of_terms(terms, count, value - base, out);
        status = sa_bootstrap_difference(one, first, at, out->bootstrap95);
    }
    sa_free(terms);
    return status;
}

/* An evaluation as JSON. */
#include <inttypes.h>
#include <math.h>

#include "evaluate/evaluate.h"

static void field(sa_buffer *json, const char *name, double number) {
    sa_buffer_format(json, ", \"%s\": ", name);
    sa_buffer_number(json, number, 0);
}

static void interval(sa_buffer *json, const char *name, const double bounds[2]) {
    sa_buffer_format(json, ", \"%s\": [", name);
    sa_buffer_number(json, bounds[0], 0);
    sa_buffer_text(json, ", ");
    sa_buffer_number(json, bounds[1], 0);
    sa_buffer_text(json, "]");
}

static void write_value(sa_buffer *json, const sa_estimate *estimate) {
    sa_buffer_text(json, "{\"value\": ");
    sa_buffer_number(json, estimate->value, 0);
    field(json, "standard_error", estimate->standard_error);
    interval(json, "ci95", estimate->ci95);
    if (!isnan(estimate->bootstrap95[0])) interval(json, "bootstrap95", estimate->bootstrap95);
}

static void write_control(sa_buffer *json, const sa_evaluation *evaluation) {
    sa_estimate control;
    uint64_t events = sa_evaluation_control(evaluation, &control);
    if (!events) return;
    sa_buffer_format(json, "  \"control\": {\"events\": %" PRIu64, events);
    field(json, "value", control.value);
    field(json, "standard_error", control.standard_error);
    interval(json, "ci95", control.ci95);
    sa_buffer_text(json, "},\n");
}

static void write_minus_control(sa_buffer *json, const sa_evaluation *evaluation, size_t policy,
                                const char *estimator) {
    sa_estimate difference;
    if (evaluation->control.count < 2) return;
    if (sa_evaluation_minus_control(evaluation, policy, estimator, &difference) != SA_OK) return;
    sa_buffer_text(json, ", \"minus_control\": ");
    write_value(json, &difference);
    sa_buffer_text(json, "}");
}

static void write_estimates(sa_buffer *json, const sa_evaluation *evaluation, size_t at, const char *indent) {
    const sa_policy_result *policy = &evaluation->policies[at];
    const char *between = "\n";
    sa_buffer_text(json, "\"estimators\": {");
    for (size_t i = 0; i < sa_estimator_count; i++) {
        const sa_estimate *estimate = &policy->estimates[i];
        if (!policy->computed[i]) continue;
        sa_buffer_format(json, "%s%s  \"%s\": ", between, indent, sa_estimators[i].name);
        write_value(json, estimate);
        field(json, "effective_sample_size", estimate->effective_sample_size);
        field(json, "largest_weight", estimate->largest_weight);
        field(json, "no_overlap", estimate->no_overlap);
        write_minus_control(json, evaluation, at, sa_estimators[i].name);
        sa_buffer_text(json, "}");
        between = ",\n";
    }
    sa_buffer_format(json, "\n%s}", indent);
}

static sa_status write_differences(sa_buffer *json, const sa_evaluation *evaluation, size_t policy) {
    const char *between = "\n";
    sa_buffer_text(json, ",\n      \"difference\": {");
    for (size_t i = 0; i < sa_estimator_count; i++) {
        sa_estimate difference;
        if (sa_estimators[i].replay) continue;
        if (!evaluation->policies[0].computed[i] || !evaluation->policies[policy].computed[i]) continue;
        SA_TRY(sa_evaluation_difference(evaluation, policy, sa_estimators[i].name, &difference));
        sa_buffer_format(json, "%s        \"%s\": ", between, sa_estimators[i].name);
        write_value(json, &difference);
        sa_buffer_text(json, "}");
        between = ",\n";
    }
    sa_buffer_text(json, "\n      }");
    return SA_OK;
}

static sa_status write_policies(sa_buffer *json, const sa_evaluation *evaluation) {
    sa_buffer_text(json, ",\n  \"policies\": {");
    for (size_t p = 0; p < evaluation->policy_count; p++) {
        sa_buffer_text(json, p ? ",\n    " : "\n    ");
        sa_buffer_quote(json, evaluation->policies[p].target.name);
        sa_buffer_text(json, ": {\n      ");
        write_estimates(json, evaluation, p, "      ");
        if (p) SA_TRY(write_differences(json, evaluation, p));
        sa_buffer_text(json, "\n    }");
    }
    sa_buffer_text(json, "\n  }");
    return SA_OK;
}

sa_status sa_write_evaluation(sa_evaluation *evaluation) {
    sa_buffer *json = &evaluation->json;
    sa_buffer_format(json,
                     "{\n  \"events\": %zu,\n  \"left_out\": {\"without_feedback\": %" PRIu64
                     ", \"not_final\": %" PRIu64,
                     evaluation->table.count, evaluation->without_feedback, evaluation->not_final);
    if (evaluation->other_sides)
        sa_buffer_format(json, ", \"other_sides\": %" PRIu64, evaluation->other_sides);
    sa_buffer_text(json, "},\n");
    write_control(json, evaluation);
    sa_buffer_text(json, "  \"policy\": ");
    sa_buffer_quote(json, evaluation->policies[0].target.name);
    sa_buffer_text(json, ",\n  ");
    write_estimates(json, evaluation, 0, "  ");
    if (evaluation->policy_count > 1) SA_TRY(write_policies(json, evaluation));
    sa_buffer_text(json, ",\n  \"warnings\": [");
    for (size_t i = 0; i < evaluation->warning_count; i++) {
        sa_buffer_text(json, i ? ",\n    " : "\n    ");
        sa_buffer_quote(json, evaluation->warnings[i]);
    }
    sa_buffer_text(json, evaluation->warning_count ? "\n  ]\n}\n" : "]\n}\n");
    return json->status;
}

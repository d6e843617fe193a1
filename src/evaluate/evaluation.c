/* sa_evaluate: reads the log, weighs it for each policy, and computes what can be computed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "evaluate/evaluate.h"

/* ---- making and freeing ---- */

static void clear_policy(sa_policy_result *policy) {
    sa_predictions *q = &policy->sample.predictions;
    sa_target_clear(&policy->target);
    for (int kind = 0; kind < SA_WEIGHT_KINDS; kind++) {
        sa_free(policy->sample.weights[kind]);
        sa_free(policy->sample.missing[kind]);
    }
    sa_free(q->slate), sa_free(q->policy), sa_free(q->taken), sa_free(q->expected);
    sa_free(policy->estimates);
    sa_free(policy->computed);
    sa_free(policy->resampled);
}

void sa_evaluation_destroy(sa_evaluation *evaluation) {
    if (!evaluation) return;
    for (size_t i = 0; i < evaluation->policy_count; i++) clear_policy(&evaluation->policies[i]);
    sa_free(evaluation->policies);
    for (size_t i = 0; i < evaluation->warning_count; i++) sa_free(evaluation->warnings[i]);
    sa_free(evaluation->warnings);
    sa_free(evaluation->table.first);
    sa_free(evaluation->table.feedback);
    sa_free(evaluation->asked);
    sa_buffer_clear(&evaluation->json);
    sa_free(evaluation);
}

sa_status sa_warn(sa_evaluation *evaluation, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    SA_TRY(sa_grow_array(&evaluation->warnings, &evaluation->warning_room, evaluation->warning_count + 1,
                         sizeof *evaluation->warnings));
    SA_TRY(sa_copy_text(sentence, &evaluation->warnings[evaluation->warning_count]));
    evaluation->warning_count++;
    return SA_OK;
}

/* ---- what is asked for ---- */

/* The next word of a list with commas, into `word`; false after the last. */
static bool next_word(const char **list, char *word, size_t size) {
    if (!*list) return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

static sa_status take_estimators(sa_evaluation *evaluation, const char *list) {
    char word[64], printable[SA_PRINTABLE];
    for (size_t i = 0; i < sa_estimator_count; i++)
        evaluation->asked[i] = !list && sa_estimators[i].by_default;
    evaluation->named = list != NULL;
    while (next_word(&list, word, sizeof word)) {
        size_t i = 0;
        while (i < sa_estimator_count && strcmp(sa_estimators[i].name, word)) i++;
        if (i == sa_estimator_count)
            return sa_fail(SA_INVALID,
                           "--estimators %s is not one of ips, snips, iips, sniips, rips, snrips, "
                           "cascade-dr, dm, dr, pi, replay",
                           sa_printable(word, printable));
        evaluation->asked[i] = true;
    }
    return SA_OK;
}

static sa_status take_policies(sa_evaluation *evaluation, const char *list) {
    char word[4096];
    size_t count = 1;
    list = list ? list : "given";
    for (const char *at = list; *at; at++) count += *at == ',';
    SA_TRY(sa_alloc_array(count, sizeof *evaluation->policies, &evaluation->policies));
    while (next_word(&list, word, sizeof word)) {
        sa_policy_result *policy = &evaluation->policies[evaluation->policy_count];
        SA_TRY(sa_target_open(word, &policy->target));
        evaluation->policy_count++;
        for (size_t i = 0; i + 1 < evaluation->policy_count; i++)
            if (!strcmp(evaluation->policies[i].target.name, policy->target.name))
                return sa_fail(SA_INVALID, "--policy has %s twice", policy->target.name);
        policy->sample.table = &evaluation->table;
        SA_TRY(sa_alloc_array(sa_estimator_count, sizeof *policy->estimates, &policy->estimates));
        SA_TRY(sa_alloc_array(sa_estimator_count, sizeof *policy->computed, &policy->computed));
    }
    return SA_OK;
}

static sa_status check_choices(const sa_evaluate_settings *settings) {
    const char *model = settings->model, *logging = settings->logging;
    char printable[SA_PRINTABLE];
    if (model && strcmp(model, "network") && strcmp(model, "ridge") && strcmp(model, "zero"))
        return sa_fail(SA_INVALID, "--model %s is not network, ridge or zero",
                       sa_printable(model, printable));
    if (logging && strcmp(logging, "uniform") && strcmp(logging, "product"))
        return sa_fail(SA_INVALID, "--logging %s is not uniform or product",
                       sa_printable(logging, printable));
    return SA_OK;
}

static bool model_is(const sa_evaluate_settings *settings, const char *name) {
    return !strcmp(settings->model ? settings->model : "network", name);
}

/* With one arm a slate, ips and snips are all there is. */
static void leave_out_copies(sa_evaluation *evaluation) {
    for (size_t i = 0; i < sa_estimator_count; i++)
        if (!evaluation->named && evaluation->table.longest <= 1 && sa_estimators[i].by_position)
            evaluation->asked[i] = false;
}

/* ---- what cannot be computed ---- */

/* The sentence into `why`; "" when nothing is in the way. */
static void find_refusal(const sa_evaluate_settings *settings, const char *log,
                         const sa_policy_result *policy, const sa_estimator *estimator, char why[1024]) {
    const char *missing =
        estimator->weights == SA_WEIGHT_NONE ? NULL : policy->sample.missing[estimator->weights];
    why[0] = 0;
    if (settings->lengths_by_policy && estimator->by_position)
        snprintf(why, 1024,
                 "%s compares positions, and where the policy decides how long a slate is they are not the "
                 "same; ips "
                 "and snips do without",
                 estimator->name);
    else if (policy->sample.table->totals &&
             (estimator->by_position || estimator->model || estimator->replay))
        snprintf(
            why, 1024,
            "%s needs the feedback of each position, and %s has one number for a whole slate; ips and snips "
            "do without",
            estimator->name, log);
    else if (estimator->replay && policy->target.kind != SA_TARGET_AGENT)
        snprintf(why, 1024, "replay is for an agent that learns (--policy AGENT.npz), and the policy is %s",
                 policy->target.name);
    else if (missing)
        snprintf(why, 1024, "%s:%s (for %s of the policy %s)", log, missing, estimator->name,
                 policy->target.name);
    else if (estimator->model && !model_is(settings, "zero") && !sa_target_knows_all(&policy->target))
        snprintf(why, 1024,
                 "%s needs the probabilities of all arms, and of the policy %s only those of the slates are "
                 "known; "
                 "--model zero does without",
                 estimator->name, policy->target.name);
}

static void check_overlap(const char *log, const sa_policy_result *policy, const sa_estimator *estimator,
                          const sa_estimate *estimate, char why[1024]) {
    const char *name = policy->target.name;
    why[0] = 0;
    if (estimator->weights != SA_WEIGHT_NONE && estimate->largest_weight == 0)
        snprintf(why, 1024,
                 "%s has no decision that the policy %s could have made: every weight of %s is 0, and "
                 "nothing can be "
                 "said about it",
                 log, name, estimator->name);
    else if (!isfinite(estimate->value))
        snprintf(why, 1024,
                 "%s of the policy %s is not a number: at some position no decision of %s could have been "
                 "its own, or "
                 "weights are too large",
                 estimator->name, name, log);
}

/* ---- computing ---- */

static sa_status compute(const sa_estimator *estimator, const sa_sample *sample, double *terms,
                         sa_estimate *out) {
    double value;
    SA_TRY(sa_estimate_value(estimator, sample, NULL, &value));
    SA_TRY(sa_estimate_terms(estimator, sample, value, terms));
    sa_estimate_of_terms(terms, sample->table->count, value, out);
    out->bootstrap95[0] = out->bootstrap95[1] = NAN;
    return sa_estimate_weights(estimator, sample, out);
}

static sa_status predict(const sa_evaluation *evaluation, const sa_evaluate_settings *settings,
                         const char *log, sa_policy_result *policy) {
    sa_model_request request = {.log = log, .settings = settings, .network = model_is(settings, "network")};
    for (size_t i = 0; i < sa_estimator_count; i++) {
        if (!evaluation->asked[i] || !sa_estimators[i].model) continue;
        *(strcmp(sa_estimators[i].name, "cascade-dr") ? &request.additive : &request.cascade) = true;
    }
    if (model_is(settings, "zero") || !sa_target_knows_all(&policy->target)) return SA_OK;
    if (!request.additive && !request.cascade) return SA_OK;
    return sa_predict_rewards(&request, &evaluation->table, &policy->target, &policy->sample.predictions);
}

static sa_status compute_policy(sa_evaluation *evaluation, const sa_evaluate_settings *settings,
                                const char *log, sa_policy_result *policy, double *terms) {
    char why[1024];
    size_t computed = 0;
    SA_TRY(predict(evaluation, settings, log, policy));
    for (size_t i = 0; i < sa_estimator_count; i++) {
        const sa_estimator *estimator = &sa_estimators[i];
        if (!evaluation->asked[i]) continue;
        find_refusal(settings, log, policy, estimator, why);
        if (!*why) {
            SA_TRY(estimator->replay
                       ? sa_replay(log, settings->skip_bad, &policy->target, &policy->estimates[i])
                       : compute(estimator, &policy->sample, terms, &policy->estimates[i]));
            check_overlap(log, policy, estimator, &policy->estimates[i], why);
        }
        if (*why && evaluation->named) return sa_fail(SA_INVALID, "%s", why);
        if (*why) SA_TRY(sa_warn(evaluation, "%s is left out: %s", estimator->name, why));
        policy->computed[i] = !*why;
        computed += !*why;
    }
    if (!computed) return sa_fail(SA_INVALID, "%s", why);
    if (settings->bootstrap) SA_TRY(sa_bootstrap(policy, settings->bootstrap, settings->seed));
    return sa_warn_of_estimates(evaluation, policy);
}

static sa_status evaluate(const char *log, const sa_evaluate_settings *settings, sa_evaluation *evaluation) {
    double *terms;
    SA_TRY(sa_alloc_array(sa_estimator_count, sizeof *evaluation->asked, &evaluation->asked));
    SA_TRY(check_choices(settings));
    SA_TRY(take_estimators(evaluation, settings->estimators));
    SA_TRY(take_policies(evaluation, settings->policies));
    SA_TRY(sa_read_decisions(log, settings, evaluation));
    leave_out_copies(evaluation);
    SA_TRY(sa_warn_of_lengths(evaluation, settings, log));
    SA_TRY(sa_alloc_array(evaluation->table.count, sizeof *terms, &terms));
    sa_status status = SA_OK;
    for (size_t i = 0; i < evaluation->policy_count && status == SA_OK; i++)
        status = compute_policy(evaluation, settings, log, &evaluation->policies[i], terms);
    sa_free(terms);
    SA_TRY(status);
    return sa_write_evaluation(evaluation);
}

sa_status sa_evaluate(const char *log, const sa_evaluate_settings *settings, sa_evaluation **out) {
    static const sa_evaluate_settings defaults;
    sa_evaluation *evaluation;
    if (!log || !*log) return sa_fail(SA_INVALID, "a log has no name");
    SA_TRY(sa_alloc_array(1, sizeof *evaluation, &evaluation));
    sa_status status = evaluate(log, settings ? settings : &defaults, evaluation);
    if (status == SA_OK)
        *out = evaluation;
    else
        sa_evaluation_destroy(evaluation);
    return status;
}

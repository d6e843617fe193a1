/* Off-policy evaluation: what would another policy have earned on a log's decisions? docs/EVALUATION.md says
 * which estimator to trust when.
 *
 *   sa_evaluation *evaluation;
 *   sa_evaluate("log.jsonl", &(sa_evaluate_settings){.policies = "uniform", .estimators = "ips,rips"},
 *       &evaluation);
 *   sa_evaluation_get(evaluation, 0, "rips", &estimate);
 *   sa_evaluation_destroy(evaluation); */
#ifndef SUPERARM_EVALUATE_H
#define SUPERARM_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero or NULL is the default everywhere. */
typedef struct sa_evaluate_settings {
    /* the policies in question, separated by commas; NULL: given.
     *   given    the log has their probabilities, as target_propensity and so on
     *   uniform  an ordered slate of as many arms, each as likely as the others
     *   logged   the policy that chose
     *   FILE.npz an agent that was saved, as it is there: contexts are those of the log; NAME=FILE.npz
     *            calls it NAME */
    const char *policies;
    /* ips, snips, iips, sniips, rips, snrips, cascade-dr, dm, dr, pi, replay, separated by commas; NULL:
     * those of the first six that the log has the probabilities for, and with one arm a slate the first two.
     * One that is named and cannot be computed is a failure. */
    const char *estimators;
    /* of the reward, for cascade-dr, dm, dr: network (the default) or ridge, fitted on the other folds, or
     * zero */
    const char *model;
    /* for pi: uniform (the default: slates were drawn uniformly), or product (each position by itself) */
    const char *logging;
    /* the policy decides how long a slate is: estimators by position are then refused */
    bool lengths_by_policy;
    bool skip_bad;    /* skips and counts lines that are wrong */
    size_t bootstrap; /* resamplings for bootstrap intervals; 0: none */
    size_t folds;     /* of cross-fitting; 0: 5 */
    uint64_t seed;    /* of the bootstrap, and of the network */
} sa_evaluate_settings;

/* The names of all estimators, from 0; NULL after the last. */
SA_API const char *sa_estimator_at(size_t index);

typedef struct sa_evaluation sa_evaluation;

/* `settings` may be NULL. The log is read as a stream; 8 (2 + 3 K) bytes a decision and policy are kept.
 * SA_FORMAT and SA_INVALID name the line where one is wrong. `*out` is set only on success; caller destroys
 * it. */
SA_API sa_status sa_evaluate(const char *log, const sa_evaluate_settings *settings, sa_evaluation **out);
SA_API void sa_evaluation_destroy(sa_evaluation *evaluation); /* NULL is fine */

/* What is not known is NaN. */
typedef struct sa_estimate {
    double value; /* the mean a decision of the sum of its feedback */
    double standard_error;
    double ci95[2];               /* value -+ 1.96 standard errors */
    double bootstrap95[2];        /* percentiles of the resampled values; NaN without a bootstrap */
    double effective_sample_size; /* (sum w)^2 / sum w^2; the smallest over positions */
    double largest_weight;
    double no_overlap; /* share of decisions whose weight is 0 (at every position) */
} sa_estimate;

/* Decisions that were counted, and those left out because they have no feedback, or not all of it, or because
 * what was shown was neither the agent's slate nor the control's (docs/LOGS.md, "side"). */
SA_API uint64_t sa_evaluation_events(const sa_evaluation *evaluation);
SA_API uint64_t sa_evaluation_without_feedback(const sa_evaluation *evaluation);
SA_API uint64_t sa_evaluation_not_final(const sa_evaluation *evaluation);
SA_API uint64_t sa_evaluation_other_sides(const sa_evaluation *evaluation);
/* What the decisions of the control side earned, measured and not estimated; no estimator looks at them. How
 * many they are: 0 where the log has none, and then all is NaN. */
SA_API uint64_t sa_evaluation_control(const sa_evaluation *evaluation, sa_estimate *out);
/* An estimate less what the control earned: value, standard_error and ci95. SA_INVALID without a control of
 * at least two decisions. */
SA_API sa_status sa_evaluation_minus_control(const sa_evaluation *evaluation, size_t policy,
                                             const char *estimator, sa_estimate *out);
SA_API size_t sa_evaluation_policies(const sa_evaluation *evaluation);
SA_API const char *sa_evaluation_policy(const sa_evaluation *evaluation,
                                        size_t policy); /* its name; NULL: there is none */
/* Estimators that were computed for this policy, in the order of the list above, from 0; NULL after the
 * last. */
SA_API const char *sa_evaluation_estimator(const sa_evaluation *evaluation, size_t policy, size_t index);
SA_API sa_status sa_evaluation_get(const sa_evaluation *evaluation, size_t policy, const char *estimator,
                                   sa_estimate *out);
/* The value of `policy` minus that of the first, decision by decision: value, standard_error, ci95 and
 * bootstrap95; SA_INVALID unless both have this estimator. */
SA_API sa_status sa_evaluation_difference(const sa_evaluation *evaluation, size_t policy,
                                          const char *estimator, sa_estimate *out);
/* Sentences a user should read; NULL after the last. */
SA_API const char *sa_evaluation_warning(const sa_evaluation *evaluation, size_t index);
/* All of it as JSON, valid as long as the evaluation: {"events", "left_out", "policy", "estimators": {NAME:
 * {...}}, "warnings"}, those of the first policy; with several also "policies": {POLICY: {"estimators",
 * "difference"}}. With a control also "control": {"events", "value", "standard_error", "ci95"}, and each
 * estimator has "minus_control". */
SA_API const char *sa_evaluation_json(const sa_evaluation *evaluation);
/* A page for people, HTML without other files: estimates side by side, how the weights are spread, feedback
 * by position. Caller frees it with sa_evaluation_text_free. */
SA_API sa_status sa_evaluation_page(const sa_evaluation *evaluation, char **out);
SA_API void sa_evaluation_text_free(char *text); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif

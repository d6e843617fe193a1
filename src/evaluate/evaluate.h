/* Off-policy evaluation. A log becomes a table of feedback, and for each policy in question a table of
 * weights (target over logged probability); estimators are functions of these two.
 *
 * Decision i has positions first[i] ... first[i + 1] - 1 of the long arrays. */
#ifndef SA_EVALUATE_EVALUATE_H
#define SA_EVALUATE_EVALUATE_H

#include <superarm/agent.h>
#include <superarm/evaluate.h>
#include <superarm/log.h>
#include <superarm/sides.h>

#include "base/buffer.h"
#include "base/json.h"

/* ---- weights ---- */

typedef enum sa_weight_kind {
    SA_WEIGHT_JOINT,    /* of the ordered slate */
    SA_WEIGHT_POSITION, /* of arm k at position k */
    SA_WEIGHT_PREFIX,   /* of the first k arms */
    SA_WEIGHT_PI,       /* of the slate, were rewards sums over positions */
    SA_WEIGHT_NONE,
    SA_WEIGHT_KINDS = SA_WEIGHT_NONE
} sa_weight_kind;

typedef struct sa_feedback_table {
    size_t count; /* decisions */
    size_t count_room;
    size_t *first;    /* (count + 1) */
    double *feedback; /* (first[count]); what was not seen is 0 */
    size_t feedback_room;
    size_t longest; /* slate */
    bool totals;    /* of some decisions only the total is known: it stands at their first position */
} sa_feedback_table;

/* What a reward model says about a policy; NULL arrays are zero. */
typedef struct sa_predictions {
    double *slate;    /* (count) Q of the logged slate */
    double *policy;   /* (count) E Q under the policy */
    double *taken;    /* (positions) Q_k(a_1:k) */
    double *expected; /* (positions) sum over a of pi(a given a_1:k-1) Q_k(a_1:k-1, a) */
} sa_predictions;

typedef struct sa_sample {
    const sa_feedback_table *table;
    double *weights
        [SA_WEIGHT_KINDS]; /* (count) for joint and pi, (positions) for the others; NULL: not asked for */
    size_t rooms[SA_WEIGHT_KINDS];
    char *missing[SA_WEIGHT_KINDS]; /* why a kind is not known, with the line; NULL: it is */
    sa_predictions predictions;
} sa_sample;

static inline bool sa_weight_is_long(sa_weight_kind kind) {
    return kind == SA_WEIGHT_POSITION || kind == SA_WEIGHT_PREFIX;
}

/* ---- the policies in question ---- */

/* Probabilities of one logged slate; NaN or NULL: not known. */
typedef struct sa_probabilities {
    size_t slate;
    double joint;
    const double *prefix, *position; /* (slate) */
} sa_probabilities;

/* NaN: not known. */
double sa_joint_of(const sa_probabilities *known);
double sa_prefix_of(const sa_probabilities *known, size_t position);
double sa_position_of(const sa_probabilities *known, size_t position);

typedef enum sa_target_kind {
    SA_TARGET_GIVEN,
    SA_TARGET_UNIFORM,
    SA_TARGET_LOGGED,
    SA_TARGET_AGENT
} sa_target_kind;

typedef struct sa_target {
    sa_target_kind kind;
    char *name, *path; /* path: of an agent's file */
    double *lists;     /* (2, slate): prefix and position */
    size_t lists_room;
    sa_agent *agent; /* that was loaded; NULL for the others */
    sa_policy *policy;
    sa_chooser *chooser;
    sa_request *request;
    sa_encoding *encoding;
    sa_json extra;  /* of the decision at hand: what a service's log has beside our fields */
    bool *excluded; /* (candidates) */
    size_t excluded_room;
    uint64_t ruled; /* decisions with rules that it does not keep */
} sa_target;

sa_status sa_target_open(const char *name, sa_target *out);
void sa_target_clear(sa_target *target);
/* The lists belong to the target or the entry, until the next call. */
sa_status sa_target_probabilities(sa_target *target, const sa_log_entry *entry, sa_probabilities *out);
/* (candidates, dim) as the agent's schema has them, or as the log has. SA_INVALID where there are none; valid
 * until the next call. */
sa_status sa_target_contexts(sa_target *target, const sa_log_entry *entry, const double **contexts,
                             size_t *dim);
/* Does it know the probabilities of arms that were not chosen? */
bool sa_target_knows_all(const sa_target *target);
/* Every arm's, (slate, candidates): at position k, and next after the logged first k - 1 arms. Only where it
 * knows them. */
sa_status sa_target_marginals(sa_target *target, const sa_log_entry *entry, double *out);
sa_status sa_target_conditionals(sa_target *target, const sa_log_entry *entry, double *out);

/* Was the slate of this decision drawn uniformly, as its propensity says? */
bool sa_is_uniform(const sa_log_entry *entry);

/* ---- weighing one decision ---- */

typedef struct sa_weigher {
    bool asked[SA_WEIGHT_KINDS];
    bool product; /* positions were logged independently */
    double *marginals;
    size_t marginals_room;
} sa_weigher;

/* Appends the weights of the decision that was just added to the table. */
sa_status sa_weigh(sa_weigher *weigher, const sa_log_entry *entry, sa_target *target, sa_sample *sample);
void sa_weigher_clear(sa_weigher *weigher);

/* ---- estimators ---- */

typedef struct sa_estimator {
    const char *name;
    sa_weight_kind weights;
    bool self_normalised;
    bool by_default; /* computed where none is named, if the log allows it */
    bool by_position;
    bool model;  /* uses a reward model */
    bool replay; /* an agent that learns while it goes; there are no weights, and no terms */
    /* Decision i's share: the value is the mean. NULL where self-normalised. */
    double (*term)(const sa_sample *sample, size_t decision);
} sa_estimator;

extern const sa_estimator sa_estimators[];
extern const size_t sa_estimator_count;

/* `times` (count): how often each decision is taken, as many as there are in all; NULL: each once. */
sa_status sa_estimate_value(const sa_estimator *estimator, const sa_sample *sample, const uint32_t *times,
                            double *value);
/* terms (count) whose mean is the value and whose deviation gives its error. */
sa_status sa_estimate_terms(const sa_estimator *estimator, const sa_sample *sample, double value,
                            double *terms);
/* Value, standard error and interval. */
void sa_estimate_of_terms(const double *terms, size_t count, double value, sa_estimate *out);
/* Effective sample size, largest weight, share without overlap. */
sa_status sa_estimate_weights(const sa_estimator *estimator, const sa_sample *sample, sa_estimate *out);
/* How many decisions the standard error rests on: (sum w^2)^2 / sum w^4, the smallest over positions (Owen,
 * Monte Carlo theory, section 9.3). */
sa_status sa_error_sample(const sa_estimator *estimator, const sa_sample *sample, double *size);
/* The mean of the weights and its standard error, where it is the furthest from 1, which it would be but for
 * chance. */
sa_status sa_mean_weight(const sa_estimator *estimator, const sa_sample *sample, double *mean, double *error);

/* ---- reward models: predict.c ---- */

/* Fits on the other folds and predicts, by reading the log again. dm and dr need the additive model,
 * cascade-dr the other. */
typedef struct sa_model_request {
    const char *log;
    const sa_evaluate_settings *settings;
    bool network; /* the regression is the library's network, and not a ridge */
    bool additive, cascade;
} sa_model_request;

sa_status sa_predict_rewards(const sa_model_request *request, const sa_feedback_table *table,
                             sa_target *target, sa_predictions *out);

/* ---- the evaluation ---- */

typedef struct sa_policy_result {
    sa_target target;
    sa_sample sample;
    sa_estimate *estimates; /* (sa_estimator_count) */
    bool *computed;         /* (sa_estimator_count) */
    double *resampled;      /* (sa_estimator_count, resamplings) values of the bootstrap */
    size_t resamplings;
} sa_policy_result;

/* Fills in bootstrap95 of the estimates that were computed. */
sa_status sa_bootstrap(sa_policy_result *policy, size_t resamplings, uint64_t seed);
/* The interval of one policy's value minus another's; NaN without a bootstrap. */
sa_status sa_bootstrap_difference(const sa_policy_result *policy, const sa_policy_result *base,
                                  size_t estimator, double interval[2]);

struct sa_evaluation {
    sa_feedback_table table;
    sa_policy_result *policies;
    size_t policy_count;
    uint64_t without_feedback, not_final, other_sides;
    sa_side control;       /* what its decisions earned */
    uint64_t varying_line; /* the first whose slate is not as long as those before; 0: none */
    bool *asked;           /* (sa_estimator_count) */
    bool named;            /* by the user */
    char **warnings;
    size_t warning_count, warning_room;
    sa_buffer json;
};

/* The decisions of a log that count: with feedback, final, of the agent's side, without contradictions. Every
 * pass over a log sees the same ones. Who gets the control's slate is drawn, so without those visitors the
 * others are as they were; their rewards are the control's, measured. */
typedef struct sa_decisions {
    sa_log_reader *reader;
    const char *log;
    bool skip_bad;
    uint64_t without_feedback, not_final, other_sides, contradictory;
    sa_side control;
} sa_decisions;

sa_status sa_decisions_open(const char *log, bool skip_bad, sa_decisions *out);
/* `*entry` is NULL after the last. */
sa_status sa_decisions_next(sa_decisions *decisions, const sa_log_entry **entry);
void sa_decisions_close(sa_decisions *decisions);

/* Value, error and how many decisions agreed. SA_INVALID unless the log's slates were drawn uniformly. */
sa_status sa_replay(const char *log, bool skip_bad, sa_target *target, sa_estimate *out);
sa_status sa_read_decisions(const char *log, const sa_evaluate_settings *settings, sa_evaluation *evaluation);
__attribute__((format(printf, 2, 3))) sa_status sa_warn(sa_evaluation *evaluation, const char *format, ...);
/* Where slates are not all as long, and positions are compared. */
sa_status sa_warn_of_lengths(sa_evaluation *evaluation, const sa_evaluate_settings *settings,
                             const char *log);
sa_status sa_warn_of_estimates(sa_evaluation *evaluation, const sa_policy_result *policy);
sa_status sa_write_evaluation(sa_evaluation *evaluation);

#endif

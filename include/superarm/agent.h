/* The agent: asks for nothing but contexts and feedback, and returns slates.
 *
 * One agent belongs to one thread at a time; different agents are independent, and so are an agent's policies
 * (superarm/policy.h).
 *
 * What a call that fails leaves behind: a call that was given wrong input changes nothing. Neither does one
 * that runs out of memory or disk while it chooses, records, saves or loads. One that does so while it learns
 * (sa_agent_update, sa_agent_learn, sa_agent_train, and with --count-pending also sa_agent_select and
 * sa_agent_record) closes the agent, unless nothing was learnt yet: every later call but sa_agent_destroy and
 * sa_agent_count returns SA_CLOSED, and what was saved before can be loaded. */
#ifndef SUPERARM_AGENT_H
#define SUPERARM_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/options.h>
#include <superarm/oracle.h>
#include <superarm/policy.h>
#include <superarm/schema.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the agent ---- */

typedef struct sa_agent sa_agent;

/* Options are copied. `*out` is set only on success; caller frees with sa_agent_destroy. */
SA_API sa_status sa_agent_create(const sa_options *options, sa_agent **out);
SA_API void sa_agent_destroy(sa_agent *agent); /* NULL is fine */

/* An agent for items with named fields: its --dim is the schema's. The schema gets one more owner, and is
 * saved with the agent. */
SA_API sa_status sa_agent_create_with_schema(const sa_options *options, sa_schema *schema, sa_agent **out);
/* Its schema, as long as it lives; NULL where it has none. */
SA_API const sa_schema *sa_agent_schema(const sa_agent *agent);
/* SA_INVALID, with what differs, unless this is the schema that the agent was made with: its weights belong
 * to these columns. */
SA_API sa_status sa_agent_check_schema(const sa_agent *agent, const sa_schema *schema);

/* An oracle of the caller's own instead of --oracle; copied, its user pointer borrowed. NULL: back to
 * --oracle. It is not saved, but that there was one is: after sa_agent_load, the agent chooses nothing
 * (SA_INVALID) until this is called again. */
SA_API sa_status sa_agent_oracle(sa_agent *agent, const sa_oracle_callbacks *oracle);
/* Was it saved with an oracle of the caller's own, which has not been given again? */
SA_API bool sa_agent_needs_oracle(const sa_agent *agent);

/* Chooses a slate. `*decision` NULL: a new object, which the caller frees with sa_decision_destroy; an older
 * decision: it is overwritten, which saves the allocation. It stays valid whatever happens to the agent. */
SA_API sa_status sa_agent_select(sa_agent *agent, const sa_request *request, sa_decision **decision);

/* Chooses a slate for each of several requests, faster than one by one and with the same ids and slates, and
 * the same bytes in the decisions, as long as no feedback would have come in between. (But for the one call
 * in an agent's life in which the widths turn to double precision: there the first requests have it too.)
 * decisions (count): each NULL or an older one, as for sa_agent_select, and none twice (SA_INVALID). When one
 * request cannot be answered, none is: nothing has changed, and the sentence names it. SA_INVALID with
 * --count-pending, where each slate changes what the next one sees. */
SA_API sa_status sa_agent_select_many(sa_agent *agent, const sa_request *const *requests, size_t count,
                                      sa_decision **decisions);

/* The agent as it is now, for others to choose with while it goes on learning; caller releases it with
 * sa_policy_release. It costs little: what only grows is shared, and what is rewritten is copied when the
 * agent next learns, less than 1 MB beside the weights for exact widths of 8000 gradients; with a companion
 * (tuned) also 4 bytes times the square of the features. */
SA_API sa_status sa_agent_policy(sa_agent *agent, sa_policy **out);

/* A decision that one of the agent's policies made for this request now waits for its feedback here, and has
 * its id. The gradients of its arms are those at the agent's present weights. sa_agent_select is
 * sa_policy_select and this, bit for bit. */
SA_API sa_status sa_agent_record(sa_agent *agent, const sa_request *request, sa_decision *decision);

/* The probabilities of a decision that is kept, where its request asked for them (sa_request_propensities):
 * NaN and NULL where they are not known. They are saved with the agent. The arrays, (*slate), are the agent's
 * own, and valid until its next call. Any of the places may be NULL. */
SA_API sa_status sa_agent_propensities(const sa_agent *agent, uint64_t decision, double *propensity,
                                       const double **prefix, const double **position, size_t *slate);

/* Feedback on a slate that somebody else chose, from a log say: arms (n) of the request in the order of
 * positions, and scores and observed (n) as for sa_agent_update, or one with --feedback total. It is recorded
 * and answered as if the agent had chosen it itself, bit for bit. */
SA_API sa_status sa_agent_learn(sa_agent *agent, const sa_request *request, const size_t *arms,
                                const double *scores, const bool *observed, size_t n);

/* Feedback for a decision: scores (n) in the order of sa_decision_arms, n its slate. `observed` (n) says
 * which of them were seen; NULL: all. Unseen is not zero: what was not seen teaches nothing, and may come
 * later in another call. Feedback may come late, in any order, or never. With cascade feedback NULL means:
 * seen up to the first score above 0, the click, and all when there is none; and after a click nothing
 * further is awaited from the positions behind it. With --feedback total n is 1, and the score the sum of the
 * slate's. SA_UNKNOWN_DECISION: never made, or forgotten
 * (--pending-limit). SA_ALREADY_ANSWERED: one of the observed arms has its feedback, and nothing was changed.
 * Trains when the schedule says so. */
SA_API sa_status sa_agent_update(sa_agent *agent, uint64_t decision, const double *scores,
                                 const bool *observed, size_t n);

/* Other scores for arms that have their feedback, where it changed since: a click, then a purchase. scores
 * (n) in the order of sa_decision_arms; `observed` (n) says which of them are new, NULL: all that have
 * feedback. It is as if they had come at first, as long as the decision is kept (--pending-limit): at once
 * and exactly for linear models and for the mean and deviation of scores (with --normalize standard, by the
 * present mean and deviation of features), and for networks with their next training. SA_UNKNOWN_DECISION as
 * for sa_agent_update; SA_INVALID for an arm without feedback, with --history, and for algorithms with cells
 * (cc-mab, acc-ucb). */
SA_API sa_status sa_agent_revise(sa_agent *agent, uint64_t decision, const double *scores,
                                 const bool *observed, size_t n);

/* The last decision with this event (sa_request_event) that the agent keeps; SA_UNKNOWN_DECISION: none, or
 * forgotten. */
SA_API sa_status sa_agent_find_event(const sa_agent *agent, uint64_t event, uint64_t *decision);

/* Trains now on the feedback so far; fine when there is none. */
SA_API sa_status sa_agent_train(sa_agent *agent);

/* The whole agent as an .npz file that numpy.load opens, written atomically. Saved and loaded, an agent goes
 * on bit for bit, on any machine. With --history, the path must not be that of the history, and the
 * history must still be there. */
SA_API sa_status sa_agent_save(const sa_agent *agent, const char *path);
SA_API sa_status sa_agent_load(const char *path, sa_agent **out);
/* The same with other options (count): those that do not change the agent's shape, as seed, gamma, nu,
 * train-every, pending-limit, oracle, and history, the file's name by now. SA_INVALID for all others. */
SA_API sa_status sa_agent_load_with(const char *path, const char *const *names, const char *const *values,
                                    size_t count, sa_agent **out);
/* Is this a file that an agent keeps its feedback in (--history)? Such an agent needs it as long as it lives,
 * and when it is loaded; of saved copies, only the one that was saved last can be. For a new agent there must
 * be no file of the name. */
SA_API bool sa_is_history(const char *path);

/* What an estimate is made of with --companion: c + a regression + b network. `unit` is the network's part of
 * the bonus's unit: with --bonus posterior sqrt(w) s, w = b / (a + b) and s the deviation of the noise, and
 * for ts that over sqrt(lambda), lambda of --regularization; with --bonus width, and before a training, the
 * scale of estimates. It is not all that a bonus has: a beginning's share, that of the arms for a place and
 * what is open of the regression are found with each decision (docs/ALGORITHMS.md, "The unit of the bonus").
 * NaN where the agent has no companion. */
typedef struct sa_mixture {
    double a, b, c, unit;
} sa_mixture;

typedef struct sa_agent_counts {
    uint64_t decisions;          /* made */
    uint64_t answered;           /* with feedback on at least one arm */
    uint64_t pending;            /* kept, with feedback still to come */
    uint64_t forgotten;          /* pushed out by --pending-limit before all their feedback came */
    uint64_t observations;       /* arms whose feedback was learnt from, by themselves or in a total */
    uint64_t counted;            /* gradients in Z */
    uint64_t trainings;          /* tried */
    uint64_t diverged_trainings; /* undone, since they ended non-finite */
    uint64_t bytes;              /* memory that the agent holds now */
    /* the widths are computed in double precision: asked for, since rho fell below 1e-3, by the diagonal
     * engine, or by a rebuilt one */
    bool widths_in_double;
    bool widths_from_primal;  /* from the p x p side */
    double log_det;           /* log det Z / det(lambda I); NaN without a confidence engine */
    double certificate;       /* of the next decision: see sa_decision_certificate */
    double train_seconds;     /* of the processor, spent in training, of this process */
    uint64_t epoch;           /* from 0; of the algorithms for an unknown horizon */
    uint64_t hidden;          /* hidden units a layer of the present network; 0: there is none */
    double replay_seconds;    /* spent in beginning new epochs, their training included, of this process */
    uint64_t refused_rewards; /* scores outside --reward-range */
    /* scores that came, and were taken for mistakes: more than 100 times as far from the mean as any
     * before */
    uint64_t wild_rewards;
    /* contexts with a feature more than 1000 deviations from its mean, which counts as the mean */
    uint64_t wild_contexts;
    sa_mixture mixture;
} sa_agent_counts;

SA_API void sa_agent_count(const sa_agent *agent, sa_agent_counts *counts);

/* The options in force; valid as long as the agent. */
SA_API const sa_options *sa_agent_options(const sa_agent *agent);

/* ---- the tables behind `superarm list` ---- */

/* The index-th named algorithm and a line about it; false when there is none. */
SA_API bool sa_algorithm_at(size_t index, const char **name, const char **summary);
/* The model that a named algorithm learns with: "mlp", "linear", "neural-linear", "partition",
 * "partition-tree", or NULL for none. */
SA_API const char *sa_algorithm_model(const char *name);
/* Is it for an unknown horizon, with a new network whenever the answered decisions have doubled? */
SA_API bool sa_algorithm_has_epochs(const char *name);
/* Is it a linear regression, as --linear-form says? */
SA_API bool sa_algorithm_is_linear(const char *name);
/* Is it told the expected scores? */
SA_API bool sa_algorithm_knows(const char *name);
/* What the options' algorithm asks for where nothing was set by hand: `tuned` is tuned for networks, and
 * linear baselines run as their papers define them, or with --linear-form published as the published code
 * does; partitions take contexts as they are, and --rounds as their horizon; neural-linear has --confidence
 * last-layer, and in `tuned` a lambda, a nu and a bypass of its own; theory has --confidence exact.
 * sa_agent_create does this to its copy. */
SA_API sa_status sa_algorithm_defaults(sa_options *options);
/* Does the algorithm of these options look at this option of agents? */
SA_API bool sa_option_is_read(const sa_options *options, const char *name);
/* SA_INVALID where an option that was set, to another value than the preset has, has no effect on the
 * algorithm: whoever set it thinks that it matters. sa_agent_create does not ask, as options may be shared by
 * several agents. */
SA_API sa_status sa_options_check_read(const sa_options *options);
/* The same for "environments", "oracles", "confidence" and "feedback". */
SA_API bool sa_choice_at(const char *kind, size_t index, const char **name, const char **summary);

#ifdef __cplusplus
}
#endif

#endif

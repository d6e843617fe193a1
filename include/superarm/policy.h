/* Requests, decisions, and policies that choose.
 *
 * A policy is an agent as it was at one moment. It never changes, so that any number of threads can choose
 * with it, each with a chooser of its own, while one thread goes on learning with the agent. */
#ifndef SUPERARM_POLICY_H
#define SUPERARM_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/json.h>
#include <superarm/oracle.h>
#include <superarm/schema.h>
#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a request: what can be chosen now ---- */

typedef struct sa_request sa_request;

/* An empty request, reusable; NULL when memory is short. Caller frees with sa_request_destroy. */
SA_API sa_request *sa_request_new(void);
SA_API void sa_request_destroy(sa_request *request); /* NULL is fine */
/* Contexts of the candidate arms, (arms, dim) row-major; borrowed until the select returns. The number of
 * arms may change from request to request. */
SA_API void sa_request_contexts(sa_request *request, const double *contexts, size_t arms);
SA_API void sa_request_contexts_float(sa_request *request, const float *contexts, size_t arms);
/* Instead of contexts: the arms' own features, (arms, dim) row-major, and one vector (dim) that all of them
 * share, a user's say. They are joined as sa_request_join says while they are scored, so the matrix of
 * contexts need never exist; the slates are those of contexts joined by hand, bit for bit. Both borrowed
 * until the select returns; sa_request_contexts forgets both. */
typedef enum sa_join {
    SA_JOIN_CONCAT = 0, /* [item, shared] */
    SA_JOIN_PRODUCTS =
        1, /* item_i shared_j, with j running first: without products a linear score cannot personalise */
    SA_JOIN_BOTH = 2 /* [item, shared, products] */
} sa_join;
SA_API void sa_request_items(sa_request *request, const double *items, size_t arms, size_t dim);
SA_API void sa_request_items_float(sa_request *request, const float *items, size_t arms, size_t dim);
SA_API void sa_request_shared(sa_request *request, const double *shared, size_t dim);
SA_API void sa_request_shared_float(sa_request *request, const float *shared, size_t dim);
SA_API void sa_request_join(sa_request *request, sa_join join); /* SA_JOIN_CONCAT unless set */
/* The features that an arm then has: the agent's --dim. */
SA_API size_t sa_join_dim(sa_join join, size_t item_dim, size_t shared_dim);
/* Instead of contexts: JSON text of an object, as a client would send it.
 *
 *   "items", "context"   what can be chosen and what is shared, by fields (superarm/schema.h), encoded
 *                        at once by the schema
 *   "contexts"           with a schema of NULL: a list of lists of numbers
 *   "slate"              how many arms to choose
 *   "exclude"            ids of items, or numbers of candidates from 0
 *   "problem"            what the oracle needs beside the scores, by the names of sa_problem_name_at: lists
 *                        and lists of lists; "exactly" is sa_request_exactly
 *
 * Other fields are not looked at. The text is not needed after the call; all that came of it lives in the
 * request, until it gets other candidates. SA_INVALID with the path of what is wrong; the request then has no
 * candidates. */
SA_API sa_status sa_request_json(sa_request *request, const sa_schema *schema, const char *json, size_t size);
/* The same of JSON that was parsed before; `object` is the request's node. */
SA_API sa_status sa_request_parsed(sa_request *request, const sa_schema *schema, const sa_json *json,
                                   size_t object);
/* The same where the candidates are no "items" of the JSON, but rows that sa_schema_encode_item made,
 * (count), with their ids; all borrowed as long as the request has them. Ids can be named by "exclude",
 * "pin" and "baseline" alone. */
SA_API sa_status sa_request_stored(sa_request *request, const sa_schema *schema, const sa_json *json,
                                   size_t object, const double *const *rows, const char *const *ids,
                                   size_t count);
/* What came by JSON, until the request gets other candidates; NULL or 0 where it came otherwise, or not at
 * all: the id of an item; the candidates, (arms, dim); the problem, to which bounds can be added; and the
 * values that were left out as the schema does not have their fields, over all calls. */
SA_API const char *sa_request_id(const sa_request *request, size_t arm);
SA_API const double *sa_request_candidates(const sa_request *request, size_t *arms, size_t *dim);
SA_API sa_problem *sa_request_rules(const sa_request *request);
SA_API uint64_t sa_request_ignored(const sa_request *request);
/* The candidate that a value names: an item's id, or its number from 0 where items have none. SA_INVALID with
 * "pin is ..., and ..."; `name` is for that sentence. */
SA_API sa_status sa_request_arm(const sa_request *request, const sa_json *json, size_t value,
                                const char *name, size_t *arm);
/* How many arms to choose. For an oracle that may leave arms out: at most, and 0 for no limit. */
SA_API void sa_request_slate(sa_request *request, size_t slate);
/* Exactly so many, also for an oracle that may leave arms out: the best slate of them that keeps the rules
 * (sa_problem_exactly). SA_INVALID where there is none. */
SA_API void sa_request_exactly(sa_request *request, bool exactly);
/* Arms that must not be chosen: (arms) flags, true excludes; borrowed until the select returns; NULL excludes
 * none. */
SA_API void sa_request_exclude(sa_request *request, const bool *excluded);
SA_API const bool *sa_request_excluded(const sa_request *request); /* (arms), or NULL */
/* An id of your own, kept with the decision (sa_decision_event); 0 unless set. */
SA_API void sa_request_event(sa_request *request, uint64_t event);
/* A number below 2^48 that the random draws of the decision depend on, so that it can be made again; unless
 * set, the id that the decision gets or, for a policy, that the agent would have given next when the policy
 * was taken. */
SA_API void sa_request_draw(sa_request *request, uint64_t draw);
/* Asks for the slate's probabilities in the decision (sa_decision_propensity). They change no slate, and
 * cost: nothing to speak of for rules that do not draw; the widths of all arms and some quadrature for ts
 * with --oracle top-k; a thousand slates for others. */
SA_API void sa_request_propensities(sa_request *request, bool wanted);
/* The expected scores, (arms), for the reference algorithm `best`; other algorithms do not look. Borrowed. */
SA_API void sa_request_expected(sa_request *request, const double *expected);
/* The same for each arm in each position, (arms, slate) row-major, for --feedback position; replaces the
 * other. With (arms) alone, `best` leaves it to its oracle what a position is worth: assignment takes the
 * problem's discounts, 1 unless given. */
SA_API void sa_request_expected_positions(sa_request *request, const double *expected);

/* What the oracle needs beside the scores: costs, groups, edges... (superarm/oracle.h); the problem's own
 * scores, slate and excluded arms are not looked at. Borrowed until the select returns; NULL for none.
 * Cascade feedback takes its discounts from here, whatever the oracle, and they are kept with the decision;
 * where positions are told apart, their worth is learnt, and the agent looks at no discounts. */
SA_API void sa_request_problem(sa_request *request, const sa_problem *problem);

/* ---- a decision: what was chosen, and why ---- */

typedef struct sa_decision sa_decision;

/* From 0, one more with each decision of an agent; UINT64_MAX for one that a policy made and no agent has
 * recorded. */
SA_API uint64_t sa_decision_id(const sa_decision *decision);
SA_API uint64_t sa_decision_event(const sa_decision *decision);
/* chosen arms: K, or fewer where some may be left out */
SA_API size_t sa_decision_slate(const sa_decision *decision);
SA_API const size_t *sa_decision_arms(const sa_decision *decision); /* (K), best first */
/* (K) the model's mean, arm by arm as above */
SA_API const double *sa_decision_estimates(const sa_decision *decision);
/* (K) sqrt(g' Z^-1 g / m); NaN without one */
SA_API const double *sa_decision_widths(const sa_decision *decision);
/* (K) the optimistic score. For ucb it is estimate + gamma x width x a unit: 1 in paper and icml23. In tuned
 * it is estimate + gamma x sqrt(log(1 + N / K) / log(6)) x a posterior deviation (--bonus), of which the
 * width is a part; N are the arms that are not excluded. */
SA_API const double *sa_decision_scores(const sa_decision *decision);
/* c >= 1: the exact widths lie between width / c and width x c, rounding apart. 1 with --confidence exact,
 * more where it forgets by --discount; NaN where there is no such bound: without widths, with diagonal and
 * last-layer, whose widths are of another Z. */
SA_API double sa_decision_certificate(const sa_decision *decision);
/* The probability of the ordered slate under the policy that chose it; (K) of its first k arms, in order; (K)
 * of arm k at position k. NaN where it is not known: unless the request asked for it, and for parameter-ts,
 * and ts with other oracles than top-k, unless there is a --floor. */
SA_API double sa_decision_propensity(const sa_decision *decision);
SA_API const double *sa_decision_prefix_propensities(const sa_decision *decision);
SA_API const double *sa_decision_position_propensities(const sa_decision *decision);
/* Did --floor choose it, or an arm of it? */
SA_API bool sa_decision_explored(const sa_decision *decision);
/* 0 where the slate is the oracle's best, or as good as the oracle's alpha says; more where its search was
 * cut short (a hard knapsack, an integer program after --seconds): the best reward under these scores is at
 * most 1 + gap times that of the slate. */
SA_API double sa_decision_gap(const sa_decision *decision);
SA_API size_t sa_decision_candidates(const sa_decision *decision); /* N */
/* K where arms have a score for each position (--feedback position), and then the arrays below are (N, K)
 * row-major; else 0. */
SA_API size_t sa_decision_positions(const sa_decision *decision);
/* The same for all candidates, (N). With --widths needed, an arm that could not reach the slate has an upper
 * bound of its width and score here; with --widths all, exact values. */
SA_API const double *sa_decision_all_estimates(const sa_decision *decision);
SA_API const double *sa_decision_all_widths(const sa_decision *decision);
SA_API const double *sa_decision_all_scores(const sa_decision *decision);
SA_API void sa_decision_destroy(sa_decision *decision); /* NULL is fine */

/* ---- a policy (sa_agent_policy gives one) ---- */

typedef struct sa_policy sa_policy;

/* One more holder, who releases it too. Returns the policy. */
SA_API sa_policy *sa_policy_retain(sa_policy *policy);
/* The same policy with another oracle, by name: it shares all parts. Caller releases it. SA_INVALID where the
 * oracle does not go with the policy's scores or its floor. */
SA_API sa_status sa_policy_with_oracle(sa_policy *policy, const char *oracle, sa_policy **out);
/* The same policy choosing by chance alone: every slate that keeps the request's rules is as likely as any
 * other, where they can be counted as for --floor-by page; `by_place`: place by place every arm that keeps
 * the slate feasible, as for --floor-by place, which takes more rules. Caller releases it. SA_INVALID where
 * the oracle's slates cannot be counted. */
SA_API sa_status sa_policy_by_chance(sa_policy *policy, bool by_place, sa_policy **out);
/* SA_INVALID, saying how, where a slate of somebody else's, arms (n) in the order of positions, has an arm
 * twice or an excluded one, or breaks a rule of the request. */
SA_API sa_status sa_policy_verify(const sa_policy *policy, const sa_request *request, const size_t *arms,
                                  size_t n);
/* From any thread, also when the agent is gone. NULL is fine. */
SA_API void sa_policy_release(sa_policy *policy);

/* Workspace for choosing: one a thread, for any policies. */
typedef struct sa_chooser sa_chooser;

/* NULL when memory is short. Caller frees with sa_chooser_destroy. */
SA_API sa_chooser *sa_chooser_new(void);
SA_API void sa_chooser_destroy(sa_chooser *chooser); /* NULL is fine */

/* Chooses a slate; changes nothing but the chooser and the decision, which is as for sa_agent_select but has
 * no id until an agent records it (sa_agent_record). What a decision would add to the agent, it adds to the
 * decision alone: the statistics of --normalize standard include this request. Widths that want double
 * precision are computed in it once the agent has recorded such a decision. */
SA_API sa_status sa_policy_select(const sa_policy *policy, sa_chooser *chooser, const sa_request *request,
                                  sa_decision **decision);
/* Every arm's estimate, exact width and score, (arms), or (arms, K) row-major where positions are told apart;
 * any of them may be NULL. Makes no decision. NaN for widths that the algorithm does not have. Scores are
 * those of the slate that the request asks for (sa_request_slate). */
SA_API sa_status sa_policy_estimate(const sa_policy *policy, sa_chooser *chooser, const sa_request *request,
                                    double *estimates, double *widths, double *scores);

/* How likely the policy is to choose this slate, arms (n) of the request in the order of positions; n is what
 * the request asks for. Each result may be NULL: the probability of the slate; prefix and position (n) as for
 * a decision; of every arm at every position, (n, N) row-major; and of every arm next, given the first k - 1
 * arms of the slate, (n, N). NaN where it is not known. SA_INVALID where the policy decides how long a slate
 * is. */
SA_API sa_status sa_policy_propensities(const sa_policy *policy, sa_chooser *chooser,
                                        const sa_request *request, const size_t *arms, size_t n,
                                        double *propensity, double *prefix, double *position,
                                        double *all_positions, double *all_next);

#ifdef __cplusplus
}
#endif

#endif

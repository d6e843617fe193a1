/* The library behind the service: an agent that learns, in one thread, and policies to choose with, in
 * any. */
#ifndef SERVE_BRAIN_H
#define SERVE_BRAIN_H

#include <stdint.h>

#include "ask.h"
#include "settings.h"

typedef struct model sv_model;
typedef struct policy sv_policy;

/* What a policy chose. Arrays belong to it; free with sv_choice_free. */
typedef struct choice {
    size_t length;
    size_t *arms;                 /* (length) in the order of positions */
    double *estimates, *widths;   /* (length) */
    double propensity;            /* NaN: unknown */
    bool explored;                /* the floor chose it, or an arm of it */
    double *prefixes, *positions; /* (length) propensities; NULL: unknown */
    double *scores;               /* (arms, columns) of all candidates, where `explain` asks; or NULL */
    size_t columns;               /* length where places are told apart, else 1 */
    size_t ranked;                /* where the ask wants it: all arms, */
    size_t *order;                /* (ranked) the slate and then the others, best first */
    double *chances;              /* (ranked) of each arm, by its number, to be chosen */
} sv_choice;

void sv_choice_free(sv_choice *self);

/* A new agent of these settings. */
bool sv_model_create(const sv_settings *settings, sv_model **out, sv_refusal *why);
/* An agent saved before, from a checkpoint or sent by a client; its options go on. */
bool sv_model_load(const char *path, sv_model **out, sv_refusal *why);
/* The same, and what went wrong: SA_NEWER and SA_UNSUPPORTED, other programs can read it. */
sa_status sv_model_open(const char *path, sv_model **out, sv_refusal *why);
/* The same agent, which has the settings `before`, with those of `after`: refused with 409 where it would
 * need a new agent. `scratch`: a path to write to. */
bool sv_model_change(sv_model *self, const sv_settings *before, const sv_settings *after, const char *scratch,
                     sv_refusal *why);
void sv_model_destroy(sv_model *self); /* NULL is fine */
/* Feedback on a slate, as the journal has it: one event, whole. SA_INVALID changes nothing. */
sa_status sv_model_learn(sv_model *self, const sv_ask *ask, uint64_t seq, const size_t *arms,
                         const double *scores, const bool *observed, size_t count);
/* What row seq has taught, with other scores (count) by now: `first` came only now, `changed` are others.
 * SA_UNKNOWN_DECISION: it is not remembered. */
sa_status sv_model_revise(sv_model *self, uint64_t seq, const double *scores, const bool *first,
                          const bool *changed, size_t count);
sa_status sv_model_save(const sv_model *self, const char *path);
void sv_model_count(const sv_model *self, sa_agent_counts *out);
/* Can the service go on with an agent that came from elsewhere: the settings' dim and schema, and no option
 * that it does not take? */
bool sv_model_is_servable(const sv_model *self, const sv_settings *settings, sv_refusal *why);
/* The settings `before` with the options of this agent, which came from elsewhere: those that it shares stay
 * as they were given. NULL with a refusal, also where PUT would refuse them. */
sv_settings *sv_model_settings(const sv_model *self, const sv_settings *before, sv_refusal *why);

/* ---- for brain_options.c ---- */

sa_agent *sv_model_agent(const sv_model *self);
void sv_model_replace(sv_model *self, sa_agent *agent); /* the one before goes */

/* ---- choosing ---- */

/* The agent as it is now. Caller releases. */
bool sv_model_policy(sv_model *self, uint64_t version, sv_policy **out, sv_refusal *why);
void sv_policy_retain(sv_policy *self);
void sv_policy_release(sv_policy *self); /* NULL is fine; any thread */
uint64_t sv_policy_version(const sv_policy *self);
/* Chooses, with this oracle (NULL: the agent's); draws are keyed by 48 bits of `draw`. */
bool sv_policy_choose(const sv_policy *self, sv_ask *ask, const char *oracle, uint64_t draw, sv_choice *out,
                      sv_refusal *why);
/* The same by chance alone: all slates that keep the request's rules alike; where they cannot be counted,
 * place by place. */
bool sv_policy_choose_by_chance(const sv_policy *self, sv_ask *ask, const char *oracle, uint64_t draw,
                                sv_choice *out, sv_refusal *why);
/* Does a baseline, arms (count), keep the request's rules? */
bool sv_policy_verify(const sv_policy *self, sv_ask *ask, const char *oracle, const size_t *arms,
                      size_t count, sv_refusal *why);

/* The model's estimates of these arms, contexts (arms, dim). false: it has none, or one for each place. */
bool sv_policy_estimate(const sv_policy *self, const double *contexts, size_t arms, double *estimates);

#endif

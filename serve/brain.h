/* The library behind the service: an agent that learns, in one thread, and policies to choose with, in
 * any. */
#ifndef SERVE_BRAIN_H
#define SERVE_BRAIN_H

#include <stdint.h>

#include "ask.h"
#include "settings.h"

typedef struct brain sv_brain;
typedef struct policy sv_policy;

/* What a policy chose. Arrays belong to it; free with choice_free. */
typedef struct choice {
    size_t length;
    size_t *arms;                 /* (length) in the order of positions */
    double *estimates, *widths;   /* (length) */
    double propensity;            /* NaN: unknown */
    double *prefixes, *positions; /* (length) propensities; NULL: unknown */
} sv_choice;

void choice_free(sv_choice *self);

/* A new agent of these settings. */
bool brain_create(const sv_settings *settings, sv_brain **out, sv_refusal *why);
/* An agent saved before, from a checkpoint or sent by a client; its options go on. */
bool brain_load(const char *path, sv_brain **out, sv_refusal *why);
/* The same agent, which has the settings `before`, with those of `after`: refused with 409 where it would
 * need a new agent. `scratch`: a path to write to. */
bool brain_change(sv_brain *self, const sv_settings *before, const sv_settings *after, const char *scratch,
                  sv_refusal *why);
void brain_destroy(sv_brain *self); /* NULL is fine */
/* Feedback on a slate, as the journal has it: one event, whole. SA_INVALID changes nothing. */
sa_status brain_learn(sv_brain *self, const sv_ask *ask, const size_t *arms, const double *scores,
                      const bool *observed, size_t count);
sa_status brain_save(const sv_brain *self, const char *path);
void brain_count(const sv_brain *self, sa_agent_counts *out);
/* Can the service go on with an agent that came from elsewhere: the settings' dim and schema, and no option
 * that it does not take? */
bool brain_is_servable(const sv_brain *self, const sv_settings *settings, sv_refusal *why);
/* The settings `before` with the options of this agent, which came from elsewhere: those that it shares stay
 * as they were given. NULL with a refusal, also where PUT would refuse them. */
sv_settings *brain_settings(const sv_brain *self, const sv_settings *before, sv_refusal *why);

/* ---- for brain_options.c ---- */

sa_agent *brain_agent(const sv_brain *self);
void brain_replace(sv_brain *self, sa_agent *agent); /* the one before goes */

/* ---- choosing ---- */

/* The agent as it is now. Caller releases. */
bool brain_policy(sv_brain *self, uint64_t version, sv_policy **out, sv_refusal *why);
void policy_retain(sv_policy *self);
void policy_release(sv_policy *self); /* NULL is fine; any thread */
uint64_t policy_version(const sv_policy *self);
/* Chooses, with this oracle (NULL: the agent's); draws are keyed by 48 bits of `draw`. */
bool policy_choose(const sv_policy *self, sv_ask *ask, const char *oracle, uint64_t draw, sv_choice *out,
                   sv_refusal *why);

#endif

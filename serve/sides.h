/* Which slate an event gets: the agent's own, or, on the control side, the one that the shop would have shown
 * without it. */
#ifndef SERVE_SIDES_H
#define SERVE_SIDES_H

#include "ask.h"
#include "model.h"
#include "store.h"

/* "agent", "control", "shadow", "shown". */
const char *sv_side_name(sv_decision_side side);
/* 48 bits of a hash of agent and event, which the draws of a decision are keyed by. */
uint64_t sv_draw_of(const char *agent, const char *event);

typedef struct slates {
    sv_decision_side side;
    sv_choice shown; /* estimates and widths NULL where the agent was not asked */
    bool compare;    /* an apprentice's estimates go into the answer, for that */
    sv_choice own;   /* of SIDE_SHADOW: what the agent would have shown; else empty */
} sv_slates;

/* Chooses for the event of this agent. A baseline is checked whoever's the slate is. */
bool sv_slates_choose(const sv_policy *policy, const sv_settings *settings, sv_ask *ask, const char *agent,
                      const char *event, sv_slates *out, sv_refusal *why);
/* The baseline of somebody else, who showed it with this propensity (NaN: unknown). */
bool sv_slates_shown(const sv_policy *policy, const sv_settings *settings, sv_ask *ask, double propensity,
                     sv_slates *out, sv_refusal *why);
void sv_slates_free(sv_slates *self);
/* The fields of an answer, from "slate" on, without the braces. */
void sv_slates_write(const sv_slates *self, const sv_ask *ask, uint64_t version, sa_buffer *out);

#endif

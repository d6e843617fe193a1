/* The agent: a policy that chooses, a past of what was chosen and answered, and a learner that makes the
 * one of the other. */
#ifndef SA_AGENT_AGENT_H
#define SA_AGENT_AGENT_H

#include "agent/algorithms.h"
#include "base/memory.h"
#include "learn/learner.h"
#include "learn/rewards.h"
#include "policy/chooser.h"
#include <superarm/agent.h>

struct sa_agent {
    sa_options *given; /* those in force are the learner's: the epoch decides some of them */
    const sa_algorithm *algorithm;
    sa_learner *learner; /* has the policy */
    sa_past past;
    sa_rewards rewards;
    sa_chooser *chooser; /* of the agent's own choices */
    sa_schema *schema;   /* or NULL */
    uint64_t solved_for; /* decision whose widths the chooser has solved for; SA_NO_ID: none that serves */
    bool closed;         /* a call ran out of memory or disk while it learnt */
    sa_account *account; /* of the memory that it holds */
};

/* Begins a public call on an agent: allocations are charged to it. SA_CLOSED for an agent that is closed. */
sa_status sa_agent_enter(sa_agent *agent, sa_account **before);
/* Ends it; an agent that was `learning` when the call failed is closed. Returns the status. */
sa_status sa_agent_leave(sa_agent *agent, sa_account *before, sa_status status, bool learning);

/* An agent with all parts, from options that it takes over (also on failure). The epoch is 0 where there are
 * none. */
sa_status sa_agent_assemble(sa_options *options, uint64_t epoch, sa_agent **out);
/* The learner of an epoch, with fresh parts. */
sa_status sa_agent_make_learner(sa_agent *agent, uint64_t epoch, sa_learner **out);

/* ---- for agents that were entered ---- */

/* A slate of this request that somebody chose waits for its feedback, as the next decision; prefix, position
 * (slate): its propensities, or NULL. */
sa_status sa_agent_keep(sa_agent *agent, const sa_request *request, const size_t *arms, size_t slate,
                        const double *prefix, const double *position, bool *learning);
/* The decision that has this id, for n scores: one an arm of its slate, or its total. SA_UNKNOWN_DECISION,
 * SA_INVALID. */
sa_status sa_agent_find(const sa_agent *agent, uint64_t decision, size_t n, sa_pending **out);
/* See sa_agent_update; `*learning` becomes true where it begins to learn. */
sa_status sa_agent_answer(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                          size_t n, bool *learning);

#endif

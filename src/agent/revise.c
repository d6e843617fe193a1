/* Feedback that takes the place of earlier feedback. */
#include <math.h>

#include "agent/agent.h"
#include "learn/revise.h"

static bool is_meant(const sa_pending *pending, const bool *observed, size_t k) {
    return observed ? observed[k] : pending->row[k] != SA_NO_ROW;
}

/* All that can be wrong, before anything changes. */
static sa_status check(sa_agent *agent, const sa_pending *pending, const double *scores, const bool *observed,
                       size_t n) {
    unsigned long long id = pending->id;
    SA_TRY(sa_revise_check(agent->learner));
    bool total = agent->past.history.totals; /* the score of all, in the first place */
    if (total && pending->slate > 0 && pending->row[0] == SA_NO_ROW)
        return sa_fail(SA_INVALID,
                       "decision %llu has no total that could be revised: sa_agent_update brings the first",
                       id);
    for (size_t k = 0; k < n && k < pending->slate; k++) {
        if (!is_meant(pending, observed, k)) continue;
        if (pending->row[k] == SA_NO_ROW)
            return sa_fail(SA_INVALID,
                           "arm %zu of decision %llu has no feedback that could be revised: sa_agent_update "
                           "brings the first",
                           pending->arms[k], id);
        SA_TRY(sa_rewards_check(&agent->rewards, total ? SA_ALL_ARMS : pending->arms[k], pending->id,
                                scores[k]));
    }
    return SA_OK;
}

static sa_status revise(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                        size_t n, bool *learning) {
    sa_pending *pending;
    SA_TRY(sa_agent_find(agent, decision, n, &pending));
    SA_TRY(check(agent, pending, scores, observed, n));
    SA_TRY(sa_learner_unshare(agent->learner));
    *learning = true;
    for (size_t k = 0; k < n && k < pending->slate; k++)
        if (is_meant(pending, observed, k)) SA_TRY(sa_revise(agent->learner, pending->row[k], scores[k]));
    return SA_OK;
}

sa_status sa_agent_revise(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                          size_t n) {
    if (!agent || !scores) return sa_fail(SA_INVALID, "sa_agent_revise needs an agent and scores");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = revise(agent, decision, scores, observed, n, &learning);
    return sa_agent_leave(agent, before, status, learning);
}

sa_status sa_agent_find_event(const sa_agent *agent, uint64_t event, uint64_t *decision) {
    if (!agent || !decision) return sa_fail(SA_INVALID, "sa_agent_find_event needs an agent and a place");
    const sa_pending *pending = sa_ring_find_event(&agent->past.pending, event);
    if (!pending)
        return sa_fail(SA_UNKNOWN_DECISION,
                       "there is no decision of event %llu: never made, or forgotten (--pending-limit)",
                       (unsigned long long)event);
    *decision = pending->id;
    return SA_OK;
}

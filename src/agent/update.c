/* Feedback and training. A call that fails after it has begun to learn closes the agent. */
#include <math.h>
#include <string.h>

#include "agent/agent.h"
#include "base/memory.h"
#include "learn/epochs.h"
#include "learn/feedback.h"
#include "learn/training.h"
#include "policy/decision.h"

/* The next epoch, where this one is over with so many decisions answered; else NULL. */
static sa_status make_next(sa_agent *agent, size_t answered, sa_learner **out) {
    *out = NULL;
    if (!agent->algorithm->doubling) return SA_OK;
    uint64_t epoch = sa_epoch_after(agent->given, agent->learner->epoch, answered);
    if (epoch == agent->learner->epoch) return SA_OK;
    sa_status status = sa_agent_make_learner(agent, epoch, out);
    if (status != SA_OK) sa_fail_prefix(status, "epoch %llu cannot begin: ", (unsigned long long)epoch);
    return status;
}

/* A new epoch is another learner. */
static sa_status begin_epoch(sa_agent *agent, sa_learner *next) {
    const sa_policy *before = agent->learner->policy;
    sa_status status = sa_epoch_begin(agent->learner, next);
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    next->policy->oracle = before->oracle;
    next->policy->callbacks = before->callbacks;
    sa_learner_destroy(agent->learner);
    agent->learner = next;
    agent->solved_for = SA_NO_ID;
    return SA_OK;
}

/* ---- feedback ---- */

sa_status sa_agent_find(const sa_agent *agent, uint64_t decision, size_t n, sa_pending **out) {
    const sa_pending_ring *ring = &agent->memory.pending;
    sa_pending *pending = sa_ring_find(ring, decision);
    unsigned long long id = decision;
    if (!pending && decision < ring->next)
        return sa_fail(SA_UNKNOWN_DECISION,
                       "decision %llu was forgotten: at most %zu are kept (--pending-limit)", id,
                       ring->limit);
    if (!pending) return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was never made", id);
    if (n != pending->slate)
        return sa_fail(SA_INVALID, "feedback for decision %llu has %zu scores, its slate has %zu", id, n,
                       pending->slate);
    *out = pending;
    return SA_OK;
}

static sa_status learn_from(sa_agent *agent, const sa_answer *answer, bool *learning) {
    if (answer->count == 0) {
        sa_answer_record(agent->learner, answer); /* all of it is wild */
        return SA_OK;
    }
    sa_history *history = &agent->memory.history;
    bool first = sa_pending_is_new(answer->pending);
    bool automatic = agent->learner->options->train == SA_TRAIN_AUTO;
    sa_learner *next = NULL;
    if (automatic) SA_TRY(make_next(agent, history->answered + first, &next));
    sa_status status = sa_history_reserve(history, answer->count);
    if (status == SA_OK) status = sa_learner_unshare(agent->learner);
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    *learning = true;
    if (!next) return sa_answer_learn(agent->learner, answer);
    sa_answer_record(agent->learner, answer); /* it is learnt from with the rest of the history */
    return begin_epoch(agent, next);
}

static sa_status answer_with(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                             size_t n, size_t *places, bool *learning) {
    const sa_policy *policy = agent->learner->policy;
    sa_answer answer = {.scores = scores, .places = places, .solved = decision == agent->solved_for};
    SA_TRY(sa_agent_find(agent, decision, n, &answer.pending));
    sa_observed seen = policy->feedback->observe(n, scores, observed, places);
    answer.count = seen.count;
    answer.end = seen.end;
    SA_TRY(sa_answer_check(&answer, agent->learner->options->feedback == SA_FEEDBACK_CASCADE));
    for (size_t i = 0; i < seen.count; i++)
        SA_TRY(
            sa_rewards_check(&agent->rewards, answer.pending->arms[places[i]], decision, scores[places[i]]));
    if (seen.count == 0) return SA_OK;
    sa_outliers outliers = agent->rewards.outliers;
    answer.count = sa_rewards_sift(&agent->rewards, &outliers, scores, places, seen.count);
    answer.wild = seen.count - answer.count;
    SA_TRY(learn_from(agent, &answer, learning));
    agent->rewards.outliers = outliers;
    return SA_OK;
}

sa_status sa_agent_answer(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                          size_t n, bool *learning) {
    enum { FEW = 64 };
    size_t few[FEW], *places = few;
    if (n > FEW) SA_TRY(sa_alloc_array(n, sizeof *places, &places));
    sa_status status = answer_with(agent, decision, scores, observed, n, places, learning);
    if (n > FEW) sa_free(places);
    return status;
}

sa_status sa_agent_update(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                          size_t n) {
    if (!agent || !scores) return sa_fail(SA_INVALID, "sa_agent_update needs an agent and scores");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = sa_agent_answer(agent, decision, scores, observed, n, &learning);
    return sa_agent_leave(agent, before, status, learning);
}

/* ---- feedback on somebody else's slate ---- */

static sa_status check_scores(sa_agent *agent, const size_t *arms, const double *scores, const bool *observed,
                              size_t n) {
    for (size_t k = 0; k < n; k++) {
        if (observed && !observed[k]) continue;
        if (!isfinite(scores[k]))
            return sa_fail(SA_INVALID, "feedback for place %zu of the slate is %g", k, scores[k]);
        SA_TRY(sa_rewards_check(&agent->rewards, arms[k], agent->memory.pending.next, scores[k]));
    }
    return SA_OK;
}

sa_status sa_agent_learn(sa_agent *agent, const sa_request *request, const size_t *arms, const double *scores,
                         const bool *observed, size_t n) {
    if (!agent || !request || ((!arms || !scores) && n > 0))
        return sa_fail(SA_INVALID, "sa_agent_learn needs an agent, a request, arms and scores");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    uint64_t id = agent->memory.pending.next;
    sa_status status = check_scores(agent, arms, scores, observed, n);
    if (status == SA_OK) status = sa_agent_keep(agent, request, arms, n, NULL, NULL, &learning);
    if (status == SA_OK) {
        learning = true; /* it is remembered: a failure now leaves half of it */
        status = sa_agent_answer(agent, id, scores, observed, n, &learning);
    }
    return sa_agent_leave(agent, before, status, learning);
}

/* ---- training ---- */

static sa_status train(sa_agent *agent, bool *learning) {
    sa_learner *next;
    SA_TRY(make_next(agent, agent->memory.history.answered, &next));
    sa_status status = sa_learner_unshare(agent->learner);
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    *learning = true;
    return next ? begin_epoch(agent, next) : sa_learner_train(agent->learner, 0);
}

sa_status sa_agent_train(sa_agent *agent) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_train needs an agent");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = train(agent, &learning);
    return sa_agent_leave(agent, before, status, learning);
}

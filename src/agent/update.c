/* Feedback and training. A call that fails after it has begun to learn closes the agent. */
#include <math.h>
#include <string.h>

#include "agent/agent.h"
#include "base/memory.h"
#include "learn/epochs.h"
#include "learn/feedback.h"
#include "learn/forgetting.h"
#include "learn/relearn.h"
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

/* A new epoch is another learner, and so is one that learns all again. */
static sa_status change_learner(sa_agent *agent, sa_learner *next, bool again) {
    const sa_policy *before = agent->learner->policy;
    sa_status status = again ? sa_relearn(agent->learner, next) : sa_epoch_begin(agent->learner, next);
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
    const sa_pending_ring *ring = &agent->past.pending;
    sa_pending *pending = sa_ring_find(ring, decision);
    unsigned long long id = decision;
    if (!pending && decision < ring->next)
        return sa_fail(SA_UNKNOWN_DECISION,
                       "decision %llu was forgotten: at most %zu are kept (--pending-limit)", id,
                       ring->limit);
    if (!pending) return sa_fail(SA_UNKNOWN_DECISION, "decision %llu was never made", id);
    if (agent->past.history.totals && n != 1)
        return sa_fail(
            SA_INVALID,
            "feedback for decision %llu has %zu scores, and --feedback total takes one number: the "
            "sum of the slate's scores",
            id, n);
    if (!agent->past.history.totals && n != pending->slate)
        return sa_fail(SA_INVALID, "feedback for decision %llu has %zu scores, its slate has %zu", id, n,
                       pending->slate);
    *out = pending;
    return SA_OK;
}

/* Have first contexts or scores turned out to be mistakes? It takes statistics of contexts to tell, as
 * --normalize standard has them. */
static bool learns_again(const sa_agent *agent, const sa_outliers *outliers) {
    const sa_outliers *before = &agent->rewards.outliers;
    return agent->learner->policy->estimator.statistics &&
           (outliers->changes != before->changes || sa_relearn_is_due(agent->learner));
}

/* Scores of the history that were mistakes become the mean of the others, which teaches next to nothing. (A
 * file is written once: there they stay.) */
static void clean(sa_history *history, const sa_outliers *outliers) {
    for (size_t i = 0, rows; !history->file && i < history->count; i += rows) {
        rows = sa_history_observation(history, i).rows;
        if (sa_outliers_is_mistake(outliers, history->scores[i])) history->scores[i] = outliers->mean;
    }
}

/* The history has room, and nothing is shared. */
static sa_status learn_again(sa_agent *agent, const sa_answer *answer, const sa_outliers *outliers,
                             sa_learner *next) {
    sa_status status = sa_pending_is_new(answer->pending) ? sa_forgetting_move(agent->learner) : SA_OK;
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    sa_answer_record(agent->learner, answer);
    if (outliers->changes != agent->rewards.outliers.changes) clean(&agent->past.history, outliers);
    return change_learner(agent, next, true);
}

static sa_status learn_from(sa_agent *agent, const sa_answer *answer, const sa_outliers *outliers,
                            bool *learning) {
    if (answer->count == 0) {
        sa_answer_record(agent->learner, answer); /* all of it is wild */
        return SA_OK;
    }
    sa_history *history = &agent->past.history;
    bool first = sa_pending_is_new(answer->pending);
    bool automatic = agent->learner->options->train == SA_TRAIN_AUTO;
    bool again = learns_again(agent, outliers);
    sa_learner *next = NULL;
    if (automatic) SA_TRY(make_next(agent, history->answered + first, &next));
    if (!next && again) SA_TRY(sa_agent_make_learner(agent, agent->learner->epoch, &next));
    sa_status status = sa_history_reserve(history, answer->count);
    if (status == SA_OK) status = sa_learner_unshare(agent->learner);
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    *learning = true;
    if (again) return learn_again(agent, answer, outliers, next);
    if (!next) return sa_answer_learn(agent->learner, answer);
    sa_answer_record(agent->learner, answer); /* it is learnt from with the rest of the history */
    return change_learner(agent, next, false);
}

/* The scores of the answer's places that were seen, of which those that are wild go behind the others. A
 * total is one score, in the first place, of all of them. */
static sa_status sift(sa_agent *agent, const sa_observed *seen, size_t *places, sa_outliers *outliers,
                      sa_answer *answer) {
    bool totals = agent->past.history.totals;
    const sa_pending *pending = answer->pending;
    size_t scores = totals && seen->count ? 1 : seen->count;
    if (totals && scores && pending->left == 0)
        return sa_fail(SA_ALREADY_ANSWERED, "the total of decision %llu came before",
                       (unsigned long long)pending->id);
    for (size_t i = 0; totals && i < scores; i++)
        SA_TRY(sa_rewards_check(&agent->rewards, SA_ALL_ARMS, pending->id, answer->scores[0]));
    SA_TRY(sa_answer_check(answer, agent->learner->options->feedback == SA_FEEDBACK_CASCADE));
    for (size_t i = 0; !totals && i < scores; i++)
        SA_TRY(sa_rewards_check(&agent->rewards, pending->arms[places[i]], pending->id,
                                answer->scores[places[i]]));
    answer->count = sa_rewards_sift(&agent->rewards, outliers, answer->scores, places, scores);
    if (totals && answer->count) answer->count = seen->count;
    answer->wild = seen->count - answer->count;
    return SA_OK;
}

/* scores (slate), places (slate): workspace */
static sa_status answer_with(sa_agent *agent, sa_pending *pending, const double *scores, const bool *observed,
                             size_t *places, bool *learning) {
    const sa_policy *policy = agent->learner->policy;
    sa_answer answer = {
        .pending = pending, .scores = scores, .places = places, .solved = pending->id == agent->solved_for};
    sa_outliers outliers = agent->rewards.outliers;
    sa_observed seen = policy->feedback->observe(pending->slate, scores, observed, places);
    answer.count = seen.count;
    answer.end = seen.end;
    SA_TRY(sift(agent, &seen, places, &outliers, &answer));
    if (seen.count == 0) return SA_OK;
    SA_TRY(learn_from(agent, &answer, &outliers, learning));
    agent->rewards.outliers = outliers;
    return SA_OK;
}

sa_status sa_agent_answer(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed,
                          size_t n, bool *learning) {
    enum { FEW = 64 };
    size_t few_places[FEW], *many_places = NULL;
    double few_scores[FEW] = {0}, *many_scores = NULL; /* of a total: it, and zeros */
    bool totals = agent->past.history.totals;
    sa_pending *pending;
    sa_status status;
    SA_TRY(sa_agent_find(agent, decision, n, &pending));
    bool many = pending->slate > FEW;
    if (many) SA_TRY_OR_FAIL(sa_alloc_array(pending->slate, sizeof *many_places, &many_places));
    if (many && totals) SA_TRY_OR_FAIL(sa_alloc_array(pending->slate, sizeof *many_scores, &many_scores));
    if (totals) {
        double *spread = many ? many_scores : few_scores;
        spread[0] = scores[0];
        scores = spread;
    }
    status = answer_with(agent, pending, scores, observed, many ? many_places : few_places, learning);
fail:
    sa_free(many_places);
    sa_free(many_scores);
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
    if (agent->past.history.totals)
        return n > 0 && (!observed || observed[0])
                   ? sa_rewards_check(&agent->rewards, SA_ALL_ARMS, agent->past.pending.next, scores[0])
                   : SA_OK;
    for (size_t k = 0; k < n; k++) {
        if (observed && !observed[k]) continue;
        if (!isfinite(scores[k]))
            return sa_fail(SA_INVALID, "feedback for place %zu of the slate is %g", k, scores[k]);
        SA_TRY(sa_rewards_check(&agent->rewards, arms[k], agent->past.pending.next, scores[k]));
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
    uint64_t id = agent->past.pending.next;
    sa_status status = check_scores(agent, arms, scores, observed, n);
    if (status == SA_OK) status = sa_agent_keep(agent, request, arms, n, NULL, NULL, &learning);
    if (status == SA_OK && (n > 0 || !agent->past.history.totals)) {
        learning = true; /* it is remembered: a failure now leaves half of it */
        status = sa_agent_answer(agent, id, scores, observed, agent->past.history.totals ? 1 : n, &learning);
    }
    return sa_agent_leave(agent, before, status, learning);
}

/* ---- training ---- */

static sa_status train(sa_agent *agent, bool *learning) {
    sa_learner *next;
    SA_TRY(make_next(agent, agent->past.history.answered, &next));
    sa_status status = sa_learner_unshare(agent->learner);
    if (status != SA_OK) {
        sa_learner_destroy(next);
        return status;
    }
    *learning = true;
    return next ? change_learner(agent, next, false) : sa_learner_train(agent->learner, 0);
}

sa_status sa_agent_train(sa_agent *agent) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_train needs an agent");
    sa_account *before = NULL;
    bool learning = false;
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = train(agent, &learning);
    return sa_agent_leave(agent, before, status, learning);
}

/* Life of an agent, and numbers about it. Choosing: decide.c; feedback: update.c; files: save.c. */
#include "agent/agent.h"

#include <math.h>
#include <superarm/kernels.h>

#include "base/memory.h"
#include "past/history_file.h"
#include "past/history_head.h"
#include "policy/decision.h"

/* ---- life ---- */

void sa_agent_destroy(sa_agent *agent) {
    if (!agent) return;
    sa_account *account = agent->account;
    sa_learner_destroy(agent->learner);
    sa_history_clear(&agent->past.history);
    sa_ring_clear(&agent->past.pending);
    sa_chooser_destroy(agent->chooser);
    sa_schema_release(agent->schema);
    sa_options_destroy(agent->given);
    sa_free(agent);
    sa_account_close(account);
}

sa_status sa_agent_create(const sa_options *options, sa_agent **out) {
    if (!options || !out)
        return sa_fail(SA_INVALID, "sa_agent_create needs options and a place for the agent");
    SA_TRY(sa_kernels_check());
    SA_TRY(sa_options_check_agent(
        options)); /* a saved agent was checked: its first weights may come from a file it has lost */
    sa_options *copy = sa_options_copy(options);
    if (!copy) return SA_OUT_OF_MEMORY;
    sa_status status = sa_algorithm_defaults(copy);
    if (status != SA_OK) {
        sa_options_destroy(copy);
        return status;
    }
    sa_agent *agent;
    SA_TRY(sa_agent_assemble(copy, 0, &agent));
    if (*options->history && options->history_anew) status = sa_history_file_make_way(options->history, true);
    if (*options->history && status == SA_OK)
        status = sa_history_file_create(&agent->past.history, options->history);
    if (status != SA_OK) {
        sa_agent_destroy(agent);
        return status;
    }
    *out = agent;
    return SA_OK;
}

/* ---- calls ---- */

sa_status sa_agent_enter(sa_agent *agent, sa_account **before) {
    if (agent->closed)
        return sa_fail(
            SA_CLOSED,
            "this agent ran out of memory or disk while it learnt, and is closed: load what was saved");
    *before = sa_account_charge(agent->account);
    return SA_OK;
}

sa_status sa_agent_leave(sa_agent *agent, sa_account *before, sa_status status, bool learning) {
    sa_account_charge(before);
    if (status != SA_OK && learning) agent->closed = true;
    return status;
}

sa_status sa_agent_oracle(sa_agent *agent, const sa_oracle_callbacks *oracle) {
    if (!agent) return sa_fail(SA_INVALID, "sa_agent_oracle needs an agent");
    sa_account *before = NULL;
    bool positions = agent->learner->policy->estimator.inputs.positions > 0;
    if (oracle) SA_TRY(sa_own_check(oracle));
    if (oracle && oracle->positions != positions)
        return sa_fail(SA_INVALID, "your oracle takes %s, and the agent's --feedback gives %s",
                       oracle->positions ? "a score for each position" : "one score an arm",
                       oracle->positions ? "one an arm" : "one for each position");
    SA_TRY(sa_agent_enter(agent, &before));
    sa_status status = sa_policy_unshare(&agent->learner->policy);
    if (status != SA_OK) return sa_agent_leave(agent, before, status, false);
    sa_policy *policy = agent->learner->policy;
    policy->callbacks = oracle ? *oracle : (sa_oracle_callbacks){0};
    policy->oracle = oracle ? &sa_oracle_own : sa_oracle_of((sa_oracle_kind)agent->given->oracle);
    return sa_agent_leave(agent, before, SA_OK, false);
}

bool sa_agent_needs_oracle(const sa_agent *agent) {
    const sa_policy *policy = agent->learner->policy;
    return policy->oracle == &sa_oracle_own && !(policy->callbacks.alpha > 0);
}

const sa_options *sa_agent_options(const sa_agent *agent) { return agent->learner->options; }

/* ---- numbers about it ---- */

static sa_mixture mixture_of(const sa_policy *policy) {
    const sa_companion *companion = policy->estimator.companion;
    if (!companion) return (sa_mixture){NAN, NAN, NAN, NAN};
    const sa_companion_numbers *now = &companion->numbers;
    return (sa_mixture){
        .a = now->linear, .b = now->network, .c = now->intercept, .unit = sa_policy_unit(policy)};
}

void sa_agent_count(const sa_agent *agent, sa_agent_counts *counts) {
    const sa_learner *learner = agent->learner;
    const sa_policy *policy = learner->policy;
    const sa_model *model = policy->estimator.model;
    sa_confidence_state state = {.log_det = NAN};
    if (policy->confidence) policy->confidence->kind->state(policy->confidence, &state);
    *counts = (sa_agent_counts){
        .decisions = agent->past.pending.next,
        .answered = agent->past.history.answered + agent->past.history.gone_decisions,
        .pending = agent->past.pending.unanswered,
        .forgotten = agent->past.pending.forgotten,
        .observations = agent->past.history.count + agent->past.history.gone_rows,
        .counted = state.counted,
        .trainings = learner->trainings,
        .diverged_trainings = learner->diverged_trainings,
        .bytes = sa_account_bytes(agent->account),
        .widths_in_double = state.in_double,
        .widths_from_primal = state.from_primal,
        .log_det = state.log_det,
        .certificate = sa_confidence_certificate(policy->confidence),
        .train_seconds = learner->train_seconds,
        .epoch = learner->epoch,
        .hidden = model && model->kind->training && model->pairs > 1 ? (uint64_t)learner->options->hidden : 0,
        .replay_seconds = learner->replay_seconds,
        .refused_rewards = (uint64_t)agent->rewards.refused,
        .wild_rewards = (uint64_t)agent->rewards.outliers.wild,
        .wild_contexts =
            policy->estimator.statistics
                ? (uint64_t)sa_statistics_wild(&policy->estimator.inputs, policy->estimator.statistics)
                : 0,
        .mixture = mixture_of(policy),
    };
}

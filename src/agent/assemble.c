/* Putting the parts together: a policy and its learner from options. */
#include "agent/agent.h"
#include "base/memory.h"
#include "learn/epochs.h"
#include "learn/forgetting.h"
#include "options/parts.h"
#include "policy/decision.h"
#include "policy/feasible.h"

/* Where the model tells positions apart, so must the rest. */
static sa_status check_positions(const sa_policy *policy, const sa_options *options) {
    const char *form =
        options->feedback == SA_FEEDBACK_POSITION ? "position" : "cascade with --cascade-form unknown";
    const sa_model *model = policy->estimator.model;
    if (policy->estimator.inputs.positions == 0) return SA_OK;
    if (!policy->oracle->positions)
        return sa_fail(SA_INVALID,
                       "--oracle %s takes one score an arm, and --feedback %s gives one for each position: "
                       "--oracle assignment takes those",
                       policy->oracle->name, form);
    if (model && !model->kind->positional)
        return sa_fail(SA_INVALID, "--algorithm %s cannot tell positions apart, as --feedback %s needs",
                       options->algorithm, form);
    return SA_OK;
}

/* Where only totals are known, the model must learn from sums. (Confidence engines say so themselves.) */
static sa_status check_totals(const sa_algorithm *algorithm, const sa_policy *policy,
                              const sa_options *options) {
    const sa_model *model = policy->estimator.model;
    if (options->feedback != SA_FEEDBACK_TOTAL) return SA_OK;
    if (algorithm->doubling)
        return sa_fail(SA_INVALID,
                       "--feedback total does not go with --algorithm %s, whose epochs replay single scores",
                       algorithm->name);
    if (model && model->kind->observing && !model->kind->observing->observe_sums)
        return sa_fail(SA_INVALID,
                       "--algorithm %s cannot learn from totals, as --feedback total needs: its cells take "
                       "the score of each arm",
                       algorithm->name);
    return SA_OK;
}

/* Into half of 200 MB, in double precision with position and discount: arrays grow by half. */
static int64_t rows_that_fit(const sa_options *options) {
    int64_t rows = 100000000 / (8 * (int64_t)options->dim + 40);
    return rows < 1000 ? 1000 : rows;
}

/* An epoch counts all feedback as it begins. */
static sa_status check_epochs(const sa_algorithm *algorithm, sa_options *options) {
    const char *option = options->window > 0     ? "--window"
                         : options->discount < 1 ? "--discount"
                         : options->rebuild      ? "--rebuild"
                                                 : NULL;
    if (options->keep_rows < 0) options->keep_rows = *options->history ? 0 : rows_that_fit(options);
    if (options->keep_rows > 0 && *options->history)
        return sa_fail(SA_INVALID, "--keep-rows does not go with --history, whose file is not bounded");
    if (options->keep_rows > 0 && options->keep_rows < 1000)
        return sa_fail(SA_INVALID, "--keep-rows %lld is less than 1000, and not 0 for all",
                       (long long)options->keep_rows);
    if (algorithm->doubling) options->keep_rows = 0;
    if (!algorithm->doubling || !option) return SA_OK;
    return sa_fail(SA_INVALID, "%s does not go with --algorithm %s, whose epochs begin with all feedback",
                   option, algorithm->name);
}

/* The model, and what is known of its gradients. */
static sa_status create_model(const sa_algorithm *algorithm, sa_options *options, sa_policy *policy) {
    bool companion = options->companion && !policy->exploration.by_theory; /* theory speaks of the network */
    sa_model_settings shape = sa_algorithm_shape(algorithm, options);
    SA_TRY(sa_estimator_create(algorithm->family->model, &shape, companion, &policy->estimator));
    const sa_model *model = policy->estimator.model;
    if (!model) return SA_OK;
    options->precision = (int)model->precision; /* linear models are always double */
    if (model->kind->observing) {               /* it is a regression, or has one */
        sa_companion_destroy(policy->estimator.companion);
        policy->estimator.companion = NULL;
    }
    if (!model->kind->training) /* it learns exactly, and is as wide as it is said to be */
        policy->exploration.bounds.approximation = 0;
    SA_TRY(sa_gradients_init(&policy->none, model->precision, model->pairs, model->shape));
    if (!algorithm->confidence) return SA_OK;
    sa_confidence_settings settings = sa_options_confidence(options);
    settings.linear = model->linear;
    return sa_confidence_create(&settings, model->pairs, model->shape, &policy->confidence);
}

static sa_status check_floor(const sa_policy *policy, const sa_options *options) {
    if (policy->floor > 0) return sa_feasible_check(policy->oracle);
    if (!sa_options_given(options, "floor-by") || sa_options_given(options, "floor")) return SA_OK;
    return sa_fail(SA_INVALID, "--floor-by says what --floor draws at random, and --floor is not given");
}

static sa_status create_parts(const sa_algorithm *algorithm, sa_options *options, sa_policy *policy) {
    const sa_exploration_class *rule = sa_exploration_find(algorithm->exploration);
    policy->exploration = sa_options_exploration(rule, algorithm->ts_samples, options);
    policy->oracle = sa_oracle_of((sa_oracle_kind)options->oracle);
    if (policy->oracle->missing) return sa_fail(SA_UNSUPPORTED, "%s", policy->oracle->missing);
    policy->feedback = sa_feedback_of((sa_feedback_kind)options->feedback);
    policy->discounted = sa_options_discounted(options);
    policy->all_widths = options->widths == SA_WIDTHS_ALL;
    policy->lambda = options->regularization;
    policy->floor = options->floor;
    policy->floor_by_place = options->floor_by == SA_FLOOR_BY_PLACE;
    policy->seed = (uint64_t)options->seed;
    policy->run = (uint64_t)options->first_run;
    policy->threads = (size_t)options->agent_threads;
    SA_TRY(check_epochs(algorithm, options));
    SA_TRY(check_floor(policy, options));
    SA_TRY(create_model(algorithm, options, policy));
    SA_TRY(check_totals(algorithm, policy, options));
    return check_positions(policy, options);
}

/* The options in force in an epoch. */
static sa_status options_of(const sa_agent *agent, uint64_t epoch, sa_options **out) {
    if (agent->algorithm->doubling) return sa_epoch_options(agent->given, epoch, out);
    *out = sa_options_copy(agent->given);
    return *out ? SA_OK : SA_OUT_OF_MEMORY;
}

sa_status sa_agent_make_learner(sa_agent *agent, uint64_t epoch, sa_learner **out) {
    sa_options *options;
    sa_policy *policy = NULL;
    SA_TRY(options_of(agent, epoch, &options));
    sa_status status = sa_policy_create(&policy);
    if (status == SA_OK) status = create_parts(agent->algorithm, options, policy);
    if (status != SA_OK) {
        sa_policy_release(policy);
        sa_options_destroy(options);
        return status;
    }
    sa_learner *learner;
    SA_TRY(sa_learner_create(options, epoch, policy, &agent->past, &agent->chooser->widths, &learner));
    status = sa_forgetting_init(learner);
    if (status == SA_OK)
        *out = learner;
    else
        sa_learner_destroy(learner);
    return status;
}

static sa_status put_together(sa_agent *agent, uint64_t epoch) {
    SA_TRY(sa_algorithm_find(agent->given->algorithm, &agent->algorithm));
    SA_TRY(sa_rewards_init(&agent->rewards, agent->given));
    agent->solved_for = SA_NO_ID;
    agent->chooser = sa_chooser_new();
    if (!agent->chooser) return SA_OUT_OF_MEMORY;
    SA_TRY(sa_agent_make_learner(agent, epoch, &agent->learner));
    const sa_policy *policy = agent->learner->policy;
    sa_history_init(&agent->past.history, &policy->estimator.inputs, policy->discounted);
    agent->past.history.totals = agent->given->feedback == SA_FEEDBACK_TOTAL;
    agent->past.pending.limit = (size_t)agent->given->pending_limit;
    agent->past.pending.discounted = policy->discounted;
    agent->past.pending.longest = agent->past.history.totals ? SA_MOST_SUMMED : 0;
    return SA_OK;
}

sa_status sa_agent_assemble(sa_options *options, uint64_t epoch, sa_agent **out) {
    sa_account *account = sa_account_open(), *before = sa_account_charge(account);
    sa_agent *agent = NULL;
    sa_status status = account ? sa_alloc_array(1, sizeof *agent, &agent)
                               : sa_fail(SA_OUT_OF_MEMORY, "no memory for an agent");
    if (status == SA_OK) {
        agent->account = account;
        agent->given = options;
        status = put_together(agent, epoch);
    } else {
        sa_account_close(account);
        sa_options_destroy(options);
    }
    sa_account_charge(before);
    if (status == SA_OK)
        *out = agent;
    else
        sa_agent_destroy(agent);
    return status;
}

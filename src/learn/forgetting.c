#include "learn/forgetting.h"

#include <math.h>

#include "base/functions.h"
#include "learn/accumulators.h"

static const double LEAST_LOSS_WEIGHT = 1e-3; /* what weighs less is left out of the loss */

const sa_accumulator *sa_accumulator_at(size_t index) {
    static const sa_accumulator *const all[] = {&sa_accumulate_z, &sa_accumulate_model,
                                                &sa_accumulate_predictions};
    return index < sizeof all / sizeof *all ? all[index] : NULL;
}

/* ---- life ---- */

static sa_status check(const sa_learner *learner) {
    const sa_options *options = learner->options;
    const sa_policy *policy = learner->policy;
    const sa_model *model = policy->estimator.model;
    const char *option = options->window > 0 ? "--window" : "--discount";
    if (options->window > 0 && options->discount < 1)
        return sa_fail(SA_INVALID, "--window %lld and --discount %g are two ways to forget: leave one out",
                       (long long)options->window, options->discount);
    if (model && model->kind->observing && !model->kind->observing->fade)
        return sa_fail(SA_INVALID, "%s does not go with --algorithm %s, whose cells cannot forget", option,
                       options->algorithm);
    if (options->discount < 1 && policy->confidence && !policy->confidence->kind->fade)
        return sa_fail(SA_INVALID, "--discount does not go with --confidence %s",
                       policy->confidence->kind->name);
    return SA_OK;
}

sa_status sa_forgetting_init(sa_learner *learner) {
    const sa_options *options = learner->options;
    if (!learner->policy->estimator.model || (options->window == 0 && options->discount == 1)) return SA_OK;
    SA_TRY(check(learner));
    learner->window.remembers =
        options->window > 0 && learner->policy->confidence && !sa_rebuild_is_due(learner);
    if (!learner->window.remembers) return SA_OK;
    const sa_gradients *like = &learner->policy->none;
    SA_TRY(sa_gradients_init_like(&learner->window.gradients, like->precision, like));
    learner->window.gradients.summed = learner->options->feedback == SA_FEEDBACK_TOTAL;
    return SA_OK;
}

/* ---- what counts ---- */

static size_t shorter(size_t window, size_t other) {
    return window == 0 || (other > 0 && other < window) ? other : window;
}

size_t sa_forgetting_reach(const sa_options *options) {
    if (options->discount == 1) return 0;
    return (size_t)fmin(1e15, ceil(sa_log(LEAST_LOSS_WEIGHT) / sa_log(options->discount)));
}

size_t sa_forgetting_first_counted(const sa_learner *learner) {
    const sa_options *options = learner->options;
    return sa_history_window(&learner->past->history,
                             shorter((size_t)options->window, sa_forgetting_reach(options)));
}

size_t sa_forgetting_first(const sa_learner *learner) {
    const sa_options *options = learner->options;
    size_t window = shorter((size_t)options->train_window,
                            shorter((size_t)options->window, sa_forgetting_reach(options)));
    return sa_history_window(&learner->past->history, window);
}

bool sa_forgetting_is_latest(const sa_learner *learner) {
    const sa_options *options = learner->options;
    return options->window > 0 || options->discount < 1 || options->train_window > 0;
}

double sa_forgetting_stands_for(const sa_learner *learner) {
    const sa_history *history = &learner->past->history;
    if (history->gone_rows == 0 || history->count == 0 || sa_forgetting_is_latest(learner)) return 1;
    return (double)(history->count + history->gone_rows) / (double)history->count;
}

bool sa_forgetting_weighs(const sa_learner *learner) {
    return learner->options->discount < 1 || learner->stands_for > 1;
}

double sa_forgetting_weight(const sa_learner *learner, size_t observation) {
    const sa_history *history = &learner->past->history;
    double stands_for = learner->stands_for > 0 ? learner->stands_for : 1;
    if (learner->options->discount == 1) return stands_for;
    size_t age = history->answered - 1 - sa_history_decision(history, observation);
    return sa_pow(learner->options->discount, (double)age);
}

/* ---- time moves on ---- */

static sa_status fade_all(sa_learner *learner, double factor) {
    const sa_accumulator *each;
    for (size_t i = 0; (each = sa_accumulator_at(i)); i++)
        if (each->is_used(learner) && each->fade) SA_TRY(each->fade(learner, factor));
    return SA_OK;
}

/* What is older than this decision is dropped everywhere; Z sees to it by itself where trainings make it
 * again. */
static sa_status drop_before(sa_learner *learner, size_t oldest) {
    const sa_history *history = &learner->past->history;
    const sa_accumulator *each;
    size_t first = oldest < history->answered ? (size_t)history->start[oldest] : history->count;
    learner->window.oldest = oldest;
    for (size_t i = 0; (each = sa_accumulator_at(i)); i++) {
        if (!each->is_used(learner) || (each == &sa_accumulate_z && !learner->window.remembers)) continue;
        SA_TRY(each->begin_again(learner, first));
    }
    return SA_OK;
}

sa_status sa_forgetting_move(sa_learner *learner) {
    const sa_options *options = learner->options;
    size_t answered = learner->past->history.answered + 1, window = (size_t)options->window;
    if (!learner->policy->estimator.model) return SA_OK;
    if (options->discount < 1) SA_TRY(fade_all(learner, options->discount));
    if (window == 0 || answered - learner->window.oldest <= window + window / 4) return SA_OK;
    return drop_before(learner, answered - window);
}

/* ---- rebuilding ---- */

bool sa_rebuild_is_due(const sa_learner *learner) {
    const sa_model *model = learner->policy->estimator.model;
    bool relearns = model->kind->observing && model->kind->training;
    return learner->policy->confidence && (learner->options->rebuild || relearns);
}

sa_status sa_rebuild(sa_learner *learner) {
    return sa_rebuild_is_due(learner) ? sa_rebuild_all(learner) : SA_OK;
}

sa_status sa_rebuild_all(sa_learner *learner) {
    const sa_accumulator *each;
    sa_status status = SA_OK;
    learner->stands_for = sa_forgetting_stands_for(learner);
    for (size_t i = 0; status == SA_OK && (each = sa_accumulator_at(i)); i++)
        if (each->of_network && each->is_used(learner))
            status = each->begin_again(learner, sa_forgetting_first_counted(learner));
    learner->stands_for = 0;
    return status;
}

#include "learn/revise.h"

#include "learn/accumulators.h"

sa_status sa_revise_check(const sa_learner *learner) {
    const sa_model *model = learner->policy->estimator.model;
    if (learner->past->history.file)
        return sa_fail(SA_INVALID, "with --history feedback is written once, and cannot be revised");
    if (model && model->kind->observing && !model->kind->observing->revise)
        return sa_fail(SA_INVALID, "--algorithm %s cannot revise feedback: its cells have taken it in",
                       learner->options->algorithm);
    return SA_OK;
}

/* With a window, what has left it is no longer in what accumulates. */
static bool counts(const sa_learner *learner, size_t row) {
    return sa_history_decision(&learner->past->history, row) >= learner->window.oldest;
}

sa_status sa_revise(sa_learner *learner, size_t row, double score) {
    sa_history *history = &learner->past->history;
    double before = history->scores[row];
    const sa_accumulator *each;
    history->scores[row] = score;
    sa_moments_revise(&learner->moments, history, row, before, learner->options->discount);
    if (!counts(learner, row)) return SA_OK;
    for (size_t i = 0; (each = sa_accumulator_at(i)); i++)
        if (each->is_used(learner) && each->revise) SA_TRY(each->revise(learner, row, before));
    return SA_OK;
}

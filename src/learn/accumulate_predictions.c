/* How well new feedback was predicted, before it was learnt from: the companion's part, and the mean
 * squared error over the latest observations. Both discount by themselves, decision by decision. */
#include <math.h>

#include "base/functions.h"
#include "base/reals.h"
#include "learn/accumulators.h"

static bool is_used(const sa_learner *learner) {
    const sa_estimator *estimator = &learner->policy->estimator;
    bool trains = estimator->model && estimator->model->kind->training;
    return trains && (estimator->companion || sa_posterior_is_used(learner->policy, learner->options));
}

/* One observation, as the model sees it: its input, or the mean of its inputs, and the network's estimate
 * of it. */
typedef struct one_input {
    double *factor, *row;
    void *input;
    double network;
} one_input;

/* Room for it; and the companion's sums are in the units that it will have. */
static sa_status lay(sa_learner *learner, one_input *one) {
    const sa_estimator *estimator = &learner->policy->estimator;
    const sa_model *model = estimator->model;
    size_t features = estimator->inputs.dim;
    SA_TRY(SA_LAY(&learner->work.observed, {&one->factor, features, sizeof(double)},
                  {&one->row, model->dim, sizeof(double)},
                  {&one->input, model->dim, sa_precision_bytes(model->precision)}));
    if (!estimator->companion || estimator->inputs.normalization != SA_NORMALIZE_STANDARD) return SA_OK;
    sa_statistics_factor(&estimator->inputs, estimator->statistics, one->factor);
    sa_companion_rescale(estimator->companion, features, estimator->statistics + 1, one->factor);
    return SA_OK;
}

static sa_status show(sa_learner *learner, const sa_observation *seen, bool predict, one_input *one) {
    const sa_model *model = learner->policy->estimator.model;
    double share = 1 / (double)seen->rows, network = 0;
    one->network = 0;
    for (size_t k = 0; k < seen->rows; k++) {
        sa_samples sample = sa_history_samples(&learner->past->history, seen->first + k);
        sa_samples_inputs(learner, &sample, 1, one->factor, one->input);
        if (predict)
            SA_TRY(model->kind->evaluate(model, one->input, 1, 0, &learner->work.model, &network, NULL));
        one->network += share * network;
        for (size_t j = 0; j < model->dim; j++)
            one->row[j] = (k ? one->row[j] : 0) + share * sa_real_get(model->precision, one->input, j);
    }
    return SA_OK;
}

static bool begins_a_decision(const sa_learner *learner, const sa_observation *seen) {
    const sa_history *history = &learner->past->history;
    return history->start[sa_history_decision(history, seen->first)] == (int64_t)seen->first;
}

static sa_companion_case case_of(const sa_observation *seen, const one_input *one) {
    return (sa_companion_case){.input = one->row, .score = seen->score, .psi = seen->psi};
}

/* What is forgotten elsewhere counts for less here, too. */
static void judge_companion(sa_learner *learner, const sa_observation *seen, const one_input *one) {
    const sa_estimator *estimator = &learner->policy->estimator;
    const sa_options *options = learner->options;
    sa_companion_case now = case_of(seen, one);
    if (!estimator->companion) return;
    if (begins_a_decision(learner, seen)) {
        if (options->discount < 1) sa_companion_fade_judged(estimator->companion, options->discount);
        if (options->window > 0)
            sa_companion_fade_judged(estimator->companion, 1 - 1 / (double)options->window);
    }
    sa_companion_judge(estimator->companion, &now, estimator->centre + estimator->scale * one->network);
}

static void add_to_companion(sa_learner *learner, const sa_observation *seen, const one_input *one) {
    sa_companion *companion = learner->policy->estimator.companion;
    sa_companion_case now = case_of(seen, one);
    if (learner->options->discount < 1 && begins_a_decision(learner, seen))
        sa_companion_fade(companion, learner->options->discount);
    sa_companion_add(companion, &now);
}

/* Observations [first, end) into the regression. */
static sa_status add_all(sa_learner *learner, size_t first, size_t end) {
    one_input one;
    if (!learner->policy->estimator.companion) return SA_OK;
    SA_TRY(lay(learner, &one));
    for (size_t i = first; i < end;) {
        sa_observation each = sa_history_observation(&learner->past->history, i);
        SA_TRY(show(learner, &each, false, &one));
        add_to_companion(learner, &each, &one);
        i += each.rows;
    }
    return SA_OK;
}

static void judge(sa_learner *learner, const sa_observation *seen, double predicted) {
    enum { LATEST = 200 };
    const sa_history *history = &learner->past->history;
    uint64_t number = seen->index + (history->totals ? history->gone_decisions : history->gone_rows);
    double difference = seen->score - seen->psi * predicted, square = difference * difference;
    double share = 1.0 / (double)(number < LATEST ? number + 1 : LATEST);
    if (isfinite(square))
        learner->error += share * (square - learner->error); /* what overflows tells nothing of the noise */
}

/* The agent's estimate for it. */
static double estimate(const sa_estimator *estimator, const one_input *one, double network) {
    double mean = estimator->centre + estimator->scale * network;
    return estimator->companion ? sa_companion_mix(estimator->companion, one->row, mean) : mean;
}

/* All are judged by the estimator that chose them; then they are added. */
static sa_status take(sa_learner *learner, const sa_observations *seen) {
    const sa_estimator *estimator = &learner->policy->estimator;
    size_t end = seen->first + seen->count;
    bool trained = learner->judged > 0;
    one_input one;
    SA_TRY(lay(learner, &one));
    for (size_t i = seen->first; i < end;) {
        sa_observation each = sa_history_observation(&learner->past->history, i);
        SA_TRY(show(learner, &each, true, &one));
        judge(learner, &each, trained ? estimate(estimator, &one, one.network) : seen->centre);
        if (trained) judge_companion(learner, &each, &one);
        i += each.rows;
    }
    SA_TRY(add_all(learner, seen->first, end));
    learner->judged = end;
    return SA_OK;
}

/* The error is of the latest alone. */
static sa_status begin_again(sa_learner *learner, size_t first) {
    if (learner->policy->estimator.companion) sa_companion_forget(learner->policy->estimator.companion);
    return add_all(learner, first, learner->judged);
}

/* The regression of the companion alone: how well both had predicted was judged by what was known then. Where
 * its sums cannot tell, they are made again, of the answers that are kept. */
static sa_status revise(sa_learner *learner, size_t row, double before) {
    const sa_history *history = &learner->past->history;
    sa_companion *companion = learner->policy->estimator.companion;
    one_input one;
    if (!companion || row >= learner->judged) return SA_OK;
    sa_observation now = sa_history_observation(history, row);
    SA_TRY(lay(learner, &one));
    SA_TRY(show(learner, &now, false, &one));
    size_t age = sa_history_decision(history, learner->judged - 1) - sa_history_decision(history, row);
    sa_companion_case seen = {.input = one.row, .score = before / now.unit, .psi = now.psi};
    if (sa_companion_revise(companion, &seen, now.score, sa_pow(learner->options->discount, (double)age)))
        return SA_OK;
    return begin_again(learner, (size_t)history->start[learner->window.oldest]);
}

sa_status sa_predictions_skip(sa_learner *learner) {
    size_t end = learner->past->history.count;
    if (!learner->policy->estimator.companion) return SA_OK;
    SA_TRY(add_all(learner, learner->judged, end));
    learner->judged = end;
    return SA_OK;
}

const sa_accumulator sa_accumulate_predictions = {
    .is_used = is_used, .take = take, .revise = revise, .begin_again = begin_again};

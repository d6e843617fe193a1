/* How well new feedback was predicted, before it was learnt from: the companion's part, and the mean squared
 * error over the latest observations. Both discount by themselves, decision by decision. */
#include <math.h>

#include "base/reals.h"
#include "learn/accumulators.h"

static bool is_used(const sa_learner *learner) {
    const sa_estimator *estimator = &learner->policy->estimator;
    bool trains = estimator->model && estimator->model->kind->training;
    return trains && (learner->options->error_decay > 0 || estimator->companion);
}

/* One observation, as the model sees it. */
typedef struct one_input {
    double *factor, *row;
    void *input;
} one_input;

static sa_status lay(sa_learner *learner, one_input *one) {
    const sa_model *model = learner->policy->estimator.model;
    return SA_LAY(&learner->work.observed,
                  {&one->factor, learner->policy->estimator.inputs.dim, sizeof(double)},
                  {&one->row, model->dim, sizeof(double)},
                  {&one->input, model->dim, sa_precision_bytes(model->precision)});
}

static void show(const sa_learner *learner, size_t i, const one_input *one) {
    sa_samples sample = sa_history_samples(&learner->memory->history, i);
    sa_samples_inputs(learner, &sample, 1, one->factor, one->input);
}

/* `predicted`: by the network, which has not seen it yet. */
static void add_to_companion(sa_learner *learner, size_t i, const one_input *one, bool predicted,
                             double network) {
    const sa_history *history = &learner->memory->history;
    const sa_estimator *estimator = &learner->policy->estimator;
    sa_companion *companion = estimator->companion;
    if (!companion) return;
    if (learner->options->discount < 1 && history->start[sa_history_decision(history, i)] == (int64_t)i)
        sa_companion_discount(companion, learner->options->discount);
    for (size_t j = 0; j < companion->dim; j++) one->row[j] = sa_real_get(history->precision, one->input, j);
    sa_companion_add(companion,
                     &(sa_companion_case){.input = one->row,
                                          .score = history->scores[i],
                                          .discount = sa_history_psi(history, i),
                                          .predicted = predicted,
                                          .network = estimator->centre + estimator->scale * network});
}

static void judge(sa_learner *learner, size_t i, double predicted) {
    enum { LATEST = 200 };
    const sa_history *history = &learner->memory->history;
    double difference = history->scores[i] - sa_history_psi(history, i) * predicted,
           square = difference * difference;
    double share = 1.0 / (double)(i < LATEST ? i + 1 : LATEST);
    if (isfinite(square))
        learner->error += share * (square - learner->error); /* what overflows tells nothing of the noise */
}

static sa_status take(sa_learner *learner, const sa_observations *seen) {
    const sa_estimator *estimator = &learner->policy->estimator;
    const sa_model *model = estimator->model;
    bool trained = learner->judged > 0;
    one_input one;
    SA_TRY(lay(learner, &one));
    for (size_t i = seen->first; i < seen->first + seen->count; i++) {
        double network;
        show(learner, i, &one);
        SA_TRY(model->kind->evaluate(model, one.input, 1, 0, &learner->work.model, &network, NULL));
        add_to_companion(learner, i, &one, trained, network);
        judge(learner, i, trained ? estimator->centre + estimator->scale * network : seen->centre);
    }
    learner->judged = seen->first + seen->count;
    return SA_OK;
}

/* The regression of the companion alone: how well both had predicted was judged by what was known then. */
static sa_status revise(sa_learner *learner, size_t row, double before) {
    const sa_history *history = &learner->memory->history;
    sa_companion *companion = learner->policy->estimator.companion;
    one_input one;
    if (!companion || row >= learner->judged) return SA_OK;
    SA_TRY(lay(learner, &one));
    show(learner, row, &one);
    for (size_t j = 0; j < companion->dim; j++) one.row[j] = sa_real_get(history->precision, one.input, j);
    size_t age = sa_history_decision(history, learner->judged - 1) - sa_history_decision(history, row);
    sa_companion_revise(
        companion,
        &(sa_companion_case){.input = one.row, .score = before, .discount = sa_history_psi(history, row)},
        history->scores[row], pow(learner->options->discount, (double)age));
    return SA_OK;
}

/* Observations [first, end), of which nothing was predicted. */
static sa_status add_unpredicted(sa_learner *learner, size_t first, size_t end) {
    one_input one;
    SA_TRY(lay(learner, &one));
    for (size_t i = first; i < end; i++) {
        show(learner, i, &one);
        add_to_companion(learner, i, &one, false, 0);
    }
    return SA_OK;
}

/* The error is of the latest alone. */
static sa_status begin_again(sa_learner *learner, size_t first) {
    sa_companion *companion = learner->policy->estimator.companion;
    if (!companion) return SA_OK;
    sa_companion_forget(companion);
    return add_unpredicted(learner, first, learner->judged);
}

sa_status sa_predictions_skip(sa_learner *learner) {
    size_t end = learner->memory->history.count;
    if (!learner->policy->estimator.companion) return SA_OK;
    SA_TRY(add_unpredicted(learner, learner->judged, end));
    learner->judged = end;
    return SA_OK;
}

const sa_accumulator sa_accumulate_predictions = {
    .is_used = is_used, .take = take, .revise = revise, .begin_again = begin_again};

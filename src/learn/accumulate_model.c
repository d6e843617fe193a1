/* A model that learns with each observation, in the units of the last training. */
#include <math.h>

#include "base/reals.h"
#include "learn/accumulators.h"
#include "learn/forgetting.h"

static bool is_used(const sa_learner *learner) {
    const sa_model *model = learner->policy->estimator.model;
    return model && model->kind->observing;
}

/* The decisions that begin at seen->first: their totals, of the sums of what the model gives their arms. */
static sa_status take_totals(sa_learner *learner, const sa_observations *seen) {
    const sa_history *history = &learner->past->history;
    const sa_estimator *estimator = &learner->policy->estimator;
    sa_model *model = estimator->model;
    size_t first = sa_history_decision(history, seen->first), many = 0, *end;
    double *factor, *scores, *root;
    void *inputs;
    SA_TRY(SA_LAY(&learner->work.observed, {&factor, estimator->inputs.dim, sizeof *factor},
                  {&scores, seen->count, sizeof *scores}, {&root, seen->count, sizeof *root},
                  {&end, seen->count, sizeof *end},
                  {&inputs, seen->count * model->dim, sa_precision_bytes(model->precision)}));
    sa_samples samples = sa_history_samples(history, seen->first);
    sa_samples_inputs(learner, &samples, seen->count, factor, inputs);
    for (size_t row = seen->first; row < seen->first + seen->count; many++) {
        double terms = (double)(sa_history_end(history, first + many) - row);
        root[many] = sqrt(sa_forgetting_weight(learner, row));
        scores[many] = root[many] * (history->scores[row] - terms * estimator->centre) / estimator->scale;
        row = sa_history_end(history, first + many);
        end[many] = row - seen->first;
    }
    return model->kind->observing->observe_sums(model, inputs, end, root, scores, many, &learner->work.model);
}

static sa_status take(sa_learner *learner, const sa_observations *seen) {
    const sa_history *history = &learner->past->history;
    if (history->totals) return take_totals(learner, seen);
    const sa_estimator *estimator = &learner->policy->estimator;
    sa_model *model = estimator->model;
    bool weighs = history->discounted || sa_forgetting_weighs(learner);
    double *factor, *scores, *psi;
    void *inputs;
    SA_TRY(SA_LAY(&learner->work.observed, {&factor, estimator->inputs.dim, sizeof *factor},
                  {&scores, seen->count, sizeof *scores}, {&psi, weighs ? seen->count : 0, sizeof *psi},
                  {&inputs, seen->count * model->dim, sa_precision_bytes(model->precision)}));
    sa_samples samples = sa_history_samples(history, seen->first);
    sa_samples_inputs(learner, &samples, seen->count, factor, inputs);
    for (size_t i = 0; i < seen->count; i++) {
        double discount = sa_history_psi(history, seen->first + i);
        scores[i] = (history->scores[seen->first + i] - discount * estimator->centre) / estimator->scale;
        if (!weighs) continue;
        double root = sqrt(
            sa_forgetting_weight(learner, seen->first + i)); /* on both sides of a least-squares problem */
        psi[i] = root * discount;
        scores[i] *= root;
    }
    return model->kind->observing->observe(model, inputs, weighs ? psi : NULL, scores, seen->count,
                                           &learner->work.model);
}

static sa_status revise(sa_learner *learner, size_t row, double before) {
    const sa_history *history = &learner->past->history;
    const sa_estimator *estimator = &learner->policy->estimator;
    sa_model *model = estimator->model;
    size_t rows = sa_history_observation(history, row).rows;
    double *factor, *change, *psi, weight = sa_forgetting_weight(learner, row);
    void *input;
    SA_TRY(SA_LAY(&learner->work.observed, {&factor, estimator->inputs.dim, sizeof *factor},
                  {&change, rows, sizeof *change}, {&psi, rows, sizeof *psi},
                  {&input, rows * model->dim, sa_precision_bytes(model->precision)}));
    sa_samples sample = sa_history_samples(history, row);
    sa_samples_inputs(learner, &sample, rows, factor, input);
    for (size_t k = 0; k < rows; k++) {
        change[k] = weight * (history->scores[row] - before) / estimator->scale;
        psi[k] = sa_history_psi(history, row + k);
    }
    return model->kind->observing->revise(model, input, psi, change, rows, &learner->work.model);
}

static sa_status fade(sa_learner *learner, double factor) {
    sa_model *model = learner->policy->estimator.model;
    model->kind->observing->fade(model, factor);
    return SA_OK;
}

static sa_status begin_again(sa_learner *learner, size_t first) {
    sa_model *model = learner->policy->estimator.model;
    size_t count = learner->past->history.count - first;
    model->kind->observing->forget(model);
    return count ? take(learner, &(sa_observations){.first = first, .count = count}) : SA_OK;
}

const sa_accumulator sa_accumulate_model = {.is_used = is_used,
                                            .at_once = true,
                                            .of_network = true,
                                            .take = take,
                                            .revise = revise,
                                            .fade = fade,
                                            .begin_again = begin_again};

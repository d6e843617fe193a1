#include "base/reals.h"
#include "learn/learner.h"

sa_samples sa_history_samples(const sa_history *history, size_t first) {
    return (sa_samples){.raw = sa_real_at(history->precision, history->contexts, first * history->dim),
                        .position = history->position ? history->position + first : NULL,
                        .psi = history->psi ? history->psi + first : NULL};
}

void sa_samples_inputs(const sa_learner *learner, const sa_samples *samples, size_t count, double *factor,
                       void *inputs) {
    const sa_estimator *estimator = &learner->policy->estimator;
    sa_inputs_show_placed(&estimator->inputs, estimator->statistics, factor, samples->raw, samples->position,
                          count, inputs);
}

sa_status sa_samples_evaluate(sa_learner *learner, const sa_samples *samples, size_t first, size_t count) {
    const sa_model *model = learner->policy->estimator.model;
    sa_learner_work *work = &learner->work;
    size_t dim = learner->policy->estimator.inputs.dim;
    double mean[SA_LEARN_CHUNK], *factor;
    int64_t position[SA_LEARN_CHUNK];
    void *inputs;
    SA_TRY(SA_LAY(&work->chunk, {&factor, dim, sizeof *factor},
                  {&inputs, SA_LEARN_CHUNK * model->dim, sa_precision_bytes(model->precision)}));
    for (size_t i = 0; i < count; i++)
        position[i] = samples->position ? samples->position[first + i] : (int64_t)(first + i);
    sa_samples part = {.raw = sa_real_at(model->precision, samples->raw, first * dim), .position = position};
    sa_samples_inputs(learner, &part, count, factor, inputs);
    SA_TRY(sa_gradients_fit(&work->gradients, model->precision, &learner->policy->none));
    SA_TRY(model->kind->evaluate(model, inputs, count, 0, &work->model, mean, &work->gradients));
    for (size_t i = 0; samples->psi && i < count; i++)
        sa_gradients_scale(&work->gradients, i, samples->psi[first + i]);
    return SA_OK;
}

sa_status sa_samples_gradients(sa_learner *learner, const sa_samples *samples, size_t count,
                               sa_gradients *to) {
    SA_TRY(sa_gradients_reserve(to, to->count + count));
    for (size_t first = 0; first < count; first += SA_LEARN_CHUNK) {
        size_t many = count - first < SA_LEARN_CHUNK ? count - first : SA_LEARN_CHUNK;
        SA_TRY(sa_samples_evaluate(learner, samples, first, many));
        sa_gradients_append(to, &learner->work.gradients, NULL, many);
    }
    return SA_OK;
}

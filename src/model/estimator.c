#include "model/estimator.h"

#include <math.h>

#include "base/memory.h"
#include "base/reals.h"

sa_status sa_estimator_create(const char *model, const sa_model_settings *settings, bool companion,
                              sa_estimator *out) {
    sa_estimator fresh = {.inputs = sa_inputs_from(settings), .scale = 1};
    sa_status status = SA_OK;
    if (model) SA_TRY_OR_FAIL(sa_model_create(model, settings, &fresh.model));
    if (model) fresh.inputs.precision = fresh.model->precision; /* linear models are always double */
    if (model && fresh.inputs.normalization == SA_NORMALIZE_STANDARD)
        SA_TRY_OR_FAIL(
            sa_alloc_array(sa_statistics_length(&fresh.inputs), sizeof(double), &fresh.statistics));
    if (model && companion)
        SA_TRY_OR_FAIL(sa_companion_create(fresh.inputs.dim + fresh.inputs.positions, &fresh.companion));
    *out = fresh;
    return SA_OK;
fail:
    sa_estimator_clear(&fresh);
    return status;
}

void sa_estimator_clear(sa_estimator *estimator) {
    sa_model_destroy(estimator->model);
    sa_companion_destroy(estimator->companion);
    sa_free(estimator->statistics);
    *estimator = (sa_estimator){0};
}

sa_estimator sa_estimator_hold(const sa_estimator *estimator) {
    sa_hold(estimator->model);
    sa_hold(estimator->companion);
    sa_hold(estimator->statistics);
    return *estimator;
}

sa_status sa_estimator_unshare(sa_estimator *estimator) {
    SA_TRY(sa_model_unshare(&estimator->model));
    SA_TRY(sa_companion_unshare(&estimator->companion));
    return sa_unshare(&estimator->statistics);
}

void sa_estimator_work_clear(sa_estimator_work *work) {
    sa_model_work_clear(&work->model);
    sa_workspace_clear(&work->row);
}

/* The companion's part in the means of arms in each position. What is open of them is the network's part
 * alone: the regression adds up what arm and position are worth, where clicks multiply it, and would disagree
 * for good. */
static sa_status mix_positions(const sa_estimator *estimator, const void *inputs, size_t count,
                               size_t positions, sa_workspace *work, double *mean) {
    const sa_inputs *shape = &estimator->inputs;
    size_t dim = shape->dim;
    double *row;
    SA_TRY(SA_LAY(work, {&row, dim + shape->positions, sizeof *row}));
    for (size_t i = 0; i < count * positions; i++) {
        size_t arm = i / positions;
        for (size_t j = 0; j < dim; j++) row[j] = sa_real_get(shape->precision, inputs, arm * dim + j);
        for (size_t k = 0; k < shape->positions; k++) row[dim + k] = i - arm * positions == k;
        mean[i] = sa_companion_mix(estimator->companion, row, mean[i]);
    }
    return SA_OK;
}

static sa_status mix(const sa_estimator *estimator, const void *inputs, size_t count, size_t positions,
                     sa_workspace *work, double *mean, double *spread) {
    const sa_companion *companion = estimator->companion;
    sa_precision precision = estimator->inputs.precision;
    double *scratch;
    if (positions) return mix_positions(estimator, inputs, count, positions, work, mean);
    SA_TRY(SA_LAY(work, {&scratch, SA_SPREAD_ROWS * companion->dim, sizeof *scratch}));
    if (spread) sa_companion_spread(companion, precision, inputs, count, mean, scratch, spread);
    sa_companion_mix_rows(companion, precision, inputs, count, mean);
    return SA_OK;
}

sa_status sa_estimator_evaluate(const sa_estimator *estimator, const void *inputs, size_t first, size_t count,
                                size_t positions, sa_estimator_work *work, double *mean, double *spread,
                                sa_gradients *gradients) {
    const sa_model *model = estimator->model;
    size_t scores = count * (positions ? positions : 1);
    SA_TRY(model->kind->evaluate(model, inputs, count, positions, &work->model, mean, gradients));
    for (size_t i = 0; i < scores; i++) mean[i] = estimator->centre + estimator->scale * mean[i];
    for (size_t i = 0; spread && i < scores; i++) spread[i] = 0;
    if (estimator->companion) SA_TRY(mix(estimator, inputs, count, positions, &work->row, mean, spread));
    for (size_t i = 0; i < scores; i++)
        if (!isfinite(mean[i]))
            return sa_fail(SA_INVALID, "the estimate for arm %zu is not finite: are its features too large?",
                           first + (positions ? i / positions : i));
    return SA_OK;
}

sa_status sa_estimator_save(const sa_estimator *estimator, sa_npz_writer *writer) {
    if (!estimator->model) return SA_OK;
    SA_TRY(sa_npz_add(writer, "centre", SA_FLOAT64, 0, NULL, &estimator->centre));
    SA_TRY(sa_npz_add(writer, "scale", SA_FLOAT64, 0, NULL, &estimator->scale));
    if (estimator->companion) SA_TRY(sa_companion_save(estimator->companion, writer));
    if (estimator->statistics) SA_TRY(sa_statistics_save(&estimator->inputs, estimator->statistics, writer));
    return estimator->model->kind->save(estimator->model, writer);
}

sa_status sa_estimator_load(sa_estimator *estimator, sa_npz *archive) {
    if (!estimator->model) return SA_OK;
    SA_TRY(sa_npz_get_number(archive, "centre", &estimator->centre));
    SA_TRY(sa_npz_get_number(archive, "scale", &estimator->scale));
    if (estimator->companion) SA_TRY(sa_companion_load(estimator->companion, archive));
    if (estimator->statistics) SA_TRY(sa_statistics_load(&estimator->inputs, estimator->statistics, archive));
    return estimator->model->kind->load(estimator->model, archive);
}

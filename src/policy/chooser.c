#include "policy/chooser.h"

#include <string.h>

#include "base/memory.h"

sa_chooser *sa_chooser_new(void) {
    sa_chooser *chooser;
    return sa_alloc_array(1, sizeof *chooser, &chooser) == SA_OK ? chooser : NULL;
}

static void clear_block(sa_block *block) {
    sa_workspace_clear(&block->memory);
    sa_workspace_clear(&block->input);
    sa_estimator_work_clear(&block->work);
    sa_gradients_clear(&block->gradients);
}

void sa_chooser_destroy(sa_chooser *chooser) {
    if (!chooser) return;
    sa_workspace_clear(&chooser->arrays);
    sa_workspace_clear(&chooser->memory);
    sa_workspace_clear(&chooser->survived);
    sa_workspace_clear(&chooser->standard);
    sa_workspace_clear(&chooser->oracle);
    sa_gradients_clear(&chooser->candidates.gradients);
    for (size_t i = 0; i < SA_WAVE; i++) sa_gradients_clear(&chooser->survivors[i].gradients);
    for (size_t i = 0; i < chooser->blocks; i++) clear_block(&chooser->block[i]);
    sa_free(chooser->block);
    sa_width_work_clear(&chooser->widths);
    sa_free(chooser);
}

static sa_status fit_gradients(sa_chooser *chooser, const sa_policy *policy) {
    const sa_gradients *like = &policy->none;
    if (!policy->estimator.model) return SA_OK;
    SA_TRY(sa_gradients_fit(&chooser->candidates.gradients, like->precision, like));
    for (size_t i = 0; i < chooser->blocks; i++)
        SA_TRY(sa_gradients_fit(&chooser->block[i].gradients, like->precision, like));
    return SA_OK;
}

sa_status sa_chooser_begin(sa_chooser *chooser, const sa_policy *policy) {
    const sa_estimator *estimator = &policy->estimator;
    size_t length = sa_statistics_length(&estimator->inputs);
    SA_TRY(sa_grow_array(&chooser->block, &chooser->blocks, policy->threads, sizeof *chooser->block));
    SA_TRY(fit_gradients(chooser, policy));
    for (size_t i = 0; i < chooser->blocks; i++) chooser->block[i].request = NULL;
    chooser->candidates.count = 0;
    chooser->widths.imprecise = false;
    chooser->widths.solved.version = 0;
    if (!estimator->statistics) return SA_OK;
    SA_TRY(SA_LAY(&chooser->standard, {&chooser->statistics, length, sizeof(double)},
                  {&chooser->factor, estimator->inputs.dim, sizeof(double)}));
    memcpy(chooser->statistics, estimator->statistics, length * sizeof(double));
    return SA_OK;
}

sa_status sa_block_read(sa_block *block, const sa_inputs *inputs, const sa_request *request, size_t first,
                        size_t count) {
    if (block->request == request && block->first == first && block->count == count) return SA_OK;
    block->request = NULL;
    SA_TRY(sa_contexts_read(inputs, request, first, count, &block->memory, &block->raw));
    block->request = request;
    block->first = first;
    block->count = count;
    return SA_OK;
}

sa_status sa_chooser_see(sa_chooser *chooser, const sa_policy *policy, const sa_request *request) {
    const sa_inputs *inputs = &policy->estimator.inputs;
    const bool *excluded = request->excluded;
    if (!policy->estimator.statistics) return SA_OK;
    for (size_t first = 0, count; first < request->arms; first += count) {
        count = request->arms - first < SA_BLOCK_ARMS ? request->arms - first : SA_BLOCK_ARMS;
        SA_TRY(sa_block_read(chooser->block, inputs, request, first, count));
        sa_statistics_see(inputs, chooser->statistics, chooser->block->raw,
                          excluded ? excluded + first : NULL, count);
    }
    sa_statistics_factor(inputs, chooser->statistics, chooser->factor);
    return SA_OK;
}

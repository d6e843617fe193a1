#include "policy/blocks.h"

#include "base/reals.h"

/* What the model sees of the block's contexts. */
static sa_status show(const sa_policy *policy, const sa_chooser *chooser, size_t count, sa_block *block,
                      const void **input) {
    const sa_inputs *inputs = &policy->estimator.inputs;
    void *rows;
    *input = block->raw;
    if (!policy->estimator.statistics) return SA_OK;
    SA_TRY(SA_LAY(&block->input, {&rows, count * inputs->dim, sa_precision_bytes(inputs->precision)}));
    sa_inputs_show(inputs, chooser->statistics, chooser->factor, block->raw, count, rows, inputs->dim);
    *input = rows;
    return SA_OK;
}

sa_status sa_block_evaluate(const sa_policy *policy, const sa_chooser *chooser, const sa_selection *selection,
                            size_t first, size_t count, sa_block *block, const void **input) {
    const sa_estimator *estimator = &policy->estimator;
    size_t start = sa_selection_score_of(selection, first);
    SA_TRY(sa_block_read(block, &estimator->inputs, selection->request, first, count));
    SA_TRY(show(policy, chooser, count, block, input));
    return sa_estimator_evaluate(estimator, *input, first, count, selection->positions, &block->work,
                                 selection->mean + start,
                                 policy->deviation > 0 ? selection->spread + start : NULL,
                                 policy->confidence ? &block->gradients : NULL);
}

/* ---- the gradients of a slate ---- */

/* The row of a score among those of the selection. */
static size_t row_of(const sa_candidates *all, const sa_selection *self, size_t score) {
    size_t low = self->first, high = self->first + self->rows - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->index[middle] < score)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A block is evaluated once, whatever of it was chosen. */
static sa_status evaluate_blocks(const sa_policy *policy, sa_chooser *chooser, const sa_selection *self,
                                 sa_gradients *out) {
    size_t arms = self->request->arms;
    for (size_t first = 0, count; first < arms; first += count) {
        bool evaluated = false;
        const void *input;
        count = arms - first < SA_BLOCK_ARMS ? arms - first : SA_BLOCK_ARMS;
        for (size_t k = 0; k < self->slate; k++) {
            if (self->arms[k] < first || self->arms[k] >= first + count) continue;
            if (!evaluated)
                SA_TRY(sa_block_evaluate(policy, chooser, self, first, count, chooser->block, &input));
            evaluated = true;
            size_t row = sa_selection_chosen(self, k) - sa_selection_score_of(self, first);
            out->count = k;
            sa_gradients_append(out, &chooser->block->gradients, &row, 1);
        }
    }
    out->count = self->slate;
    return SA_OK;
}

sa_status sa_selection_gradients(const sa_policy *policy, sa_chooser *chooser, const sa_selection *self,
                                 sa_gradients *out) {
    const sa_candidates *all = &chooser->candidates;
    SA_TRY(sa_gradients_reserve(out, self->slate));
    if (self->rows == 0) return evaluate_blocks(policy, chooser, self, out);
    for (size_t k = 0; k < self->slate; k++) {
        size_t row = row_of(all, self, sa_selection_chosen(self, k));
        sa_gradients_append(out, &all->gradients, &row, 1);
    }
    return SA_OK;
}

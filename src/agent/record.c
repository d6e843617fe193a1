/* What is kept of a decision until its feedback comes. */
#include <string.h>

#include "agent/choice.h"
#include "agent/reals.h"

/* Their gradients are gone: the blocks of the slate's arms are evaluated again. */
static sa_status evaluate_again(sa_agent *agent, const sa_choice *self, sa_gradients *kept) {
    for (size_t first = 0, count = 0; sa_choice_block(self, &first, &count);) {
        bool evaluated = false;
        for (size_t k = 0; k < self->slate; k++) {
            if (agent->slate[k] < first || agent->slate[k] >= first + count) continue;
            if (!evaluated) SA_TRY(sa_choice_estimate(agent, self, first, count));
            evaluated = true;
            size_t row = agent->rows[k] - sa_choice_score_of(self, first);
            kept->count = k;
            sa_gradients_append(kept, &agent->block.gradients, &row, 1);
        }
    }
    kept->count = self->slate;
    return SA_OK;
}

/* The gradients of the slate; agent->rows are theirs. */
static sa_status keep_gradients(sa_agent *agent, const sa_choice *self, sa_gradients *kept) {
    const sa_gradients *from = self->scanned    ? &agent->scan.survivors.gradients
                               : self->together ? &agent->together
                                                : &agent->block.gradients;
    SA_TRY(sa_gradients_init_like(kept, from->precision, from));
    SA_TRY(sa_gradients_reserve(kept, self->slate));
    if (self->many && !self->scanned) return evaluate_again(agent, self, kept);
    for (size_t k = 0; k < self->slate; k++) {
        size_t row = self->scanned ? sa_scan_row(&agent->scan, agent->slate[k]) : agent->rows[k];
        if (self->together) row += self->offset;
        sa_gradients_append(kept, from, &row, 1);
    }
    return SA_OK;
}

/* Its gradients are those that feedback counts: psi_k g where discounts are learnt with, and the widths that were solved for g are
 * of no use then. Nor are those of many arms, which are rows of other batches by now. */
sa_status sa_choice_keep(sa_agent *agent, const sa_choice *self, sa_pending *pending) {
    sa_precision precision = agent->inputs.precision;
    size_t dim = agent->inputs.dim, slate = self->slate;
    SA_TRY(sa_pending_init(pending, slate, dim, precision, agent->pending.discounted));
    pending->ticket = self->many || self->together ? 0 : self->ticket;
    memcpy(pending->arms, agent->slate, slate * sizeof *pending->arms);
    for (size_t k = 0; k < slate; k++) {
        agent->rows[k] = sa_agent_row(agent, slate, agent->slate[k], k);
        if (pending->discounts) pending->discounts[k] = self->discounts ? self->discounts[k] : 1;
    }
    if (agent->confidence) SA_TRY(keep_gradients(agent, self, &pending->gradients));
    for (size_t k = 0; k < slate; k++) {
        const void *raw;
        SA_TRY(sa_inputs_read(&agent->inputs, self->request, agent->slate[k], 1, &agent->block.inputs, &raw));
        memcpy(sa_real_at(precision, pending->contexts, k * dim), raw, dim * sa_precision_bytes(precision));
    }
    for (size_t k = 0; agent->confidence && pending->discounts && k < slate; k++) {
        if (pending->discounts[k] == 1) continue;
        sa_gradients_scale(&pending->gradients, k, pending->discounts[k]);
        pending->ticket = 0;
    }
    return SA_OK;
}

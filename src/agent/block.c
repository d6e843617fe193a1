#include "agent/block.h"

#include <math.h>

#include "agent/agent.h"
#include "agent/reals.h"

void sa_block_clear(sa_block *block) {
    sa_input_block_clear(&block->inputs);
    sa_gradients_clear(&block->gradients);
    *block = (sa_block){0};
}

size_t sa_block_bytes(const sa_block *block, const sa_inputs *inputs) {
    return sa_input_block_bytes(&block->inputs, inputs) + sa_gradients_bytes(&block->gradients);
}

/* The companion's say in the means of arms in each position. */
static void mix_positions(const sa_agent *agent, const void *input, size_t count, size_t positions, double *mean) {
    size_t dim = agent->inputs.dim;
    for (size_t i = 0; i < count * positions; i++) {
        size_t arm = i / positions;
        for (size_t j = 0; j < dim; j++) agent->row[j] = sa_real_get(agent->inputs.precision, input, arm * dim + j);
        for (size_t k = 0; k < agent->inputs.positions; k++) agent->row[dim + k] = i - arm * positions == k;
        mean[i] = sa_companion_mix(&agent->companion, agent->row, mean[i]);
    }
}

sa_status sa_block_estimate(const sa_agent *agent, const sa_request *request, size_t first, size_t count, size_t positions,
                            bool read, sa_block *block, double *mean) {
    const sa_model_class *kind = agent->model->kind;
    sa_gradients *gradients = agent->confidence ? &block->gradients : NULL;
    size_t scores = count * (positions ? positions : 1);
    if (!read) SA_TRY(sa_inputs_read(&agent->inputs, request, first, count, &block->inputs, &block->raw));
    block->input = sa_inputs_fresh(&agent->inputs, block->raw, count, &block->inputs);
    if (positions)
        SA_TRY(kind->evaluate_positions(agent->model, block->input, count, positions, mean, gradients));
    else
        SA_TRY(kind->evaluate(agent->model, block->input, count, mean, gradients));
    for (size_t i = 0; i < scores; i++) mean[i] = agent->centre + agent->scale * mean[i];
    if (agent->companion.dim && positions)
        mix_positions(agent, block->input, count, positions, mean);
    else if (agent->companion.dim)
        sa_companion_mix_rows(&agent->companion, agent->inputs.precision, block->input, count, mean);
    for (size_t i = 0; i < scores; i++)
        if (!isfinite(mean[i]))
            return sa_fail(SA_INVALID, "the estimate for arm %zu is not finite: are its features too large?",
                           first + (positions ? i / positions : i));
    return SA_OK;
}

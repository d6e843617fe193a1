/* A block of a request's arms, on its way from contexts to estimates. Blocks make the workspace of a select independent of how many
 * arms there are, and what is computed of an arm is used while it is in the cache. */
#ifndef SA_AGENT_BLOCK_H
#define SA_AGENT_BLOCK_H

#include "agent/inputs.h"
#include "model/gradients.h"

struct sa_agent;

/* Workspace of one thread. */
typedef struct sa_block {
    sa_input_block inputs;
    const void *raw;        /* (arms, dim) as read: the caller's, or in `inputs` */
    const void *input;      /* (arms, dim) as the model sees them; likewise */
    sa_gradients gradients; /* of the block's arms, where widths are wanted */
} sa_block;

/* The batch needs to be initialised, with the pairs of the model's gradients, where there are any. */
void sa_block_clear(sa_block *block);
size_t sa_block_bytes(const sa_block *block, const sa_inputs *inputs);

/* mean of the request's arms [first, first + count), at most SA_BLOCK_ARMS, (count) or (count, positions), the companion's say
 * included; and their gradients where the agent has widths. With `read`, block->raw is there already. SA_INVALID names the arm
 * whose context or estimate is not finite. */
sa_status sa_block_estimate(const struct sa_agent *agent, const sa_request *request, size_t first, size_t count,
                            size_t positions, bool read, sa_block *block, double *mean);

#endif

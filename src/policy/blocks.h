/* Blocks of a request's arms: from contexts to estimates and gradients. */
#ifndef SA_POLICY_BLOCKS_H
#define SA_POLICY_BLOCKS_H

#include "policy/selection.h"

/* selection->mean of the arms [first, first + count), at most a block, and their gradients in
 * block->gradients where the policy has widths; `*input` (count, dim) is what the model sees of them. The
 * chooser's statistics include the request. */
sa_status sa_block_evaluate(const sa_policy *policy, const sa_chooser *chooser, const sa_selection *selection,
                            size_t first, size_t count, sa_block *block, const void **input);

/* The gradients of the slate's arms, into an initialised batch: from the walk, or where it did not keep them
 * from the blocks of these arms, which gives the same bits. The chooser's statistics include the request. */
sa_status sa_selection_gradients(const sa_policy *policy, sa_chooser *chooser, const sa_selection *self,
                                 sa_gradients *out);

#endif

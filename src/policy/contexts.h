/* The contexts of a request: checked, and converted to the model's precision. */
#ifndef SA_POLICY_CONTEXTS_H
#define SA_POLICY_CONTEXTS_H

#include "base/workspace.h"
#include "model/standardize.h"
#include "policy/request.h"

enum { SA_BLOCK_ARMS = 512 }; /* arms taken at a time: what is known of them fits the second-level cache */

/* The raw contexts of the request's arms [first, first + count): (count, dim), the caller's own where they
 * can be used as they are, or in the workspace. SA_INVALID names the arm and feature that is not finite. */
sa_status sa_contexts_read(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count,
                           sa_workspace *work, const void **raw);

#endif

/* From the caller's contexts to the model's inputs: checked, converted to the model's precision, and normalised.
 *
 * `raw` is what is kept of a context: checked, converted and, with --normalize unit, of unit length. What the model sees is
 * the same, but with --normalize standard each feature minus its mean and divided by its deviation over all candidates seen
 * so far that could be chosen, and by sqrt(dim), so that an input has a length of about 1, as the paper assumes; raw contexts are kept, so that
 * training uses the newest mean and deviation.
 *
 * Where positions are told apart, the one-hot position that follows the features is left as it is by every normalisation: a
 * single 1, as long as the features are. */
#ifndef SA_AGENT_INPUTS_H
#define SA_AGENT_INPUTS_H

#include "agent/request.h"
#include "base/npy.h"
#include "base/options.h"

typedef struct sa_inputs {
    sa_precision precision;
    sa_normalization normalization;
    size_t dim;
    size_t positions; /* inputs beside the features: 0 unless positions are told apart */
    /* of --normalize standard: */
    double seen;     /* candidates */
    double *mean;    /* (dim) */
    double *squares; /* (dim) sum of squared differences to the mean */
    double *next;    /* (2 dim) the two above after the contexts seen since sa_inputs_begin, until they are accepted */
    double next_seen;
    double *factor; /* (2, dim) what differences to the mean are multiplied with, by `next` and by what is accepted */
} sa_inputs;

enum { SA_BLOCK_ARMS = 512 }; /* arms taken at a time: what is known of them fits the second-level cache */

/* Workspace of one thread for a block of contexts. */
typedef struct sa_input_block {
    size_t capacity;
    void *raw, *input; /* (capacity, dim) */
    double *joint;     /* (dim + 1) an item and what it is joined with */
} sa_input_block;

sa_status sa_inputs_init(sa_inputs *inputs, const sa_options *options);
void sa_inputs_clear(sa_inputs *inputs);
/* Room for `arms` of them, up to SA_BLOCK_ARMS. */
sa_status sa_input_block_reserve(sa_input_block *block, const sa_inputs *inputs, size_t arms);
void sa_input_block_clear(sa_input_block *block);
size_t sa_input_block_bytes(const sa_input_block *block, const sa_inputs *inputs);

/* The raw contexts of the request's arms [first, first + count), at most SA_BLOCK_ARMS: (count, dim), the caller's own where
 * they can be used as they are, or in the block. SA_INVALID names the arm and feature that is not finite. */
sa_status sa_inputs_read(const sa_inputs *inputs, const sa_request *request, size_t first, size_t count,
                         sa_input_block *block, const void **raw);
/* --normalize standard counts candidates in: begin, see any number of them, measure, and apply `fresh`; accept makes it last.
 * More may be seen and measured after that. Those that are excluded, (count) or NULL for none, are not counted: what they hold
 * is often no context at all. */
void sa_inputs_begin(sa_inputs *inputs);
void sa_inputs_see(sa_inputs *inputs, const void *raw, const bool *excluded, size_t count);
void sa_inputs_measure(sa_inputs *inputs);
void sa_inputs_accept(sa_inputs *inputs);
/* What the model sees of raw contexts (count, dim): themselves, or in the block. */
const void *sa_inputs_fresh(const sa_inputs *inputs, const void *raw, size_t count, sa_input_block *block);
/* What the model sees of contexts that were chosen, by what is accepted, into out (count, dim + positions): with position[i]
 * appended to the i-th, one-hot; position is NULL, and nothing is appended, where positions are not told apart. */
void sa_inputs_apply_placed(const sa_inputs *inputs, const void *raw, const int64_t *position, size_t count, void *out);
sa_status sa_inputs_save(const sa_inputs *inputs, sa_npz_writer *writer);
sa_status sa_inputs_load(sa_inputs *inputs, sa_npz *archive);

#endif

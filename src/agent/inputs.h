/* From the caller's contexts to the model's inputs: checked, converted to the model's precision, and normalised.
 *
 * `raw` is what is kept of a context: checked, converted and, with --normalize unit, of unit length. What the model sees is
 * the same, but with --normalize standard each feature minus its mean and divided by its deviation over all candidates seen
 * so far, and by sqrt(dim), so that an input has a length of about 1, as the paper assumes; raw contexts are kept, so that
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
    double *next;    /* (2 dim) the two above after this request, until it is accepted */
} sa_inputs;

sa_status sa_inputs_init(sa_inputs *inputs, const sa_options *options);
void sa_inputs_clear(sa_inputs *inputs);
/* raw (arms, dim) from the request; SA_INVALID names the arm and feature that is not finite. */
sa_status sa_inputs_read(const sa_inputs *inputs, const sa_request *request, void *raw);
/* Takes raw contexts into the mean and deviation that sa_inputs_apply uses; sa_inputs_accept makes it last. */
void sa_inputs_see(sa_inputs *inputs, const void *raw, size_t count);
void sa_inputs_accept(sa_inputs *inputs, size_t count);
/* What the model sees of raw contexts (count, dim), into `out`. `fresh`: with the statistics of sa_inputs_see, not yet
 * accepted. */
void sa_inputs_apply(const sa_inputs *inputs, const void *raw, size_t count, bool fresh, void *out);
/* The same for contexts that were chosen, into out (count, dim + positions): with position[i] appended to the i-th, one-hot;
 * position is NULL, and nothing is appended, where positions are not told apart. */
void sa_inputs_apply_placed(const sa_inputs *inputs, const void *raw, const int64_t *position, size_t count, void *out);
sa_status sa_inputs_save(const sa_inputs *inputs, sa_npz_writer *writer);
sa_status sa_inputs_load(sa_inputs *inputs, sa_npz *archive);

#endif

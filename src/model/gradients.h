/* Factored gradients. The gradient of a network's output with respect to a layer's weights is an outer
 * product of what came back to the layer and what went in, so a gradient is kept as a list of pairs (delta,
 * input):
 *
 *     <g, g'> = sum over pairs of <delta, delta'> <input, input'>
 *
 * A batch of gradients holds, pair by pair, the deltas as the rows of one matrix and the inputs as the rows
 * of another. All gradients here are divided by sqrt(m) already, as Z counts them.
 *
 * In a batch that is `summed` a gradient is the sum of some rows, one after the other: that of a slate's
 * total is the sum of its arms', and
 *
 *     <sum_a g_a, sum_b g'_b> = sum over a and b of <g_a, g'_b> */
#ifndef SA_MODEL_GRADIENTS_H
#define SA_MODEL_GRADIENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/npy.h"
#include "base/reals.h"
#include "base/status.h"
#include "model/options.h"

typedef struct sa_pair_shape {
    size_t delta, input; /* lengths of the two vectors */
} sa_pair_shape;

typedef struct sa_pair {
    sa_pair_shape shape;
    void *delta; /* (capacity, shape.delta), of the batch's precision */
    void *input; /* (capacity, shape.input) */
} sa_pair;

typedef struct sa_gradients {
    sa_precision precision;
    size_t count;    /* rows in the batch: its gradients, or the terms of these */
    size_t capacity; /* rows that there is room for */
    size_t pairs;
    sa_pair *pair; /* (pairs) */
    bool summed;
    size_t sums, ends; /* where it is: gradients; room for so many */
    size_t *end;       /* (sums) the terms of gradient i are the rows from end[i - 1] to end[i] */
} sa_gradients;

/* How many gradients there are. */
static inline size_t sa_gradients_many(const sa_gradients *batch) {
    return batch->summed ? batch->sums : batch->count;
}
/* The first row of gradient `index`, or behind the last gradient the number of rows. */
static inline size_t sa_gradients_row(const sa_gradients *batch, size_t index) {
    return !batch->summed ? index : index ? batch->end[index - 1] : 0;
}
/* The sums of a batch's rows up to end[0], end[1], ..., end[sums - 1] = count: borrows both. */
sa_gradients sa_gradients_sums(const sa_gradients *batch, size_t *end, size_t sums);

/* An empty batch. A zeroed struct may be cleared, but needs this before use. */
sa_status sa_gradients_init(sa_gradients *batch, sa_precision precision, size_t pairs,
                            const sa_pair_shape *shape);
/* An empty batch with the pairs of `like`, summed where that is, in any precision. */
sa_status sa_gradients_init_like(sa_gradients *batch, sa_precision precision, const sa_gradients *like);
/* Empties a batch, perhaps a zeroed struct, and gives it the pairs of `like` where it has others. */
sa_status sa_gradients_fit(sa_gradients *batch, sa_precision precision, const sa_gradients *like);
void sa_gradients_clear(sa_gradients *batch);
/* A batch that shares the rows of `from` (base/memory.h). Later one of the two, and only one, may append
 * rows: the other does not see them, and nothing that it has is moved. */
sa_status sa_gradients_share(sa_gradients *batch, const sa_gradients *from);
/* Before rows are rewritten: they are copied where others share them. */
sa_status sa_gradients_unshare(sa_gradients *batch);
/* Rows [first, first + count) of a batch as a batch, borrowed; `pair` (pairs) is the caller's. */
sa_gradients sa_gradients_part(const sa_gradients *batch, size_t first, size_t count, sa_pair *pair);
/* Room for `capacity` rows in all; on failure the batch is as it was. */
sa_status sa_gradients_reserve(sa_gradients *batch, size_t capacity);
/* Appends gradients rows[0 .. count) of `from` (rows NULL: its first `count`), converting the precision.
 * There must be room. */
void sa_gradients_append(sa_gradients *batch, const sa_gradients *from, const size_t *rows, size_t count);
/* The same for gradients [first, first + count). */
void sa_gradients_append_range(sa_gradients *batch, const sa_gradients *from, size_t first, size_t count);
/* Row `to` becomes a copy of `from`. */
void sa_gradients_move(sa_gradients *batch, size_t from, size_t to);
/* Gradient `index` times `factor`. */
void sa_gradients_scale(sa_gradients *batch, size_t index, double factor);
/* squared (gradients) = <g, g>, of any precision. */
void sa_gradients_norms(const sa_gradients *batch, double *squared);
/* <g, g'> of two rows, of any precision. */
double sa_gradients_product(const sa_gradients *batch, size_t i, size_t j);
/* The norms in a hurry, of a batch that is not summed: at least <g, g>, and more by a few units of the
 * precision at most. */
void sa_gradients_norms_above(const sa_gradients *batch, double *squared);
/* p, the numbers in one gradient written out. */
size_t sa_gradients_parameters(const sa_gradients *batch);
/* The numbers kept for one: sum of all deltas and inputs. */
size_t sa_gradients_length(const sa_gradients *batch);
/* As arrays PREFIX_delta1, PREFIX_input1, ..., and PREFIX_end where it is summed. Loading needs an
 * initialised batch; `count` gradients. */
sa_status sa_gradients_save(const sa_gradients *batch, sa_npz_writer *writer, const char *prefix);
sa_status sa_gradients_load(sa_gradients *batch, sa_npz *archive, const char *prefix, size_t count);

/* Rows of `left` and columns, gradients of `right`, that gradients_inner (gradients_real.h) takes at a
 * time. */
enum { SA_INNER_ROWS = 256, SA_INNER_COLUMNS = 64 };

#endif

/* A model gives an arm a score, and says how the score moves with its parameters. One struct of functions a model and
 * precision; the rest of the library sees only this. */
#ifndef SA_MODEL_MODEL_H
#define SA_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/options.h"
#include "model/gradients.h"
#include "rng/stream.h"

typedef struct sa_model sa_model;

/* Samples that a training learns from: psi f(x) is to be the target. */
typedef struct sa_batch {
    const void *inputs;  /* (count, dim), of the model's precision */
    const void *targets; /* (count) */
    const void *weights; /* (count) psi; NULL: all 1 */
} sa_batch;

/* What one training learns from. */
typedef struct sa_training {
    size_t count;  /* samples there are */
    double total;  /* what they stand for, n of the loss: count, unless they weigh less or are a sample themselves */
    sa_batch all;  /* of them; nothing where batches are drawn by `draw` */
    double factor; /* on the sum over all of them */
    /* Steps with batches: puts `many` samples together, at most SA_TRAINING_CHUNK, the draws from number `first` on; they last
     * until the next call. NULL: draws with replacement from `all`. */
    sa_batch (*draw)(void *source, uint64_t first, size_t many);
    void *source;
    double error;     /* mean squared error of predictions of targets before they were learnt from */
    size_t steps;     /* 0: as --train-steps says */
    sa_stream stream; /* draws of batches */
} sa_training;

enum { SA_TRAINING_CHUNK = 512 }; /* samples that a training takes at a time */

typedef struct sa_model_class {
    /* Draws the first weights, or reads them from --init-weights. */
    sa_status (*create)(const sa_options *options, sa_model **out);
    void (*destroy)(sa_model *model);
    /* Starts anew from another draw of the first weights; draw 0 is that of create. NULL: the model draws none. */
    void (*redraw)(sa_model *model, const sa_options *options, uint64_t draw);
    /* Scores inputs (count, dim), of the model's precision, into mean (count); with `gradients`, an initialised batch, sets
     * it to their gradients divided by sqrt(m). */
    sa_status (*evaluate)(sa_model *model, const void *inputs, size_t count, double *mean, sa_gradients *gradients);
    /* The same for arms in each of the first `positions` places, up to model->positions: inputs (count, dim - model->positions)
     * are the features alone, mean (count, positions) and the gradients are of the features with each one-hot position
     * appended. What does not hang on the position is computed once an arm. */
    sa_status (*evaluate_positions)(sa_model *model, const void *inputs, size_t count, size_t positions, double *mean,
                                    sa_gradients *gradients);
    /* May `evaluate` run in several threads at once, each with gradients of its own, once it has run in one? */
    bool concurrent;
    /* Trains from the present parameters. When they end non-finite, the ones before stay and `*diverged` is true. A model that
     * observes too must then forget and observe all again. NULL: there is nothing to train. */
    sa_status (*train)(sa_model *model, const sa_training *training, bool *diverged);
    /* Memory for `count` more observations, so that observe cannot fail; NULL: it needs none. */
    sa_status (*reserve)(sa_model *model, size_t count);
    /* Takes in answered inputs (count, dim) and their scores at once, beside the trainings; with discounts (count), a score is
     * of the discount times what the model gives the input. NULL: the model does not. */
    void (*observe)(sa_model *model, const void *inputs, const double *discounts, const double *scores, size_t count);
    /* What it has observed counts by this factor from now on, from 0 to 1. NULL: cannot. */
    void (*discount)(sa_model *model, double factor);
    /* Forgets what it has observed; NULL: cannot, and is not trained either. */
    void (*forget)(sa_model *model);
    /* Scores, under parameters drawn from N(theta, deviation^2 Z^-1), of the arms that have these gradients, as `evaluate` or
     * `evaluate_positions` gave them; one draw for all. NULL: cannot. */
    void (*sample)(sa_model *model, const sa_gradients *gradients, double deviation, const sa_stream *stream,
                   double *score);
    /* The optimistic scores (count) of a model that explores by itself, in round `round` from 1. urgency (count) has a draw for
     * each arm: it stays for arms to choose before all others, the largest first, and becomes 0 for the rest. NULL: cannot. */
    void (*explore)(sa_model *model, const void *inputs, size_t count, uint64_t round, double *score, double *urgency);
    sa_status (*save)(const sa_model *model, sa_npz_writer *writer);
    sa_status (*load)(sa_model *model, sa_npz *archive);
    size_t (*bytes)(const sa_model *model);
} sa_model_class;

/* Every model begins with this. */
struct sa_model {
    const sa_model_class *kind;
    sa_precision precision;
    size_t dim;           /* inputs of a sample: the features of an arm, and its one-hot position where there is one */
    size_t positions;     /* the last so many of them, as sa_options_positions says */
    size_t pairs;         /* of its gradients */
    sa_pair_shape *shape; /* (pairs) */
};

/* By name ("mlp", "linear", "neural-linear", "partition", "partition-tree") and --precision; all but networks are always
 * double. */
sa_status sa_model_create(const char *name, const sa_options *options, sa_model **out);
void sa_model_destroy(sa_model *model); /* NULL is fine */

extern const sa_model_class sa_mlp_f32, sa_mlp_f64, sa_linear, sa_neural_linear, sa_partition, sa_partition_tree;

#endif

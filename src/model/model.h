/* A model gives an arm a score, and says how the score moves with its parameters. One struct of functions a
 * model and precision, and others for what only some models do; the rest of the library sees only this.
 * Evaluating changes nothing but the workspace, so that any number of threads can, each with a workspace of
 * its own. */
#ifndef SA_MODEL_MODEL_H
#define SA_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/workspace.h"
#include "model/gradients.h"
#include "model/options.h"
#include "rng/stream.h"

typedef struct sa_model sa_model;

/* Samples that a training learns from: psi f(x) is to be the target, or psi times the sum of f(x) over some
 * rows. */
typedef struct sa_batch {
    const void *inputs;  /* (count, dim), of the model's precision */
    const void *targets; /* (count) */
    const void *weights; /* (count) psi; NULL: all 1 */
    const size_t *end;   /* (count) sample i has the rows of inputs from end[i - 1] to end[i]; NULL: row i */
} sa_batch;

/* What one training learns from. */
typedef struct sa_training {
    size_t count;  /* samples there are */
    size_t seen;   /* observations of arms since the beginning */
    size_t within; /* those that the samples stand for: all, or what is not forgotten */
    bool alike;    /* all have the same score */
    size_t widest; /* the most rows that one of them has; 0 or 1: they have one each */
    /* what they stand for, n of the loss: count, unless they weigh less or are a sample themselves */
    double total;
    sa_batch all;  /* of them; nothing where batches are drawn by `draw` */
    double factor; /* on the sum over all of them */
    /* Steps with batches: puts `many` samples together, at most SA_TRAINING_CHUNK rows, the draws from number
     * `first` on; they last until the next call. NULL: draws with replacement from `all`. */
    sa_batch (*draw)(void *source, uint64_t first, size_t many);
    void *source;
    size_t steps;     /* 0: as --train-steps says */
    sa_stream stream; /* draws of batches */
} sa_training;

enum {
    SA_TRAINING_CHUNK = 512, /* rows of samples that a training takes at a time */
    SA_MOST_SUMMED = 256     /* that a sum may have */
};

/* Workspace of one thread for a model, and for a model inside it. */
typedef struct sa_model_work {
    sa_workspace outer, inner;
} sa_model_work;
void sa_model_work_clear(sa_model_work *work);

/* Models that train. */
typedef struct sa_training_class {
    /* Trains from the present parameters. When they end non-finite, the ones before stay and `*diverged` is
     * true. A model that observes too must then forget and observe all again. */
    sa_status (*train)(sa_model *model, const sa_training *training, sa_model_work *work, bool *diverged);
    /* Starts from another draw of the first weights; draw 0 is that of create. NULL: cannot. */
    sa_status (*redraw)(sa_model *model, const sa_model_settings *settings, uint64_t draw);
    /* What its targets are to be divided by from now on, as the training found. NULL: 1. */
    double (*unit)(const sa_model *model);
    /* Is it time, with so many observations since the beginning? NULL: whenever the schedule says so. */
    bool (*wants)(const sa_model *model, size_t seen);
} sa_training_class;

/* Models that learn with each observation, beside trainings or instead of them. */
typedef struct sa_observing_class {
    /* Takes in answered inputs (count, dim) and their scores; with discounts (count), a score is of the
     * discount times what the model gives the input. */
    sa_status (*observe)(sa_model *model, const void *inputs, const double *discounts, const double *scores,
                         size_t count, sa_model_work *work);
    /* The same for scores of sums: of the discount times the sum of what the model gives the rows of inputs
     * from end[i - 1] to end[i], at most SA_MOST_SUMMED. NULL: cannot. */
    sa_status (*observe_sums)(sa_model *model, const void *inputs, const size_t *end, const double *discounts,
                              const double *scores, size_t count, sa_model_work *work);
    /* Scores that were observed before, with these inputs and discounts, are larger by these differences
     * (count). NULL: cannot. */
    sa_status (*revise)(sa_model *model, const void *inputs, const double *discounts,
                        const double *differences, size_t count, sa_model_work *work);
    /* What it has observed counts by this factor from now on, from 0 to 1. NULL: cannot, and neither can it
     * forget. */
    void (*fade)(sa_model *model, double factor);
    /* Forgets what it has observed. */
    void (*forget)(sa_model *model);
} sa_observing_class;

/* Models with a rule of their own for optimistic scores. */
typedef struct sa_exploring_class {
    /* Scores, under parameters drawn from N(theta, deviation^2 Z^-1), of the arms that have these gradients,
     * as `evaluate` gave them; one draw for all. NULL: cannot. */
    sa_status (*sample)(const sa_model *model, const sa_gradients *gradients, double deviation,
                        const sa_stream *stream, sa_model_work *work, double *score);
    /* The optimistic scores (count), in round `round` from 1. urgency (count) has a draw for each arm: it
     * stays for arms to choose before all others, the largest first, and becomes 0 for the rest. NULL:
     * cannot. */
    sa_status (*explore)(const sa_model *model, const void *inputs, size_t count, uint64_t round,
                         sa_model_work *work, double *score, double *urgency);
} sa_exploring_class;

typedef struct sa_model_class {
    /* Draws the first weights, or reads them from --init-weights. */
    sa_status (*create)(const sa_model_settings *settings, sa_model **out);
    void (*destroy)(sa_model *model);
    /* A copy to go on learning with, while others hold this one to choose with: what is only read is shared,
     * and what only learning needs goes over to the copy. */
    sa_status (*fork)(sa_model *model, sa_model **out);
    /* Scores inputs (count, dim), of the model's precision, into mean (count); with `gradients`, an
     * initialised batch, sets it to their gradients divided by sqrt(m).
     *
     * With positions above 0, up to model->positions: inputs (count, dim - model->positions) are the features
     * alone, and mean (count, positions) and the gradients are those of the features with each one-hot
     * position appended. What does not depend on the position is computed once an arm. Only models whose
     * `positional` is set. */
    sa_status (*evaluate)(const sa_model *model, const void *inputs, size_t count, size_t positions,
                          sa_model_work *work, double *mean, sa_gradients *gradients);
    bool positional;
    sa_status (*save)(const sa_model *model, sa_npz_writer *writer);
    sa_status (*load)(sa_model *model, sa_npz *archive);
    const sa_training_class *training;   /* NULL: there is nothing to train */
    const sa_observing_class *observing; /* NULL: it learns by trainings alone */
    const sa_exploring_class *exploring; /* NULL: it has no rule of its own */
} sa_model_class;

/* Every model begins with this. */
struct sa_model {
    const sa_model_class *kind;
    sa_precision precision;
    size_t dim; /* inputs of a sample: the features of an arm, and its one-hot position where there is one */
    size_t positions;     /* the last so many of them, as the settings say */
    size_t pairs;         /* of its gradients */
    size_t linear;        /* networks: the last of these, of weights that the score is linear in */
    sa_pair_shape *shape; /* (pairs) */
};

/* By name ("mlp", "linear", "neural-linear", "partition", "partition-tree"), --precision and --linear-form;
 * all but networks are always double. */
sa_status sa_model_create(const char *name, const sa_model_settings *settings, sa_model **out);
void sa_model_destroy(sa_model *model); /* gives up one hold (base/memory.h); NULL is fine */
/* Before it learns: where others hold `*model`, it becomes a fork. */
sa_status sa_model_unshare(sa_model **model);

extern const sa_model_class sa_mlp_f32, sa_mlp_f64, sa_linear, sa_ridge, sa_neural_linear, sa_partition,
    sa_partition_tree;

#endif

/* What a training's samples are made of (training.c has the equations). */
#ifndef SA_LEARN_SAMPLER_H
#define SA_LEARN_SAMPLER_H

#include "learn/learner.h"

typedef struct sa_sampler {
    sa_learner *learner;
    size_t first, count; /* rows of the history to learn from begin here; samples, each a row or a total */
    size_t widest;       /* the most rows that a sample has */
    double centre, scale;
    sa_stream stream;
    double total;  /* what they weigh */
    size_t oldest; /* decision, with --discount or totals */
    /* with --discount: */
    double log_factor, share,
        decisions; /* log F; 1 - F^n of the n decisions from there on; S = share / (1 - F) */
    /* in the learner's workspace: */
    void *inputs;   /* (samples, dim + positions) */
    void *targets;  /* (samples) */
    void *weights;  /* (samples), or NULL where all weigh the same */
    size_t *end;    /* (samples), or NULL where they have one row each */
    void *contexts; /* (SA_TRAINING_CHUNK, dim), raw, of draws */
    double *factor; /* (dim) */
} sa_sampler;

/* For a training on the rows from `first` on, of which there is one at least. The sampler and its
 * workspace must last as long as the training. */
sa_status sa_sampler_begin(sa_sampler *sampler, sa_learner *learner, size_t first, double centre,
                           double scale, size_t steps, sa_training *training);

#endif

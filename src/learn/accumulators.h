/* What accumulates as feedback comes. Each thing that does can take in observations, count the past for less,
 * and begin again:
 *
 *   z            the gradients that were counted (confidence)
 *   model        a model that learns with each observation
 *   predictions  how well new feedback was predicted: the companion, and the mean squared error
 *
 * z and model take feedback at once; predictions takes it when a training comes, just before it: until then
 * the network that is judged is the same. The moments of scores (moments.h) follow the history by themselves.
 * Forgetting, rebuilding and epochs are loops over these. */
#ifndef SA_LEARN_ACCUMULATORS_H
#define SA_LEARN_ACCUMULATORS_H

#include "learn/learner.h"

/* Observations [first, first + count) of the history. */
typedef struct sa_observations {
    size_t first, count;
    const sa_gradients *gradients; /* of these, at the weights of their time; NULL: Z has them already */
    const size_t *label;           /* (count) see sa_confidence_count; NULL: none */
    double centre;                 /* what the first scores of all are predicted by */
} sa_observations;

typedef struct sa_accumulator {
    bool (*is_used)(const sa_learner *learner);
    bool at_once; /* takes feedback when it comes */
    /* what it holds was seen through the network, and is out of date after a training (rebuild.c) */
    bool of_network;
    sa_status (*take)(sa_learner *learner, const sa_observations *seen);
    /* The score of observation `row` was `before`, and is another one in the history now. NULL: it does not
     * look at scores. */
    sa_status (*revise)(sa_learner *learner, size_t row, double before);
    /* What it holds counts by this factor from now on; NULL: it sees to that by itself. */
    sa_status (*fade)(sa_learner *learner, double factor);
    /* Forgets all, and takes in again what it had of the observations from `first` on. */
    sa_status (*begin_again)(sa_learner *learner, size_t first);
} sa_accumulator;

extern const sa_accumulator sa_accumulate_z, sa_accumulate_model, sa_accumulate_predictions;
/* The index-th of all of them, in the order in which they take; NULL past the last. */
const sa_accumulator *sa_accumulator_at(size_t index);

/* With --count-pending: Z takes the gradients of a decision when it is made. */
sa_status sa_learner_count(sa_learner *learner, const sa_gradients *gradients, const size_t *label);
/* With --window: what Z counts is remembered at the present weights. */
sa_status sa_window_refill(sa_learner *learner);
/* The companion takes what was not judged so far, of which nothing was predicted. */
sa_status sa_predictions_skip(sa_learner *learner);

#endif

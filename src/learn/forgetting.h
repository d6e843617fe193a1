/* Forgetting, for worlds that drift. Time counts answered decisions, and what was learnt from one is
 * forgotten everywhere: in the loss, in Z, in models that observe, in the companion and in the mean and
 * deviation of scores.
 *
 *   --window W     the loss is that of the last W. Of all else the last W count, and up to W / 4 more: every
 *                  W / 4 decisions what
 *                  is older than W is dropped, and the rest counted again (taking a gradient out of a factor
 *                      loses digits).
 *   --discount F   a decision that was answered a decisions ago weighs F^a: Z = lambda I + F (Z - lambda I) +
 *                  what is new, and so
 *                  do the other sums. The loss leaves out what weighs less than a thousandth. */
#ifndef SA_LEARN_FORGETTING_H
#define SA_LEARN_FORGETTING_H

#include "learn/learner.h"

/* Of a new learner: SA_INVALID where its parts cannot forget as the options ask. */
sa_status sa_forgetting_init(sa_learner *learner);
/* Before a decision's first feedback: time moves on. */
sa_status sa_forgetting_move(sa_learner *learner);

/* Decisions that weigh something in the loss under --discount; 0: all. */
size_t sa_forgetting_reach(const sa_options *options);
/* The first observation that a training learns from. */
size_t sa_forgetting_first(const sa_learner *learner);
/* The first that a Z made again from the history counts. */
size_t sa_forgetting_first_counted(const sa_learner *learner);
/* Is it the latest feedback that counts? */
bool sa_forgetting_is_latest(const sa_learner *learner);
/* How many observations one of a bounded history stands for (keeping.h). */
double sa_forgetting_stands_for(const sa_learner *learner);
/* What an observation of the history weighs; and whether that is not 1. */
bool sa_forgetting_weighs(const sa_learner *learner);
double sa_forgetting_weight(const sa_learner *learner, size_t observation);

/* Is what was seen through the network made again after each training? With --rebuild, and always for a model
 * that observes as well as trains. */
bool sa_rebuild_is_due(const sa_learner *learner);
/* After a training: what was seen through the network is seen again through the present one. Z counts each
 * gradient at the weights of its time; a rebuilt Z counts those of the whole history at the present weights,
 * and the gradients of the decisions that wait for feedback are brought up to date too. */
sa_status sa_rebuild(sa_learner *learner);
/* The same, whether it is due or not. */
sa_status sa_rebuild_all(sa_learner *learner);

#endif

/* Epochs of doubling length, for a horizon that is not known (cn-ucb-d, cn-ts-d; the paper's appendix "When
 * Time Horizon T Is Unknown"). The horizon assumed is that of the epoch, T_n = 2^n T_0 with T_0 =
 * --epoch-length: when T_n decisions have been answered, epoch n + 1 begins with T_(n+1). Its options are set
 * by a rule, its network is drawn again, and its parameters and Z come from the history. */
#ifndef SA_LEARN_EPOCHS_H
#define SA_LEARN_EPOCHS_H

#include "learn/learner.h"

/* The options in epoch n: with g = `epoch-hidden-growth`, m_n = m g^n (rounded, odd numbers up by 1), within
 * the bounds of --hidden. Weights from a file are for epoch 0. Caller destroys. */
sa_status sa_epoch_options(const sa_options *given, uint64_t epoch, sa_options **out);
/* The epoch in which so many decisions are answered, `epoch` or a later one. */
uint64_t sa_epoch_after(const sa_options *given, uint64_t epoch, size_t answered);
/* `next`, which was made with the options of its epoch and has learnt nothing, learns all of the history of
 * `now` and takes over what does not depend on the network; then it can stand in its place. Decisions that
 * wait get gradients at the new network, from their contexts. */
sa_status sa_epoch_begin(sa_learner *now, sa_learner *next);

#endif

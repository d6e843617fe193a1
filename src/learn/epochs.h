/* Epochs of doubling length, for a horizon that is not known (cn-ucb-d, cn-ts-d; the paper's appendix "When Time Horizon T Is
 * Unknown"). The horizon assumed is that of the epoch, T_n = 2^n T_0 with T_0 = --epoch-length: when T_n decisions have been
 * answered, epoch n + 1 begins with T_(n+1). Its options are set by a rule, its network is drawn afresh, and its parameters and
 * Z come from the history. */
#ifndef SA_AGENT_EPOCHS_H
#define SA_AGENT_EPOCHS_H

#include "agent/agent.h"

/* The options in epoch n: with g the growth that an option names (--epoch-hidden-growth ...),
 *
 *     m_n = m g^n (rounded, odd numbers up by 1), lambda_n = lambda g^n, eta_n = eta g^n, J_n = J g^n (rounded),
 *     gamma_n = gamma g^n, nu_n = nu g^n
 *
 * each kept within its option's bounds; what is by theory stays so. Weights from a file are for epoch 0. Caller destroys. */
sa_status sa_epoch_options(const sa_options *base, uint64_t epoch, sa_options **out);
/* With so many decisions answered, is the agent's epoch over? Never for an algorithm without epochs. */
bool sa_epoch_is_over(const sa_agent *agent, size_t answered);
/* Begins the epoch that the history asks for. On failure the agent is as it was. */
sa_status sa_epoch_begin(sa_agent *agent);

#endif

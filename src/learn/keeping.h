/* What of the history is kept: with --keep-rows at most so many observations, so that an agent that learns
 * for years is as large as one that learns for weeks.
 *
 * Where old feedback is forgotten (--window, --discount, --train-window), what no training looks at goes for
 * good. Else a sample of all decisions is kept, each with the same probability s, whole: s begins at 1, and
 * whenever there is no room each kept decision goes with the probability 1/16, and s becomes 15/16 s. A new
 * decision is in the history until it is judged and learnt from, and stays with the probability s. Each kept
 * observation then stands for n / kept of them, in trainings and in a Z that is made again.
 *
 * Draws are keyed by seed and decision, so that the same feedback gives the same sample, saved and loaded in
 * between or not. What accumulates (Z, moments, the companion) has all feedback, whatever is kept; what is
 * made again after a training is made of the sample. */
#ifndef SA_LEARN_KEEPING_H
#define SA_LEARN_KEEPING_H

#include "learn/learner.h"

/* After feedback: what need not be kept goes. Rows of the history get other numbers. */
sa_status sa_keeping_tidy(sa_learner *learner);

#endif

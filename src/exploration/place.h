/* The floor by place, where all places are alike: place by place the slate gets, with probability 1 - E, the
 * highest-scored of the arms left, else a uniformly random one of them.
 *
 * Where an arm ends up depends on its rank alone, and not on who the others are. With r arms ahead of it, of
 * which m are taken before place k, the own choice takes one of these while m < r, and the arm itself once m
 * = r; the floor takes the arm with probability 1 / left, one ahead with (r - m) / left. So m is a Markov
 * chain. An arm with K or more ahead is never the own choice, and only the floor takes it. */
#ifndef SA_EXPLORATION_PLACE_H
#define SA_EXPLORATION_PLACE_H

#include <stddef.h>

#include "base/status.h"

/* out (K, K + 1): the probability that the arm with r others ahead of it is at place k; the last column: with
 * K or more. */
sa_status sa_place_of_ranks(double floor, size_t arms, size_t slate, double *out);

#endif

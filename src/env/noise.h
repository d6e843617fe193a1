/* Gaussian noise on the scores of a round: the one kind that environments share. */
#ifndef SA_ENV_NOISE_H
#define SA_ENV_NOISE_H

#include "rng/stream.h"

static inline void sa_draw_noise(uint64_t seed, uint64_t run, uint64_t round, double deviation, size_t arms,
                                 double *noise) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_NOISE, run, round);
    sa_draw_normals(&stream, 0, arms, noise);
    for (size_t i = 0; i < arms; i++) noise[i] *= deviation;
}

#endif

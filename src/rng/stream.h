/* Random numbers by address. A stream is named by seed, purpose, run and round; its draws by an index.
 * Nothing is stored between draws, so any draw can be repeated alone, in any order, on any thread.
 *
 * Philox 4x32-10 (Random123): key = seed, counter = (block, round, run, purpose); a block gives two draws of
 * 64 bits. */
#ifndef SA_RNG_STREAM_H
#define SA_RNG_STREAM_H

#include <stddef.h>
#include <stdint.h>

/* Numbers are part of every published result: never change one, only add. */
typedef enum sa_purpose {
    SA_PURPOSE_PARAMETER = 1, /* the environment's own parameters: `a` of h1 to h3 */
    SA_PURPOSE_CONTEXTS = 2,
    SA_PURPOSE_NOISE = 3,
    SA_PURPOSE_WEIGHTS = 4,     /* the network's first weights */
    SA_PURPOSE_EXPLORATION = 5, /* Thompson samples, random slates */
    SA_PURPOSE_TRAINING = 6,    /* which samples a batch holds */
    SA_PURPOSE_ATTRACTION = 7,  /* users: is this one attracted by the arm? */
    SA_PURPOSE_ATTENTION = 8,   /* does this one look at the position, and leave after it? */
    SA_PURPOSE_STOPPING = 9,    /* does this one stop after a click on the arm? */
    /* 10 was a sample of the observations of a training */
    SA_PURPOSE_FLOOR = 12,      /* is the slate a random one (--floor), and which? */
    SA_PURPOSE_PROPENSITY = 13, /* probabilities of slates by drawing */
    SA_PURPOSE_KEEPING = 14,    /* which decisions stay in a bounded history (`keep-rows`) */
    SA_PURPOSE_BOOTSTRAP = 11,  /* which decisions of a log a resampling holds */
} sa_purpose;

typedef struct sa_stream {
    uint64_t seed;
    uint32_t purpose, run;
    uint64_t round; /* the low 32 bits are in the counter; the high ones are mixed into the purpose word */
} sa_stream;

sa_stream sa_stream_at(uint64_t seed, sa_purpose purpose, uint64_t run, uint64_t round);

uint64_t sa_draw_bits(const sa_stream *stream, uint64_t index);
/* Uniform on (0, 1), 53 bits, never 0 or 1. */
double sa_draw_uniform(const sa_stream *stream, uint64_t index);
/* Standard normal: the normal quantile of the uniform with the same index. */
double sa_draw_normal(const sa_stream *stream, uint64_t index);
/* Uniform on 0 ... bound - 1 without bias to speak of (multiply-high of 64 bits); bound > 0. */
uint64_t sa_draw_below(const sa_stream *stream, uint64_t index, uint64_t bound);
/* `count` different numbers below `bound`, in random order, from draws first ... first + 2 count - 1; count
 * <= bound. */
void sa_draw_distinct(const sa_stream *stream, uint64_t first, size_t count, uint64_t bound, uint64_t *out);
/* Fills `out` with draws first, first + 1, ... (two to a block, so twice as fast as one by one). */
void sa_draw_normals(const sa_stream *stream, uint64_t first, size_t count, double *out);
void sa_draw_uniforms(const sa_stream *stream, uint64_t first, size_t count, double *out);
/* Uniform on the unit sphere: `count` vectors of `dim`, (count, dim), from draws first, first + 1, ... */
void sa_draw_sphere(const sa_stream *stream, uint64_t first, size_t count, size_t dim, double *out);

/* The inverse of the standard normal distribution function, from +, -, *, / and sqrt alone (Wichura's AS 241
 * and a logarithm of our own), so that the bytes do not depend on the C library. */
double sa_normal_quantile(double probability);

#endif

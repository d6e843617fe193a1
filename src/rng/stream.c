/* Philox 4x32-10 by address (J. K. Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011).
 *
 *   key     = (seed low, seed high)
 *   counter = (block low, round low, run, purpose ^ round high << 8 ^ block high << 24),   block = index / 2
 *
 * Purposes are below 2^8, so that streams cannot meet while rounds stay below 2^48 and indices below 2^41.
 * Draws of 64 bits are (word 0, word 1) for an even index and (word 2, word 3) for an odd one, the low word
 * first. */
#include "rng/stream.h"

#include <math.h>
#include <stdbool.h>

#include <Random123/philox.h>

typedef struct block {
    uint64_t draw[2];
} block;

static block block_at(const sa_stream *stream, uint64_t number) {
    philox4x32_ctr_t counter = {
        {(uint32_t)number, (uint32_t)stream->round, stream->run,
         stream->purpose ^ (uint32_t)(stream->round >> 32) << 8 ^ (uint32_t)(number >> 32) << 24}};
    philox4x32_key_t key = {{(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)}};
    philox4x32_ctr_t out = philox4x32(counter, key);
    return (block){{out.v[0] | (uint64_t)out.v[1] << 32, out.v[2] | (uint64_t)out.v[3] << 32}};
}

/* The odd multiples of 2^-53: exact in a double, symmetric about 1/2, and never 0, 1/2 or 1. */
static double uniform_of(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

sa_stream sa_stream_at(uint64_t seed, sa_purpose purpose, uint64_t run, uint64_t round) {
    return (sa_stream){.seed = seed, .purpose = (uint32_t)purpose, .run = (uint32_t)run, .round = round};
}

uint64_t sa_draw_bits(const sa_stream *stream, uint64_t index) {
    return block_at(stream, index / 2).draw[index % 2];
}

double sa_draw_uniform(const sa_stream *stream, uint64_t index) {
    return uniform_of(sa_draw_bits(stream, index));
}

double sa_draw_normal(const sa_stream *stream, uint64_t index) {
    return sa_normal_quantile(sa_draw_uniform(stream, index));
}

uint64_t sa_draw_below(const sa_stream *stream, uint64_t index, uint64_t bound) {
    return (uint64_t)((unsigned __int128)sa_draw_bits(stream, index) * bound >> 64);
}

static bool is_among(uint64_t number, const uint64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number) return true;
    return false;
}

/* Which ones by Floyd's method (J. Bentley and B. Floyd, A sample of brilliance, CACM 30, 1987), which needs
 * no memory but its answer; then a shuffle, as that answer's order is not random. */
void sa_draw_distinct(const sa_stream *stream, uint64_t first, size_t count, uint64_t bound, uint64_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t last = bound - count + i, number = last;
        if (bound > count) number = sa_draw_below(stream, first + i, last + 1);
        out[i] = bound > count && is_among(number, out, i) ? last : number;
    }
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)sa_draw_below(stream, first + count + i - 1, i);
        uint64_t number = out[other];
        out[other] = out[i - 1];
        out[i - 1] = number;
    }
}

void sa_draw_uniforms(const sa_stream *stream, uint64_t first, size_t count, double *out) {
    size_t i = 0;
    if (count > 0 && first % 2) out[i++] = sa_draw_uniform(stream, first);
    for (; i + 1 < count; i += 2) {
        block two = block_at(stream, (first + i) / 2);
        out[i] = uniform_of(two.draw[0]);
        out[i + 1] = uniform_of(two.draw[1]);
    }
    if (i < count) out[i] = sa_draw_uniform(stream, first + i);
}

void sa_draw_normals(const sa_stream *stream, uint64_t first, size_t count, double *out) {
    sa_draw_uniforms(stream, first, count, out);
    for (size_t i = 0; i < count; i++) out[i] = sa_normal_quantile(out[i]);
}

/* Normal vectors divided by their length. No coordinate is 0 (the uniform is never 1/2), so neither is the
 * length. */
void sa_draw_sphere(const sa_stream *stream, uint64_t first, size_t count, size_t dim, double *out) {
    sa_draw_normals(stream, first, count * dim, out);
    for (size_t i = 0; i < count; i++) {
        double *vector = out + i * dim, squares = 0;
        for (size_t j = 0; j < dim; j++) squares += vector[j] * vector[j];
        double length = sqrt(squares);
        for (size_t j = 0; j < dim; j++) vector[j] /= length;
    }
}

/* A decision whose candidates are stored items, in few bytes: the catalogue's version, the items' numbers,
 * the answer's probabilities, and what else the request and the answer have. It is the decision's body in the
 * journal, whose answer is then "".
 *
 *   \2, version, count, way, numbers, flags, probabilities, size of the answer's rest, it, the request's rest
 *
 * Whole numbers are 7 bits a byte, the lowest first, with the highest bit where more follow. Items' numbers
 * increase; the gaps between them are written as runs (way 255: gap, numbers that follow without one) or in
 * Rice's code (way k: gap / 2^k in unary, then k bits), whichever is shorter. */
#ifndef SERVE_COMPACT_H
#define SERVE_COMPACT_H

#include <stdbool.h>
#include <stdint.h>
#include <superarm/json.h>

typedef struct compact {
    uint64_t version;
    uint32_t *numbers;            /* (count) of items, increasing */
    size_t count, length;         /* length of the slate */
    double propensity;            /* NaN: unknown */
    double *prefixes, *positions; /* (length) or NULL: unknown */
    const char *tail;             /* (tail_size) of the answer, behind the model: , "warnings": [...] */
    size_t tail_size;
    const char *rest; /* (rest_size) of the request: an object */
    size_t rest_size;
} sv_compact;

static inline bool sv_is_compact(const char *body, size_t size) { return size && *body == 2; }
void sv_compact_write(const sv_compact *self, sa_buffer *out);
/* The catalogue's version alone; 0: it is none. */
uint64_t sv_compact_version(const char *body, size_t size);
/* The texts are borrowed. false: it is none, or memory is short. sv_compact_free either way. */
bool sv_compact_read(sv_compact *self, const char *body, size_t size);
void sv_compact_free(sv_compact *self);

#endif

/* A saved agent in chunks whose borders depend on the bytes around them: where a part of it changes or grows,
 * the chunks elsewhere stay, and are neither written nor fetched again. */
#ifndef SERVE_CHUNKS_H
#define SERVE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hex.h"

typedef struct chunks {
    uint8_t *hashes;   /* (count, SA_SHA256_BYTES) */
    uint64_t *offsets; /* (count + 1) */
    size_t count, room;
} sv_chunks;

/* The bytes of a saved agent; NULL: it cannot be read. */
const uint8_t *sv_chunks_map(const char *path, size_t *size);
void sv_chunks_unmap(const uint8_t *bytes, size_t size); /* NULL is fine */
/* false: memory is short. `out` is overwritten. */
bool sv_chunks_split(const uint8_t *bytes, size_t size, sv_chunks *out);
bool sv_chunks_add(sv_chunks *self, const uint8_t *hash, size_t size);
/* Its place, or `count`. */
size_t sv_chunks_find(const sv_chunks *self, const uint8_t *hash);
void sv_chunks_clear(sv_chunks *self);

#endif

/* A border is where a hash of the last 64 bytes ends in sixteen zeros: h <- 2 h + T[byte], whose older bytes
 * are shifted out (a gear hash). */
#include "chunks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST = 16 << 10, MOST = 256 << 10 };
static const uint64_t BORDER = UINT64_C(0xffff) << 48;

static uint64_t mix(uint64_t z) { /* splitmix64 */
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static size_t first_chunk(const uint64_t table[256], const uint8_t *bytes, size_t size) {
    size_t most = size < MOST ? size : MOST;
    uint64_t h = 0;
    for (size_t i = LEAST - 64; i < most; i++) {
        h = (h << 1) + table[bytes[i]];
        if (i >= LEAST && !(h & BORDER)) return i + 1;
    }
    return most;
}

const uint8_t *sv_chunks_map(const char *path, size_t *size) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = file >= 0 && fstat(file, &about) == 0 && about.st_size > 0
                      ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0)
                      : MAP_FAILED;
    if (file >= 0) close(file);
    if (bytes == MAP_FAILED) return NULL;
    *size = (size_t)about.st_size;
    return bytes;
}

void sv_chunks_unmap(const uint8_t *bytes, size_t size) {
    if (bytes) munmap((void *)(uintptr_t)bytes, size);
}

bool sv_chunks_add(sv_chunks *self, const uint8_t *hash, size_t size) {
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 16;
        uint8_t *hashes = realloc(self->hashes, room * SA_SHA256_BYTES);
        if (hashes) self->hashes = hashes;
        uint64_t *offsets = realloc(self->offsets, (room + 1) * sizeof *offsets);
        if (offsets) self->offsets = offsets;
        if (!hashes || !offsets) return false;
        self->room = room;
    }
    if (!self->count) self->offsets[0] = 0;
    memcpy(self->hashes + self->count * SA_SHA256_BYTES, hash, SA_SHA256_BYTES);
    self->offsets[self->count + 1] = self->offsets[self->count] + size;
    self->count++;
    return true;
}

bool sv_chunks_split(const uint8_t *bytes, size_t size, sv_chunks *out) {
    uint64_t table[256];
    for (size_t i = 0; i < 256; i++) table[i] = mix(i);
    out->count = 0;
    for (size_t at = 0, length; at < size; at += length) {
        sa_sha256 hash;
        uint8_t digest[SA_SHA256_BYTES];
        length = first_chunk(table, bytes + at, size - at);
        sa_sha256_begin(&hash);
        sa_sha256_add(&hash, bytes + at, length);
        sa_sha256_end(&hash, digest);
        if (!sv_chunks_add(out, digest, length)) return false;
    }
    return true;
}

/* Chunks that two versions share stand at about the same place: linear from the first is what is needed. */
size_t sv_chunks_find(const sv_chunks *self, const uint8_t *hash) {
    size_t at = 0;
    while (at < self->count && memcmp(self->hashes + at * SA_SHA256_BYTES, hash, SA_SHA256_BYTES)) at++;
    return at;
}

void sv_chunks_clear(sv_chunks *self) {
    free(self->hashes);
    free(self->offsets);
    *self = (sv_chunks){0};
}

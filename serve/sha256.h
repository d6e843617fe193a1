/* SHA-256 (FIPS 180-4): keys are stored as it, retries are told by it, draws are keyed by it. */
#ifndef SERVE_SHA256_H
#define SERVE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

typedef struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t size; /* bytes taken so far */
} sha256;

void sha256_begin(sha256 *self);
void sha256_add(sha256 *self, const void *bytes, size_t size);
void sha256_end(sha256 *self, uint8_t digest[SHA256_BYTES]);
/* Takes as long whatever the bytes are. */
bool sha256_same(const uint8_t one[SHA256_BYTES], const uint8_t other[SHA256_BYTES]);
/* 2 characters a byte and a 0. */
void hex_write(const uint8_t *bytes, size_t count, char *out);
bool hex_read(const char *hex, uint8_t *bytes, size_t count);

#endif

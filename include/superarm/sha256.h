/* SHA-256 (FIPS 180-4), by which results name their inputs, and the service its keys and retries. */
#ifndef SUPERARM_SHA256_H
#define SUPERARM_SHA256_H

#include <stddef.h>
#include <stdint.h>

#include <superarm/export.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SA_SHA256_BYTES = 32 };

typedef struct sa_sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t size; /* bytes taken so far */
} sa_sha256;

SA_API void sa_sha256_begin(sa_sha256 *self);
SA_API void sa_sha256_add(sa_sha256 *self, const void *bytes, size_t size);
SA_API void sa_sha256_end(sa_sha256 *self, uint8_t digest[SA_SHA256_BYTES]);

#ifdef __cplusplus
}
#endif

#endif

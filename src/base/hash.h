/* The hash of texts, published and stable: 64-bit FNV-1a of the bytes, then the finalizer of MurmurHash3,
 * whose every output bit depends on every input bit. Hashed features are placed by it, so it never changes:
 * files depend on it.
 *
 *   h = 0xcbf29ce484222325;  for each byte b: h = (h ^ b) * 0x100000001b3      (mod 2^64)
 *   h ^= h >> 33; h *= 0xff51afd7ed558ccd; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53; h ^= h >> 33 */
#ifndef SA_BASE_HASH_H
#define SA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SA_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* The bytes, continued from `hash` (SA_HASH_BEGIN to begin). */
static inline uint64_t sa_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t sa_hash_end(uint64_t hash) {
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

#endif

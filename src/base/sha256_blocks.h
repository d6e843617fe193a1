/* The rounds of SHA-256, by the processor's own instructions where it has them; the same either way. */
#ifndef SA_BASE_SHA256_BLOCKS_H
#define SA_BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes blocks, (count, 64) bytes, into the state. */
void sa_sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t count);
void sa_sha256_blocks_plain(uint32_t state[8], const uint8_t *blocks, size_t count);
/* false: the processor has none, and nothing was done. */
bool sa_sha256_blocks_native(uint32_t state[8], const uint8_t *blocks, size_t count);

#endif

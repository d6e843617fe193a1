/* Bytes as hexadecimal digits, and digests compared. */
#ifndef SERVE_HEX_H
#define SERVE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <superarm/sha256.h>

/* Takes as long whatever the bytes are. */
bool sv_digest_same(const uint8_t one[SA_SHA256_BYTES], const uint8_t other[SA_SHA256_BYTES]);
/* 2 characters a byte and a 0. */
void sv_hex_write(const uint8_t *bytes, size_t count, char *out);
bool sv_hex_read(const char *hex, uint8_t *bytes, size_t count);

#endif

/* SHA-256 (FIPS 180-4): texts and files of any size; sha256_blocks.c has the equations. */
#include "base/sha256.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sha256_blocks.h"

void sa_sha256_begin(sa_sha256 *self) {
    /* of the square roots of the first 8 primes */
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(self->state, first, sizeof first);
    self->size = 0;
}

void sa_sha256_add(sa_sha256 *self, const void *bytes, size_t size) {
    const uint8_t *from = bytes;
    size_t held = self->size % 64;
    self->size += size;
    if (held) {
        size_t part = size < 64 - held ? size : 64 - held;
        memcpy(self->block + held, from, part);
        if (held + part < 64) return;
        sa_sha256_blocks(self->state, self->block, 1);
        from += part;
        size -= part;
    }
    sa_sha256_blocks(self->state, from, size / 64);
    if (size % 64) memcpy(self->block, from + size / 64 * 64, size % 64);
}

void sa_sha256_end(sa_sha256 *self, uint8_t digest[SA_SHA256_BYTES]) {
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = self->size * 8;
    uint8_t length[8];
    size_t held = self->size % 64;
    for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    sa_sha256_add(self, padding, held < 56 ? 56 - held : 120 - held);
    sa_sha256_add(self, length, 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(self->state[i / 4] >> (24 - 8 * (i % 4)));
}

static void write_text(sa_sha256 *self, char text[SA_SHA256_TEXT]) {
    uint8_t digest[SA_SHA256_BYTES];
    sa_sha256_end(self, digest);
    for (int i = 0; i < SA_SHA256_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", (unsigned)digest[i]);
}

void sa_sha256_text(const void *data, size_t size, char text[SA_SHA256_TEXT]) {
    sa_sha256 hash;
    sa_sha256_begin(&hash);
    sa_sha256_add(&hash, data, size);
    write_text(&hash, text);
}

sa_status sa_sha256_file(const char *path, char text[SA_SHA256_TEXT], uint64_t *bytes) {
    unsigned char part[1 << 16];
    sa_sha256 hash;
    ssize_t got;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return sa_fail_errno("opened", path);
    sa_sha256_begin(&hash);
    while ((got = read(file, part, sizeof part)) > 0) sa_sha256_add(&hash, part, (size_t)got);
    sa_status status = got < 0 ? sa_fail_errno("read", path) : SA_OK;
    close(file);
    *bytes = hash.size;
    write_text(&hash, text);
    return status;
}

/* SHA-256 (FIPS 180-4). For a block of 16 words W_0 ... W_15, extended by W_t = s1(W_t-2) + W_t-7 +
 * s0(W_t-15) + W_t-16:
 *
 *   T1 = h + S1(e) + Ch(e, f, g) + K_t + W_t,   T2 = S0(a) + Maj(a, b, c)
 *   h g f e d c b a  <-  g f e (d + T1) c b a (T1 + T2)
 *
 * K_t and the first state are the first 32 bits of the fractions of cube and square roots of the first
 * primes. */
#include "base/sha256.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* clang-format off */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
/* clang-format on */

static uint32_t turn(uint32_t x, int by) { return x >> by | x << (32 - by); }

/* One round with the variables a to h at these places of s. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
    do {                                                                                                     \
        uint32_t one = s[h] + (turn(s[e], 6) ^ turn(s[e], 11) ^ turn(s[e], 25)) +                            \
                       ((s[e] & s[f]) ^ (~s[e] & s[g])) + K[i] + w[i];                                       \
        uint32_t two = (turn(s[a], 2) ^ turn(s[a], 13) ^ turn(s[a], 22)) +                                   \
                       ((s[a] & s[b]) ^ (s[a] & s[c]) ^ (s[b] & s[c]));                                      \
        s[d] += one;                                                                                         \
        s[h] = one + two;                                                                                    \
    } while (0)

static void take_block(sa_sha256 *self, const uint8_t *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, self->state, sizeof s);
    for (int i = 0; i < 64; i += 8) { /* eight rounds bring each of the eight variables back to its place */
        ROUND(0, 1, 2, 3, 4, 5, 6, 7, i);
        ROUND(7, 0, 1, 2, 3, 4, 5, 6, i + 1);
        ROUND(6, 7, 0, 1, 2, 3, 4, 5, i + 2);
        ROUND(5, 6, 7, 0, 1, 2, 3, 4, i + 3);
        ROUND(4, 5, 6, 7, 0, 1, 2, 3, i + 4);
        ROUND(3, 4, 5, 6, 7, 0, 1, 2, i + 5);
        ROUND(2, 3, 4, 5, 6, 7, 0, 1, i + 6);
        ROUND(1, 2, 3, 4, 5, 6, 7, 0, i + 7);
    }
    for (int i = 0; i < 8; i++) self->state[i] += s[i];
}

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
        take_block(self, self->block);
        from += part;
        size -= part;
    }
    for (; size >= 64; from += 64, size -= 64) take_block(self, from);
    if (size) memcpy(self->block, from, size);
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

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

enum { BLOCK = 64 };

typedef struct hash {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[BLOCK];
} hash;

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
static const hash BEGIN = {.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
/* clang-format on */

static uint32_t turn(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

static void take_block(hash *self, const unsigned char *bytes) {
    uint32_t w[64], s[8];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)bytes[4 * t] << 24 | (uint32_t)bytes[4 * t + 1] << 16 |
               (uint32_t)bytes[4 * t + 2] << 8 | bytes[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        uint32_t s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    memcpy(s, self->state, sizeof s);
    for (int t = 0; t < 64; t++) {
        uint32_t sum1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25),
                 choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t sum0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t t1 = s[7] + sum1 + choice + K[t] + w[t], t2 = sum0 + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) self->state[i] += s[i];
}

static void take(hash *self, const unsigned char *bytes, size_t size) {
    while (size > 0) {
        size_t held = self->bytes % BLOCK, part = size < BLOCK - held ? size : BLOCK - held;
        memcpy(self->block + held, bytes, part);
        self->bytes += part;
        bytes += part;
        size -= part;
        if (held + part == BLOCK) take_block(self, self->block);
    }
}

/* A bit 1, zeros, and the length in bits as the last eight bytes of a block. */
static void finish(hash *self, char text[SA_SHA256_TEXT]) {
    unsigned char end[2 * BLOCK] = {0x80};
    uint64_t bits = 8 * self->bytes;
    size_t held = self->bytes % BLOCK, size = (held < BLOCK - 8 ? BLOCK : 2 * BLOCK) - held;
    for (int i = 0; i < 8; i++) end[size - 1 - (size_t)i] = (unsigned char)(bits >> 8 * i);
    take(self, end, size);
    for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)self->state[i]);
}

void sa_sha256(const void *data, size_t size, char text[SA_SHA256_TEXT]) {
    hash self = BEGIN;
    take(&self, data, size);
    finish(&self, text);
}

sa_status sa_sha256_file(const char *path, char text[SA_SHA256_TEXT], uint64_t *bytes) {
    unsigned char part[1 << 16];
    hash self = BEGIN;
    ssize_t got;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return sa_fail_errno("opened", path);
    while ((got = read(file, part, sizeof part)) > 0) take(&self, part, (size_t)got);
    sa_status status = got < 0 ? sa_fail_errno("read", path) : SA_OK;
    close(file);
    *bytes = self.bytes;
    finish(&self, text);
    return status;
}

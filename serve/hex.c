/* Bytes as hexadecimal digits, and digests compared. */
#include "hex.h"

bool sv_digest_same(const uint8_t one[SA_SHA256_BYTES], const uint8_t other[SA_SHA256_BYTES]) {
    volatile uint8_t differ = 0;
    for (int i = 0; i < SA_SHA256_BYTES; i++) differ |= one[i] ^ other[i];
    return differ == 0;
}

void sv_hex_write(const uint8_t *bytes, size_t count, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = 0;
}

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

bool sv_hex_read(const char *hex, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int high = digit(hex[2 * i]), low = high < 0 ? -1 : digit(hex[2 * i + 1]);
        if (low < 0) return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return hex[2 * count] == 0;
}

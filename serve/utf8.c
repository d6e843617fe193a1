#include "utf8.h"

#include <string.h>

/* Bytes of the character at `at`, before the 0 of a text; 0: it is none. */
static size_t size_of(const unsigned char *at) {
    size_t size = *at < 0x80                  ? 1
                  : *at >= 0xc2 && *at < 0xe0 ? 2
                  : (*at & 0xf0) == 0xe0      ? 3
                  : *at >= 0xf0 && *at < 0xf5 ? 4
                                              : 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) || (*at == 0xf0 && at[1] < 0x90) ||
        (*at == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return size;
}

bool sv_utf8_is_whole(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    for (size_t size; *at; at += size)
        if (!(size = size_of(at))) return false;
    return true;
}

void sv_utf8_clean(char *text) {
    char *to = text;
    for (size_t size; *text; text += size ? size : 1) {
        size = size_of((const unsigned char *)text);
        memmove(to, text, size);
        to += size;
    }
    *to = 0;
}

#include "http_chunks.h"

enum { OVERHEAD = 4096, DIGITS = 12 };

static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void end_size(sv_http_chunks *self, char c) {
    if (!self->digits)
        self->place = CHUNK_WRONG;
    else
        self->place = c == '\r' ? CHUNK_LINE_FEED : c == ';' || c == ' ' ? CHUNK_EXTENSION : CHUNK_WRONG;
}

static void take_digit(sv_http_chunks *self, char c) {
    int value = digit(c);
    if (value < 0)
        end_size(self, c);
    else if (++self->digits > DIGITS)
        self->place = CHUNK_WRONG;
    else
        self->left = self->left * 16 + (uint64_t)value;
}

static void begin_line(sv_http_chunks *self) {
    self->place = CHUNK_SIZE;
    self->digits = 0;
    self->left = 0;
}

/* One byte that is no data. */
static void take(sv_http_chunks *self, char c) {
    switch (self->place) {
    case CHUNK_SIZE: take_digit(self, c); break;
    case CHUNK_EXTENSION:
        if (c == '\r') self->place = CHUNK_LINE_FEED;
        if (c == '\n') self->place = CHUNK_WRONG;
        break;
    case CHUNK_LINE_FEED:
        self->place = c != '\n' ? CHUNK_WRONG : self->left ? CHUNK_DATA : CHUNK_TRAILER;
        break;
    case CHUNK_RETURN: self->place = c == '\r' ? CHUNK_AFTER : CHUNK_WRONG; break;
    case CHUNK_AFTER:
        begin_line(self);
        if (c != '\n') self->place = CHUNK_WRONG;
        break;
    case CHUNK_TRAILER:
        self->place = c == '\r' ? CHUNK_LAST_FEED : c == '\n' ? CHUNK_WRONG : CHUNK_TRAILER_LINE;
        break;
    case CHUNK_TRAILER_LINE:
        if (c == '\r') self->place = CHUNK_TRAILER_FEED;
        if (c == '\n') self->place = CHUNK_WRONG;
        break;
    case CHUNK_TRAILER_FEED: self->place = c == '\n' ? CHUNK_TRAILER : CHUNK_WRONG; break;
    case CHUNK_LAST_FEED: self->place = c == '\n' ? CHUNK_END : CHUNK_WRONG; break;
    default: break;
    }
    if (++self->overhead > OVERHEAD) self->place = CHUNK_WRONG;
}

size_t sv_http_chunks_take(sv_http_chunks *self, const char *bytes, size_t size, const char **data,
                           size_t *data_size) {
    size_t at = 0;
    *data_size = 0;
    while (at < size && self->place != CHUNK_DATA && self->place != CHUNK_END && self->place != CHUNK_WRONG)
        take(self, bytes[at++]);
    if (self->place != CHUNK_DATA || at == size) return at;
    *data = bytes + at;
    *data_size = size - at < self->left ? size - at : (size_t)self->left;
    self->left -= *data_size;
    if (*data_size > 1) self->overhead = 0; /* chunks of one byte are not worth what they cost for long */
    if (!self->left) self->place = CHUNK_RETURN;
    return at + *data_size;
}

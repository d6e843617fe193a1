/* A body in chunks (Transfer-Encoding: chunked), read as it arrives. Extensions and trailers are skipped, and
 * bounded. */
#ifndef SERVE_HTTP_CHUNKS_H
#define SERVE_HTTP_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum chunk_place {
    CHUNK_SIZE, /* in the line with a chunk's size, in hexadecimal */
    CHUNK_EXTENSION,
    CHUNK_LINE_FEED, /* behind the CR of that line */
    CHUNK_DATA,
    CHUNK_RETURN, /* behind the data: CR, LF */
    CHUNK_AFTER,
    CHUNK_TRAILER, /* lines until an empty one */
    CHUNK_TRAILER_LINE,
    CHUNK_TRAILER_FEED,
    CHUNK_LAST_FEED,
    CHUNK_END,
    CHUNK_WRONG
} sv_chunk_place;

typedef struct http_chunks { /* all zero at first */
    sv_chunk_place place;
    uint64_t left;             /* of the chunk */
    unsigned digits, overhead; /* of the size; bytes that are no data, since there was some */
} sv_http_chunks;

/* Takes bytes (size) up to the next piece of data or the end of the body: returns how many. `*data`,
 * `*data_size`: the piece, which is among them; 0: none. Then look at place: CHUNK_END, CHUNK_WRONG. */
size_t sv_http_chunks_take(sv_http_chunks *self, const char *bytes, size_t size, const char **data,
                           size_t *data_size);

#endif

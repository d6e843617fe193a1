/* Texts that are told apart by number, from 0 in the order in which they came. */
#ifndef SERVE_TEXTS_H
#define SERVE_TEXTS_H

#include <stdint.h>
#include <superarm/json.h>

typedef struct texts {
    sa_buffer bytes; /* each ended by 0 */
    uint32_t *start; /* (count) in the bytes */
    uint32_t *table; /* by hash: 1 + number, 0 for an empty place; a power of two, at least twice the count */
    size_t count, room, table_size;
} sv_texts;

enum { TEXTS_NONE = UINT32_MAX };

/* The text's number, a new one where it was not there; TEXTS_NONE when memory is short. */
uint32_t sv_texts_add(sv_texts *self, const char *text, size_t size);
uint32_t sv_texts_find(const sv_texts *self, const char *text, size_t size); /* TEXTS_NONE: it is not there */
const char *sv_texts_at(const sv_texts *self, uint32_t number);
size_t sv_texts_bytes(const sv_texts *self); /* of memory */
void sv_texts_free(sv_texts *self);

#endif

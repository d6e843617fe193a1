#include "texts.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t size) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

const char *sv_texts_at(const sv_texts *self, uint32_t number) {
    return self->bytes.text + self->start[number];
}

/* The place of a text: that of the same one, or an empty one. */
static uint32_t *place_of(const sv_texts *self, const char *text, size_t size) {
    size_t mask = self->table_size - 1;
    for (size_t i = hash_of(text, size) & mask;; i = (i + 1) & mask) {
        if (!self->table[i]) return &self->table[i];
        const char *there = sv_texts_at(self, self->table[i] - 1);
        if (!strncmp(there, text, size) && !there[size]) return &self->table[i];
    }
}

uint32_t sv_texts_find(const sv_texts *self, const char *text, size_t size) {
    uint32_t place = self->count ? *place_of(self, text, size) : 0;
    return place ? place - 1 : TEXTS_NONE;
}

static bool grow(sv_texts *self) {
    size_t room = self->room ? 2 * self->room : 16;
    uint32_t *start = realloc(self->start, room * sizeof *start);
    if (start) self->start = start;
    uint32_t *table = start ? calloc(2 * room, sizeof *table) : NULL;
    if (!table) return false;
    free(self->table);
    self->table = table;
    self->table_size = 2 * room;
    self->room = room;
    for (uint32_t i = 0; i < self->count; i++) {
        const char *text = sv_texts_at(self, i);
        *place_of(self, text, strlen(text)) = i + 1;
    }
    return true;
}

uint32_t sv_texts_add(sv_texts *self, const char *text, size_t size) {
    uint32_t found = sv_texts_find(self, text, size);
    if (found != TEXTS_NONE) return found;
    if (self->count == self->room && !grow(self)) return TEXTS_NONE;
    size_t start = self->bytes.size;
    sa_buffer_bytes(&self->bytes, text, size);
    sa_buffer_bytes(&self->bytes, "", 1);
    if (self->bytes.status || self->bytes.size > UINT32_MAX) return TEXTS_NONE;
    self->start[self->count++] = (uint32_t)start;
    *place_of(self, text, size) = (uint32_t)self->count;
    return (uint32_t)self->count - 1;
}

size_t sv_texts_bytes(const sv_texts *self) {
    return self->bytes.capacity + (self->room + self->table_size) * sizeof *self->start;
}

void sv_texts_free(sv_texts *self) {
    sa_buffer_clear(&self->bytes);
    free(self->start);
    free(self->table);
    *self = (sv_texts){0};
}

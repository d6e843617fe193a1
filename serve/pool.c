#include "pool.h"

#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#else
#include <malloc.h>
#endif

enum {
    STEP = 16,
    CLASSES = 8,
    KEPT = 2048
}; /* blocks of at most 128 bytes, and so many of each size a thread */

typedef struct block {
    struct block *next;
} block;

typedef struct lists {
    block *first[CLASSES];
    unsigned count[CLASSES];
} lists;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local lists *own;

static void empty(void *user) {
    lists *self = user;
    for (int i = 0; i < CLASSES; i++)
        for (block *each = self->first[i], *next; each; each = next) {
            next = each->next;
            free(each);
        }
    free(self);
    own = NULL;
}

static lists *lists_of_thread(void) {
    if (own) return own;
    own = calloc(1, sizeof *own);
    if (own && pthread_setspecific(key, own)) { /* nobody would free it */
        free(own);
        own = NULL;
    }
    return own;
}

/* A block of class c holds at least 16 (c + 1) bytes. */
static void *take(size_t size) {
    size_t class = size ? (size - 1) / STEP : 0;
    lists *self = class < CLASSES ? lists_of_thread() : NULL;
    if (!self) return malloc(size);
    block *found = self->first[class];
    if (!found) return malloc((class + 1) * STEP);
    self->first[class] = found->next;
    self->count[class]--;
    return found;
}

static void give_back(void *pointer) {
    if (!pointer) return;
    size_t class = malloc_usable_size(pointer) / STEP; /* rounded down: what it surely holds */
    lists *self = class >= 1 && class <= CLASSES ? lists_of_thread() : NULL;
    if (!self || self->count[class - 1] >= KEPT) {
        free(pointer);
        return;
    }
    block *freed = pointer;
    freed->next = self->first[class - 1];
    self->first[class - 1] = freed;
    self->count[class - 1]++;
}

static void install(void) {
    if (pthread_key_create(&key, empty) == 0) json_set_alloc_funcs(take, give_back);
}

void sv_pool_install(void) { pthread_once(&once, install); }

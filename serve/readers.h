/* A few connections that read the journal, for the threads that answer: what a request needs to know is
 * looked up here, not in the writer. */
#ifndef SERVE_READERS_H
#define SERVE_READERS_H

#include <pthread.h>

#include "refusal.h"
#include "store.h"

enum { READERS = 4 };

typedef struct readers {
    const char *place; /* borrowed */
    pthread_mutex_t lock;
    pthread_cond_t returned;
    sv_store *free[READERS];
    size_t free_count, opened;
} sv_readers;

void sv_readers_begin(sv_readers *self); /* `place` is set before the first is taken */
/* Waits for one, or opens it. NULL with 503. */
sv_store *sv_readers_take(sv_readers *self, sv_refusal *why);
void sv_readers_give_back(sv_readers *self, sv_store *reader);
void sv_readers_end(sv_readers *self); /* all have been given back */

#endif

/* SQLite's log must be folded into its database now and then. Left to the writer, that stops every request
 * for as long as it takes; so another thread does it while the writer goes on. The same thread empties the
 * log where something was erased. */
#ifndef SERVE_FOLDING_H
#define SERVE_FOLDING_H

#include "store.h"

typedef struct folding sv_folding;

/* Takes over `store`, a connection of its own; `writer`, the one that commits, is borrowed. NULL when it
 * cannot. A failure that leaves the database unknown ends the writer, too (sv_store_ruin). */
sv_folding *sv_folding_start(sv_store *store, sv_store *writer);
void sv_folding_stop(sv_folding *self);    /* NULL is fine */
void sv_folding_destroy(sv_folding *self); /* after it, and after the writer, which asks it, has stopped */

/* Somebody who waits until what was erased is in no file. */
typedef struct emptying {
    void (*end)(struct emptying *self, bool done); /* in the thread; false: others read all the time */
    double until;
    struct emptying *next;
} sv_emptying;
void sv_folding_empty(sv_folding *self, sv_emptying *who);

#endif

/* SQLite's log must be folded into its database now and then. Left to the writer, that stops every request
 * for as long as it takes; so another thread does it while the writer goes on. */
#ifndef SERVE_FOLDING_H
#define SERVE_FOLDING_H

#include "store.h"

typedef struct folding sv_folding;

/* Takes over `store`, a connection of its own; `writer`, the one that commits, is borrowed. NULL when it
 * cannot. */
sv_folding *folding_start(sv_store *store, const sv_store *writer);
void folding_stop(sv_folding *self); /* NULL is fine */

#endif

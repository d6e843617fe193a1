/* Feedback of earlier runs, counted from the journal while the service answers already: a rate that began
 * with nothing at each start would ring every alarm. */
#ifndef SERVE_COUNTING_H
#define SERVE_COUNTING_H

#include "agents.h"
#include "store.h"

typedef struct counting sv_counting;

/* Takes over the store, a connection of its own. Before anything new is written. NULL: the rates stay
 * unknown, and the store is closed. */
sv_counting *sv_counting_start(sv_store *store, sv_agents *agents);
void sv_counting_stop(sv_counting *self); /* NULL is fine */

#endif

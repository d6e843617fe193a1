/* The catalogue of an agent, as it is now, and those before it that somebody still holds. */
#ifndef SERVE_AGENT_ITEMS_H
#define SERVE_AGENT_ITEMS_H

#include "agents.h"

/* Retained; NULL: it has none. */
sv_catalogue *sv_agent_items(sv_agent *self);
/* The same with rows of this schema, which are made where they are of another. NULL without a refusal: it has
 * none; with one: 400 where an item does not fit, 503 where another thread makes them. */
sv_catalogue *sv_agent_items_for(sv_agent *self, sa_schema *schema, sv_refusal *why);
/* Takes over a later version; one that is not later goes. */
void sv_agent_put_items(sv_agent *self, sv_catalogue *next);
/* The version up to which nobody holds an older one: what ended before it may go. */
uint64_t sv_agent_items_held(sv_agent *self);

#endif

/* What an owner asks about an agent, from its latest events: what came of each place, which items are
 * shown, how much chance decides, what is missing in the data, and which features the model uses. */
#ifndef SERVE_INSIGHTS_H
#define SERVE_INSIGHTS_H

#include "agents.h"
#include "store.h"

/* Appends a JSON object (GET .../insights). It is computed on demand, from the last 1000 rows at most,
 * within a second or two. false with a refusal. */
bool sv_insights_write(sv_store *store, sv_agent *agent, sa_buffer *out, sv_refusal *why);

#endif

/* Z made anew after a training (--rebuild, and always for a model that observes as well as trains).
 *
 * Z counts each gradient at the weights of its time. A training moves the weights, and with them the features that the layers
 * below the last one make of a context. A rebuilt Z counts the gradients of the whole history at the present weights, and
 * those of the decisions that wait for feedback are brought up to date too. */
#ifndef SA_AGENT_REBUILD_H
#define SA_AGENT_REBUILD_H

#include "agent/agent.h"

/* Is Z made anew after each training? */
bool sa_rebuild_is_due(const sa_agent *agent);
/* All that can fail about rebuilding after a training, with so many observations in the history by then. Does nothing for an
 * agent that does not rebuild. */
sa_status sa_rebuild_reserve(sa_agent *agent, size_t observations);
/* After a training; memory was reserved. */
void sa_rebuild(sa_agent *agent);
/* The training has not moved anything. */
void sa_rebuild_cancel(sa_agent *agent);

#endif

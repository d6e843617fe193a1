/* The budget of memory for agents (--memory): a new agent asks for what it needs before it is made. */
#ifndef SERVE_MEMORY_H
#define SERVE_MEMORY_H

#include <pthread.h>

#include "agents.h"

typedef struct memory {
    size_t most; /* bytes; 0: no bound */
    pthread_mutex_t lock;
    size_t promised; /* to agents that are being made */
} sv_memory;

/* `most` 0: half of what the machine, or the process by its limits, may have. */
void sv_memory_begin(sv_memory *self, double most);
void sv_memory_end(sv_memory *self);
/* What the agents have now. */
size_t sv_memory_of_agents(sv_agents *agents);
/* Promises so many bytes to an agent that is made, or takes the place of `instead` (NULL: of none). false
 * with 409: the budget is spent. */
bool sv_memory_promise(sv_memory *self, sv_agents *agents, const sv_agent *instead, size_t bytes,
                       sv_refusal *why);
/* It is made, and counts by itself; or it is not made. */
void sv_memory_release(sv_memory *self, size_t bytes);

#endif

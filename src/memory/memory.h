/* What an agent remembers: decisions that wait for feedback, and the feedback that came. */
#ifndef SA_MEMORY_MEMORY_H
#define SA_MEMORY_MEMORY_H

#include "memory/history.h"
#include "memory/pending.h"

typedef struct sa_memory {
    sa_history history;
    sa_pending_ring pending;
} sa_memory;

#endif

/* What an agent remembers: decisions that wait for feedback, and the feedback that came. */
#ifndef SA_PAST_PAST_H
#define SA_PAST_PAST_H

#include "past/history.h"
#include "past/pending.h"

typedef struct sa_past {
    sa_history history;
    sa_pending_ring pending;
} sa_past;

#endif

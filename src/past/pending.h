/* Decisions that wait for feedback, by id, at most --pending-limit of them. An answered decision is kept as
 * long as there is room, without its contexts and gradients, so that feedback delivered twice is recognised.
 * When there is no room, the oldest answered decision is forgotten, and where none is answered the oldest of
 * all.
 *
 * They are in a ring, in the order of their ids. One that is forgotten leaves an empty slot, which is skipped
 * (nothing is left of it) and goes when it is the first, or when the ring has no room; the ring has some more
 * slots than the limit, so that this is seldom. */
#ifndef SA_PAST_PENDING_H
#define SA_PAST_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/reals.h"
#include "model/gradients.h"

#define SA_NO_ROW ((size_t)-1)

typedef struct sa_pending {
    uint64_t id;            /* the ring's */
    uint64_t event;         /* the caller's */
    bool forgotten;         /* an empty slot: all else is 0 */
    size_t slate;           /* K */
    size_t left;            /* arms without feedback */
    bool *answered;         /* (K) */
    size_t *arms;           /* (K) */
    size_t *row;            /* (K) of the history, where feedback was learnt from; else SA_NO_ROW */
    double *discounts;      /* (K), or NULL where none are learnt with */
    double *propensities;   /* (2, K) of prefixes and positions; NULL: not known */
    void *contexts;         /* (K, dim), raw; NULL once nothing is left */
    sa_gradients gradients; /* of the chosen arms at selection, until they are counted; else empty */
} sa_pending;

typedef struct sa_pending_ring {
    size_t limit, capacity, head;
    size_t count;       /* slots, empty ones included */
    size_t kept;        /* those that are not empty, at most the limit */
    bool discounted;    /* are discounts kept? */
    size_t longest;     /* slate that there may be; 0: any */
    sa_pending *slot;   /* (capacity) */
    uint64_t *answered; /* (capacity) ids of the answered decisions that are kept: a heap, the least first */
    size_t answered_count;
    uint64_t next;      /* id of the next decision */
    uint64_t forgotten; /* with arms still unanswered */
    uint64_t unanswered;
} sa_pending_ring;

void sa_pending_clear(sa_pending *pending); /* leaves a zeroed struct */
/* Is nothing of it in the history yet? */
bool sa_pending_is_new(const sa_pending *pending);
/* Memory for a decision of K arms: everything but the gradients. */
sa_status sa_pending_init(sa_pending *pending, size_t slate, size_t dim, sa_precision precision,
                          bool discounted);

/* Keeps its propensities, (K) each, unless the slate's is not known. */
sa_status sa_pending_set_propensities(sa_pending *pending, const double *prefix, const double *position);

void sa_ring_clear(sa_pending_ring *ring);
/* Room for so many more, so that push cannot fail. */
sa_status sa_ring_reserve(sa_pending_ring *ring, size_t more);
/* Takes the decision over; its id is `next` before the call. Forgets another when there are as many as the
 * limit. */
void sa_ring_push(sa_pending_ring *ring, const sa_pending *pending);
/* NULL when it was never made or is forgotten. */
sa_pending *sa_ring_find(const sa_pending_ring *ring, uint64_t id);
/* The last one of the caller's event, likewise. */
sa_pending *sa_ring_find_event(const sa_pending_ring *ring, uint64_t event);
/* The slot of this index, below count; it may be empty. */
sa_pending *sa_ring_at(const sa_pending_ring *ring, size_t index);
/* Nothing is left to wait for: it is kept only to be recognised. */
void sa_ring_settle(sa_pending_ring *ring, sa_pending *pending);

#endif

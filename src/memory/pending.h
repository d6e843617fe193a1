/* Decisions that wait for feedback. Ids count up by one, so the decisions kept are those with ids [first, first + count), in a
 * ring that grows up to --pending-limit; then the oldest is forgotten. An answered decision stays in the ring, without its
 * contexts and gradients, so that feedback delivered twice is recognised. */
#ifndef SA_AGENT_PENDING_H
#define SA_AGENT_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/options.h"
#include "model/model.h"

typedef struct sa_pending {
    size_t slate;           /* K */
    size_t left;            /* arms without feedback */
    bool *answered;         /* (K) */
    size_t *arms;           /* (K) */
    double *discounts;      /* (K), or NULL where none are learnt with */
    void *contexts;         /* (K, dim), raw; NULL once nothing is left */
    sa_gradients gradients; /* of the chosen arms at selection, until they are counted; else empty */
    uint64_t ticket;        /* of the widths that found them */
} sa_pending;

typedef struct sa_pending_ring {
    size_t limit, capacity, head, count;
    bool discounted;    /* are discounts kept? */
    sa_pending *slot;   /* (capacity) */
    uint64_t first;     /* id of the oldest */
    uint64_t forgotten; /* pushed out with arms still unanswered */
    uint64_t unanswered;
} sa_pending_ring;

void sa_pending_clear(sa_pending *pending); /* leaves a zeroed struct */
/* Memory for a decision of K arms: everything but the gradients. */
sa_status sa_pending_init(sa_pending *pending, size_t slate, size_t dim, sa_precision precision, bool discounted);

void sa_ring_clear(sa_pending_ring *ring);
/* Room for so many more, so that push cannot fail. */
sa_status sa_ring_reserve(sa_pending_ring *ring, size_t more);
/* Takes the decision over; its id is first + count before the call. Forgets the oldest when the ring is full. */
void sa_ring_push(sa_pending_ring *ring, const sa_pending *pending);
/* NULL when it was never made or is forgotten. */
sa_pending *sa_ring_find(const sa_pending_ring *ring, uint64_t id);
size_t sa_ring_bytes(const sa_pending_ring *ring, size_t dim, sa_precision precision);

#endif

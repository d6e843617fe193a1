/* Pending decisions in a file: what the ring keeps in pieces, laid out as flat arrays. */
#ifndef SA_PAST_PENDING_FILE_H
#define SA_PAST_PENDING_FILE_H

#include "base/npy.h"
#include "model/standardize.h"
#include "past/pending.h"

typedef struct sa_pending_file {
    size_t decisions, places, kept; /* in the ring; sum of their slates; places whose context is kept */
    int64_t *id;                    /* (decisions) */
    int64_t *event;                 /* (decisions) the caller's; NULL: all are 0 */
    int64_t *slate;                 /* (decisions) */
    uint8_t *has_gradients;         /* (decisions) */
    int64_t *arms;                  /* (places) */
    uint8_t *answered;              /* (places) */
    int64_t *row;                   /* (places) of the history; -1: none */
    double *discounts;              /* (places), or NULL */
    double *prefix, *position;      /* (places) propensities, NaN where they are not known; NULL: none is */
    void *contexts;                 /* (kept, dim) */
    sa_gradients gradients;         /* of the decisions that have them, one after another */
    size_t dim;
    sa_precision precision;
} sa_pending_file;

/* `like` has the pairs of the agent's gradients (none for an agent without a model). */
sa_status sa_pending_file_from(sa_pending_file *file, const sa_pending_ring *ring, const sa_gradients *like,
                               const sa_inputs *inputs);
void sa_pending_file_clear(sa_pending_file *file);
sa_status sa_pending_file_save(const sa_pending_file *file, const sa_pending_ring *ring,
                               sa_npz_writer *writer);
/* Into an empty ring; the history has so many observations. */
sa_status sa_pending_file_load(sa_pending_ring *ring, const sa_gradients *like, const sa_inputs *inputs,
                               size_t observations, sa_npz *archive);

#endif

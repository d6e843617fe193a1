/* Cells of the context cube, in a hash table: memory goes to the cells that were visited, whatever the
 * dimension. A cell is named by its key, (1 + dim) integers: its level and its place along each feature.
 * Cells are kept in the order in which they were first visited, and nothing depends on where the table puts
 * them. */
#ifndef SA_MODEL_PARTITION_CELLS_H
#define SA_MODEL_PARTITION_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/status.h"
#include "model/options.h"

#define SA_NO_CELL SIZE_MAX

typedef struct sa_cells {
    size_t dim;
    size_t count, capacity;
    int32_t *key;   /* (count, 1 + dim) */
    int64_t *seen;  /* (count) observations */
    double *mean;   /* (count) of their scores */
    uint8_t *split; /* (count) 1: its children have taken over */
    size_t slots;   /* a power of two, at least twice the capacity; 0 at first */
    size_t *slot;   /* (slots) index of a cell plus 1; 0: free */
} sa_cells;

void sa_cells_clear(sa_cells *cells);
/* A table that shares the arrays of `from` (base/memory.h). */
void sa_cells_share(sa_cells *cells, const sa_cells *from);
/* Copies the arrays that others share, before a cell is added or observed. */
sa_status sa_cells_unshare(sa_cells *cells);
/* Room for `more` cells, so that sa_cells_take cannot fail; on failure nothing changes. */
sa_status sa_cells_reserve(sa_cells *cells, size_t more);
size_t sa_cells_find(const sa_cells *cells, const int32_t *key); /* SA_NO_CELL: never visited */
size_t sa_cells_take(sa_cells *cells, const int32_t *key);       /* found, or new with nothing seen */
void sa_cells_observe(sa_cells *cells, size_t cell, double score);
/* v = y / psi for a score y of psi v; false: it teaches nothing, as psi is 0 or so small that v is not
 * finite. */
bool sa_cells_undiscount(double score, double discount, double *out);
sa_status sa_cells_save(const sa_cells *cells, sa_npz_writer *writer);
/* Into an empty table. `fits` says whether a key can be that of a cell. */
sa_status sa_cells_load(sa_cells *cells, sa_npz *archive, bool (*fits)(const void *user, const int32_t *key),
                        const void *user);

/* Which of `parts` equal parts of [-1, 1] a feature lies in; what is outside counts as the nearest. The cube
 * of the papers is [0, 1]^D: contexts here are of unit length. */
int32_t sa_cube_part(double feature, int32_t parts);

#endif

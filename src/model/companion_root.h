/* C of C C' = G + lambda I, the factor of the companion's regression as policies read it: what is open of an
 * estimate is solved with it for every arm of a request (companion_spread.c). */
#ifndef SA_MODEL_COMPANION_ROOT_H
#define SA_MODEL_COMPANION_ROOT_H

#include <stddef.h>

#include "base/npy.h"
#include "base/status.h"

typedef struct sa_companion_root sa_companion_root;

/* The identity; `from`: a copy of that one. */
sa_status sa_companion_root_create(size_t dim, const sa_companion_root *from, sa_companion_root **out);
void sa_companion_root_destroy(sa_companion_root *root);
/* Takes the lower triangle of a factor (dim, dim). */
void sa_companion_root_assign(sa_companion_root *root, size_t dim, const double *factor);
/* Row i times s: input i has another unit. */
void sa_companion_root_scale(sa_companion_root *root, size_t i, double s);
/* b (dim, columns) = C^-1 b, 64-byte aligned; columns as sa_companion_root_columns rounds them up. A column's
 * bits do not depend on the others. */
size_t sa_companion_root_columns(size_t columns);
void sa_companion_root_solve(const sa_companion_root *root, double *b, size_t columns);

/* Must live until the file is written. */
sa_status sa_companion_root_save(const sa_companion_root *root, sa_npz_writer *writer);
/* SA_FORMAT when there is no factor of so many rows, all of it finite. */
sa_status sa_companion_root_load(sa_companion_root *root, size_t dim, sa_npz *archive);

#endif

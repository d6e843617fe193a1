/* Few gradients that stand for all that were counted: Z = lambda I + D A D', with D the elements kept, at
 * most `room` of them.
 *
 * Elements are old, or fresh: counted since the last fold, and each with a weight of its own. So A is a
 * square block for the old ones, and a diagonal for the fresh. Folding removes elements, and gives their part
 * of A to those that stay. */
#ifndef SA_CONFIDENCE_SKETCH_FOLD_H
#define SA_CONFIDENCE_SKETCH_FOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct sa_fold {
    size_t room;
    double lambda;
    size_t count, old; /* elements; the first `old` of them are old */
    double *weights;   /* (old, old) of A */
    double *weight;    /* (room) of A's diagonal, from `old` on */
    double *gram;      /* (count, count) D'D, which the caller puts there before each call */
    size_t *kept;      /* (room) elements that the last fold kept: their places before it */
    double *factor;    /* (count, count) lower: C C' = D'D + lambda A^-1, by sa_fold_factor */
    double log_det;    /* log det A, by sa_fold_factor */
    double lost;       /* |R|, at most: see sketch_fold.c */
    /* workspace */
    double *inverse, *energy, *given, *solved, *residual; /* (room, room) */
    double *root, *energies, *leverages, *row[3];         /* (room) */
    size_t *removed;                                      /* (room) */
    bool *gone;                                           /* (room) */
} sa_fold;

sa_status sa_fold_init(sa_fold *fold, size_t room, double lambda);
void sa_fold_clear(sa_fold *fold); /* a zeroed struct is fine */
/* What sa_fold_init takes for so many elements. */
double sa_fold_bytes(double room);
/* One more element, counted once. There must be room. */
void sa_fold_add(sa_fold *fold);
/* Folds until at most `keep` elements are left. fold->gram is that of all before, and of the kept ones
 * after. */
void sa_fold_until(sa_fold *fold, size_t keep);
/* fold->factor, fold->log_det; destroys fold->gram. SA_INVALID when there is none: numbers are not finite. */
sa_status sa_fold_factor(sa_fold *fold);
/* A's diagonal at an element */
double sa_fold_weight(const sa_fold *fold, size_t element);
/* The least of them; infinite where there is no element. */
double sa_fold_least_weight(const sa_fold *fold);
/* A = `by` A */
void sa_fold_fade(sa_fold *fold, double by);

#endif

/* The exact engine as the inside of another, which lets some of the gradients on its n x n side stand for all that were counted:
 * lambda I + G'G = C C' becomes K = C C' with a K that the owner knows. All of this is for an engine made with --exact-form dual. */
#ifndef SA_CONFIDENCE_EXACT_H
#define SA_CONFIDENCE_EXACT_H

#include "confidence/confidence.h"

/* The gradients held; NULL on the p x p side. */
const sa_gradients *sa_exact_held(const sa_confidence *exact);
/* Holds rows[0 .. count) of `from`, of any precision, in place of those before, of which there are as many at least; `factor`
 * (count, count) is the lower C. phi is 1 again. */
void sa_exact_hold(sa_confidence *exact, const sa_gradients *from, const size_t *rows, size_t count, const double *factor);
/* From now on the owner is asked for C, (held, held), when the engine changes to double precision. */
typedef const double *(*sa_exact_factor)(void *owner);
void sa_exact_own(sa_confidence *exact, sa_exact_factor factor, void *owner);
/* Discounts all by way of phi alone (exact.c): phi *= factor. True when it is so small that what is held should be made anew. */
bool sa_exact_fade(sa_confidence *exact, double factor);
const double *sa_exact_faded(const sa_confidence *exact); /* phi, a number of the engine's */
/* Changes to double precision when these gradients ask for it, so that counting them need not. */
sa_status sa_exact_prepare(sa_confidence *exact, const sa_gradients *batch);

#endif

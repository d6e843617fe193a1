/* A look into the single-precision primal form, for the double one that takes over from it. */
#ifndef SA_CONFIDENCE_PRIMAL_H
#define SA_CONFIDENCE_PRIMAL_H

#include <stddef.h>

typedef struct sa_primal_view {
    double lambda;
    size_t parameters;         /* p */
    const float *const *panel; /* of the factor: see linalg/triangle.h */
} sa_primal_view;

sa_primal_view sa_primal_view_of(const void *single_form);

#endif

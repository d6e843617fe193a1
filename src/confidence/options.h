/* The options that confidence engines read. */
#ifndef SA_CONFIDENCE_OPTIONS_H
#define SA_CONFIDENCE_OPTIONS_H

#include "base/option_rows.h"

#define SA_CONFIDENCES(X)                                                                                    \
    X(CONFIDENCE_EXACT, "exact")                                                                             \
    X(CONFIDENCE_DIAGONAL, "diagonal")                                                                       \
    X(CONFIDENCE_LAST_LAYER, "last-layer") X(CONFIDENCE_SKETCH, "sketch") X(CONFIDENCE_AUTO, "auto")
SA_DECLARE_CHOICES(sa_confidence_kind, SA_CONFIDENCES);
/* Exact widths from the n x n or the p x p side; the answer is the same. */
typedef enum sa_exact_form { SA_EXACT_AUTO, SA_EXACT_DUAL, SA_EXACT_PRIMAL } sa_exact_form;

#define SA_CONFIDENCE_OPTIONS(X)                                                                             \
    X(CHOICE, confidence, "confidence", AGENT, CONFIDENCE_EXACT, CONFIDENCE_EXACT, CONFIDENCE_AUTO,          \
      SA_CONFIDENCES,                                                                                        \
      "widths sqrt(g' Z^-1 g / m) from all of Z, its diagonal, the last layer's part, a sketch, or exact "   \
      "until a sketch is cheaper")                                                                           \
    X(INTEGER, sketch_size, "sketch-size", AGENT, 256, 256, 256, 1, 1000000,                                 \
      "sketch and auto: B, gradients that stand for all that were counted")

/* What an engine is made of. */
typedef struct sa_confidence_settings {
    int confidence, precision; /* enumerators */
    sa_exact_form exact_form;  /* auto, unless another engine has the exact one for a part */
    int64_t sketch_size;
    double regularization, discount; /* lambda; of what was counted, with each answered decision */
    bool totals;                     /* an observation is the sum of a slate's gradients */
    size_t linear;         /* pairs at the end of a gradient, of the weights that the score is linear in */
    const char *algorithm; /* for sentences */
} sa_confidence_settings;

#endif

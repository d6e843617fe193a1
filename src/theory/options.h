/* The options of the theorems. */
#ifndef SA_THEORY_OPTIONS_H
#define SA_THEORY_OPTIONS_H

#include "base/option_rows.h"

#define SA_THEORY_OPTIONS(X)                                                                                 \
    X(NUMBER, delta, "delta", AGENT, 0.1, 0.1, 0.1, ABOVE_0, 0.999999,                                       \
      "theory: probability that the bounds may fail")                                                        \
    X(NUMBER, norm_bound, "norm-bound", AGENT, 1, 1, 1, 0, 1e100,                                            \
      "theory: S, a bound on the norm of the true parameter (B in Theorem 2)")                               \
    X(NUMBER, sub_gaussian, "sub-gaussian", AGENT, 1, 1, 1, 0, 1e100,                                        \
      "theory: R, the noise is R-sub-Gaussian")                                                              \
    X(NUMBER, approximation, "approximation", AGENT, 1, 1, 1, 0, 1e100,                                      \
      "theory: factor on what a network's finite width and training add to the bounds; 0: nothing")

#endif

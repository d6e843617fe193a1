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

/* The constants that the paper leaves open. A caller of the C API sets them: sa_theory_constants,
 * <superarm/theory.h>. */
#define SA_THEORY_SETTINGS(X)                                                                                \
    X(NUMBER, c_1, "c-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_1 of gamma_t (Lemma 1)")                      \
    X(NUMBER, c_gamma_1, "c-gamma-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,1 of gamma_t")              \
    X(NUMBER, c_gamma_2, "c-gamma-2", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,2 of gamma_t")              \
    X(NUMBER, c_gamma_3, "c-gamma-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_Gamma,3 of gamma_t")              \
    X(NUMBER, c_3, "c-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_3 of e_t (Lemma 1)")                          \
    X(NUMBER, c_4, "c-4", AGENT, 1, 1, 1, 0, 1e100, "theory: C_4 of e_t")                                    \
    X(NUMBER, c_epsilon_1, "c-epsilon-1", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,1 (Section 4.4)")     \
    X(NUMBER, c_epsilon_2, "c-epsilon-2", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,2")                   \
    X(NUMBER, c_epsilon_3, "c-epsilon-3", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,3")                   \
    X(NUMBER, c_epsilon_4, "c-epsilon-4", AGENT, 1, 1, 1, 0, 1e100, "theory: C_epsilon,4")                   \
    X(NUMBER, c_bar_2, "c-bar-2", AGENT, 1, 1, 1, 0, 1e100,                                                  \
      "superarm theory: C_2, lambda is at least C_2 L K (Theorems 1 and 2)")                                 \
    X(NUMBER, c_bar_3, "c-bar-3", AGENT, 1, 1, 1, 0, 1e100,                                                  \
      "superarm theory: C_3 of J, the steps of one training")                                                \
    X(NUMBER, c_width, "c-width", AGENT, 1, 1, 1, 0, 1e100,                                                  \
      "superarm theory: C of Condition 1, the smallest width")

#endif

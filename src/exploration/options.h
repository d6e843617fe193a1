/* The options that exploration rules read. */
#ifndef SA_EXPLORATION_OPTIONS_H
#define SA_EXPLORATION_OPTIONS_H

#include "base/option_rows.h"

#define SA_DEVIATIONS(X) X(DEVIATION_SIGMA, "sigma") X(DEVIATION_VARIANCE, "variance")
SA_DECLARE_CHOICES(sa_deviation, SA_DEVIATIONS);

#define SA_BONUSES(X) X(BONUS_WIDTH, "width") X(BONUS_POSTERIOR, "posterior")
SA_DECLARE_CHOICES(sa_bonus, SA_BONUSES);

#define SA_FLOORS_BY(X) X(FLOOR_BY_PLACE, "place") X(FLOOR_BY_PAGE, "page")
SA_DECLARE_CHOICES(sa_floor_by, SA_FLOORS_BY);

#define SA_EXPLORATION_OPTIONS(X)                                                                            \
    X(NUMBER, gamma, "gamma", AGENT, 1, 1, 1, OR_THEORY, 1e100,                                              \
      "ucb: widths added to the estimate, in units of the scores' scale; cc-mab, acc-ucb: factor on their "  \
      "exploration; theory: gamma_t and e_t of Lemma 1")                                                     \
    X(NUMBER, nu, "nu", AGENT, 1, 1, 0.3, OR_THEORY, 1e100,                                                  \
      "ts: deviation of a sample in units of sigma; theory: nu of Theorem 2 and epsilon of Section 4.4")     \
    X(CHOICE, bonus, "bonus", AGENT, BONUS_WIDTH, BONUS_WIDTH, BONUS_POSTERIOR, SA_BONUSES,                  \
      "unit of gamma and nu: the width, or a posterior deviation, with noise and lambda from feedback")      \
    X(INTEGER, ts_samples, "ts-samples", AGENT, 10, 10, 10, 1, 1000000,                                      \
      "ts: M, samples an arm; the highest counts")                                                           \
    X(NUMBER, floor, "floor", AGENT, 0, 0, 0, 0, 1,                                                          \
      "probability that a place gets a uniformly random feasible arm, so that logs can be evaluated")        \
    X(CHOICE, floor_by, "floor-by", AGENT, FLOOR_BY_PLACE, FLOOR_BY_PLACE, FLOOR_BY_PLACE, SA_FLOORS_BY,     \
      "what the floor draws at random: the arm of each place, or the whole page")

#define SA_EXPLORATION_SETTINGS(X)                                                                           \
    X(CHOICE, ts_deviation, "ts-deviation", AGENT, DEVIATION_SIGMA, DEVIATION_VARIANCE, DEVIATION_SIGMA,     \
      SA_DEVIATIONS, "ts: a sample deviates by nu sigma, or by nu^2 sigma^2")

#endif

/* Position-based: the score of an arm depends on its place in the slate, h(x, k) = alpha(x) chi(k) or any
 * other function. The model sees the arm's features x with a one-hot position e_k appended, and the oracle a
 * score for each arm and position (the appendix on feedback models, first algorithm). What is seen is what
 * semi-bandit feedback sees. */
#include "feedback/feedback.h"

const sa_feedback sa_feedback_position = {.name = "position",
                                          .summary =
                                              "every arm's score is seen, and depends on its position; needs "
                                              "--slate and an oracle for positions (assignment)",
                                          .observe = sa_feedback_observed};

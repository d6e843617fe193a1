/* Semi-bandit: the score of each arm in the slate, or of those that were seen. */
#include "feedback/feedback.h"

const sa_feedback sa_feedback_semi_bandit = {.name = "semi-bandit",
                                             .summary = "the score of every arm of the slate is seen",
                                             .observe = sa_feedback_observed};

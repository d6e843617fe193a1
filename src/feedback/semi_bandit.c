/* Semi-bandit: the score of each arm in the slate, or of those that were seen. */
#include "feedback/feedback.h"

const sa_feedback sa_feedback_semi_bandit = {"semi-bandit", "the score of every arm of the slate is seen",
                                             sa_feedback_observed};

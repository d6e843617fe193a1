/* Semi-bandit: the score of each arm in the slate, or of those that were seen. */
#include "feedback/feedback.h"

static size_t learn(size_t slate, const bool *observed, size_t *positions) {
    size_t count = 0;
    for (size_t i = 0; i < slate; i++)
        if (!observed || observed[i]) positions[count++] = i;
    return count;
}

const sa_feedback sa_feedback_semi_bandit = {"semi-bandit", "the score of every arm of the slate is seen", learn};
const sa_feedback sa_feedback_document = {"document", "another name for semi-bandit", learn};

#include "feedback/feedback.h"

/* In the order of SA_FEEDBACKS. */
static const sa_feedback *const models[] = {&sa_feedback_semi_bandit, &sa_feedback_position,
                                            &sa_feedback_cascade, &sa_feedback_total};

const sa_feedback *sa_feedback_of(sa_feedback_kind kind) {
    return (size_t)kind < sizeof models / sizeof *models ? models[kind] : NULL;
}

/* The options of feedback. */
#ifndef SA_FEEDBACK_OPTIONS_H
#define SA_FEEDBACK_OPTIONS_H

#include "base/option_rows.h"

#define SA_FEEDBACKS(X)                                                                                      \
    X(FEEDBACK_SEMI_BANDIT, "semi-bandit")                                                                   \
    X(FEEDBACK_POSITION, "position") X(FEEDBACK_CASCADE, "cascade") X(FEEDBACK_TOTAL, "total")
SA_DECLARE_CHOICES(sa_feedback_kind, SA_FEEDBACKS);
#define SA_CASCADE_FORMS(X)                                                                                  \
    X(CASCADE_DISCOUNTED, "discounted") X(CASCADE_LITERAL, "literal") X(CASCADE_UNKNOWN, "unknown")
SA_DECLARE_CHOICES(sa_cascade_form, SA_CASCADE_FORMS);

#define SA_FEEDBACK_OPTIONS(X)                                                                               \
    X(CHOICE, feedback, "feedback", AGENT, FEEDBACK_SEMI_BANDIT, FEEDBACK_SEMI_BANDIT, FEEDBACK_SEMI_BANDIT, \
      SA_FEEDBACKS,                                                                                          \
      "what is seen of a slate: every score, scores that depend on the position, those up to a click, or "   \
      "the total alone")                                                                                     \
    X(CHOICE, cascade_form, "cascade-form", AGENT, CASCADE_LITERAL, CASCADE_DISCOUNTED, CASCADE_DISCOUNTED,  \
      SA_CASCADE_FORMS,                                                                                      \
      "cascade: psi_k f predicts position k; f does, as the paper has it; or discounts are learnt as "       \
      "positions are")                                                                                       \
    X(TEXT, reward_range, "reward-range", AGENT, "",                                                         \
      "LOW,HIGH: feedback outside is refused; unless given, nothing is learnt from scores that are wildly "  \
      "off")

#endif

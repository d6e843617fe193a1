/* The options of choosing. */
#ifndef SA_POLICY_OPTIONS_H
#define SA_POLICY_OPTIONS_H

#include "base/option_rows.h"

#define SA_WIDTHS(X) X(WIDTHS_NEEDED, "needed") X(WIDTHS_ALL, "all")
SA_DECLARE_CHOICES(sa_widths, SA_WIDTHS);

#define SA_POLICY_OPTIONS(X)                                                                                 \
    X(CHOICE, widths, "widths", AGENT, WIDTHS_NEEDED, WIDTHS_NEEDED, WIDTHS_NEEDED, SA_WIDTHS,               \
      "exact widths of the arms that can reach the slate (others get an upper bound), or of all")            \
    X(INTEGER, agent_threads, "agent-threads", AGENT, 1, 1, 1, 1, 64,                                        \
      "threads of one agent while it looks through many arms (top-k); the slates are the same")

#endif

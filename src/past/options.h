/* The options of what is remembered. */
#ifndef SA_PAST_OPTIONS_H
#define SA_PAST_OPTIONS_H

#include "base/option_rows.h"

#define SA_PAST_OPTIONS(X)                                                                                   \
    X(INTEGER, pending_limit, "pending-limit", AGENT, 10000, 10000, 10000, 1, 100000000,                     \
      "decisions kept waiting for feedback; beyond it answered ones are forgotten first, then the oldest")   \
    X(FLAG, count_pending, "count-pending", AGENT, false, false, false,                                      \
      "count chosen arms into Z when they are chosen, not when they are answered")                           \
    X(INTEGER, keep_rows, "keep-rows", AGENT, 0, 0, -1, -1, SA_ANY_INTEGER,                                  \
      "observations kept to train with: the latest where old ones are forgotten, else a sample of all; 0: "  \
      "all, -1: as many as fit in 200 MB")                                                                   \
    X(TEXT, history, "history", AGENT, "",                                                                   \
      "file to keep feedback in instead of memory; run puts the agent's label and the run behind its name")

#endif

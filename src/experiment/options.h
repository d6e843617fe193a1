/* The options of experiments, and of what they write. */
#ifndef SA_EXPERIMENT_OPTIONS_H
#define SA_EXPERIMENT_OPTIONS_H

#include "base/option_rows.h"

#define SA_REGRETS(X) X(REGRET_EXPECTED, "expected") X(REGRET_REALISED, "realised")
SA_DECLARE_CHOICES(sa_regret, SA_REGRETS);

#define SA_OWN_SLATES(X) X(OWN_REFUSE, "refuse") X(OWN_CLIP, "clip") X(OWN_TRUST, "trust")
SA_DECLARE_CHOICES(sa_own_slates, SA_OWN_SLATES);

#define SA_EXPERIMENT_OPTIONS(X)                                                                             \
    X(INTEGER, runs, "runs", EXPERIMENT, 20, 20, 20, 1, 1000000, "R, independent runs")                      \
    X(CHOICE, show_regret, "show-regret", EXPERIMENT, REGRET_EXPECTED, REGRET_REALISED, REGRET_EXPECTED,     \
      SA_REGRETS, "the regret that tables and figures show; files have both")                                \
    X(CHOICE, own_slates, "own-slates", EXPERIMENT, OWN_REFUSE, OWN_REFUSE, OWN_REFUSE, SA_OWN_SLATES,       \
      "a slate of your own code that breaks the problem's rules: an error, without the arms that do, or as " \
      "it is")

#define SA_OUTPUT_OPTIONS(X)                                                                                 \
    X(INTEGER, threads, "threads", OUTPUT, 0, 0, 0, 0, 4096,                                                 \
      "runs at a time; 0: one for each processor that it may use")                                           \
    X(TEXT, out, "out", OUTPUT, "", "folder for the results")                                                \
    X(TEXT, trace, "trace", OUTPUT, "", "file for one JSON line a round")                                    \
    X(TEXT, log, "log", OUTPUT, "", "file for the decision log: JSON lines that `superarm learn` reads")     \
    X(FLAG, resume, "resume", OUTPUT, false, false, false,                                                   \
      "go on with the experiment in --out, also with more runs or agents")                                   \
    X(TEXT, replace, "replace", OUTPUT, "",                                                                  \
      "LABEL: go on with --out, and run this agent again from its first run; LABEL,LABEL for several")       \
    X(TEXT, shard, "shard", OUTPUT, "",                                                                      \
      "I/N: do the I-th of N parts of the runs (from 0), anywhere with the same --out; `superarm report` "   \
      "merges")                                                                                              \
    X(FLAG, progress, "progress", OUTPUT, false, false, false,                                               \
      "show the progress line even where stderr is no terminal")                                             \
    X(FLAG, quiet, "quiet", OUTPUT, false, false, false, "show neither progress nor the table")

#endif

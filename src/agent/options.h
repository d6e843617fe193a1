/* Which agent. */
#ifndef SA_AGENT_OPTIONS_H
#define SA_AGENT_OPTIONS_H

#include "base/option_rows.h"

#define SA_PRESETS(X)                                                                                        \
    X(PRESET_PAPER, "paper")                                                                                 \
    X(PRESET_ICML23, "icml23") X(PRESET_TUNED, "tuned") X(PRESET_SECTION5, "section5")
SA_DECLARE_CHOICES(sa_preset, SA_PRESETS);

#define SA_AGENT_OPTIONS(X)                                                                                  \
    X(CHOICE, preset, "preset", AGENT, PRESET_PAPER, PRESET_ICML23, PRESET_TUNED, SA_PRESETS,                \
      "a full set of options")                                                                               \
    X(TEXT, algorithm, "algorithm", AGENT, "cn-ucb",                                                         \
      "a row of `superarm list algorithms`; run takes several: a,b")

#endif

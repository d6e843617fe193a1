/* Which oracle. */
#ifndef SA_ORACLE_OPTIONS_H
#define SA_ORACLE_OPTIONS_H

#include "base/option_rows.h"

#define SA_ORACLES(X)                                                                                        \
    X(ORACLE_TOP_K, "top-k")                                                                                 \
    X(ORACLE_ASSIGNMENT, "assignment")                                                                       \
    X(ORACLE_CASCADE, "cascade")                                                                             \
    X(ORACLE_KNAPSACK, "knapsack")                                                                           \
    X(ORACLE_MATROID, "matroid")                                                                             \
    X(ORACLE_SHORTEST_PATH, "shortest-path")                                                                 \
    X(ORACLE_MATCHING, "matching")                                                                           \
    X(ORACLE_ASSORTMENT, "assortment")                                                                       \
    X(ORACLE_SUBMODULAR, "submodular") X(ORACLE_ILP, "ilp") X(ORACLE_OWN, "own")
SA_DECLARE_CHOICES(sa_oracle_kind, SA_ORACLES);

#define SA_ORACLE_OPTIONS(X)                                                                                 \
    X(CHOICE, oracle, "oracle", AGENT, ORACLE_TOP_K, ORACLE_TOP_K, ORACLE_TOP_K, SA_ORACLES,                 \
      "what chooses the slate; own: code of the caller")

#endif

/* All oracles, in the order of SA_ORACLES. */
#include "oracle/oracle.h"

static const sa_oracle *const ORACLES[sa_oracle_kind_count] = {
    [SA_ORACLE_TOP_K] = &sa_oracle_top_k,
};

const sa_oracle *sa_oracle_of(sa_oracle_kind kind) { return (unsigned)kind < sa_oracle_kind_count ? ORACLES[kind] : NULL; }

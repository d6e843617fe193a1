/* What regret is measured against: the best slate of a round, and what it earns. */
#ifndef SA_EXPERIMENT_BENCHMARK_H
#define SA_EXPERIMENT_BENCHMARK_H

#include "env/clicks.h"
#include "oracle/oracle.h"

typedef struct sa_benchmark {
    const sa_oracle *oracle;
    const sa_oracle_callbacks *own; /* of the caller's own oracle */
    double alpha;                   /* the share of the best reward that regret is measured against */
    size_t *best;                   /* (most) S* of the scores that were looked at last */
    size_t length;                  /* of it */
    double *clipped;                /* (arms) scores within the oracle's domain */
    sa_workspace workspace;
    uint64_t unproven; /* times that nobody knew S* for sure */
} sa_benchmark;

/* With room for rounds of so many arms and slates of at most `most`; sa_benchmark_clear also after a
 * failure. */
sa_status sa_benchmark_init(sa_benchmark *self, const sa_oracle *oracle, const sa_oracle_callbacks *own,
                            size_t arms, size_t most);
void sa_benchmark_clear(sa_benchmark *self);

/* The oracle's problem under these scores, clipped into its domain: until the next call. */
sa_oracle_problem sa_benchmark_problem(sa_benchmark *self, const double *scores, size_t arms, size_t slate,
                                       const sa_oracle_data *data);
/* Finds S* of a problem; `*worth` is what regret is measured against: alpha R(S*), or, where S* is not
 * known for sure, the reward of the oracle's own slate, which is at least that. */
sa_status sa_benchmark_best(sa_benchmark *self, const sa_oracle_problem *problem, double *worth);
/* S* where users click: the slate that they like best; where the places have rules (data), of those that keep
 * them. */
sa_status sa_benchmark_liked(sa_benchmark *self, const sa_clicks *clicks, const sa_round *round, size_t slate,
                             const sa_oracle_data *data);

#endif

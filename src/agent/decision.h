#ifndef SA_AGENT_DECISION_H
#define SA_AGENT_DECISION_H

#include <superarm/agent.h>

struct sa_decision {
    uint64_t id, event;
    size_t slate, candidates;
    size_t slate_capacity, candidate_capacity;
    size_t *arms;                                 /* (slate) */
    double *estimate, *width, *score;             /* (slate) */
    double *all_estimate, *all_width, *all_score; /* (candidates) */
};

/* Room for a decision of this size; what it holds stays. */
sa_status sa_decision_reserve(sa_decision *decision, size_t slate, size_t candidates);
/* Fills it; there must be room. all_*: (candidates). */
void sa_decision_fill(sa_decision *decision, uint64_t id, uint64_t event, size_t slate, const size_t *arms,
                      size_t candidates, const double *estimate, const double *width, const double *score);

#endif

#ifndef SA_AGENT_REQUEST_H
#define SA_AGENT_REQUEST_H

#include <superarm/agent.h>

struct sa_request {
    const double *contexts; /* (arms, dim), or NULL */
    const float *contexts_float;
    size_t arms;
    size_t slate;
    const bool *excluded;   /* (arms) or NULL */
    const double *expected; /* (arms) or NULL */
    uint64_t event;
};

/* SA_INVALID when nothing can be chosen from it: no contexts, K = 0, K more than the arms that are left. */
sa_status sa_request_check(const sa_request *request);

#endif

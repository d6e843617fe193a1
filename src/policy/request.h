#ifndef SA_POLICY_REQUEST_H
#define SA_POLICY_REQUEST_H

#include <superarm/policy.h>

typedef struct sa_request_parts sa_request_parts;

#define SA_NO_DRAW UINT64_MAX

struct sa_request {
    const double *contexts; /* (arms, dim), or (arms, item_dim) where there are items; or NULL */
    const float *contexts_float;
    size_t arms;
    bool of_items;        /* contexts are features of items, that are to be joined with what they share */
    size_t item_dim;      /* 0: contexts are whole */
    const double *shared; /* (shared_dim), or NULL */
    const float *shared_float;
    size_t shared_dim;
    sa_join join;
    size_t slate;
    bool exactly;           /* no fewer */
    const bool *excluded;   /* (arms) or NULL */
    const double *expected; /* (arms), or (arms, slate) when positional, or NULL */
    bool expected_positional;
    uint64_t event;
    uint64_t draw;             /* SA_NO_DRAW: none was given */
    bool propensities;         /* are wanted in the decision */
    const sa_problem *problem; /* or NULL */
    size_t json_dim;           /* features that the JSON's candidates have; 0: they came otherwise */
    sa_request_parts *parts;   /* what JSON was made into (request_json.c); NULL before the first */
};

/* Lets go of what came by JSON. */
void sa_request_forget_json(sa_request *request);
void sa_request_parts_destroy(sa_request_parts *parts); /* NULL is fine */

/* SA_INVALID when nothing can be chosen from it: no contexts, items that do not join to `dim` features or,
 * where exactly K are wanted, K = 0 or more than the arms that are left. */
sa_status sa_request_check(const sa_request *request, size_t dim, bool exactly);

#endif

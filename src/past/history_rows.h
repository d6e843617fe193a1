/* The rows of a history, on the heap or in a file. */
#ifndef SA_PAST_HISTORY_ROWS_H
#define SA_PAST_HISTORY_ROWS_H

#include <stdint.h>

#include "base/npy.h"
#include "base/reals.h"

typedef struct sa_history {
    sa_precision precision;
    size_t dim;
    size_t positions; /* that are told apart; 0: none */
    bool discounted;  /* are discounts learnt with? */
    bool totals; /* of a decision's scores only the sum is known: it is in the first row, in the others 0 */
    size_t count, capacity;             /* observations */
    void *contexts;                     /* (count, dim), raw: see inputs.h */
    double *scores;                     /* (count) */
    int64_t *position;                  /* (count), or NULL where none are told apart */
    double *psi;                        /* (count), or NULL where none are learnt with */
    size_t answered, answered_capacity; /* decisions */
    int64_t *start; /* (answered) observations there were when the decision was first answered */
    /* of a history that is bounded (learn/keeping.h): what was there and is gone, how often the sample was
     * thinned, and the decisions in front of which all are of the sample */
    uint64_t gone_rows, gone_decisions, thinnings, sampled;
    struct sa_history_file *file; /* where these arrays are mapped from; NULL: they are on the heap */
} sa_history;

/* What a saved agent says of its file. */
typedef struct sa_history_mark {
    uint64_t id[2], number, count, answered;
} sa_history_mark;

#endif

/* A chooser: the workspace of one thread that chooses. All of it is grown as needed and used again. */
#ifndef SA_POLICY_CHOOSER_H
#define SA_POLICY_CHOOSER_H

#include "policy/contexts.h"
#include "policy/policy.h"

/* A block of a request's arms, on its way from contexts to estimates. Blocks make the workspace of a
 * selection independent of how many arms there are, and what is computed of an arm is used while it is in the
 * cache. */
typedef struct sa_block {
    sa_workspace memory; /* of raw contexts */
    /* the contexts at hand: of the arms [first, first + count) of a request (NULL: none), (count, dim) */
    const sa_request *request;
    size_t first, count;
    const void *raw;
    sa_workspace input; /* as the model sees them */
    sa_estimator_work work;
    sa_gradients gradients; /* of the block's arms, where widths are wanted */
} sa_block;

enum { SA_WAVE = 16 }; /* blocks that threads share; the first wave is of one, to find a bar for the others */

/* What is kept of one block of a wave: the scores that can still reach the slate. */
typedef struct sa_survivors {
    size_t *index; /* (count) of the scores, in chooser->survivors */
    size_t count;
    sa_gradients gradients;
    sa_status status;
} sa_survivors;

/* Scores whose widths matter, and their gradients, row by row: those of all blocks so far, or of several
 * requests. */
typedef struct sa_candidates {
    size_t count;
    size_t *index; /* (count) which score of its request a row is, rising within a request */
    double *mean, *draw, *width, *spread, *score; /* (count) */
    double *rank;                                 /* (count) workspace of contests, as are the others */
    size_t *contender, *joint;
    bool *marked; /* those with exact scores, or those that stay */
    sa_gradients gradients;
} sa_candidates;

struct sa_chooser {
    sa_workspace arrays;   /* of the selections in the making */
    sa_workspace memory;   /* of `candidates` */
    sa_workspace survived; /* of `survivors` */
    sa_candidates candidates;
    sa_survivors survivors[SA_WAVE];
    size_t blocks;
    sa_block *block;       /* (blocks) one a thread */
    sa_workspace standard; /* of the two below */
    double *statistics;    /* of --normalize standard, with the requests of this call taken in */
    double *factor;        /* (dim) */
    sa_width_work widths;
    sa_workspace oracle;
};

/* For a call that chooses: fits the workspace to the policy, copies its statistics, and forgets the contexts
 * at hand. */
sa_status sa_chooser_begin(sa_chooser *chooser, const sa_policy *policy);
/* block->raw = the contexts of the request's arms [first, first + count), read unless they are at hand. */
sa_status sa_block_read(sa_block *block, const sa_inputs *inputs, const sa_request *request, size_t first,
                        size_t count);
/* Takes the contexts of a request's arms that can be chosen into the chooser's statistics. */
sa_status sa_chooser_see(sa_chooser *chooser, const sa_policy *policy, const sa_request *request);

#endif

/* A top-k slate out of many arms, in blocks, with memory for few of them.
 *
 * A block's arms get their estimates and gradients, and from the gradients' norms upper bounds of their scores. Arms whose bound
 * can still reach the slate are survivors: their gradients are kept, those of all others are forgotten with the block. When there are
 * many survivors they contend for the slate (contenders.h): the best K stay, with exact scores, and from then on an arm survives
 * only if its bound is above the K-th of these. (One that is as high cannot be chosen: ties go to the lower index, and arms come in
 * order.) So the slate is the same as with all widths.
 *
 * Blocks are taken in waves of WAVE, over the agent's threads; which arms survive a wave hangs on the waves before it alone, and
 * survivors are gathered in order: so what comes out does not hang on how many threads there are. */
#ifndef SA_AGENT_SCAN_H
#define SA_AGENT_SCAN_H

#include "agent/block.h"
#include "rng/stream.h"

struct sa_agent;

enum { SA_SCAN_WAVE = 16 }; /* blocks; the first wave is of one, to find a bar for the others */

/* Arms that can reach the slate, in order; arrays are (capacity). */
typedef struct sa_survivors {
    size_t count, capacity;
    size_t *arm;
    double *mean, *luck, *width, *score, *group_score;
    size_t *contender;
    bool *is_contender;
    sa_gradients gradients;
} sa_survivors;

typedef struct sa_scan {
    sa_survivors survivors;
    struct sa_scan_part {
        size_t *arm; /* (SA_BLOCK_ARMS) the survivors of one block of the wave */
        size_t count;
        sa_gradients gradients;
        sa_status status;
    } part[SA_SCAN_WAVE];
    size_t workers;
    sa_block *worker; /* (workers) blocks of the threads beside the caller's own */
} sa_scan;

void sa_scan_clear(sa_scan *scan); /* a zeroed struct is an empty one */
size_t sa_scan_bytes(const sa_scan *scan, const sa_inputs *inputs);

/* agent->mean, luck, width and score of all arms: width and score exact for all that can reach the slate, and upper bounds for the
 * rest, sure to stay below the slate. The survivors are the slate. What the request's inputs are normalised by is measured. */
sa_status sa_scan_arms(struct sa_agent *agent, const sa_request *request, const sa_stream *stream);
/* The survivors' row that an arm of the slate has. */
size_t sa_scan_row(const sa_scan *scan, size_t arm);

#endif

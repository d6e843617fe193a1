/* The one path from contexts to optimistic scores: a request is walked in blocks.
 *
 * Each block's arms get their estimates and, where widths are wanted, their gradients. Where the widths of
 * all arms are computed, they are computed block by block. Where only those that can reach a top-k slate are,
 * the gradients' norms give upper bounds of the scores: arms whose bound can still reach the slate are
 * candidates, and the gradients of all others are forgotten with the block. When there are many candidates
 * they contend for the slate (contest.h): the best K stay, with exact scores, and from then on an arm is a
 * candidate only if its bound is above the K-th of these. (One that is as high cannot be chosen: ties go to
 * the lower index, and arms come in order.) So the slate is the same as with all widths.
 *
 * Few arms are one block. Several requests of one block each are walked one after the other, and their
 * candidates contend at once, each for its own slate: the engine is asked once for all of them.
 *
 * Blocks are taken in waves of SA_WAVE, over the policy's threads; which arms survive a wave depends on the
 * waves before it alone, and candidates are gathered in order. So what comes out does not depend on how many
 * threads there are. */
#ifndef SA_POLICY_WALK_H
#define SA_POLICY_WALK_H

#include "policy/selection.h"

/* mean, draw, width and score of each of the selections, which are one, or several of one block each. */
sa_status sa_selections_score(const sa_policy *policy, sa_chooser *chooser, sa_selection *selections,
                              size_t count);

#endif

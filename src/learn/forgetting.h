/* Forgetting, for worlds that drift. Time counts answered decisions, and what was learnt from one is forgotten everywhere: in the
 * loss, in Z, in models that observe, in the companion and in the mean and deviation of scores.
 *
 *   --window W     the loss is that of the last W. Of all else the last W count, and up to W / 4 more: every W / 4 decisions what
 *                  is older than W is dropped, and the rest counted anew (taking a gradient out of a factor loses digits).
 *   --discount F   a decision that was answered a decisions ago weighs F^a: Z = lambda I + F (Z - lambda I) + what is new, and so
 *                  do the other sums. The loss leaves out what weighs less than a thousandth. */
#ifndef SA_AGENT_FORGETTING_H
#define SA_AGENT_FORGETTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/npy.h"
#include "base/options.h"
#include "model/gradients.h"

typedef struct sa_agent sa_agent;

typedef struct sa_forgetting {
    size_t window;   /* W; 0: none */
    double factor;   /* F; 1: none */
    size_t reach;    /* decisions that weigh something in the loss; 0: all */
    bool moved;      /* time has moved on already for the decision that is answered next */
    uint64_t oldest; /* decision: none before it counts any more */
    /* with a window, what Z counts, and the decisions that were answered before each */
    bool keeps;
    sa_gradients counted;
    int64_t *stamp; /* (counted) */
    size_t stamp_capacity;
} sa_forgetting;

/* SA_INVALID where the agent's parts cannot forget. */
sa_status sa_forgetting_init(sa_agent *agent);
void sa_forgetting_clear(sa_forgetting *forgetting);
size_t sa_forgetting_bytes(const sa_forgetting *forgetting);

/* The first observation that a training learns from. */
size_t sa_forgetting_first(const sa_agent *agent);
/* The first that a Z made anew of the history counts. */
size_t sa_forgetting_first_counted(const sa_agent *agent);
/* What an observation of the history weighs. */
double sa_forgetting_weight(const sa_agent *agent, size_t observation);

/* Before a decision's first feedback: time moves on. On failure, and where what follows fails, the next call goes on from there:
 * nothing is forgotten twice. */
sa_status sa_forgetting_move(sa_agent *agent);
/* Counts gradients into Z, as its `count` does, and remembers them for as long as the window says; `decision`: how many were
 * answered before theirs. */
sa_status sa_forgetting_count(sa_agent *agent, const sa_gradients *batch, uint64_t ticket, const size_t *rows,
                              size_t decision);
sa_status sa_forgetting_save(const sa_forgetting *forgetting, sa_npz_writer *writer);
sa_status sa_forgetting_load(sa_agent *agent, sa_npz *archive);

#endif

/* Which arms need their exact width? For a top-k slate only those whose score can reach it.
 *
 * Every width lies between 0 and sqrt(g'g / lambda), since Z >= lambda I; so every score has an upper and a lower bound before
 * Z is looked at. An arm whose upper bound is below the K-th highest lower bound is out. While too many are in, the engine
 * tightens their bounds. The arms with the highest upper bounds are then scored exactly; whoever's bound is below the K-th of
 * their scores is out, and the few others are scored too. The slate is the same as with all widths, where scores differ by more than
 * rounding. */
#ifndef SA_AGENT_CONTENDERS_H
#define SA_AGENT_CONTENDERS_H

#include "agent/agent.h"

/* Arms that contend for a slate; all arrays are (arms). */
typedef struct sa_contest {
    size_t first; /* of their rows in the batch of gradients */
    size_t arms, slate;
    const bool *excluded; /* or NULL */
    const double *mean, *luck;
    double *width, *score;
    bool bounded; /* width has upper bounds already, and score what they allow */
    double floor; /* the slate's least score is known not to be below; -INFINITY: nothing is known */
    /* workspace */
    double *group_score;
    size_t *contender;
    bool *is_contender;
    size_t contenders; /* that are in `contender` */
} sa_contest;

/* width, exact for the contenders and an upper bound for the rest; score likewise, with a rest that is sure to stay below the
 * slate. There are at least as many arms as the slate wants, and there is room in agent->slate. Several contests are held at once:
 * what the engine is asked for, it is asked for all of them, but each comes out as it would alone. Their widths are parts of one
 * array. */
sa_status sa_score_contenders(sa_agent *agent, const sa_gradients *gradients, sa_contest *contests, size_t count,
                              uint64_t *ticket);

/* The highest score that a width up to this one allows. */
double sa_highest_score(const sa_agent *agent, double mean, double luck, double width);

#endif

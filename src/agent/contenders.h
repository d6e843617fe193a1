/* Which arms need their exact width? For a top-k slate only those whose score can reach it.
 *
 * Every width lies between 0 and sqrt(g'g / lambda), since Z >= lambda I; so every score has an upper and a lower bound before
 * Z is looked at. An arm whose upper bound is below the K-th highest lower bound is out. While too many are in, the engine
 * tightens their bounds. The arms with the highest upper bounds are then scored exactly; whoever's bound is below the K-th of
 * their scores is out, and the few others are scored too. The slate is the same as with all widths. */
#ifndef SA_AGENT_CONTENDERS_H
#define SA_AGENT_CONTENDERS_H

#include "agent/agent.h"

/* agent->width (arms), exact for the contenders and an upper bound for the rest; agent->score likewise, with a rest that is
 * sure to stay below the slate. agent->mean and agent->luck are known. */
sa_status sa_score_contenders(sa_agent *agent, const sa_request *request, uint64_t *ticket);

#endif

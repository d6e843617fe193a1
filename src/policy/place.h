/* The floor by place: place by place the slate gets, with probability 1 - E, the algorithm's own choice among
 * the arms left, which is what its oracle puts there when the places before stay as they are; else a
 * uniformly random one of those that keep the slate feasible (oracle/extend.h). */
#ifndef SA_POLICY_PLACE_H
#define SA_POLICY_PLACE_H

#include "policy/selection.h"

/* SA_INVALID where the arms that keep a slate of this request feasible cannot be told. */
sa_status sa_place_check(const sa_policy *policy, const sa_selection *selection);
/* Puts the floor's arms, and what follows from them, into the oracle's slate. */
sa_status sa_place_draw(const sa_policy *policy, sa_selection *selection);

#endif

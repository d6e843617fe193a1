/* The coins of the floor of exploration. By page, draw 0 of a decision's stream is the coin; by place, draw
 * 2 k is that of place k, and draw 2 k + 1 says which arm. */
#ifndef SA_POLICY_COINS_H
#define SA_POLICY_COINS_H

#include "policy/policy.h"
#include "policy/request.h"
#include "rng/stream.h"

/* `round`: of the decision, where the request has no draw of its own. */
sa_stream sa_coins(const sa_policy *policy, const sa_request *request, uint64_t round);
/* Is place k the floor's? */
bool sa_coin_is_floors(const sa_policy *policy, const sa_stream *coins, size_t k);
/* Is the slate, or a place of it? */
bool sa_coins_any(const sa_policy *policy, const sa_stream *coins, size_t slate);

#endif

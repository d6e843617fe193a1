#include "policy/coins.h"

sa_stream sa_coins(const sa_policy *policy, const sa_request *request, uint64_t round) {
    return sa_stream_at(policy->seed, SA_PURPOSE_FLOOR, policy->run,
                        request->draw == SA_NO_DRAW ? round : request->draw);
}

bool sa_coin_is_floors(const sa_policy *policy, const sa_stream *coins, size_t k) {
    return sa_draw_uniform(coins, 2 * k) < policy->floor;
}

bool sa_coins_any(const sa_policy *policy, const sa_stream *coins, size_t slate) {
    for (size_t k = 0; k < (policy->floor_by_place ? slate : 1) && policy->floor > 0; k++)
        if (sa_coin_is_floors(policy, coins, k)) return true;
    return false;
}

#include "policy/place.h"

#include "base/memory.h"
#include "oracle/extend.h"
#include "policy/coins.h"

sa_status sa_place_check(const sa_policy *policy, const sa_selection *selection) {
    sa_extender extender;
    const sa_oracle_problem problem = sa_selection_problem(policy, selection);
    if (policy->oracle != &sa_oracle_assignment || !sa_rules_given(&problem)) return SA_OK;
    sa_status status = sa_extender_begin(policy->oracle, &problem, &extender);
    sa_extender_clear(&extender);
    return status;
}

static size_t arm_at(const bool *open, uint64_t which) {
    for (size_t arm = 0;; arm++)
        if (open[arm] && which-- == 0) return arm;
}

sa_status sa_place_draw(const sa_policy *policy, sa_selection *selection) {
    const sa_oracle_problem problem = sa_selection_problem(policy, selection);
    const sa_stream stream = sa_coins(policy, selection->request, selection->round);
    sa_extender extender;
    bool *open = NULL;
    sa_status status;
    SA_TRY_OR_FAIL(sa_extender_begin(policy->oracle, &problem, &extender));
    SA_TRY_OR_FAIL(sa_alloc_array(problem.arms, sizeof *open, &open));
    for (size_t k = 0; k < selection->slate; k++) {
        if (!sa_coin_is_floors(policy, &stream, k)) continue;
        size_t count = sa_extender_open(&extender, &problem, selection->arms, k, open);
        size_t arm = arm_at(open, sa_draw_below(&stream, 2 * k + 1, count));
        SA_TRY_OR_FAIL(
            sa_extender_take(&extender, &problem, selection->oracle_arms, k, arm, selection->arms));
    }
fail:
    sa_free(open);
    sa_extender_clear(&extender);
    return status;
}

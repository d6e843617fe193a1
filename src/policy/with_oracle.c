/* A policy for one request: with another oracle's rules, or by chance alone; and slates that others bring to
 * it. */
#include "base/memory.h"
#include "policy/feasible.h"
#include "policy/policy.h"

sa_status sa_policy_with_oracle(sa_policy *policy, const char *name, sa_policy **out) {
    if (!policy || !out) return sa_fail(SA_INVALID, "sa_policy_with_oracle needs a policy and a place");
    const sa_oracle *oracle = sa_oracle_find(name);
    if (!oracle) return SA_INVALID;
    if (oracle->missing) return sa_fail(SA_UNSUPPORTED, "%s", oracle->missing);
    if (policy->estimator.inputs.positions && !oracle->positions)
        return sa_fail(SA_INVALID, "%s takes one score an arm, and this policy has one for each position",
                       oracle->name);
    if (policy->floor > 0) SA_TRY(sa_feasible_check(oracle));
    SA_TRY(sa_policy_copy(policy, out));
    (*out)->oracle = oracle;
    return SA_OK;
}

sa_status sa_policy_by_chance(sa_policy *policy, bool by_place, sa_policy **out) {
    if (!policy || !out) return sa_fail(SA_INVALID, "sa_policy_by_chance needs a policy and a place");
    SA_TRY(sa_feasible_check(policy->oracle));
    SA_TRY(sa_policy_copy(policy, out));
    (*out)->floor = 1;
    (*out)->floor_by_place = by_place;
    return SA_OK;
}

/* Arms of the request, each once, and none that it excludes. */
static sa_status check_arms(const sa_request *request, const size_t *arms, size_t n) {
    bool *seen;
    sa_status status = SA_OK;
    SA_TRY(sa_alloc_array(request->arms, sizeof *seen, &seen)); /* zeroed */
    for (size_t k = 0; k < n && status == SA_OK; k++) {
        if (arms[k] >= request->arms)
            status = sa_fail(SA_INVALID, "it has arm %zu, and there are %zu", arms[k], request->arms);
        else if (request->excluded && request->excluded[arms[k]])
            status = sa_fail(SA_INVALID, "it has arm %zu, which the request excludes", arms[k]);
        else if (seen[arms[k]])
            status = sa_fail(SA_INVALID, "it has arm %zu twice", arms[k]);
        else
            seen[arms[k]] = true;
    }
    sa_free(seen);
    return status;
}

sa_status sa_policy_verify(const sa_policy *policy, const sa_request *request, const size_t *arms, size_t n) {
    sa_selection selection;
    sa_workspace workspace = {0};
    if (!policy || !request || (!arms && n > 0))
        return sa_fail(SA_INVALID, "sa_policy_verify needs a policy, a request and arms");
    SA_TRY(sa_selection_prepare(policy, request, 0, &selection));
    SA_TRY(check_arms(request, arms, n));
    const sa_oracle_problem problem = sa_selection_problem(policy, &selection);
    sa_status status = sa_slate_verify(policy->oracle, &problem, &workspace, arms, n);
    sa_workspace_clear(&workspace);
    return status;
}

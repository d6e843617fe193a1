/* A policy for one request that has another oracle's rules. */
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

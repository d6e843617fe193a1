#include "policy/policy.h"

#include "base/memory.h"

sa_status sa_policy_create(sa_policy **out) { return sa_alloc_array(1, sizeof **out, out); }

sa_policy *sa_policy_retain(sa_policy *policy) { return sa_hold(policy); }

void sa_policy_release(sa_policy *policy) {
    if (!policy || !sa_is_last(policy)) return;
    sa_estimator_clear(&policy->estimator);
    sa_gradients_clear(&policy->none);
    sa_confidence_destroy(policy->confidence);
    sa_free(policy);
}

sa_status sa_policy_copy(const sa_policy *policy, sa_policy **out) {
    sa_policy *copy;
    SA_TRY(sa_policy_create(&copy));
    *copy = *policy;
    copy->none = (sa_gradients){0};
    sa_status status = sa_gradients_init_like(&copy->none, policy->none.precision, &policy->none);
    if (status != SA_OK) {
        sa_free(copy);
        return status;
    }
    copy->estimator = sa_estimator_hold(&policy->estimator);
    copy->confidence = sa_hold(policy->confidence);
    *out = copy;
    return SA_OK;
}

sa_status sa_policy_unshare(sa_policy **policy) {
    sa_policy *copy;
    if (!sa_is_shared(*policy)) return SA_OK;
    SA_TRY(sa_policy_copy(*policy, &copy));
    sa_policy_release(*policy);
    *policy = copy;
    return SA_OK;
}

/* A sample's deviation is in units of sqrt(lambda) width already, with the lambda that was given. */
double sa_policy_unit(const sa_policy *policy) {
    if (!(policy->deviation > 0)) return policy->estimator.scale;
    return policy->deviation / (policy->exploration.kind->varies ? policy->exploration.root_lambda : 1);
}

/* A policy with another oracle than its agent's chooses as the agent would that was made with it; and which
 * oracle a problem's data are for. */
#include "test_agent_rig.h"

enum { ARMS = 8 };

static const double COSTS[ARMS] = {1, 2, 3, 4, 1, 2, 3, 4};
static const size_t GROUPS[ARMS] = {0, 0, 0, 0, 1, 1, 1, 1}, CAPACITIES[2] = {1, 1};

/* Both have learnt the same; slates are asked for without an id. */
static void choose(sa_policy *policy, sa_problem *problem, uint64_t seed, sa_decision **decision) {
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = sa_request_new();
    sa_request_contexts(request, rig_contexts(seed), ARMS);
    sa_request_slate(request, 2);
    sa_request_problem(request, problem);
    sa_request_draw(request, seed);
    assert_ok(sa_policy_select(policy, chooser, request, decision));
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
}

static void test_same_as_made_with_it(void **state) {
    (void)state;
    sa_agent *plain = rig_create("algorithm=cn-ts hidden=3"),
             *made = rig_create("algorithm=cn-ts oracle=knapsack hidden=3");
    sa_policy *top = NULL, *knapsack = NULL, *wanted = NULL;
    sa_decision *one = NULL, *other = NULL;
    sa_problem *problem = sa_problem_new();
    sa_problem_costs(problem, COSTS, ARMS);
    sa_problem_capacity(problem, 4);
    assert_ok(sa_agent_policy(plain, &top));
    assert_ok(sa_agent_policy(made, &wanted));
    assert_ok(sa_policy_with_oracle(top, "knapsack", &knapsack));
    sa_policy_release(top);
    sa_agent_destroy(plain); /* what it shares, it has */
    for (uint64_t seed = 0; seed < 20; seed++) {
        choose(knapsack, problem, seed, &one);
        choose(wanted, problem, seed, &other);
        size_t length = sa_decision_slate(one);
        assert_int_equal(length, sa_decision_slate(other));
        double spent = 0;
        for (size_t k = 0; k < length; k++) {
            assert_int_equal(sa_decision_arms(one)[k], sa_decision_arms(other)[k]);
            assert_true(sa_decision_widths(one)[k] == sa_decision_widths(other)[k]);
            spent += COSTS[sa_decision_arms(one)[k]];
        }
        assert_true(spent <= 4);
    }
    sa_policy *none = NULL;
    assert_int_equal(sa_policy_with_oracle(knapsack, "knapsak", &none), SA_INVALID);
    assert_int_equal(sa_policy_with_oracle(NULL, "knapsack", &none), SA_INVALID);
    sa_policy_release(knapsack);
    sa_policy_release(wanted);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_problem_destroy(problem);
    sa_agent_destroy(made);
}

static void test_what_does_not_go_with_it(void **state) {
    (void)state;
    sa_policy *policy = NULL, *other = NULL;
    sa_agent *agent = rig_create("hidden=3 floor=0.1");
    assert_ok(sa_agent_policy(agent, &policy));
    assert_int_equal(sa_policy_with_oracle(policy, "knapsack", &other), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--floor"));
    assert_ok(sa_policy_with_oracle(policy, "matroid", &other));
    sa_policy_release(policy);
    sa_policy_release(other);
    sa_agent_destroy(agent);
    agent = rig_create("hidden=3 feedback=position");
    assert_ok(sa_agent_policy(agent, &policy));
    assert_int_equal(sa_policy_with_oracle(policy, "matroid", &other), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "position"));
    sa_policy_release(policy);
    sa_agent_destroy(agent);
}

static void test_what_data_are_for(void **state) {
    (void)state;
    const char *name = NULL;
    sa_problem *problem = sa_problem_new();
    assert_ok(sa_problem_oracle(problem, false, &name));
    assert_string_equal(name, "top-k");
    sa_problem_groups(problem, GROUPS, ARMS);
    sa_problem_capacities(problem, CAPACITIES, 2);
    assert_ok(sa_problem_oracle(problem, false, &name));
    assert_string_equal(name, "matroid");
    assert_ok(sa_problem_oracle(problem, true, &name));
    assert_string_equal(name, "assignment");
    assert_ok(sa_problem_is_read(problem, "matroid"));
    assert_int_equal(sa_problem_is_read(problem, "top-k"), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "groups: top-k does not look at it"));
    assert_non_null(strstr(sa_last_error(), "assignment or matroid does"));
    sa_problem_costs(problem, COSTS, ARMS);
    assert_int_equal(sa_problem_oracle(problem, false, &name), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "costs, groups, capacities"));
    assert_int_equal(sa_problem_is_read(problem, "matroid"), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "knapsack does"));
    sa_problem_seconds(problem, 1); /* no rule */
    assert_int_equal(sa_problem_is_read(problem, "nothing"), SA_INVALID);
    assert_int_equal(sa_problem_is_read(NULL, "top-k"), SA_INVALID);
    sa_problem_destroy(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_as_made_with_it),
                                       cmocka_unit_test(test_what_does_not_go_with_it),
                                       cmocka_unit_test(test_what_data_are_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a bonus makes of the arms and places of a request: it grows with the arms that may be chosen for each
 * place, so excluded ones do not count, and a slate without a limit is one of as many places as arms. */
#include "test_agent_rig.h"

#include "agent/agent.h"

enum { ARMS = 9, DOUBLE = 2 * ARMS };

typedef struct scores {
    double estimate[DOUBLE], width[DOUBLE], score[DOUBLE]; /* (arms) */
} scores;

static sa_policy *learnt(const char *text) {
    sa_agent *agent = rig_create(text);
    sa_policy *policy = NULL;
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 20; id++) {
        rig_select(agent, id, ARMS, 2, &decision);
        rig_answer(agent, id, 2);
    }
    assert_ok(sa_agent_policy(agent, &policy));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    return policy;
}

static scores estimate(const sa_policy *policy, size_t arms, size_t slate, const bool *excluded) {
    scores out;
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = sa_request_new();
    sa_request_contexts(request, rig_contexts(100), arms);
    sa_request_slate(request, slate);
    sa_request_exclude(request, excluded);
    assert_ok(sa_policy_estimate(policy, chooser, request, out.estimate, out.width, out.score));
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
    return out;
}

/* estimate + gamma sqrt(g) (d + e g^2) width, with d and e of the policy (test_learn_bonus.c has those). */
static void check(const sa_policy *policy, const scores *seen, size_t arms, double free, double places) {
    double more = log(1 + free / places) / log(6);
    double unit = sqrt(more) * (policy->deviation + policy->early * more * more);
    assert_true(policy->deviation > 0 && policy->early > 0);
    for (size_t i = 0; i < arms; i++)
        assert_float_equal((seen->score[i] - seen->estimate[i]) / (unit * seen->width[i]), 1, 1e-9);
}

static void it_follows_the_arms_a_place(void **state) {
    (void)state;
    static const size_t slates[] = {1, 2, ARMS - 1, ARMS, 0, 10 * ARMS, SIZE_MAX};
    sa_policy *top = learnt("precision=double companion=false"), *policy = NULL;
    assert_ok(sa_policy_with_oracle(top, "knapsack", &policy)); /* takes any K */
    sa_policy_release(top);
    for (size_t i = 0; i < sizeof slates / sizeof *slates; i++) {
        size_t places = slates[i] > 0 && slates[i] < ARMS ? slates[i] : ARMS;
        scores seen = estimate(policy, ARMS, slates[i], NULL);
        check(policy, &seen, ARMS, ARMS, (double)places);
    }
    sa_policy_release(policy);
}

/* Arms that may not be chosen are as if they were not there, for networks with a companion, too. */
static void excluded_arms_do_not_count(void **state) {
    (void)state;
    static const char *const texts[] = {"precision=double companion=false", "precision=double",
                                        "algorithm=cn-ts"};
    bool excluded[DOUBLE] = {false};
    for (size_t i = ARMS; i < DOUBLE; i++) excluded[i] = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sa_policy *policy = learnt(texts[i]);
        scores alone = estimate(policy, ARMS, 2, NULL), beside = estimate(policy, DOUBLE, 2, excluded),
               all = estimate(policy, DOUBLE, 2, NULL);
        assert_memory_equal(alone.score, beside.score, ARMS * sizeof(double));
        for (size_t a = 0; a < ARMS; a++) assert_true(all.score[a] != alone.score[a]);
        if (i == 0) check(policy, &beside, ARMS, ARMS, 2);
        sa_policy_release(policy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_follows_the_arms_a_place),
        cmocka_unit_test(excluded_arms_do_not_count),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

/* The caller's own oracle in an experiment. */
#include "test_experiment_own.h"

typedef struct top_arms {
    atomic_size_t calls;
    int code;
    double bonus; /* of a reward of its own */
} top_arms;

/* The K largest scores, best first, ties to the lower index. */
static int top_solve(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    top_arms *self = user;
    bool taken[ARMS] = {false};
    assert_true(arms == ARMS && most == SLATE && !excluded);
    self->calls++;
    for (size_t k = 0; k < most; k++) {
        size_t top = arms;
        for (size_t i = 0; i < arms; i++)
            if (!taken[i] && (top == arms || scores[i] > scores[top])) top = i;
        taken[slate[k] = top] = true;
    }
    *length = most;
    return self->code;
}

static double top_reward(void *user, const double *scores, size_t arms, const size_t *slate, size_t length) {
    double sum = ((top_arms *)user)->bonus;
    assert_true(arms == ARMS);
    for (size_t i = 0; i < length; i++) sum += scores[slate[i]];
    return sum;
}

static void test_oracle(void **state) {
    (void)state;
    top_arms self = {0};
    sa_oracle_callbacks calls = {.solve = top_solve, .user = &self, .alpha = 1};
    sa_experiment *plain = with_agents(small("h2")), *own = with_agents(small("h2"));
    set(own, "out", inside(folder, "oracle"));
    ok(sa_experiment_own_oracle(own, &calls));
    ok(sa_experiment_agent(own, "builtin:algorithm=cn-ucb,oracle=top-k"));
    ok(sa_experiment_run(plain, NULL, NULL));
    ok(sa_experiment_run(own, NULL, NULL));
    assert_true(self.calls ==
                3 * AGENT_COUNT * RUNS * ROUNDS); /* the slate, and the best one for two regrets */
    for (size_t i = 0; i <= AGENT_COUNT; i++) {
        sa_agent_result one = result_of(plain, i == AGENT_COUNT ? 0 : i), other = result_of(own, i);
        assert_same_curves(&one, &other);
    }
    refused(run(folder, "run %s --out %s", inside(folder, "oracle/spec.yaml"), inside(folder, "again")),
            "--oracle own is the caller's own code");

    /* alpha and a reward of its own: nobody knows the best slate then, and regret is against the oracle's */
    calls = (sa_oracle_callbacks){.solve = top_solve, .user = &self, .alpha = 0.5, .reward = top_reward};
    self.bonus = 2;
    set(own, "out", "");
    ok(sa_experiment_own_oracle(own, &calls));
    ok(sa_experiment_run(own, NULL, NULL));
    sa_agent_result best = result_of(plain, 3), half = result_of(own, 3);
    for (size_t run = 0; run < RUNS; run++) {
        double expected = half.expected_regret[(run + 1) * ROUNDS - 1],
               reward = best.reward[(run + 1) * ROUNDS - 1];
        assert_true(fabs(expected) < 1e-9);
        assert_true(fabs(half.reward[(run + 1) * ROUNDS - 1] - reward - 2 * ROUNDS) < 1e-9);
    }
    assert_non_null(strstr(half.note, "regret against the slate of the oracle own"));
    assert_string_equal(best.note, "");
    self.bonus = NAN;
    assert_says(sa_experiment_run(own, NULL, NULL), SA_INVALID, "the reward of a slate is nan");
    self.code = 4;
    set(own, "threads", "1"); /* of several the first to fail would speak, whoever that is */
    assert_says(sa_experiment_run(own, NULL, NULL), SA_CALLBACK, "your oracle failed with code 4");
    assert_non_null(strstr(sa_last_error(), "agent ucb, run 0, round 1: "));
    sa_experiment_destroy(own);
    sa_experiment_destroy(plain);

    own = small("h2");
    calls.alpha = 0;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "alpha of your oracle is 0");
    calls.alpha = 1;
    calls.positions = true;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "one for each position");
    calls.solve = NULL;
    assert_says(sa_experiment_own_oracle(own, &calls), SA_INVALID, "needs a solve callback");
    set(own, "oracle", "own");
    assert_says(sa_experiment_check(own), SA_INVALID, "--oracle own is the caller's own code");
    sa_experiment_destroy(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

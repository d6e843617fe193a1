/* What the tests of the caller's own code in an experiment share. */
#ifndef TEST_EXPERIMENT_OWN_H
#define TEST_EXPERIMENT_OWN_H

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "program.h"
#include "test_own_folder.h"
#include "test_parts.h"

enum { RUNS = 3, ROUNDS = 30, ARMS = 8, SLATE = 3, DIM = 5 };

static inline void ok(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static inline void set(sa_experiment *experiment, const char *name, const char *value) {
    ok(sa_experiment_set(experiment, name, value));
}

static inline sa_experiment *small(const char *environment) {
    sa_experiment *experiment = sa_experiment_new();
    set(experiment, "environment", environment);
    set(experiment, "runs", "3");
    set(experiment, "slate", "3");
    set(experiment, "hidden", "8");
    set(experiment, "train-steps", "5");
    set(experiment, "threads", "2");
    test_experiment_share(experiment);
    if (strcmp(environment, "h2")) return experiment;
    set(experiment, "rounds", "30");
    set(experiment, "arms", "8");
    set(experiment, "dim", "5");
    return experiment;
}

static inline void assert_says(sa_status status, sa_status wanted, const char *words) {
    assert_int_equal(status, wanted);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" has no \"%s\"", sa_last_error(), words);
}

static inline sa_agent_result result_of(const sa_experiment *experiment, size_t index) {
    sa_agent_result result;
    ok(sa_experiment_result(experiment, index, &result));
    return result;
}

static inline void assert_same_curves(const sa_agent_result *one, const sa_agent_result *other) {
    assert_true(one->runs == other->runs && one->rounds == other->rounds);
    size_t size = one->runs * one->rounds * sizeof(double);
    assert_memory_equal(one->expected_regret, other->expected_regret, size);
    assert_memory_equal(one->realised_regret, other->realised_regret, size);
    assert_memory_equal(one->reward, other->reward, size);
}

static const char *const AGENTS[] = {"ucb:algorithm=cn-ucb", "ts:algorithm=cn-ts",
                                     "linear:algorithm=comblin-ucb", "best:algorithm=best"};
enum { AGENT_COUNT = sizeof AGENTS / sizeof *AGENTS };

static inline sa_experiment *with_agents(sa_experiment *experiment) {
    for (size_t i = 0; i < AGENT_COUNT; i++) ok(sa_experiment_agent(experiment, AGENTS[i]));
    return experiment;
}

#endif

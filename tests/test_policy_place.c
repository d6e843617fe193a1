/* A policy with a floor by place: the probability of every slate against enumeration, to 1e-9, and against
 * how often it is chosen, within four standard errors (PROPENSITY_DRAWS: how many slates), under top-k, a
 * partition matroid, and an assignment with groups, minimums, a pin and arms that exclude each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "test_parts.h"
#include "test_place_reference.h"

enum { DIM = 4 };
static const double E = 0.3;

static void must(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static unsigned seed = 1;
static double uniform(void) {
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24) - 0.5;
}

typedef struct rig {
    sa_agent *agent;
    sa_policy *policy;
    sa_chooser *chooser;
    sa_request *request;
    double contexts[ARMS * DIM];
} rig;

static sa_status create(const char *algorithm, const char *oracle, const char *feedback, sa_agent **agent) {
    const char *const settings[] = {"algorithm", algorithm, "oracle",    oracle, "feedback", feedback,
                                    "floor",     "0.3",     "dim",       "4",    "slate",    "3",
                                    "hidden",    "8",       "normalize", "none", "gamma",    "1"};
    sa_options *options = sa_options_new("paper");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i += 2)
        must(sa_options_set_any(options, settings[i], settings[i + 1]));
    sa_status status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

/* An agent that has learnt from a few slates, frozen. */
static void begin(rig *self, const char *algorithm, const char *oracle, const char *feedback,
                  const sa_problem *problem) {
    *self = (rig){.chooser = sa_chooser_new(), .request = sa_request_new()};
    must(create(algorithm, oracle, feedback, &self->agent));
    sa_request_slate(self->request, SLATE);
    sa_request_problem(self->request, problem);
    sa_decision *decision = NULL;
    for (size_t round = 0; round < 12; round++) {
        for (size_t i = 0; i < ARMS * DIM; i++) self->contexts[i] = uniform();
        sa_request_contexts(self->request, self->contexts, ARMS);
        must(sa_agent_select(self->agent, self->request, &decision));
        double scores[SLATE];
        for (size_t k = 0; k < SLATE; k++)
            scores[k] = self->contexts[sa_decision_arms(decision)[k] * DIM + k] + 0.1 * uniform();
        must(sa_agent_update(self->agent, sa_decision_id(decision), scores, NULL, SLATE));
    }
    sa_decision_destroy(decision);
    must(sa_agent_policy(self->agent, &self->policy));
}

static void end(rig *self) {
    sa_policy_release(self->policy);
    sa_chooser_destroy(self->chooser);
    sa_request_destroy(self->request);
    sa_agent_destroy(self->agent);
}

/* (K) of the first k arms, by the rules and scores alone. */
static void enumerate(const rules *known, const size_t *slate, double *prefix) {
    double product = 1;
    for (size_t k = 0; k < SLATE; k++) {
        size_t own = product > 0 ? own_of(known, slate, k) : SIZE_MAX, count = 0;
        for (size_t a = 0; a < ARMS && product > 0; a++) count += can_take(known, slate, k, a);
        bool can = count && can_take(known, slate, k, slate[k]);
        product *= (can ? E / (double)count : 0) + (own == slate[k] ? 1 - E : 0);
        prefix[k] = product;
    }
}

static void count_draws(rig *self, const rules *known, size_t draws, size_t *hits) {
    sa_decision *decision = NULL;
    memset(hits, 0, CODES * sizeof *hits);
    for (uint64_t i = 0; i < draws; i++) {
        sa_request_draw(self->request, i);
        must(sa_policy_select(self->policy, self->chooser, self->request, &decision));
        const size_t *arms = sa_decision_arms(decision);
        assert_true(keeps(known, arms));
        hits[(arms[0] * ARMS + arms[1]) * ARMS + arms[2]]++;
    }
    sa_decision_destroy(decision);
}

static void check(const char *oracle, const char *feedback, rules *known, const sa_problem *problem) {
    static size_t hits[CODES];
    const char *given = getenv("PROPENSITY_DRAWS");
    size_t draws = given ? (size_t)atol(given) : 30000;
    rig self;
    double all = 0;
    begin(&self, "cn-ucb", oracle, feedback, problem);
    must(sa_policy_estimate(self.policy, self.chooser, self.request, NULL, NULL, known->scores));
    count_draws(&self, known, draws, hits);
    for (size_t code = 0, slate[SLATE]; code < CODES; code++) {
        double prefix[SLATE], own[SLATE], position[SLATE], joint, error;
        slate_of(code, slate);
        if (slate[0] == slate[1] || slate[0] == slate[2] || slate[1] == slate[2]) continue;
        enumerate(known, slate, prefix);
        must(sa_policy_propensities(self.policy, self.chooser, self.request, slate, SLATE, &joint, own,
                                    position, NULL, NULL));
        for (size_t k = 0; k < SLATE; k++)
            if (!(fabs(own[k] - prefix[k]) < 1e-9))
                fail_msg("%s: %.12g, and by enumeration %.12g", oracle, own[k], prefix[k]);
        assert_true(isnan(position[1]) == (strcmp(oracle, "top-k") != 0));
        error = sqrt(joint * (1 - joint) / (double)draws) + 1e-9;
        if (fabs((double)hits[code] / (double)draws - joint) > 4 * error)
            fail_msg("%s: %zu of %zu slates, and the probability is %.6f", oracle, hits[code], draws, joint);
        all += joint;
    }
    assert_true(fabs(all - 1) < 1e-9);
    end(&self);
}

static void test_top_k(void **state) {
    (void)state;
    rules known = {0};
    check("top-k", "semi-bandit", &known, NULL);
}

static void test_matroid(void **state) {
    (void)state;
    rules known = {.grouped = true, .groups = {0, 0, 0, 1, 1, 2}, .most = {2, 1, 1}};
    sa_problem *problem = sa_problem_new();
    sa_problem_groups(problem, known.groups, ARMS);
    sa_problem_capacities(problem, known.most, 3);
    sa_problem_exactly(problem, true);
    check("matroid", "semi-bandit", &known, problem);
    sa_problem_destroy(problem);
}

/* Groups with limits from both sides, and arm 4 pinned to the second place; then arms 0, 1 and 2 exclude each
 * other and the last place takes few. */
static void test_assignment(void **state) {
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        rules known = {.grouped = i == 0,
                       .groups = {0, 0, 0, 1, 1, 2},
                       .most = {2, 2, 1},
                       .least = {1, 0, 0},
                       .placed = true,
                       .positional = true};
        static const size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
        for (size_t a = 0; a < ARMS; a++) {
            known.eligible[a] = true;
            known.eligible[ARMS + a] = i == 1 || a == 4;
            known.eligible[2 * ARMS + a] = i == 0 || a < 4;
        }
        sa_problem *problem = sa_problem_new();
        sa_problem_eligible(problem, known.eligible, SLATE, ARMS);
        if (known.grouped) {
            sa_problem_groups(problem, known.groups, ARMS);
            sa_problem_capacities(problem, known.most, 3);
            sa_problem_minimums(problem, known.least, 3);
        } else {
            known.pair_count = 3;
            memcpy(known.pairs, pairs, sizeof pairs);
            sa_problem_exclusions(problem, &pairs[0][0], 3);
        }
        check("assignment", "position", &known, problem);
        sa_problem_destroy(problem);
    }
}

/* All places alike, which the oracle sorts; and scores of each position without rules. */
static void test_plain_assignment(void **state) {
    (void)state;
    rules grouped = {.grouped = true, .groups = {0, 0, 0, 1, 1, 2}, .most = {2, 1, 1}, .least = {0, 1, 0}},
          positional = {.positional = true};
    sa_problem *problem = sa_problem_new();
    sa_problem_groups(problem, grouped.groups, ARMS);
    sa_problem_capacities(problem, grouped.most, 3);
    sa_problem_minimums(problem, grouped.least, 3);
    check("assignment", "semi-bandit", &grouped, problem);
    sa_problem_destroy(problem);
    check("assignment", "position", &positional, NULL);
}

/* Rules that cannot be counted are refused, and the other floor names this one. */
static void test_refused(void **state) {
    (void)state;
    static const size_t path[2][2] = {{0, 1}, {1, 2}};
    sa_decision *decision = NULL;
    rig self;
    begin(&self, "cn-ucb", "assignment", "semi-bandit", NULL);
    sa_problem *problem = sa_problem_new();
    sa_problem_exclusions(problem, &path[0][0], 2);
    sa_request_problem(self.request, problem);
    assert_int_equal(sa_policy_select(self.policy, self.chooser, self.request, &decision), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--floor-by place cannot tell which arms"));
    sa_problem_destroy(problem);
    end(&self);
    sa_agent *agent = NULL;
    assert_int_equal(create("cn-ucb", "knapsack", "semi-bandit", &agent), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--floor is for oracles whose slates can be counted"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_top_k), cmocka_unit_test(test_matroid), cmocka_unit_test(test_assignment),
        cmocka_unit_test(test_plain_assignment), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

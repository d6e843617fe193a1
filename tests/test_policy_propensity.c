/* Probabilities of slates against how often they are chosen: N 6, K 3, rules with and without draws, oracles,
 * a floor. The seeds are fixed; a correct program is out of four standard errors in one of 16,000
 * comparisons. PROPENSITY_DRAWS: how many slates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "test_parts.h"

enum { ARMS = 6, SLATE = 3, DIM = 4, SLATES = ARMS * ARMS * ARMS };

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

static sa_status create(const char *const *settings, sa_agent **agent) {
    sa_options *options = sa_options_new("paper");
    for (; settings[0]; settings += 2) must(sa_options_set_any(options, settings[0], settings[1]));
    sa_status status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

/* An agent that has learnt from a few slates, frozen. */
static const char *floor_by = "page";
static void begin_with(rig *self, const char *algorithm, const char *oracle, const char *floor,
                       const sa_problem *problem) {
    const char *const settings[] = {"algorithm",   algorithm, "oracle",   oracle,   "floor",     floor,
                                    "dim",         "4",       "slate",    "3",      "hidden",    "8",
                                    "nu",          "1",       "gamma",    "1",      "normalize", "none",
                                    "train-every", "5",       "floor-by", floor_by, NULL,        NULL};
    *self = (rig){.chooser = sa_chooser_new(), .request = sa_request_new()};
    must(create(settings, &self->agent));
    sa_request_slate(self->request, SLATE);
    sa_request_problem(self->request, problem);
    sa_decision *decision = NULL;
    for (size_t round = 0; round < 12; round++) {
        for (size_t i = 0; i < ARMS * DIM; i++) self->contexts[i] = uniform();
        sa_request_contexts(self->request, self->contexts, ARMS);
        must(sa_agent_select(self->agent, self->request, &decision));
        const size_t *arms = sa_decision_arms(decision);
        double scores[SLATE];
        for (size_t k = 0; k < SLATE; k++) scores[k] = self->contexts[arms[k] * DIM] + 0.1 * uniform();
        must(sa_agent_update(self->agent, sa_decision_id(decision), scores, NULL, SLATE));
    }
    sa_decision_destroy(decision);
    must(sa_agent_policy(self->agent, &self->policy));
}

static void begin(rig *self, const char *algorithm, const char *oracle, const char *floor) {
    begin_with(self, algorithm, oracle, floor, NULL);
}

static void end(rig *self) {
    sa_policy_release(self->policy);
    sa_chooser_destroy(self->chooser);
    sa_request_destroy(self->request);
    sa_agent_destroy(self->agent);
}

static size_t code_of(const size_t *slate) { return (slate[0] * ARMS + slate[1]) * ARMS + slate[2]; }

/* Within four standard errors of the draws, and of `more`: the deviation that the probability itself has. */
static void compare(double share, double probability, double draws, double more) {
    double error =
        sqrt(probability * (1 - probability) / draws + more * probability * (1 - probability)) + 1e-9;
    if (fabs(share - probability) > 4 * error)
        fail_msg("%.6f of the slates, and the probability is %.6f", share, probability);
}

/* Every ordered slate, its prefixes and positions. `more`: 1 / draws where the library draws, too. */
static void check(rig *self, double more) {
    const char *given = getenv("PROPENSITY_DRAWS");
    size_t draws = given ? (size_t)atol(given) : 40000;
    static size_t hits[SLATES];
    memset(hits, 0, sizeof hits);
    sa_decision *decision = NULL;
    for (uint64_t i = 0; i < draws; i++) {
        sa_request_draw(self->request, i);
        must(sa_policy_select(self->policy, self->chooser, self->request, &decision));
        hits[code_of(sa_decision_arms(decision))]++;
    }
    sa_decision_destroy(decision);
    double all = 0;
    for (size_t code = 0; code < SLATES; code++) {
        size_t slate[SLATE] = {code / ARMS / ARMS, code / ARMS % ARMS, code % ARMS};
        if (slate[0] == slate[1] || slate[0] == slate[2] || slate[1] == slate[2]) continue;
        double joint, prefix[SLATE], position[SLATE], begin_alike[SLATE] = {0}, at[SLATE] = {0};
        must(sa_policy_propensities(self->policy, self->chooser, self->request, slate, SLATE, &joint, prefix,
                                    position, NULL, NULL));
        for (size_t other = 0; other < SLATES; other++) {
            size_t it[SLATE] = {other / ARMS / ARMS, other / ARMS % ARMS, other % ARMS};
            for (size_t k = 0; k < SLATE; k++) {
                if (it[k] == slate[k]) at[k] += (double)hits[other];
                if (!memcmp(it, slate, (k + 1) * sizeof *it)) begin_alike[k] += (double)hits[other];
            }
        }
        all += joint;
        assert_true(joint == prefix[SLATE - 1]);
        for (size_t k = 0; k < SLATE; k++) {
            compare(begin_alike[k] / (double)draws, prefix[k], (double)draws, more);
            if (!isnan(position[k])) compare(at[k] / (double)draws, position[k], (double)draws, more);
        }
    }
    if (more == 0) assert_true(fabs(all - 1) < 1e-9);
}

static void check_one(const char *algorithm, const char *oracle, const char *floor, double more) {
    rig self;
    begin(&self, algorithm, oracle, floor);
    check(&self, more);
    end(&self);
}

static void test_top_k(void **state) {
    (void)state;
    check_one("cn-ucb", "top-k", "0", 0);
    check_one("cn-ucb", "top-k", "0.3", 0);
    check_one("cn-ts", "top-k", "0", 0);
    check_one("cn-ts", "top-k", "0.2", 0);
    check_one("random", "top-k", "0", 0);
    check_one("greedy", "top-k", "1", 0);
}

/* The rules that draw; test_policy_place.c has the others. */
static void test_by_place(void **state) {
    (void)state;
    floor_by = "place";
    check_one("cn-ts", "top-k", "0.2", 0);
    check_one("comblin-ts", "top-k", "0.3", 1e-3);
    check_one("cn-ts", "assignment", "0.3", 1e-3);
    check_one("random", "top-k", "0.5", 0);
    floor_by = "page";
}

static void test_others(void **state) {
    (void)state;
    check_one("cn-ucb", "assignment", "0.3", 0);
    check_one("cn-ts", "assignment", "0.3", 1e-3);
    check_one("comblin-ts", "top-k", "0.3", 1e-3);
}

/* A partition matroid of exactly K: two of the first group, one each of the others; infeasible slates have
 * probability 0. */
static void test_groups(void **state) {
    (void)state;
    static const size_t groups[ARMS] = {0, 0, 0, 1, 1, 2}, capacities[3] = {2, 1, 1};
    static const char *const algorithms[] = {"cn-ucb", "cn-ts"};
    for (size_t i = 0; i < 2; i++) {
        sa_problem *problem = sa_problem_new();
        sa_problem_groups(problem, groups, ARMS);
        sa_problem_capacities(problem, capacities, 3);
        sa_problem_exactly(problem, true);
        rig self;
        begin_with(&self, algorithms[i], "matroid", "0.3", problem);
        check(&self, i == 0 ? 0 : 1e-3);
        end(&self);
        sa_problem_destroy(problem);
    }
}

/* Asking changes no slate, and a decision says what sa_policy_propensities says; excluded arms have no part
 * in it. */
static void test_decisions(void **state) {
    (void)state;
    const bool excluded[ARMS] = {false, true, false, false, false, false};
    static const char *const algorithms[] = {"cn-ucb", "cn-ts", "comblin-ts"};
    for (size_t i = 0; i < 6; i++) {
        rig self;
        floor_by = i < 3 ? "page" : "place";
        begin(&self, algorithms[i % 3], "top-k", "0.4");
        sa_request_exclude(self.request, excluded);
        sa_decision *one = NULL, *other = NULL;
        for (uint64_t draw = 0; draw < 50; draw++) {
            sa_request_draw(self.request, draw);
            sa_request_propensities(self.request, false);
            must(sa_policy_select(self.policy, self.chooser, self.request, &one));
            assert_true(isnan(sa_decision_propensity(one)) &&
                        isnan(sa_decision_position_propensities(one)[0]));
            sa_request_propensities(self.request, true);
            must(sa_policy_select(self.policy, self.chooser, self.request, &other));
            assert_memory_equal(sa_decision_arms(one), sa_decision_arms(other), SLATE * sizeof(size_t));
            double joint, position[SLATE];
            must(sa_policy_propensities(self.policy, self.chooser, self.request, sa_decision_arms(one), SLATE,
                                        &joint, NULL, position, NULL, NULL));
            assert_true(sa_decision_propensity(other) == joint);
            assert_true(joint > (i < 3 ? 0.4 : 0.4 * 0.4 * 0.4) / 60 - 1e-12);
            assert_memory_equal(sa_decision_position_propensities(other), position, sizeof position);
        }
        sa_decision_destroy(one);
        sa_decision_destroy(other);
        end(&self);
    }
    floor_by = "page";
}

/* All arms' probabilities add up to 1 at each position, and next after each prefix. */
static void test_all_arms(void **state) {
    (void)state;
    static const char *const algorithms[] = {"cn-ucb", "cn-ts", "comblin-ts"};
    for (size_t i = 0; i < 6; i++) {
        rig self;
        floor_by = i < 3 ? "page" : "place";
        begin(&self, algorithms[i % 3], "top-k", "0.1");
        const size_t slate[SLATE] = {5, 0, 2};
        double joint, prefix[SLATE], positions[SLATE * ARMS], next[SLATE * ARMS], product = 1;
        must(sa_policy_propensities(self.policy, self.chooser, self.request, slate, SLATE, &joint, prefix,
                                    NULL, positions, next));
        for (size_t k = 0; k < SLATE; k++) {
            double sum = 0, sum_next = 0;
            for (size_t a = 0; a < ARMS; a++) sum += positions[k * ARMS + a], sum_next += next[k * ARMS + a];
            assert_true(fabs(sum - 1) < 1e-9 && fabs(sum_next - 1) < 1e-9);
            product *= next[k * ARMS + slate[k]];
            assert_true(fabs(product - prefix[k]) < 1e-12);
        }
        end(&self);
    }
    floor_by = "page";
}

static void assert_refused(sa_status status, const char *words) {
    assert_int_equal(status, SA_INVALID);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
}

static void test_refused(void **state) {
    (void)state;
    sa_agent *agent = NULL;
    const char *const settings[] = {"algorithm", "cn-ucb", "dim", "4",  "oracle",
                                    "knapsack",  "floor",  "0.1", NULL, NULL};
    assert_refused(create(settings, &agent), "--floor is for oracles whose slates can be counted");
    rig self;
    begin(&self, "cn-ucb", "top-k", "0.1");
    double joint;
    const size_t twice[SLATE] = {1, 1, 2}, beyond[SLATE] = {1, 2, 6}, fine[SLATE] = {1, 2, 3};
    assert_refused(sa_policy_propensities(self.policy, self.chooser, self.request, twice, SLATE, &joint, NULL,
                                          NULL, NULL, NULL),
                   "arm 1 twice");
    assert_refused(sa_policy_propensities(self.policy, self.chooser, self.request, beyond, SLATE, &joint,
                                          NULL, NULL, NULL, NULL),
                   "arm 6, and the request has 6");
    assert_refused(sa_policy_propensities(self.policy, self.chooser, self.request, fine, 2, &joint, NULL,
                                          NULL, NULL, NULL),
                   "the slate has 2 arms, and the request asks for 3");
    assert_refused(
        sa_policy_propensities(NULL, self.chooser, self.request, fine, SLATE, &joint, NULL, NULL, NULL, NULL),
        "needs a policy");
    end(&self);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_top_k),     cmocka_unit_test(test_by_place),
                                       cmocka_unit_test(test_others),    cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_decisions), cmocka_unit_test(test_all_arms),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

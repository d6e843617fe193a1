/* Propensities that are estimated by draws, where slates are many and each is rare. Whatever the policy, the
 * mean over its decisions of (1 / F) / propensity is 1, F the number of slates: that is how off-policy values
 * have no bias. And what uniform slates would earn is known by symmetry. */
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

enum { ARMS = 14, SLATE = 4, DIM = 4, SLATES = 14 * 13 * 12 * 11, DECISIONS = 300 };

static void must(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static unsigned seed = 1;
static double uniform(void) {
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24) - 0.5;
}

static sa_agent *create(const char *floor, const char *by) {
    const char *const settings[] = {"algorithm", "comblin-ts", "floor", floor, "floor-by",  by,    "dim", "4",
                                    "slate",     "4",          "nu",    "1",   "normalize", "none"};
    sa_options *options = sa_options_new("paper");
    sa_agent *agent = NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i += 2)
        must(sa_options_set_any(options, settings[i], settings[i + 1]));
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static void draw_contexts(double *contexts) {
    for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = uniform();
}

/* A few slates are learnt from: what is left is a policy whose slates are rarer than one in a thousand. */
static void learn(sa_agent *agent, sa_request *request, double *contexts) {
    sa_decision *decision = NULL;
    for (size_t round = 0; round < 2; round++) {
        draw_contexts(contexts);
        sa_request_contexts(request, contexts, ARMS);
        must(sa_agent_select(agent, request, &decision));
        double scores[SLATE];
        for (size_t k = 0; k < SLATE; k++)
            scores[k] = contexts[sa_decision_arms(decision)[k] * DIM] + 0.3 * uniform();
        must(sa_agent_update(agent, sa_decision_id(decision), scores, NULL, SLATE));
    }
    sa_decision_destroy(decision);
}

/* Mean and standard error of terms (DECISIONS), against the truth: within 3.5 errors, which a correct program
 * is not in one of 2000; and the error itself says that the test sees something. */
static void assert_mean(const double *terms, double truth, double most_error) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < DECISIONS; i++) mean += terms[i] / DECISIONS;
    for (size_t i = 0; i < DECISIONS; i++) square += (terms[i] - mean) * (terms[i] - mean);
    double error = sqrt(square / (DECISIONS - 1) / DECISIONS);
    if (fabs(mean - truth) > 3.5 * error || error > most_error)
        fail_msg("the mean is %.3f +- %.3f, and should be %.3f", mean, error, truth);
}

/* Weights of the joint, of the first two places, of the second place; and the value of a uniform policy that
 * earns 1 where the first arm has an even number. */
static void check(const char *floor, const char *by, double largest) {
    sa_agent *agent = create(floor, by);
    sa_request *request = sa_request_new();
    sa_chooser *chooser = sa_chooser_new();
    sa_policy *policy = NULL;
    sa_decision *decision = NULL;
    double contexts[ARMS * DIM], joint[DECISIONS], prefix[DECISIONS], second[DECISIONS], value[DECISIONS];
    sa_request_slate(request, SLATE);
    learn(agent, request, contexts);
    must(sa_agent_policy(agent, &policy));
    sa_request_propensities(request, true);
    for (size_t i = 0; i < DECISIONS; i++) {
        draw_contexts(contexts);
        sa_request_contexts(request, contexts, ARMS);
        sa_request_draw(request, i);
        must(sa_policy_select(policy, chooser, request, &decision));
        joint[i] = 1.0 / SLATES / sa_decision_propensity(decision);
        prefix[i] = 1.0 / (ARMS * (ARMS - 1)) / sa_decision_prefix_propensities(decision)[1];
        second[i] = 1.0 / ARMS / sa_decision_position_propensities(decision)[1];
        value[i] = joint[i] * (sa_decision_arms(decision)[0] % 2 == 0);
        assert_true(joint[i] < largest * (1 + 1e-9));
    }
    assert_mean(joint, 1, 0.4);
    assert_mean(prefix, 1, 0.4);
    assert_mean(second, 1, 0.4);
    assert_mean(value, 0.5, 0.4);
    sa_decision_destroy(decision);
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
}

static void test_weights(void **state) {
    (void)state;
    check("0.05", "page", 1 / 0.05);
    check("0.4", "place", 1 / 0.4 / 0.4 / 0.4 / 0.4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Probabilities of cn-ts's slates where a companion has most of the estimate, so that what is open of a score
 * is mostly spread, and not width: against how often slates are chosen. Chi-squares, as normal deviates; a
 * correct program is beyond 4 in one of 30,000, the eight of this file in one of 4000, and seeds are
 * fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "agent/agent.h"
#include "test_parts.h"

enum { ARMS = 6, SLATE = 3, DIM = 4, SLATES = ARMS * ARMS * ARMS, DRAWS = 20000 };

static void must(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static unsigned seed;
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

/* A network that learns little beside a regression that is right: its share w is small. */
static sa_agent *create(const char *oracle, const char *floor, const char *samples) {
    const char *const settings[] = {"algorithm",   "cn-ts", "oracle",     oracle,  "floor",       floor,
                                    "floor-by",    "page",  "ts-samples", samples, "dim",         "4",
                                    "slate",       "3",     "hidden",     "8",     "nu",          "2",
                                    "normalize",   "none",  "rate",       "0.003", "train-steps", "10",
                                    "train-every", "1",     NULL,         NULL};
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    for (const char *const *set = settings; set[0]; set += 2)
        must(sa_options_set_any(options, set[0], set[1]));
    must(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

/* An agent that has learnt from some slates, which do not depend on it, frozen. */
static void begin(rig *self, const char *oracle, const char *floor, const char *samples) {
    static const size_t arms[SLATE] = {0, 1, 2};
    *self = (rig){.chooser = sa_chooser_new(), .request = sa_request_new()};
    self->agent = create(oracle, floor, samples);
    seed = 5;
    sa_request_slate(self->request, SLATE);
    for (size_t round = 0; round < 30; round++) {
        double scores[SLATE];
        for (size_t i = 0; i < ARMS * DIM; i++) self->contexts[i] = uniform();
        sa_request_contexts(self->request, self->contexts, ARMS);
        for (size_t k = 0; k < SLATE; k++)
            scores[k] = 2 * self->contexts[k * DIM] - self->contexts[k * DIM + 1] + 4 * uniform();
        must(sa_agent_learn(self->agent, self->request, arms, scores, NULL, SLATE));
    }
    must(sa_agent_policy(self->agent, &self->policy));
    double share = sa_companion_share(self->policy->estimator.companion);
    assert_true(share > 0.05 && share < 0.5);
}

static void end(rig *self) {
    sa_policy_release(self->policy);
    sa_chooser_destroy(self->chooser);
    sa_request_destroy(self->request);
    sa_agent_destroy(self->agent);
}

/* Of a chi-square with so many degrees of freedom, by Wilson and Hilferty. */
static void assert_chi_square(double square, double freedom, const char *what) {
    double unit = 2 / (9 * freedom), deviate = (cbrt(square / freedom) - (1 - unit)) / sqrt(unit);
    if (!(deviate < 4))
        fail_msg("%s: chi-square %.1f with %.0f degrees of freedom, %.1f deviations above its mean", what,
                 square, freedom, deviate);
}

/* hits (SLATES): how often the policy's own choice was each of the slates. Returns how many they were. */
static double count_slates(rig *self, double *hits) {
    sa_decision *decision = NULL;
    double counted = 0;
    memset(hits, 0, SLATES * sizeof *hits);
    for (uint64_t i = 0; i < DRAWS; i++) {
        sa_request_draw(self->request, i);
        must(sa_policy_select(self->policy, self->chooser, self->request, &decision));
        const size_t *arms = sa_decision_arms(decision);
        if (sa_decision_explored(decision)) continue; /* the floor's choice */
        hits[(arms[0] * ARMS + arms[1]) * ARMS + arms[2]]++;
        counted++;
    }
    sa_decision_destroy(decision);
    return counted;
}

/* ---- by quadrature ---- */

/* Every ordered slate; those that are expected fewer than 10 times are one. */
static void check_slates(const char *samples) {
    static double hits[SLATES];
    rig self;
    begin(&self, "top-k", "0", samples);
    double counted = count_slates(&self, hits), square = 0, cells = 0, rare = 0, rare_hits = 0, all = 0;
    for (size_t code = 0; code < SLATES; code++) {
        const size_t slate[SLATE] = {code / ARMS / ARMS, code / ARMS % ARMS, code % ARMS};
        double joint;
        if (slate[0] == slate[1] || slate[0] == slate[2] || slate[1] == slate[2]) continue;
        must(sa_policy_propensities(self.policy, self.chooser, self.request, slate, SLATE, &joint, NULL, NULL,
                                    NULL, NULL));
        all += joint;
        double expected = counted * joint;
        if (expected < 10) {
            rare += expected;
            rare_hits += hits[code];
            continue;
        }
        square += (hits[code] - expected) * (hits[code] - expected) / expected;
        cells++;
    }
    if (rare >= 10) square += (rare_hits - rare) * (rare_hits - rare) / rare, cells++;
    assert_true(fabs(all - 1) < 1e-9);
    assert_true(cells > 20); /* the test sees something */
    assert_chi_square(square, cells - 1, samples);
    end(&self);
}

static void top_k_by_quadrature(void **state) {
    (void)state;
    check_slates("1");
    check_slates("10");
}

/* A decision says what the policy says of its slate. */
static void decisions_say_the_same(void **state) {
    (void)state;
    rig self;
    sa_decision *decision = NULL;
    begin(&self, "top-k", "0.2", "10");
    sa_request_propensities(self.request, true);
    for (uint64_t i = 0; i < 20; i++) {
        double joint;
        sa_request_draw(self.request, i);
        must(sa_policy_select(self.policy, self.chooser, self.request, &decision));
        must(sa_policy_propensities(self.policy, self.chooser, self.request, sa_decision_arms(decision),
                                    SLATE, &joint, NULL, NULL, NULL, NULL));
        assert_true(sa_decision_propensity(decision) == joint);
    }
    sa_decision_destroy(decision);
    end(&self);
}

/* ---- by draws ---- */

/* out (SLATE, ARMS): how likely an arm is at a place as the algorithm chooses, without the floor E. The mean
 * of estimates that are made with 1001 slates each, of other draws than those of count_slates. */
static double estimate_positions(rig *self, double floor, double *out) {
    enum { ESTIMATES = 20, SLATES_OF_ONE = 1001 };
    double once[SLATE * ARMS], joint;
    const size_t any[SLATE] = {0, 1, 2};
    memset(out, 0, SLATE * ARMS * sizeof *out);
    for (uint64_t i = 0; i < ESTIMATES; i++) {
        sa_request_draw(self->request, DRAWS + i);
        must(sa_policy_propensities(self->policy, self->chooser, self->request, any, SLATE, &joint, NULL,
                                    NULL, once, NULL));
        for (size_t j = 0; j < SLATE * ARMS; j++)
            out[j] += (once[j] - floor / ARMS) / (1 - floor) / ESTIMATES;
    }
    return ESTIMATES * SLATES_OF_ONE;
}

/* Two samples: of slates that were chosen, and of slates that were drawn to estimate. */
static void check_positions(const char *samples) {
    static double hits[SLATES];
    double chosen[SLATE * ARMS] = {0}, estimated[SLATE * ARMS];
    rig self;
    begin(&self, "assignment", "0.1", samples);
    double counted = count_slates(&self, hits), drawn = estimate_positions(&self, 0.1, estimated);
    for (size_t code = 0; code < SLATES; code++) {
        const size_t slate[SLATE] = {code / ARMS / ARMS, code / ARMS % ARMS, code % ARMS};
        for (size_t k = 0; k < SLATE; k++) chosen[k * ARMS + slate[k]] += hits[code] / counted;
    }
    for (size_t k = 0; k < SLATE; k++) {
        double square = 0, cells = 0;
        for (size_t a = 0; a < ARMS; a++) {
            double one = chosen[k * ARMS + a], other = estimated[k * ARMS + a];
            double both = (counted * one + drawn * other) / (counted + drawn);
            if (both * drawn < 10) continue;
            square += (one - other) * (one - other) / (both * (1 / counted + 1 / drawn));
            cells++;
        }
        assert_true(cells > 2);
        assert_chi_square(square, cells - 1, samples);
    }
    end(&self);
}

static void others_by_draws(void **state) {
    (void)state;
    check_positions("1");
    check_positions("10");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(top_k_by_quadrature),
                                       cmocka_unit_test(decisions_say_the_same),
                                       cmocka_unit_test(others_by_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

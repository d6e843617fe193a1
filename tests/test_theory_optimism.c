/* --gamma theory is optimistic: over 50 runs, the share of runs in which the bound of any arm ever falls
 * below its expected score is at most delta. With the constants as they are by default the bounds are far
 * from tight, so it is also asked of the radius alone (--approximation 0), where S = sqrt(2 h' H^-1 h) comes
 * from the run's own contexts.
 *
 * The lemma speaks of the probability, delta = 0.1; if that were the truth, 50 runs would show more than 5
 * failures with probability 0.38. The seeds are fixed, and what is seen is none: a single failure in 50 would
 * have to be looked at. */
#include <math.h>

#include "rng/stream.h"
#include "test_file_scratch.h"
#include "test_parts.h"
#include <superarm/agent.h>
#include <superarm/theory.h>

enum { RUNS = 50, ROUNDS = 30, ARMS = 6, SLATE = 2, DIM = 4, CONTEXTS = ROUNDS * ARMS };

static const double NOISE = 0.1, DELTA = 0.1;

typedef struct world {
    double contexts[CONTEXTS][DIM], scores[CONTEXTS], noise[CONTEXTS];
} world;

static double normal(uint64_t run, uint64_t purpose, uint64_t index) {
    sa_stream stream = sa_stream_at(99, SA_PURPOSE_CONTEXTS, run, purpose);
    return sa_normal_quantile(sa_draw_uniform(&stream, index));
}

/* A direction drawn uniformly. */
static void draw_direction(uint64_t run, uint64_t purpose, uint64_t index, double *x) {
    double squares = 0;
    for (size_t k = 0; k < DIM; k++) {
        x[k] = normal(run, purpose, index * DIM + k);
        squares += x[k] * x[k];
    }
    for (size_t k = 0; k < DIM; k++) x[k] /= sqrt(squares);
}

/* h(x) = (a'x)^2 or 1/2 + 1/2 sin(3 a'x): not linear, between 0 and 1. */
static world make_world(uint64_t run) {
    world w;
    double a[DIM];
    draw_direction(run, 0, 0, a);
    for (size_t i = 0; i < CONTEXTS; i++) {
        double along = 0;
        draw_direction(run, 1, i, w.contexts[i]);
        for (size_t k = 0; k < DIM; k++) along += a[k] * w.contexts[i][k];
        w.scores[i] = run % 2 ? along * along : 0.5 + 0.5 * sin(3 * along);
        w.noise[i] = NOISE * normal(run, 2, i);
    }
    return w;
}

static sa_options *options_of(uint64_t run, const char *gamma, const char *approximation) {
    sa_options *options = sa_options_new("paper");
    char text[32];
    static const char *const fixed[][2] = {{"algorithm", "cn-ucb"}, {"dim", "4"},
                                           {"hidden", "64"},        {"widths", "all"},
                                           {"precision", "double"}, {"sub-gaussian", "0.1"},
                                           {"delta", "0.1"},        {"train-every", "1"},
                                           {"slate", "2"},          {"rounds", "30"}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        assert_ok(sa_options_set_any(options, fixed[i][0], fixed[i][1]));
    assert_ok(sa_options_set_any(options, "gamma", gamma));
    assert_ok(sa_options_set_any(options, "approximation", approximation));
    snprintf(text, sizeof text, "%llu", (unsigned long long)run);
    assert_ok(sa_options_set_any(options, "seed", text));
    return options;
}

/* Does any arm's bound ever fall below its expected score? `*slack` is the least distance above it. */
static bool fails(uint64_t run, const char *gamma, const char *approximation, double *slack) {
    world w = make_world(run);
    sa_options *options = options_of(run, gamma, approximation);
    sa_theory_numbers numbers;
    char text[32];
    assert_ok(sa_theory_compute(options, &w.contexts[0][0], CONTEXTS, DIM, w.scores, &numbers));
    snprintf(text, sizeof text, "%.17g", numbers.norm);
    assert_ok(sa_options_set_any(options, "norm-bound", text));
    sa_agent *agent = NULL;
    sa_decision *decision = NULL;
    sa_request *request = sa_request_new();
    assert_ok(sa_agent_create(options, &agent));
    bool failed = false;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t first = round * ARMS;
        double seen[SLATE];
        sa_request_contexts(request, &w.contexts[first][0], ARMS);
        sa_request_slate(request, SLATE);
        assert_ok(sa_agent_select(agent, request, &decision));
        for (size_t i = 0; i < ARMS; i++) {
            double above = sa_decision_all_scores(decision)[i] - w.scores[first + i];
            failed |= above < 0;
            *slack = fmin(*slack, above);
        }
        for (size_t k = 0; k < SLATE; k++) {
            size_t arm = first + sa_decision_arms(decision)[k];
            seen[k] = w.scores[arm] + w.noise[arm];
        }
        assert_ok(sa_agent_update(agent, sa_decision_id(decision), seen, NULL, SLATE));
    }
    sa_decision_destroy(decision);
    sa_request_destroy(request);
    sa_agent_destroy(agent);
    sa_options_destroy(options);
    return failed;
}

static size_t count_failures(const char *gamma, const char *approximation) {
    size_t failures = 0;
    double slack = INFINITY;
    for (uint64_t run = 0; run < RUNS; run++) failures += fails(run, gamma, approximation, &slack);
    print_message("gamma %s, approximation %s: %zu of %d runs fail, least slack %.3g\n", gamma, approximation,
                  failures, RUNS, slack);
    return failures;
}

static void bounds_stay_above_expected_scores(void **state) {
    (void)state;
    assert_true((double)count_failures("theory", "1") <= DELTA * RUNS);
}

static void the_radius_alone_stays_above_them(void **state) {
    (void)state;
    assert_true((double)count_failures("theory", "0") <= DELTA * RUNS);
    assert_true((double)count_failures("0.1", "0") > DELTA * RUNS); /* a radius that is too small is seen */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_stay_above_expected_scores),
        cmocka_unit_test(the_radius_alone_stays_above_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

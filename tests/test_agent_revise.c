/* Revised feedback is as if it had come at first: for linear models and moments at once, for networks with
 * the next training. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "learn/moments.h"
#include "model/companion.h"
#include "rng/stream.h"
#include "temporary.h"
#include "test_parts.h"
#include <superarm/superarm.h>

enum { ARMS = 8, DIM = 4, SLATE = 3, ROUNDS = 40 };

static double number(uint64_t seed, uint64_t i) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_NOISE, 0, 0);
    return 2 * sa_draw_uniform(&stream, i) - 1;
}

static void ok(sa_status status) {
    if (status != SA_OK) fail_msg("%s: %s", sa_status_name(status), sa_last_error());
}

static sa_agent *create(const char *words) {
    sa_options *options = sa_options_new("paper");
    sa_agent *agent = NULL;
    char text[512], *next = NULL;
    snprintf(text, sizeof text, "dim=4 hidden=6 slate=3 normalize=none %s", words);
    for (char *word = strtok_r(text, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
        char *equals = strchr(word, '=');
        *equals = 0;
        ok(sa_options_set_any(options, word, equals + 1));
    }
    ok(sa_agent_create(options, &agent));
    sa_options_destroy(options);
    return agent;
}

static void request_of(sa_request *request, uint64_t round, double *contexts) {
    for (size_t i = 0; i < ARMS * DIM; i++) contexts[i] = number(round + 1, i);
    sa_request_contexts(request, contexts, ARMS);
    sa_request_slate(request, SLATE);
}

/* Learns from a slate that is the same for both twins. */
static void learn(sa_agent *agent, uint64_t round, const double *scores, const sa_problem *problem) {
    sa_request *request = sa_request_new();
    double contexts[ARMS * DIM];
    const size_t arms[SLATE] = {round % ARMS, (round + 3) % ARMS, (round + 5) % ARMS};
    const bool seen[SLATE] = {true, true, true};
    request_of(request, round, contexts);
    sa_request_problem(request, problem);
    ok(sa_agent_learn(agent, request, arms, scores, seen, SLATE));
    sa_request_destroy(request);
}

static void estimate(sa_agent *agent, double *estimates) {
    sa_request *request = sa_request_new();
    sa_chooser *chooser = sa_chooser_new();
    sa_policy *policy = NULL;
    double contexts[ARMS * DIM];
    request_of(request, 1000, contexts);
    ok(sa_agent_policy(agent, &policy));
    ok(sa_policy_estimate(policy, chooser, request, estimates, NULL, NULL));
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_request_destroy(request);
}

static void assert_alike(sa_agent *one, sa_agent *other, double most) {
    double mine[ARMS * SLATE], theirs[ARMS * SLATE];
    estimate(one, mine);
    estimate(other, theirs);
    for (size_t i = 0; i < ARMS; i++)
        if (!(fabs(mine[i] - theirs[i]) <= most))
            fail_msg("arm %zu: %.17g, not %.17g", i, mine[i], theirs[i]);
}

static void scores_of(uint64_t round, bool final, double *scores) {
    for (size_t k = 0; k < SLATE; k++)
        scores[k] = number(500 + round, k) + (final && round % 3 == 0 ? 5 + (double)k : 0);
}

/* One twin has every third decision's feedback revised at the end; the other got it right at first. */
static void make_twins(const char *words, const sa_problem *problem, sa_agent **revised, sa_agent **right) {
    double scores[SLATE];
    *revised = create(words);
    *right = create(words);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        scores_of(round, false, scores);
        learn(*revised, round, scores, problem);
        scores_of(round, true, scores);
        learn(*right, round, scores, problem);
    }
    for (uint64_t round = 0; round < ROUNDS; round += 3) {
        scores_of(round, true, scores);
        const bool first[SLATE] = {true, false, false}, rest[SLATE] = {false, true, true};
        ok(sa_agent_revise(*revised, round, scores, round % 2 ? NULL : first, SLATE));
        if (round % 2 == 0) ok(sa_agent_revise(*revised, round, scores, rest, SLATE));
    }
}

static void test_linear(void **state) {
    (void)state;
    static const char *const words[] = {"algorithm=comblin-ucb",
                                        "algorithm=comblin-ts",
                                        "algorithm=c2ucb",
                                        "algorithm=comblin-ucb discount=0.9",
                                        "algorithm=comblin-ucb window=16",
                                        "algorithm=comblin-ucb feedback=cascade"};
    const double discounts[SLATE] = {1, 0.5, 0.25};
    sa_problem *problem = sa_problem_new();
    sa_problem_discounts(problem, discounts, SLATE);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sa_agent *revised, *right;
        make_twins(words[i], i == 5 ? problem : NULL, &revised, &right);
        assert_alike(revised, right, 1e-10);
        double before[ARMS * SLATE], after[ARMS * SLATE], scores[SLATE] = {100, 100, 100};
        estimate(revised, before);
        ok(sa_agent_revise(revised, ROUNDS - 1, scores, NULL, SLATE)); /* and it can be revised again */
        estimate(revised, after);
        assert_true(before[0] != after[0]);
        sa_agent_destroy(revised);
        sa_agent_destroy(right);
    }
    sa_problem_destroy(problem);
}

/* The network's next training learns from what is right; until then nothing has changed. */
static void test_network(void **state) {
    (void)state;
    static const char *const words[] = {"algorithm=cn-ucb train=manual",
                                        "algorithm=neural-linear train=manual"};
    for (size_t i = 0; i < 2; i++) {
        sa_agent *revised, *right;
        make_twins(words[i], NULL, &revised, &right);
        ok(sa_agent_train(revised));
        ok(sa_agent_train(right));
        assert_alike(revised, right, 0);
        sa_agent_destroy(revised);
        sa_agent_destroy(right);
    }
}

static void test_saved(void **state) {
    (void)state;
    const char *path = inside(temporary_folder(), "agent.npz");
    double scores[SLATE] = {9, 9, 9};
    sa_agent *agent = create("algorithm=comblin-ucb"), *loaded = NULL;
    for (uint64_t round = 0; round < 5; round++) learn(agent, round, scores, NULL);
    ok(sa_agent_save(agent, path));
    ok(sa_agent_load(path, &loaded));
    scores[1] = -9;
    ok(sa_agent_revise(agent, 2, scores, NULL, SLATE));
    ok(sa_agent_revise(loaded, 2, scores, NULL, SLATE));
    assert_alike(agent, loaded, 0);
    sa_agent_destroy(agent);
    sa_agent_destroy(loaded);
}

static void refuse(sa_agent *agent, uint64_t decision, const double *scores, const bool *observed, size_t n,
                   sa_status wanted, const char *words) {
    double before[ARMS * SLATE], after[ARMS * SLATE];
    estimate(agent, before);
    assert_int_equal(sa_agent_revise(agent, decision, scores, observed, n), wanted);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
    estimate(agent, after);
    assert_memory_equal(before, after, ARMS * sizeof *before);
}

static void test_bad_input(void **state) {
    (void)state;
    double scores[SLATE] = {1, 2, NAN}, good[SLATE] = {1, 2, 3}, contexts[ARMS * DIM];
    const bool part[SLATE] = {true, false, false}, others[SLATE] = {true, true, false};
    sa_agent *agent = create("algorithm=comblin-ucb pending-limit=4");
    sa_request *request = sa_request_new();
    sa_decision *decision = NULL;
    learn(agent, 0, good, NULL);
    request_of(request, 1, contexts);
    ok(sa_agent_select(agent, request, &decision));
    refuse(agent, 0, scores, NULL, SLATE, SA_INVALID, "of decision 0 is nan");
    refuse(agent, 0, good, NULL, 2, SA_INVALID, "has 2 scores, its slate has 3");
    refuse(agent, 7, good, NULL, SLATE, SA_UNKNOWN_DECISION, "never made");
    refuse(agent, 1, good, part, SLATE, SA_INVALID, "has no feedback that could be revised");
    ok(sa_agent_update(agent, 1, good, part, SLATE));
    refuse(agent, 1, good, others, SLATE, SA_INVALID, "has no feedback that could be revised");
    ok(sa_agent_revise(agent, 1, scores, part, SLATE)); /* what is not meant is not looked at */
    for (uint64_t round = 2; round < 9; round++) learn(agent, round, good, NULL);
    refuse(agent, 0, good, NULL, SLATE, SA_UNKNOWN_DECISION, "forgotten");
    assert_int_equal(sa_agent_revise(NULL, 0, good, NULL, SLATE), SA_INVALID);
    assert_int_equal(sa_agent_revise(agent, 0, NULL, NULL, SLATE), SA_INVALID);
    sa_agent_destroy(agent);
    agent = create("algorithm=cc-mab rounds=100");
    learn(agent, 0, good, NULL);
    refuse(agent, 0, good, NULL, SLATE, SA_INVALID, "cannot revise feedback");
    sa_agent_destroy(agent);
    sa_decision_destroy(decision);
    sa_request_destroy(request);
}

/* ---- the parts ---- */

static void test_moments(void **state) {
    (void)state;
    for (int with = 0; with < 4; with++) {
        enum { ROWS = 60 };
        double scores[ROWS], right[ROWS], discount[ROWS], factor = with & 1 ? 0.95 : 1;
        int64_t start[ROWS / 2];
        for (size_t i = 0; i < ROWS; i++) {
            scores[i] = number(3, i);
            discount[i] = 0.25 * (double)(i % 5);
            if (i % 2 == 0) start[i / 2] = (int64_t)i;
        }
        sa_history history = {.count = ROWS,
                              .scores = scores,
                              .psi = with & 2 ? discount : NULL,
                              .answered = ROWS / 2,
                              .start = start};
        sa_moments revised = {0}, fresh = {0};
        sa_moments_follow(&revised, &history, factor);
        for (size_t i = 0; i < ROWS; i += 7) {
            double before = scores[i];
            scores[i] += 3 + (double)i;
            sa_moments_revise(&revised, &history, i, before, factor);
        }
        memcpy(right, scores, sizeof right);
        sa_moments_follow(&fresh, &history, factor);
        assert_true(fabs(revised.mean - fresh.mean) < 1e-11 * fabs(fresh.mean));
        assert_true(fabs(revised.squares - fresh.squares) < 1e-11 * fresh.squares);
        for (int far = 0; far < 4; far++) { /* to far away, where squares may overflow, and back */
            double away = (double[]){1e5, 1e10, 5e153, 1e200}[far];
            for (size_t i = 0; i < 2 * ROWS; i++) {
                double before = scores[i % ROWS];
                scores[i % ROWS] = i < ROWS ? (i % 2 ? away : -away) : right[i % ROWS];
                sa_moments_revise(&revised, &history, i % ROWS, before, factor);
            }
            assert_true(fabs(revised.mean - fresh.mean) < 1e-7 * fabs(fresh.mean));
            assert_true(fabs(revised.squares - fresh.squares) < 1e-7 * fresh.squares);
        }
    }
}

static void add(sa_companion *companion, const double *inputs, const double *scores, size_t count,
                double factor) {
    for (size_t i = 0; i < count; i++) {
        sa_companion_fade(companion, factor);
        sa_companion_add(companion, &(sa_companion_case){.input = inputs + DIM * i,
                                                         .score = scores[i],
                                                         .psi = 0.5 + 0.25 * (double)(i % 3)});
    }
}

static void test_companion(void **state) {
    (void)state;
    enum { ROWS = 50 };
    double inputs[ROWS * DIM], scores[ROWS], x[DIM] = {0.3, -0.2, 0.5, 0.1};
    for (int with = 0; with < 2; with++) {
        sa_companion *revised = NULL, *fresh = NULL;
        double factor = with ? 0.97 : 1;
        ok(sa_companion_create(DIM, &revised));
        ok(sa_companion_create(DIM, &fresh));
        for (size_t i = 0; i < ROWS * DIM; i++) inputs[i] = number(9, i);
        for (size_t i = 0; i < ROWS; i++) scores[i] = inputs[DIM * i] + 0.1 * number(10, i);
        add(revised, inputs, scores, ROWS, factor);
        for (size_t i = 0; i < ROWS; i += 4) {
            sa_companion_case seen = {
                .input = inputs + DIM * i, .score = scores[i], .psi = 0.5 + 0.25 * (double)(i % 3)};
            scores[i] += 2 * inputs[DIM * i + 1];
            sa_companion_revise(revised, &seen, scores[i], pow(factor, ROWS - 1 - (double)i));
        }
        add(fresh, inputs, scores, ROWS, factor);
        revised->numbers.reference = fresh->numbers.reference; /* the first score of all, as it was */
        for (int i = 0; i < 20; i++) {
            sa_companion_learn(revised);
            sa_companion_learn(fresh);
        }
        assert_true(fabs(revised->numbers.score_mean - fresh->numbers.score_mean) < 1e-12);
        assert_true(fabs(revised->numbers.score_square - fresh->numbers.score_square) < 1e-11);
        for (size_t j = 0; j < DIM; j++) assert_true(fabs(revised->theta[j] - fresh->theta[j]) < 1e-10);
        assert_true(fabs(sa_companion_mix(revised, x, 0.5) - sa_companion_mix(fresh, x, 0.5)) < 1e-10);
        sa_companion_destroy(revised);
        sa_companion_destroy(fresh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),    cmocka_unit_test(test_network), cmocka_unit_test(test_saved),
        cmocka_unit_test(test_bad_input), cmocka_unit_test(test_moments), cmocka_unit_test(test_companion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

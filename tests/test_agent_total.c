/* Agents that are told the total of a slate alone: against regressions on sums written out, against agents
 * that are told single scores where a slate has one arm, and against themselves, saved and loaded. */
#include "test_agent_rig.h"
#include "test_elimination.h"
#include <superarm/superarm.h>

enum { ARMS = 9, ROUNDS = 45 };

static size_t slate_of(uint64_t round) { return 1 + round % 4; }

static size_t arm_of(uint64_t round, size_t k) { return (round + 2 * k) % ARMS; }

static double total_of(uint64_t round) { return 2 * rig_number(round, 3000000); }

static sa_request *request_of(uint64_t round, size_t slate) {
    sa_request *request = sa_request_new();
    assert_non_null(request);
    sa_request_contexts(request, rig_contexts(round), ARMS);
    sa_request_slate(request, slate);
    return request;
}

/* A slate that does not depend on the agent, and its total. */
static void teach(sa_agent *agent, uint64_t round, double total) {
    size_t arms[4];
    sa_request *request = request_of(round, slate_of(round));
    for (size_t k = 0; k < 4; k++) arms[k] = arm_of(round, k);
    assert_ok(sa_agent_learn(agent, request, arms, &total, NULL, slate_of(round)));
    sa_request_destroy(request);
}

static void look(sa_agent *agent, double *estimate, double *width) {
    sa_request *request = request_of(1000, 2);
    sa_chooser *chooser = sa_chooser_new();
    sa_policy *policy = NULL;
    assert_ok(sa_agent_policy(agent, &policy));
    assert_ok(sa_policy_estimate(policy, chooser, request, estimate, width, NULL));
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_request_destroy(request);
}

static void assert_close(const double *a, const double *b, double most) {
    for (size_t i = 0; i < ARMS; i++)
        if (!(fabs(a[i] - b[i]) <= most)) fail_msg("arm %zu: %.17g, not %.17g", i, a[i], b[i]);
}

static void assert_alike(sa_agent *one, sa_agent *other, double most) {
    double a[2][ARMS], b[2][ARMS];
    look(one, a[0], a[1]);
    look(other, b[0], b[1]);
    assert_close(a[0], b[0], most);
    assert_close(a[1], b[1], most);
}

/* ---- linear models ---- */

/* estimate and width (ARMS) of the ridge regression of totals on sums, by elimination. weight[i] of decision
 * i; lambda 1 */
static void regress(const double *weight, double *estimate, double *width) {
    double z[RIG_DIM][RIG_DIM] = {{0}}, b[RIG_DIM] = {0}, system[RIG_DIM * (RIG_DIM + 1)];
    for (size_t j = 0; j < RIG_DIM; j++) z[j][j] = 1;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double sum[RIG_DIM] = {0};
        for (size_t k = 0; k < slate_of(round); k++)
            for (size_t j = 0; j < RIG_DIM; j++)
                sum[j] += rig_contexts(round)[arm_of(round, k) * RIG_DIM + j];
        for (size_t i = 0; i < RIG_DIM; i++) {
            b[i] += weight[round] * total_of(round) * sum[i];
            for (size_t j = 0; j < RIG_DIM; j++) z[i][j] += weight[round] * sum[i] * sum[j];
        }
    }
    for (size_t a = 0; a < ARMS; a++) {
        const double *x = rig_contexts(1000) + a * RIG_DIM;
        double square = 0;
        for (int right = 0; right < 2; right++) {
            for (size_t i = 0; i < RIG_DIM; i++) {
                for (size_t j = 0; j < RIG_DIM; j++) system[i * (RIG_DIM + 1) + j] = z[i][j];
                system[i * (RIG_DIM + 1) + RIG_DIM] = right ? x[i] : b[i];
            }
            eliminate(RIG_DIM, system);
            double *to = right ? &square : &estimate[a];
            *to = 0;
            for (size_t i = 0; i < RIG_DIM; i++) *to += x[i] * system[i * (RIG_DIM + 1) + RIG_DIM];
        }
        width[a] = sqrt(square);
    }
}

static void linear_models_regress_on_sums(void **state) {
    (void)state;
    static const struct {
        const char *words;
        double discount;
        size_t window;
        bool widths;
    } cases[] = {{"algorithm=comblin-ucb linear-form=defined", 1, 0, true},
                 {"algorithm=comblin-ucb linear-form=defined", 1, 0, true},
                 {"algorithm=comblin-ts linear-form=defined", 1, 0, true},
                 {"algorithm=c2ucb count-pending=true", 1, 0, true},
                 {"algorithm=comblin-ucb linear-form=defined window=16", 1, 16, true},
                 {"algorithm=comblin-ucb linear-form=defined window=16", 1, 16, true},
                 {"algorithm=comblin-ucb linear-form=defined discount=0.9", 0.9, 0, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char words[256];
        double weight[ROUNDS], estimate[2][ARMS], width[2][ARMS];
        size_t oldest = 0, window = cases[c].window;
        snprintf(words, sizeof words, "feedback=total regularization=1 %s", cases[c].words);
        sa_agent *agent = rig_create(words);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            teach(agent, round, total_of(round));
            if (window && round + 1 - oldest > window + window / 4) oldest = round + 1 - window;
        }
        for (uint64_t round = 0; round < ROUNDS; round++)
            weight[round] = round < oldest ? 0 : pow(cases[c].discount, (double)(ROUNDS - 1 - round));
        look(agent, estimate[0], width[0]);
        regress(weight, estimate[1], width[1]);
        assert_close(estimate[0], estimate[1], 1e-9);
        if (cases[c].widths) assert_close(width[0], width[1], 1e-9);
        assert_int_equal(rig_counts(agent).answered, ROUNDS);
        sa_agent_destroy(agent);
    }
}

/* As if the new totals had come at first: for linear models at once, for the rest with the next training. */
static void revised_totals(void **state) {
    (void)state;
    static const char *const words[] = {"algorithm=comblin-ucb linear-form=defined",
                                        "algorithm=comblin-ucb linear-form=defined discount=0.9",
                                        "algorithm=neural-linear train-every=1000 preset=paper",
                                        "preset=tuned train=manual precision=double"};
    for (size_t c = 0; c < sizeof words / sizeof *words; c++) {
        char text[256];
        snprintf(text, sizeof text, "%s feedback=total", words[c]);
        sa_agent *revised = rig_create(text), *right = rig_create(text);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            teach(right, round, total_of(round));
            teach(revised, round, round % 3 ? total_of(round) : -5);
        }
        for (uint64_t round = 0; round < ROUNDS; round += 3) {
            double total = total_of(round);
            assert_ok(sa_agent_revise(revised, round, &total, NULL, 1));
        }
        if (c == 3) assert_ok(sa_agent_train(revised));
        if (c == 3) assert_ok(sa_agent_train(right));
        assert_alike(revised, right, c == 3 ? 1e-6 : 1e-9);
        sa_agent_destroy(revised);
        sa_agent_destroy(right);
    }
}

/* ---- a slate of one arm is its own total ---- */

static void one_arm_is_its_total(void **state) {
    (void)state;
    static const char *const words[] = {"preset=paper",
                                        "preset=icml23",
                                        "preset=tuned",
                                        "preset=tuned train-batch=4",
                                        "preset=tuned train-batch=4 discount=0.95",
                                        "preset=tuned train-batch=7",
                                        "preset=tuned window=12",
                                        "preset=paper rebuild=true",
                                        "preset=paper discount=0.9 rebuild=true",
                                        "preset=paper confidence=diagonal",
                                        "preset=paper confidence=last-layer",
                                        "preset=tuned algorithm=neural-linear",
                                        "algorithm=comblin-ts"};
    for (size_t c = 0; c < sizeof words / sizeof *words; c++) {
        char text[256];
        snprintf(text, sizeof text, "%s precision=double feedback=total", words[c]);
        sa_agent *total = rig_create(text);
        snprintf(text, sizeof text, "%s precision=double", words[c]);
        sa_agent *single = rig_create(text);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            sa_decision *one = NULL, *other = NULL;
            double score = total_of(round);
            uint64_t id = rig_select(total, round, ARMS, 1, &one);
            rig_select(single, round, ARMS, 1, &other);
            assert_int_equal(sa_decision_arms(one)[0], sa_decision_arms(other)[0]);
            assert_ok(sa_agent_update(total, id, &score, NULL, 1));
            assert_ok(sa_agent_update(single, id, &score, NULL, 1));
            sa_decision_destroy(one);
            sa_decision_destroy(other);
        }
        assert_alike(total, single, 1e-7);
        sa_agent_destroy(total);
        sa_agent_destroy(single);
    }
}

/* ---- Z that is made again ---- */

/* Weights that do not move: a Z rebuilt after each training is the one there was. */
static void rebuilt_is_the_same(void **state) {
    (void)state;
    static const char *const words[] = {"", "count-pending=true", "discount=0.97", "confidence=last-layer"};
    for (size_t c = 0; c < sizeof words / sizeof *words; c++) {
        char text[256];
        snprintf(text, sizeof text, "preset=icml23 feedback=total precision=double rate=1e-15 %s", words[c]);
        sa_agent *kept = rig_create(text);
        strcat(text, " rebuild=true");
        sa_agent *rebuilt = rig_create(text);
        for (uint64_t round = 0; round < ROUNDS; round++) {
            teach(kept, round, total_of(round));
            teach(rebuilt, round, total_of(round));
        }
        assert_true(rig_counts(kept).trainings > 5);
        assert_int_equal(rig_counts(rebuilt).counted, ROUNDS);
        assert_alike(kept, rebuilt, c == 2 ? 0.1 : 1e-9); /* what fades is rebuilt with the right lambda */
        sa_agent_destroy(kept);
        sa_agent_destroy(rebuilt);
    }
}

/* The same for more slates of one arm than are looked at in one go. */
static void many_small_slates(void **state) {
    (void)state;
    const char *words = "preset=icml23 feedback=total precision=double rate=1e-15 train-every=100";
    char text[256];
    snprintf(text, sizeof text, "%s rebuild=true", words);
    sa_agent *agent[2] = {rig_create(words), rig_create(text)};
    for (uint64_t round = 0; round < 600; round++) {
        sa_request *request = request_of(round, 1);
        double total = total_of(round);
        size_t arm = arm_of(round, 0);
        for (int i = 0; i < 2; i++) assert_ok(sa_agent_learn(agent[i], request, &arm, &total, NULL, 1));
        sa_request_destroy(request);
    }
    assert_ok(sa_agent_train(agent[1]));
    assert_int_equal(rig_counts(agent[1]).counted, 600);
    assert_alike(agent[0], agent[1], 1e-9);
    for (int i = 0; i < 2; i++) sa_agent_destroy(agent[i]);
}

/* ---- files ---- */

/* Slates of the agents' own, every fourth answered late. */
static void go_on(sa_agent *agent, sa_agent *twin, uint64_t first, uint64_t rounds) {
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t round = first; round < first + rounds; round++) {
        uint64_t id = rig_select(agent, round, ARMS, slate_of(round), &one), answered = id;
        if (twin) {
            rig_select(twin, round, ARMS, slate_of(round), &other);
            rig_assert_same_decision(one, other);
        }
        if (round % 4 == 0) continue;
        for (int late = 0; late <= (round % 4 == 3); late++, answered = id - 3) {
            double total = total_of(answered);
            assert_ok(sa_agent_update(agent, answered, &total, NULL, 1));
            if (twin) assert_ok(sa_agent_update(twin, answered, &total, NULL, 1));
        }
        if (twin) rig_assert_same_counts(agent, twin);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
}

static void saved_agents_go_on(void **state) {
    (void)state;
    static const char *const words[] = {"preset=tuned",
                                        "preset=paper algorithm=cn-ts",
                                        "preset=icml23 window=8",
                                        "preset=tuned discount=0.9 train-batch=4",
                                        "preset=paper count-pending=true",
                                        "preset=paper rebuild=true count-pending=true",
                                        "preset=tuned algorithm=neural-linear",
                                        "preset=paper confidence=diagonal",
                                        "algorithm=greedy",
                                        "algorithm=random",
                                        "algorithm=comblin-ucb window=8"};
    for (size_t c = 0; c < sizeof words / sizeof *words; c++) {
        char text[256];
        sa_agent *twin = NULL;
        snprintf(text, sizeof text, "%s feedback=total", words[c]);
        sa_agent *agent = rig_create(text);
        go_on(agent, NULL, 0, 26); /* a decision waits */
        assert_ok(sa_agent_save(agent, scratch("agent.npz")));
        assert_ok(sa_agent_load(scratch("agent.npz"), &twin));
        go_on(agent, twin, 26, 18);
        sa_agent_destroy(agent);
        sa_agent_destroy(twin);
    }
}

/* The same with its feedback in a file, which the second agent opens when the first is gone. */
static void history_in_a_file(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "feedback=total history=%s", scratch("feedback.bin"));
    sa_agent *agent = rig_create(text), *other = rig_create("feedback=total"), *loaded = NULL;
    go_on(agent, other, 0, 26);
    assert_ok(sa_agent_save(agent, scratch("agent.npz")));
    sa_agent_destroy(agent);
    assert_ok(sa_agent_load(scratch("agent.npz"), &loaded));
    go_on(loaded, other, 26, 18);
    sa_agent_destroy(loaded);
    sa_agent_destroy(other);
}

/* ---- bad input ---- */

static void wrong_feedback_changes_nothing(void **state) {
    (void)state;
    sa_agent *agent = rig_create("feedback=total algorithm=comblin-ucb reward-range=-10,10");
    sa_agent *twin = rig_create("feedback=total algorithm=comblin-ucb reward-range=-10,10");
    sa_decision *decision = NULL;
    uint64_t id = rig_select(agent, 1, ARMS, 3, &decision);
    rig_select(twin, 1, ARMS, 3, &decision);
    const double many[3] = {1, 2, 3}, nan = NAN, huge = 11, total = 4;
    const bool unseen = false;
    assert_fails(sa_agent_update(agent, id, many, NULL, 3), SA_INVALID,
                 "feedback for decision 0 has 3 scores, and --feedback total takes one number");
    assert_fails(sa_agent_update(agent, id, many, NULL, 0), SA_INVALID, "has 0 scores");
    assert_fails(sa_agent_update(agent, id, &nan, NULL, 1), SA_INVALID, "the total of decision 0 is nan");
    assert_fails(sa_agent_update(agent, id, &huge, NULL, 1), SA_INVALID,
                 "the total of decision 0 is 11, and --reward-range is -10,10");
    assert_fails(sa_agent_update(agent, id + 1, &total, NULL, 1), SA_UNKNOWN_DECISION, "never made");
    assert_fails(sa_agent_revise(agent, id, &total, NULL, 1), SA_INVALID,
                 "decision 0 has no total that could be revised");
    assert_ok(sa_agent_update(agent, id, &nan, &unseen, 1)); /* nothing was seen */
    assert_int_equal(rig_counts(agent).answered, 0);
    assert_ok(sa_agent_update(agent, id, &total, NULL, 1));
    assert_ok(sa_agent_update(twin, id, &total, NULL, 1));
    assert_fails(sa_agent_update(agent, id, &total, NULL, 1), SA_ALREADY_ANSWERED,
                 "the total of decision 0 came before");
    assert_fails(sa_agent_revise(agent, id, &nan, NULL, 1), SA_INVALID, "the total of decision 0 is nan");
    assert_fails(sa_agent_revise(agent, id, many, NULL, 3), SA_INVALID, "takes one number");
    sa_request *request = request_of(2, 2);
    assert_fails(sa_agent_learn(agent, request, (const size_t[]){0, 1}, &nan, NULL, 2), SA_INVALID,
                 "the total of decision 1 is nan");
    assert_alike(agent, twin, 0);
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* One wild total among others teaches nothing. */
static void wild_totals(void **state) {
    (void)state;
    sa_agent *agent = rig_create("feedback=total"), *twin = rig_create("feedback=total");
    for (uint64_t round = 0; round < ROUNDS; round++) {
        teach(agent, round, total_of(round));
        teach(twin, round, total_of(round));
    }
    teach(agent, ROUNDS, 1e30);
    assert_int_equal(rig_counts(agent).wild_rewards, 1);
    assert_int_equal(rig_counts(agent).answered, ROUNDS);
    assert_int_equal(rig_counts(agent).pending, 0);
    assert_alike(agent, twin, 0);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

static void what_does_not_go_together(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"confidence=sketch", "--confidence sketch cannot count the total of a slate"},
        {"confidence=auto", "--confidence auto cannot count the total of a slate"},
        {"algorithm=cn-ucb-d", "--feedback total does not go with --algorithm cn-ucb-d"},
        {"algorithm=cc-mab", "--algorithm cc-mab cannot learn from totals"},
        {"algorithm=acc-ucb", "--algorithm acc-ucb cannot learn from totals"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        sa_agent *agent = NULL;
        char text[256];
        snprintf(text, sizeof text, "feedback=total %s", cases[c][0]);
        assert_fails(rig_try_create(text, &agent), SA_INVALID, cases[c][1]);
    }
    sa_agent *agent = rig_create("feedback=total algorithm=comblin-ucb");
    sa_decision *decision = NULL;
    assert_fails(rig_try_select(agent, 1, 300, 257, &decision), SA_INVALID,
                 "slates of at most 256 arms, and this one has 257");
    assert_int_equal(rig_counts(agent).decisions, 0);
    double total = 1;
    uint64_t id = rig_select(agent, 1, 300, 256, &decision);
    assert_ok(sa_agent_update(agent, id, &total, NULL, 1));
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_models_regress_on_sums),
        cmocka_unit_test(revised_totals),
        cmocka_unit_test(one_arm_is_its_total),
        cmocka_unit_test(rebuilt_is_the_same),
        cmocka_unit_test(many_small_slates),
        cmocka_unit_test(saved_agents_go_on),
        cmocka_unit_test(history_in_a_file),
        cmocka_unit_test(wrong_feedback_changes_nothing),
        cmocka_unit_test(wild_totals),
        cmocka_unit_test(what_does_not_go_together),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

/* Many arms: they are looked through in blocks, and those that cannot reach the slate are dropped. The slate
 * is that of --widths all, whatever the engine, ties and excluded arms; threads change no byte; memory does
 * not grow with what is dropped. */
#include "agent/agent.h"
#include "test_agent_rig.h"

enum { MOST = 24 * SA_BLOCK_ARMS };

static double contexts[MOST * RIG_DIM];
static float narrow[MOST * RIG_DIM];
static bool excluded[MOST];

/* Arms of round `id`; in every fourth each arm comes several times over, so that scores tie across blocks. */
static void draw(uint64_t id, size_t arms) {
    size_t kinds = id % 4 == 1 ? arms / 7 + 1 : arms;
    for (size_t i = 0; i < arms; i++) {
        for (size_t j = 0; j < RIG_DIM; j++)
            contexts[i * RIG_DIM + j] = rig_number(id, (i * 7 % kinds) * RIG_DIM + j);
        excluded[i] = rig_number(id, 90000000 + i) > 0.4;
    }
    for (size_t i = 0; i < arms * RIG_DIM; i++) narrow[i] = (float)contexts[i];
}

static sa_status select_from(sa_agent *agent, uint64_t id, size_t arms, size_t slate,
                             sa_decision **decision) {
    sa_request *request = sa_request_new();
    if (id % 2)
        sa_request_contexts_float(request, narrow, arms);
    else
        sa_request_contexts(request, contexts, arms);
    sa_request_slate(request, slate);
    if (id % 3 == 0) sa_request_exclude(request, excluded);
    sa_status status = sa_agent_select(agent, request, decision);
    sa_request_destroy(request);
    return status;
}

static void compare(const char *kind, const sa_decision *needed, const sa_decision *all) {
    size_t slate = sa_decision_slate(all), arms = sa_decision_candidates(all);
    if (memcmp(sa_decision_arms(needed), sa_decision_arms(all), slate * sizeof(size_t)))
        fail_msg("%s: the slates of decision %llu differ", kind, (unsigned long long)sa_decision_id(all));
    assert_memory_equal(sa_decision_all_estimates(needed), sa_decision_all_estimates(all),
                        arms * sizeof(double));
    assert_memory_equal(sa_decision_widths(needed), sa_decision_widths(all), slate * sizeof(double));
    assert_memory_equal(sa_decision_scores(needed), sa_decision_scores(all), slate * sizeof(double));
    for (size_t i = 0; i < arms; i++) {
        double width = sa_decision_all_widths(all)[i];
        if (!isnan(width))
            assert_true(sa_decision_all_widths(needed)[i] >= width * (1 - 1e-5)); /* greedy has none */
    }
}

static void play(const char *kind) {
    static const size_t sizes[] = {513, 2000, 1100, 40};
    char text[300];
    snprintf(text, sizeof text, "train-every=5 %s", kind);
    sa_agent *needed = rig_create(text);
    snprintf(text, sizeof text, "train-every=5 %s widths=all", kind);
    sa_agent *all = rig_create(text);
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 16; id++) {
        size_t arms = sizes[id % 4], slate = id == 6 ? 600 : 1 + id % 6; /* also one larger than a block */
        draw(id, arms);
        assert_ok(select_from(needed, id, arms, slate, &one));
        assert_ok(select_from(all, id, arms, slate, &other));
        compare(kind, one, other);
        if (slate == 600) continue;
        rig_answer(needed, id, slate);
        rig_answer(all, id, slate);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(needed);
    sa_agent_destroy(all);
}

static void the_slate_is_that_of_all_widths(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "gamma=1",
        "gamma=0",
        "gamma=100 hidden=44",
        "gamma=1 hidden=44 precision=double",
        "algorithm=cn-ts nu=1",
        "algorithm=cn-ts1 nu=3 hidden=44",
        "preset=icml23 hidden=6 algorithm=cn-ts",
        "preset=paper hidden=6",
        "confidence=diagonal",
        "confidence=sketch sketch-size=16",
        "confidence=auto sketch-size=16",
        "confidence=last-layer algorithm=cn-ts1",
        "algorithm=comblin-ucb",
        "algorithm=comblin-ts",
        "algorithm=neural-linear",
        "normalize=standard count-pending=true",
        "normalize=unit companion=false depth=3",
        "algorithm=cn-ucb gamma=theory",
        "algorithm=greedy",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) play(kinds[i]);
}

/* ---- in blocks, and a few at a time ---- */

enum { BLOCKED = 1300, FEW = 20 }; /* arms: the last of three blocks is not full */

typedef struct scored {
    double estimate[BLOCKED], width[BLOCKED], score[BLOCKED];
} scored;

/* Of arms [first, first + count), with a place for each 10. */
static sa_request *some(size_t first, size_t count) {
    sa_request *request = sa_request_new();
    sa_request_contexts(request, contexts + first * RIG_DIM, count);
    sa_request_slate(request, count / 10);
    return request;
}

static void score_some(const sa_policy *policy, size_t first, size_t count, scored *out) {
    sa_chooser *chooser = sa_chooser_new();
    sa_request *request = some(first, count);
    assert_ok(sa_policy_estimate(policy, chooser, request, out->estimate + first, out->width + first,
                                 out->score + first));
    sa_request_destroy(request);
    sa_chooser_destroy(chooser);
}

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.15g is not %.15g", value, expected);
}

/* What a bonus has beside the network's part, which is gamma sqrt(g) (deviation + early g^2) width. */
static void assert_more_than_widths(const sa_policy *policy, const scored *seen, double gamma) {
    double g = log(1 + 10.0) / log(6), unit = policy->deviation + policy->early * g * g, least = INFINITY;
    for (size_t i = 0; i < BLOCKED; i++)
        least = fmin(least, (seen->score[i] - seen->estimate[i]) / (gamma * sqrt(g) * unit * seen->width[i]));
    assert_true(policy->deviation > 0 && least > 1.01);
}

/* Also what is open of the companion's regression. */
static void blocks_score_as_a_few_arms_do(void **state) {
    (void)state;
    static scored together, apart;
    sa_agent *agent = rig_create("precision=double hidden=20 gamma=2");
    sa_policy *policy = NULL;
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *decision = NULL;
    for (uint64_t id = 0; id < 20; id++) {
        rig_select(agent, id, 9, 3, &decision);
        rig_answer(agent, id, 3);
    }
    draw(100, BLOCKED);
    assert_ok(sa_agent_policy(agent, &policy));
    score_some(policy, 0, BLOCKED, &together);
    for (size_t first = 0; first < BLOCKED; first += FEW) score_some(policy, first, FEW, &apart);
    for (size_t i = 0; i < BLOCKED; i++) {
        assert_near(together.estimate[i], apart.estimate[i]);
        assert_near(together.score[i], apart.score[i]);
    }
    assert_more_than_widths(policy, &apart, 2);
    sa_request *request = some(0, BLOCKED);
    assert_ok(sa_policy_select(policy, chooser, request, &decision));
    for (size_t k = 0; k < sa_decision_slate(decision); k++)
        assert_near(sa_decision_scores(decision)[k], apart.score[sa_decision_arms(decision)[k]]);
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_agent_destroy(agent);
}

/* In late rounds widths are small, and nearly all arms are dropped; their gradients are not kept. */
static void few_survive(void **state) {
    (void)state;
    sa_agent *agent = rig_create("hidden=40 bonus=width companion=false gamma=0.02"),
             *all = rig_create("hidden=40 bonus=width companion=false gamma=0.02 widths=all");
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t id = 0; id < 40; id++) {
        draw(id, 60);
        assert_ok(select_from(agent, id, 60, 5, &one));
        assert_ok(select_from(all, id, 60, 5, &other));
        rig_answer(agent, id, 5);
        rig_answer(all, id, 5);
    }
    for (uint64_t id = 40; id < 42; id++) {
        draw(id, MOST);
        assert_ok(select_from(agent, id, MOST, 5, &one));
        assert_ok(select_from(all, id, MOST, 5, &other));
        compare("late", one, other);
    }
    const sa_candidates *candidates = &agent->chooser->candidates;
    assert_in_range(candidates->count, 5, SA_BLOCK_ARMS); /* of 24 blocks */
    assert_true(candidates->gradients.capacity < 4 * SA_BLOCK_ARMS);
    for (size_t i = 0; i < agent->chooser->blocks; i++)
        assert_true(agent->chooser->block[i].gradients.capacity <= SA_BLOCK_ARMS);
    for (size_t i = 0; i < all->chooser->blocks; i++)
        assert_true(all->chooser->block[i].gradients.capacity <= SA_BLOCK_ARMS);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(all);
}

/* All arms alike, and bounds that say nothing: memory stays bounded, and the lowest indices are chosen. */
static void all_tie(void **state) {
    (void)state;
    sa_agent *agent = rig_create("gamma=1000");
    sa_decision *decision = NULL;
    for (size_t i = 0; i < MOST * RIG_DIM; i++) contexts[i] = 0.25 * (double)(i % RIG_DIM);
    assert_ok(select_from(agent, 2, MOST, 5, &decision));
    for (size_t k = 0; k < 5; k++) assert_int_equal(sa_decision_arms(decision)[k], k);
    assert_true(agent->chooser->candidates.gradients.capacity < 4 * SA_BLOCK_ARMS);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

static void threads_change_no_byte(void **state) {
    (void)state;
    static const char *const kinds[] = {"gamma=1 normalize=standard", "algorithm=cn-ts",
                                        "algorithm=comblin-ucb"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char text[200];
        sa_agent *one = rig_create(kinds[i]);
        snprintf(text, sizeof text, "%s agent-threads=3", kinds[i]);
        sa_agent *three = rig_create(text);
        sa_decision *first = NULL, *second = NULL;
        for (uint64_t id = 0; id < 4; id++) {
            draw(id, MOST);
            assert_ok(select_from(one, id, MOST, 4, &first));
            assert_ok(select_from(three, id, MOST, 4, &second));
            rig_assert_same_decision(first, second);
            rig_answer(one, id, 4);
            rig_answer(three, id, 4);
        }
        sa_decision_destroy(first);
        sa_decision_destroy(second);
        sa_agent_destroy(one);
        sa_agent_destroy(three);
    }
}

/* Wherever it stands, and with any number of threads; and nothing is changed. */
static void a_bad_context_is_named(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        char text[100];
        snprintf(text, sizeof text, "agent-threads=%d", threads);
        sa_agent *agent = rig_create(text);
        sa_decision *decision = NULL;
        draw(2, MOST);
        contexts[(MOST - 3) * RIG_DIM + 2] = NAN;
        assert_int_equal(select_from(agent, 2, MOST, 4, &decision), SA_INVALID);
        snprintf(text, sizeof text, "arm %d has nan as feature 2", MOST - 3);
        assert_non_null(strstr(sa_last_error(), text));
        draw(2, MOST);
        contexts[700 * RIG_DIM] = 1e300;
        assert_int_equal(select_from(agent, 2, MOST, 4, &decision), SA_INVALID);
        assert_non_null(
            strstr(sa_last_error(), "arm 700 has 1e+300 as feature 0, too large for --precision single"));
        assert_null(decision);
        assert_int_equal(rig_counts(agent).decisions, 0);
        sa_agent_destroy(agent);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_slate_is_that_of_all_widths),
                                       cmocka_unit_test(blocks_score_as_a_few_arms_do),
                                       cmocka_unit_test(few_survive),
                                       cmocka_unit_test(all_tie),
                                       cmocka_unit_test(threads_change_no_byte),
                                       cmocka_unit_test(a_bad_context_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

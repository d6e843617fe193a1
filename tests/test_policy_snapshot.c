/* Policies: choosing with one and recording what was chosen is what sa_agent_select does, bit for bit; one
 * that is kept never changes; slates that others chose teach as the agent's own do; and wrong input changes
 * nothing. */
#include "test_agent_mark.h"

enum { MOST = 700, SLATE = 3 };

static const char *const kinds[] = {
    "gamma=1 hidden=44",
    "gamma=1",
    "precision=double widths=all",
    "confidence=sketch sketch-size=8",
    "confidence=auto sketch-size=8",
    "confidence=diagonal",
    "algorithm=cn-ts nu=1 hidden=44",
    "algorithm=cn-ts nu=1 confidence=sketch sketch-size=8",
    "algorithm=cn-ts nu=1 confidence=auto sketch-size=8",
    "algorithm=cn-ts nu=1 confidence=diagonal",
    "algorithm=comblin-ucb",
    "algorithm=comblin-ts",
    "algorithm=neural-linear",
    "algorithm=cc-mab",
    "algorithm=acc-ucb gamma=0",
    "algorithm=greedy",
    "algorithm=random",
    "algorithm=best",
    "feedback=position slate=3",
    "feedback=position slate=3 oracle=assignment algorithm=cn-ts",
    "feedback=cascade",
    "feedback=cascade algorithm=comblin-ts",
    "normalize=standard",
    "normalize=standard algorithm=cn-ts count-pending=true",
    "count-pending=true hidden=44",
    "count-pending=true confidence=sketch sketch-size=8",
    "confidence=last-layer rebuild=true",
    "hidden=44 discount=0.9",
    "hidden=44 window=6",
    "algorithm=cn-ucb-d epoch-length=8 epoch-hidden-growth=2",
    "agent-threads=2 normalize=standard",
    "preset=tuned",
    "preset=icml23 hidden=6 gamma=theory",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- requests ---- */

static double contexts[MOST * RIG_DIM], expected[MOST];
static bool excluded[MOST];
static sa_request *request;

/* Few arms, some of them excluded every third round, and more than a block has every eighth. */
static void ask(uint64_t round) {
    size_t arms = round % 8 == 5 ? MOST : 6 + round % 5 * 4;
    for (size_t i = 0; i < arms * RIG_DIM; i++) contexts[i] = rig_number(round, i);
    for (size_t i = 0; i < arms; i++) {
        expected[i] = rig_number(round, 1000000 + i);
        excluded[i] = i >= SLATE && rig_number(round, 3000000 + i) > 0.5;
    }
    sa_request_contexts(request, contexts, arms);
    sa_request_expected(request, expected);
    sa_request_slate(request, SLATE);
    sa_request_exclude(request, round % 3 == 1 ? excluded : NULL);
    sa_request_event(request, 100 + round);
}

static int setup(void **state) {
    request = sa_request_new();
    return request ? rig_setup(state) : 1;
}

static int teardown(void **state) {
    sa_request_destroy(request);
    return scratch_teardown(state);
}

static void assert_same(const char *kind, uint64_t round, const sa_decision *a, const sa_decision *b) {
    if (mark_decision(1, a) != mark_decision(1, b))
        fail_msg("%s: decisions of round %d differ", kind, (int)round);
    rig_assert_same_decision(a, b);
}

static void assert_same_files(const char *kind, const sa_agent *a, const sa_agent *b) {
    assert_ok(save(a, "a.npz"));
    assert_ok(save(b, "b.npz"));
    if (mark_file(1, "a.npz") != mark_file(1, "b.npz")) fail_msg("%s: the saved agents differ", kind);
}

static sa_policy *policy_of(sa_agent *agent) {
    sa_policy *policy = NULL;
    assert_ok(sa_agent_policy(agent, &policy));
    return policy;
}

/* ---- the two ways to choose ---- */

/* Every fourth decision is answered late. */
static void answer_both(sa_agent *one, sa_agent *other, uint64_t round) {
    if (round % 4 != 2) rig_answer(one, round, SLATE);
    if (round % 4 != 2) rig_answer(other, round, SLATE);
    if (round % 4 == 3) rig_answer(one, round - 1, SLATE);
    if (round % 4 == 3) rig_answer(other, round - 1, SLATE);
}

/* `kept`: each policy lives until the next one is taken, so that the agent learns beside it. */
static void play(const char *kind, bool kept) {
    sa_agent *whole = rig_create(kind), *parts = rig_create(kind);
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *one = NULL, *other = NULL;
    sa_policy *policy = NULL;
    for (uint64_t round = 0; round < 28; round++) {
        ask(round);
        sa_policy_release(policy);
        policy = policy_of(parts);
        assert_ok(sa_agent_select(whole, request, &one));
        assert_ok(sa_policy_select(policy, chooser, request, &other));
        assert_true(sa_decision_id(other) == UINT64_MAX);
        if (!kept) sa_policy_release(policy);
        if (!kept) policy = NULL;
        assert_ok(sa_agent_record(parts, request, other));
        assert_same(kind, round, one, other);
        answer_both(whole, parts, round);
        rig_assert_same_counts(whole, parts);
    }
    assert_same_files(kind, whole, parts);
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(whole);
    sa_agent_destroy(parts);
}

static void select_is_choosing_and_recording(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        for (int kept = 0; kept < 2; kept++) play(kinds[i], kept);
}

/* ---- kept policies ---- */

enum { ASKED = 6 };

static void look(const char *kind, const sa_policy *policy, sa_chooser *chooser, uint64_t marks[ASKED],
                 bool again) {
    for (uint64_t i = 0; i < ASKED; i++) {
        sa_decision *decision = NULL;
        ask(i);
        assert_ok(sa_policy_select(policy, chooser, request, &decision));
        uint64_t mark = mark_decision(1, decision);
        if (again && mark != marks[i]) fail_msg("%s: a kept policy has changed (request %d)", kind, (int)i);
        marks[i] = mark;
        sa_decision_destroy(decision);
    }
}

/* Policies of rounds 0, 10, 20 and 30, looked at as the agent goes on to round 130, and after its end. */
static void keep(const char *kind) {
    enum { KEPT = 4, ROUNDS = 130 };
    sa_agent *agent = rig_create(kind);
    sa_chooser *chooser = sa_chooser_new();
    sa_decision *decision = NULL;
    sa_policy *policy[KEPT];
    uint64_t marks[KEPT][ASKED];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        if (round % 10 == 0 && round / 10 < KEPT) {
            policy[round / 10] = policy_of(agent);
            look(kind, policy[round / 10], chooser, marks[round / 10], false);
        }
        ask(round % 8 == 5 ? round + 1 : round); /* small ones */
        assert_ok(sa_agent_select(agent, request, &decision));
        rig_answer(agent, round, SLATE);
        for (size_t i = 0; round % 30 == 29 && i < KEPT && i * 10 <= round; i++)
            look(kind, policy[i], chooser, marks[i], true);
    }
    assert_true(sa_policy_retain(policy[1]) == policy[1]);
    sa_policy_release(policy[1]);
    sa_agent_destroy(agent);
    for (size_t i = 0; i < KEPT; i++) {
        look(kind, policy[i], chooser, marks[i], true);
        sa_policy_release(policy[i]);
    }
    sa_chooser_destroy(chooser);
    sa_decision_destroy(decision);
}

static void kept_policies_do_not_change(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) keep(kinds[i]);
}

/* ---- slates that somebody else chose ---- */

static void learn_like(const char *kind) {
    sa_agent *own = rig_create(kind), *others = rig_create(kind);
    sa_decision *one = NULL, *other = NULL;
    for (uint64_t round = 0; round < 25; round++) {
        const bool observed[SLATE] = {true, round % 5 != 1, true};
        double scores[SLATE];
        ask(round);
        assert_ok(sa_agent_select(own, request, &one));
        for (size_t k = 0; k < SLATE; k++) scores[k] = rig_number(round, 2000000 + k);
        const bool *seen = round % 5 == 1 ? observed : NULL;
        assert_ok(sa_agent_update(own, round, scores, seen, SLATE));
        assert_ok(sa_agent_learn(others, request, sa_decision_arms(one), scores, seen, SLATE));
        rig_assert_same_counts(own, others);
    }
    assert_same_files(kind, own, others);
    for (uint64_t round = 25; round < 30; round++) {
        ask(round);
        assert_ok(sa_agent_select(own, request, &one));
        assert_ok(sa_agent_select(others, request, &other));
        assert_same(kind, round, one, other);
    }
    sa_decision_destroy(one);
    sa_decision_destroy(other);
    sa_agent_destroy(own);
    sa_agent_destroy(others);
}

static void learning_from_others_is_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) learn_like(kinds[i]);
}

/* ---- estimates ---- */

static void estimates_are_those_of_all_widths(void **state) {
    (void)state;
    static double estimates[MOST * SLATE], widths[MOST * SLATE], scores[MOST * SLATE];
    for (size_t i = 0; i < KINDS; i++) {
        char text[200];
        snprintf(text, sizeof text, "%s widths=all", kinds[i]);
        sa_agent *agent = rig_create(text), *needed = rig_create(kinds[i]);
        sa_chooser *chooser = sa_chooser_new();
        sa_decision *decision = NULL, *other = NULL;
        for (uint64_t round = 0; round < 14; round++) {
            ask(round);
            sa_policy *policy = policy_of(needed);
            assert_ok(sa_policy_estimate(policy, chooser, request, estimates, widths, scores));
            assert_ok(sa_policy_estimate(policy, chooser, request, NULL, NULL, NULL));
            sa_policy_release(policy);
            assert_ok(sa_agent_select(agent, request, &decision));
            assert_ok(sa_agent_select(needed, request, &other));
            size_t positions = sa_decision_positions(decision);
            size_t bytes = sa_decision_candidates(decision) * (positions ? positions : 1) * sizeof(double);
            assert_memory_equal(estimates, sa_decision_all_estimates(decision), bytes);
            assert_memory_equal(widths, sa_decision_all_widths(decision), bytes);
            if (!strstr(text, "oracle")) assert_memory_equal(scores, sa_decision_all_scores(decision), bytes);
            rig_answer(agent, round, SLATE);
            rig_answer(needed, round, SLATE);
        }
        sa_chooser_destroy(chooser);
        sa_decision_destroy(decision);
        sa_decision_destroy(other);
        sa_agent_destroy(agent);
        sa_agent_destroy(needed);
    }
}

/* ---- draws ---- */

static void draws_can_be_repeated(void **state) {
    (void)state;
    sa_agent *agent = rig_create("algorithm=cn-ts nu=1");
    sa_request *fixed = sa_request_new();
    sa_decision *first = NULL, *second = NULL;
    sa_request_contexts(fixed, rig_contexts(7), 20);
    sa_request_slate(fixed, SLATE);
    for (int given = 0; given < 2; given++) { /* without a draw, the number of the decision is one */
        if (given) sa_request_draw(fixed, (UINT64_C(1) << 48) - 1);
        assert_ok(sa_agent_select(agent, fixed, &first));
        assert_ok(sa_agent_select(agent, fixed, &second));
        size_t bytes = 20 * sizeof(double);
        assert_memory_equal(sa_decision_all_estimates(first), sa_decision_all_estimates(second), bytes);
        int differ =
            memcmp(sa_decision_scores(first), sa_decision_scores(second), SLATE * sizeof(double)) != 0;
        assert_int_equal(differ, !given);
    }
    sa_request_draw(fixed, 0); /* that of the first decision */
    assert_ok(sa_agent_select(agent, fixed, &second));
    uint64_t made = rig_counts(agent).decisions;
    sa_request_draw(fixed, UINT64_C(1) << 48);
    assert_fails(sa_agent_select(agent, fixed, &second), SA_INVALID,
                 "draw is 281474976710656, and must be below 2^48");
    sa_policy *policy = policy_of(agent);
    sa_chooser *chooser = sa_chooser_new();
    assert_fails(sa_policy_select(policy, chooser, fixed, &second), SA_INVALID, "below 2^48");
    assert_true(rig_counts(agent).decisions == made && sa_decision_id(second) == made - 1);
    sa_policy_release(policy);
    sa_chooser_destroy(chooser);
    sa_request_destroy(fixed);
    sa_decision_destroy(first);
    sa_decision_destroy(second);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_is_choosing_and_recording),
        cmocka_unit_test(kept_policies_do_not_change),
        cmocka_unit_test(learning_from_others_is_the_same),
        cmocka_unit_test(estimates_are_those_of_all_widths),
        cmocka_unit_test(draws_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

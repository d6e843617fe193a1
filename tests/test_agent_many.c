/* Many requests at once are answered as one by one: the same ids, slates and bytes, and the same agent
 * afterwards; or, when one of them is wrong, not at all. */
#include "agent/agent.h"
#include "test_agent_rig.h"

enum { MANY = 9 };

typedef struct rig {
    sa_request *request[MANY];
    sa_decision *single[MANY], *together[MANY];
} rig;

static double contexts[MANY][700 * RIG_DIM];
static bool excluded[700];

/* Requests of several sizes, among them one of more arms than a block has. */
static void ask(rig *self, uint64_t turn, size_t most) {
    static const size_t sizes[MANY] = {20, 35, 7, 400, 20, 600, 20, 20, 12};
    for (size_t i = 0; i < 700; i++) excluded[i] = i % 3 == 0;
    for (size_t r = 0; r < MANY; r++) {
        size_t arms = sizes[(r + turn) % MANY] < most ? sizes[(r + turn) % MANY] : most;
        for (size_t i = 0; i < arms * RIG_DIM; i++)
            contexts[r][i] = rig_number(turn * MANY + r, r == 4 ? i % 40 : i);
        sa_request_contexts(self->request[r], contexts[r], arms);
        sa_request_slate(self->request[r], 1 + r % 4);
        sa_request_expected(self->request[r], contexts[r]);
        sa_request_exclude(self->request[r], r % 3 == 1 ? excluded : NULL);
        sa_request_event(self->request[r], 100 * turn + r);
    }
}

static void begin(rig *self) {
    *self = (rig){0};
    for (size_t r = 0; r < MANY; r++) self->request[r] = sa_request_new();
}

static void end(rig *self) {
    for (size_t r = 0; r < MANY; r++) {
        sa_request_destroy(self->request[r]);
        sa_decision_destroy(self->single[r]);
        sa_decision_destroy(self->together[r]);
    }
}

static sa_status select_together(sa_agent *agent, rig *self, size_t count) {
    return sa_agent_select_many(agent, (const sa_request *const *)self->request, count, self->together);
}

static void play(const char *kind) {
    sa_agent *one = rig_create(kind), *many = rig_create(kind);
    rig all;
    begin(&all);
    for (uint64_t turn = 0; turn < 6; turn++) {
        ask(&all, turn, strstr(kind, "assignment") ? 30 : 700);
        for (size_t r = 0; r < MANY; r++) assert_ok(sa_agent_select(one, all.request[r], &all.single[r]));
        assert_ok(select_together(many, &all, MANY));
        for (size_t r = 0; r < MANY; r++) rig_assert_same_decision(all.single[r], all.together[r]);
        for (size_t r = MANY; r-- > 0;) { /* feedback comes late, and in any order */
            rig_answer(one, turn * MANY + r, 1 + r % 4);
            rig_answer(many, turn * MANY + r, 1 + r % 4);
        }
    }
    assert_true(rig_counts(one).log_det == rig_counts(many).log_det || isnan(rig_counts(one).log_det));
    end(&all);
    sa_agent_destroy(one);
    sa_agent_destroy(many);
}

static void as_one_by_one(void **state) {
    (void)state;
    static const char *const kinds[] = {
        "gamma=1",
        "gamma=1 hidden=44",
        "gamma=0.1 precision=double normalize=standard",
        "normalize=standard widths=all",
        "algorithm=cn-ts nu=1 hidden=44",
        "confidence=diagonal",
        "confidence=sketch sketch-size=16",
        "confidence=auto sketch-size=16",
        "confidence=last-layer",
        "algorithm=comblin-ucb",
        "algorithm=comblin-ts",
        "algorithm=neural-linear",
        "algorithm=cn-ucb gamma=theory",
        "algorithm=random",
        "algorithm=best",
        "algorithm=greedy",
        "algorithm=cc-mab",
        "algorithm=cn-ucb-d",
        "feedback=position oracle=assignment slate=4",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) play(kinds[i]);
}

static void assert_refused(sa_agent *agent, rig *all, const char *sentence) {
    sa_agent_counts before = rig_counts(agent), after;
    assert_int_equal(select_together(agent, all, MANY), SA_INVALID);
    if (!strstr(sa_last_error(), sentence)) fail_msg("'%s' is not in '%s'", sentence, sa_last_error());
    for (size_t r = 0; r < MANY; r++) assert_null(all->together[r]);
    after = rig_counts(agent);
    assert_true(before.decisions == after.decisions && before.pending == after.pending);
}

/* An agent that was asked in vain goes on as one that was not. */
static void one_wrong_request_changes_nothing(void **state) {
    (void)state;
    sa_agent *agent = rig_create("normalize=standard"), *other = rig_create("normalize=standard");
    rig all;
    begin(&all);
    ask(&all, 0, 700);
    sa_request_slate(all.request[7], 0);
    assert_refused(agent, &all, "request 7: the request asks for a slate of 0");
    ask(&all, 0, 700);
    contexts[6][3] = NAN;
    assert_refused(agent, &all, "arm 0 has nan as feature 3");
    ask(&all, 0, 700);
    assert_ok(select_together(agent, &all, MANY));
    for (size_t r = 0; r < MANY; r++) {
        assert_ok(sa_agent_select(other, all.request[r], &all.single[r]));
        rig_assert_same_decision(all.single[r], all.together[r]);
    }
    assert_ok(select_together(agent, &all, 0));
    assert_int_equal(sa_agent_select_many(NULL, NULL, 0, NULL), SA_INVALID);
    assert_int_equal(sa_agent_select_many(agent, NULL, 3, all.together), SA_INVALID);
    end(&all);
    sa_agent_destroy(agent);
    sa_agent_destroy(other);
}

static void counting_at_selection_is_refused(void **state) {
    (void)state;
    sa_agent *agent = rig_create("count-pending=true");
    rig all;
    begin(&all);
    ask(&all, 0, 700);
    assert_refused(agent, &all, "--count-pending");
    assert_ok(select_together(agent, &all, 1)); /* one is one */
    assert_int_equal(rig_counts(agent).counted, 1);
    end(&all);
    sa_agent_destroy(agent);
}

/* An older decision can be written over once; nothing has changed before that is seen. */
static void no_decision_is_given_twice(void **state) {
    (void)state;
    sa_agent *agent = rig_create("");
    rig all;
    begin(&all);
    ask(&all, 0, 700);
    assert_ok(select_together(agent, &all, MANY));
    sa_agent_counts before = rig_counts(agent);
    sa_decision *places[MANY] = {NULL};
    places[2] = places[7] = all.together[4];
    assert_int_equal(sa_agent_select_many(agent, (const sa_request *const *)all.request, MANY, places),
                     SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "one decision twice"));
    assert_true(sa_decision_id(all.together[4]) == 4 && rig_counts(agent).decisions == before.decisions);
    for (size_t r = 0; r < MANY; r++) assert_true(places[r] == (r == 2 || r == 7 ? all.together[4] : NULL));
    assert_ok(select_together(agent, &all, MANY)); /* over the older ones */
    for (size_t r = 0; r < MANY; r++) assert_int_equal(sa_decision_id(all.together[r]), MANY + r);
    end(&all);
    sa_agent_destroy(agent);
}

/* More than are kept: the first are forgotten, as one by one. */
static void the_limit_holds(void **state) {
    (void)state;
    sa_agent *agent = rig_create("pending-limit=4");
    rig all;
    begin(&all);
    ask(&all, 0, 700);
    assert_ok(select_together(agent, &all, MANY));
    assert_true(rig_counts(agent).pending == 4 && rig_counts(agent).forgotten == MANY - 4);
    assert_int_equal(rig_try_answer(agent, 2, 3, NULL), SA_UNKNOWN_DECISION);
    rig_answer(agent, MANY - 1, 1 + (MANY - 1) % 4);
    end(&all);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_by_one), cmocka_unit_test(one_wrong_request_changes_nothing),
        cmocka_unit_test(counting_at_selection_is_refused), cmocka_unit_test(no_decision_is_given_twice),
        cmocka_unit_test(the_limit_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

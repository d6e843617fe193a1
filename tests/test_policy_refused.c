/* Wrong input to policies, to recording and to learning from others' slates: a sentence each, and nothing is
 * changed. */
#include "test_agent_mark.h"

enum { ARMS = 9, SLATE = 3 };

typedef struct rig {
    sa_agent *agent, *twin;
    sa_request *request;
    sa_policy *policy;
    sa_chooser *chooser;
    sa_decision *decision;
} rig;

static void ask(rig *self, size_t arms) {
    sa_request_contexts(self->request, rig_contexts(4), arms);
    sa_request_slate(self->request, SLATE);
}

static rig begin(const char *text) {
    rig self = {.agent = rig_create(text), .twin = rig_create(text)};
    rig_go_on_alike(self.agent, self.twin, 0, 6);
    self.request = sa_request_new();
    self.chooser = sa_chooser_new();
    assert_ok(sa_agent_policy(self.agent, &self.policy));
    ask(&self, ARMS);
    return self;
}

static void end(rig *self) {
    sa_policy_release(self->policy);
    sa_chooser_destroy(self->chooser);
    sa_request_destroy(self->request);
    sa_decision_destroy(self->decision);
    rig_assert_same_counts(self->agent, self->twin);
    assert_ok(save(self->agent, "a.npz"));
    assert_ok(save(self->twin, "b.npz"));
    assert_true(mark_file(1, "a.npz") == mark_file(1, "b.npz"));
    rig_go_on_alike(self->agent, self->twin, 6, 6);
    sa_agent_destroy(self->agent);
    sa_agent_destroy(self->twin);
}

/* Several ways, so that each has something to lose. */
static const char *const kinds[] = {"hidden=44 normalize=standard", "count-pending=true",
                                    "algorithm=comblin-ts", "confidence=sketch sketch-size=4",
                                    "algorithm=random"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void nothing_in_the_place_of_something(void **state) {
    (void)state;
    rig self = begin(kinds[0]);
    sa_policy *none = NULL;
    double out[ARMS];
    assert_fails(sa_agent_policy(NULL, &none), SA_INVALID, "needs an agent");
    assert_fails(sa_agent_policy(self.agent, NULL), SA_INVALID, "a place for the policy");
    assert_null(none);
    assert_fails(sa_policy_select(NULL, self.chooser, self.request, &self.decision), SA_INVALID,
                 "needs a policy");
    assert_fails(sa_policy_select(self.policy, NULL, self.request, &self.decision), SA_INVALID, "a chooser");
    assert_fails(sa_policy_select(self.policy, self.chooser, NULL, &self.decision), SA_INVALID,
                 "the request is NULL");
    assert_fails(sa_policy_select(self.policy, self.chooser, self.request, NULL), SA_INVALID, "a place");
    assert_null(self.decision);
    assert_fails(sa_policy_estimate(NULL, self.chooser, self.request, out, out, out), SA_INVALID,
                 "needs a policy");
    assert_fails(sa_policy_estimate(self.policy, NULL, self.request, out, out, out), SA_INVALID, "a chooser");
    assert_fails(sa_policy_estimate(self.policy, self.chooser, NULL, out, out, out), SA_INVALID,
                 "the request is NULL");
    assert_ok(sa_policy_select(self.policy, self.chooser, self.request, &self.decision));
    assert_fails(sa_agent_record(NULL, self.request, self.decision), SA_INVALID, "needs an agent");
    assert_fails(sa_agent_record(self.agent, NULL, self.decision), SA_INVALID, "a request");
    assert_fails(sa_agent_record(self.agent, self.request, NULL), SA_INVALID, "a decision");
    const size_t arms[SLATE] = {0, 1, 2};
    const double scores[SLATE] = {0};
    assert_fails(sa_agent_learn(NULL, self.request, arms, scores, NULL, SLATE), SA_INVALID, "needs an agent");
    assert_fails(sa_agent_learn(self.agent, NULL, arms, scores, NULL, SLATE), SA_INVALID, "a request");
    assert_fails(sa_agent_learn(self.agent, self.request, NULL, scores, NULL, SLATE), SA_INVALID, "arms");
    assert_fails(sa_agent_learn(self.agent, self.request, arms, NULL, NULL, SLATE), SA_INVALID, "scores");
    sa_policy_release(NULL);
    sa_chooser_destroy(NULL);
    end(&self);
}

static void requests_are_checked(void **state) {
    (void)state;
    double wrong[ARMS * RIG_DIM], out[ARMS];
    for (size_t i = 0; i < KINDS; i++) {
        rig self = begin(kinds[i]);
        memcpy(wrong, rig_contexts(4), sizeof wrong);
        wrong[3 * RIG_DIM + 1] = NAN;
        sa_request_contexts(self.request, wrong, ARMS);
        assert_fails(sa_policy_select(self.policy, self.chooser, self.request, &self.decision), SA_INVALID,
                     "arm 3 has nan as feature 1");
        assert_fails(sa_policy_estimate(self.policy, self.chooser, self.request, out, NULL, NULL), SA_INVALID,
                     "arm 3");
        assert_fails(
            sa_agent_learn(self.agent, self.request, (size_t[]){3, 1, 0}, (double[]){1, 1, 1}, NULL, SLATE),
            SA_INVALID, "arm 3 has nan as feature 1");
        ask(&self, ARMS);
        sa_request_slate(self.request, ARMS + 1);
        assert_fails(sa_policy_select(self.policy, self.chooser, self.request, &self.decision), SA_INVALID,
                     "a slate of 10 out of 9 arms");
        assert_null(self.decision);
        ask(&self, ARMS);
        end(&self);
    }
}

static void decisions_are_recorded_once(void **state) {
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        rig self = begin(kinds[i]);
        sa_decision *other = NULL, *own = NULL;
        assert_ok(sa_policy_select(self.policy, self.chooser, self.request, &self.decision));
        ask(&self, ARMS + 1);
        assert_fails(sa_agent_record(self.agent, self.request, self.decision), SA_INVALID,
                     "made among 9 arms, and the request has 10");
        ask(&self, ARMS);
        bool excluded[ARMS] = {false};
        excluded[sa_decision_arms(self.decision)[1]] = true;
        sa_request_exclude(self.request, excluded);
        assert_fails(sa_agent_record(self.agent, self.request, self.decision), SA_INVALID,
                     "which the request excludes");
        sa_request_exclude(self.request, NULL);
        sa_request_slate(self.request, SLATE - 1);
        assert_fails(sa_agent_record(self.agent, self.request, self.decision), SA_INVALID,
                     "the slate has 3 arms, and the request asks for 2");
        ask(&self, ARMS);
        assert_true(sa_decision_id(self.decision) == UINT64_MAX);
        assert_ok(sa_agent_record(self.agent, self.request, self.decision));
        assert_ok(sa_agent_select(self.twin, self.request, &other));
        assert_true(sa_decision_id(self.decision) == 6 && sa_decision_id(other) == 6);
        assert_fails(sa_agent_record(self.agent, self.request, self.decision), SA_INVALID,
                     "was recorded before: its id is 6");
        assert_ok(sa_agent_select(self.agent, self.request, &own));
        assert_ok(sa_agent_select(self.twin, self.request, &other));
        assert_fails(sa_agent_record(self.agent, self.request, own), SA_INVALID, "its id is 7");
        sa_decision_destroy(other);
        sa_decision_destroy(own);
        end(&self);
    }
}

static void wrong_slates_teach_nothing(void **state) {
    (void)state;
    static const struct {
        size_t arms[SLATE + 1], count;
        double scores[SLATE + 1];
        const char *sentence;
    } wrong[] = {
        {{0, 9, 1}, 3, {1, 1, 1}, "the slate has arm 9, and the request has 9"},
        {{0, SIZE_MAX, 1}, 3, {1, 1, 1}, "and the request has 9"},
        {{4, 0, 4}, 3, {1, 1, 1}, "the slate has arm 4 twice"},
        {{4, 8, 1}, 3, {1, 1, 1}, "the slate has arm 8, which the request excludes"},
        {{4, 2, 1}, 3, {1, NAN, 1}, "feedback for place 1 of the slate is nan"},
        {{4, 2, 1}, 3, {1, 1, -INFINITY}, "feedback for place 2 of the slate is -inf"},
        {{4, 2, 1, 0}, 4, {1, 1, 1, 1}, "the slate has 4 arms, and the request asks for 3 at most"},
    };
    for (size_t i = 0; i < KINDS; i++) {
        rig self = begin(kinds[i]);
        const bool excluded[ARMS] = {[8] = true};
        sa_request_exclude(self.request, excluded);
        for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
            assert_fails(sa_agent_learn(self.agent, self.request, wrong[w].arms, wrong[w].scores, NULL,
                                        wrong[w].count),
                         SA_INVALID, wrong[w].sentence);
        /* what was not seen may be anything */
        const bool observed[SLATE] = {true, false, true};
        for (int k = 0; k < 2; k++)
            assert_ok(sa_agent_learn(k ? self.twin : self.agent, self.request, (size_t[]){4, 2, 1},
                                     (double[]){1, k ? 0 : NAN, 0.5}, observed, SLATE));
        end(&self);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_the_place_of_something), cmocka_unit_test(requests_are_checked),
        cmocka_unit_test(decisions_are_recorded_once), cmocka_unit_test(wrong_slates_teach_nothing)};
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

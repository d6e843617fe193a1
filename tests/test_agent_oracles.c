/* Agents with structured slates: data in the request, slates shorter than K or empty, and an oracle of the
 * caller's own. */
#include "test_agent_rig.h"

enum { ARMS = 8 };

static void select_with(sa_agent *agent, uint64_t seed, size_t slate, const sa_problem *problem,
                        sa_decision **decision, sa_status wanted) {
    sa_request *request = sa_request_new();
    sa_request_contexts(request, rig_contexts(seed), ARMS);
    sa_request_slate(request, slate);
    sa_request_problem(request, problem);
    sa_status status = sa_agent_select(agent, request, decision);
    if (status != wanted) fail_msg("%s: %s", sa_status_name(status), sa_last_error());
    sa_request_destroy(request);
}

static void test_knapsack(void **state) {
    (void)state;
    sa_agent *agent = rig_create("oracle=knapsack hidden=3 train-every=1");
    sa_problem *problem = sa_problem_new();
    sa_decision *decision = NULL;
    double costs[ARMS] = {1, 2, 3, 4, 1, 2, 3, 4}, answers[ARMS] = {0.5, 0.25, 1, 0, 0.5, 1, 1, 1};
    select_with(agent, 1, 0, NULL, &decision, SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "knapsack needs --costs"));
    sa_problem_costs(problem, costs, ARMS);
    sa_problem_capacity(problem, 5);
    size_t lengths = 0;
    for (uint64_t id = 0; id < 12; id++) {
        double spent = 0;
        select_with(agent, id, id % 2 ? 2 : 0, problem, &decision, SA_OK);
        size_t length = sa_decision_slate(decision);
        for (size_t i = 0; i < length; i++) spent += costs[sa_decision_arms(decision)[i]];
        assert_true(spent <= 5 && (id % 2 == 0 || length <= 2));
        lengths |= (size_t)1 << length;
        assert_int_equal(sa_agent_update(agent, id, answers, NULL, length + 1), SA_INVALID);
        assert_ok(sa_agent_update(agent, id, answers, NULL, length));
    }
    assert_true(lengths & (lengths - 1)); /* slates of more than one length */
    costs[3] = -1;
    select_with(agent, 1, 0, problem, &decision, SA_INVALID);
    assert_true(rig_counts(agent).decisions == 12);
    sa_problem_destroy(problem);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* Nothing fits: an empty slate, for which there is nothing to answer; and it survives a file. */
static void test_empty(void **state) {
    (void)state;
    const double costs[ARMS] = {2, 2, 2, 2, 2, 2, 2, 2}, answers[ARMS] = {0};
    for (int counted = 0; counted < 2; counted++) {
        sa_agent *agent = rig_create(counted ? "oracle=knapsack hidden=3 count-pending=true"
                                             : "oracle=knapsack hidden=3"),
                 *loaded = NULL;
        sa_problem *problem = sa_problem_new();
        sa_decision *decision = NULL;
        sa_problem_costs(problem, costs, ARMS);
        sa_problem_capacity(problem, 1);
        select_with(agent, 1, 3, problem, &decision, SA_OK);
        assert_int_equal(sa_decision_slate(decision), 0);
        assert_int_equal(sa_decision_candidates(decision), ARMS);
        assert_ok(sa_agent_update(agent, 0, answers, NULL, 0));
        assert_int_equal(sa_agent_update(agent, 0, answers, NULL, 1), SA_INVALID);
        assert_true(rig_counts(agent).pending == 0 && rig_counts(agent).decisions == 1);
        sa_problem_capacity(problem, 4);
        select_with(agent, 2, 3, problem, &decision, SA_OK);
        assert_ok(sa_agent_save(agent, scratch("empty.npz")));
        assert_ok(sa_agent_load(scratch("empty.npz"), &loaded));
        rig_assert_same_counts(agent, loaded);
        size_t length = sa_decision_slate(decision);
        assert_ok(sa_agent_update(agent, 1, answers, NULL, length));
        assert_ok(sa_agent_update(loaded, 1, answers, NULL, length));
        sa_problem_destroy(problem);
        sa_decision_destroy(decision);
        sa_agent_destroy(agent);
        sa_agent_destroy(loaded);
    }
}

/* Optimistic scores are clipped into the oracle's domain. */
static void test_domain(void **state) {
    (void)state;
    sa_agent *agent = rig_create("oracle=cascade hidden=3 gamma=100");
    sa_decision *decision = NULL;
    select_with(agent, 1, 3, NULL, &decision, SA_OK);
    const double *scores = sa_decision_all_scores(decision);
    size_t clipped = 0;
    for (size_t i = 0; i < ARMS; i++) {
        assert_true(scores[i] >= 0 && scores[i] <= 1);
        clipped += scores[i] == 1;
    }
    assert_true(clipped > 3);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

/* ---- the caller's own ---- */

typedef struct own {
    size_t slate[ARMS + 2], length;
    int code;
    size_t calls;
} own;

static int own_solve(void *user, const double *scores, size_t arms, const bool *excluded, size_t most,
                     size_t *slate, size_t *length) {
    own *self = user;
    assert_non_null(scores);
    assert_null(excluded);
    assert_true(arms == ARMS && most == 3);
    for (size_t i = 0; i < self->length && i < most; i++) slate[i] = self->slate[i];
    *length = self->length;
    self->calls++;
    return self->code;
}

static void test_own(void **state) {
    (void)state;
    sa_agent *agent = rig_create("hidden=3 train-every=1"), *twin = rig_create("hidden=3 train-every=1");
    sa_decision *decision = NULL, *other = NULL;
    own self = {.slate = {6, 2}, .length = 2};
    sa_oracle_callbacks calls = {.solve = own_solve, .user = &self, .alpha = 0.5};
    assert_ok(sa_agent_oracle(agent, &calls));
    assert_int_equal(sa_agent_oracle(agent, &(sa_oracle_callbacks){.solve = own_solve}), SA_INVALID);
    assert_int_equal(sa_agent_oracle(agent, &(sa_oracle_callbacks){.solve = own_solve, .alpha = 1.5}),
                     SA_INVALID);
    assert_int_equal(sa_agent_oracle(agent, &(sa_oracle_callbacks){.alpha = 1}), SA_INVALID);
    assert_int_equal(sa_agent_oracle(NULL, &calls), SA_INVALID);
    static const struct {
        own wrong;
        const char *words;
    } wrong[] = {{{.slate = {1, 1}, .length = 2}, "arm 1 twice"},
                 {{.slate = {1, 8}, .length = 2}, "arm 8, and there are 8"},
                 {{.slate = {1, 2, 3, 4}, .length = 4}, "4 arms, and at most 3"},
                 {{.length = 0, .code = 7}, "code 7"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        self = wrong[i].wrong;
        select_with(agent, 1, 3, NULL, &decision, self.code ? SA_CALLBACK : SA_INVALID);
        assert_non_null(strstr(sa_last_error(), wrong[i].words));
        assert_null(decision);
        rig_assert_same_counts(agent, twin);
    }
    self = (own){.slate = {6, 2}, .length = 2};
    select_with(agent, 1, 3, NULL, &decision, SA_OK);
    assert_true(self.calls == 1 && sa_decision_slate(decision) == 2);
    assert_true(sa_decision_arms(decision)[0] == 6 && sa_decision_arms(decision)[1] == 2);
    assert_ok(sa_agent_oracle(agent, NULL)); /* back to top-k */
    select_with(agent, 1, 3, NULL, &decision, SA_OK);
    assert_int_equal(sa_decision_slate(decision), 3);
    sa_decision_destroy(decision);
    sa_decision_destroy(other);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* ---- the caller's own, with all that the request says ---- */

/* The dearest arm of each group, and nothing kept in between. */
static int dearest(void *user, const sa_problem *problem, size_t most, size_t *slate, size_t *length) {
    size_t rows, columns, groups_rows, pairs, *calls = user;
    const double *costs = sa_problem_numbers(problem, "costs", &rows, &columns);
    const double *scores = sa_problem_numbers(problem, "scores", &groups_rows, NULL);
    const size_t *groups = sa_problem_indices(problem, "groups", NULL, NULL);
    const bool *excluded = sa_problem_flags(problem, "exclude", NULL, NULL);
    assert_true(costs && groups && scores && rows == ARMS && columns == 1 && groups_rows == ARMS &&
                most == 3);
    assert_true(*sa_problem_numbers(problem, "capacity", NULL, NULL) == 9.5);
    assert_true(*sa_problem_indices(problem, "slate", &rows, NULL) == 3 && rows == 1);
    assert_true(*sa_problem_flags(problem, "exactly", NULL, NULL));
    const size_t *edges = sa_problem_indices(problem, "exclusions", &pairs, &columns);
    assert_true(edges && pairs == 1 && columns == 2 && edges[0] == 4);
    assert_null(sa_problem_numbers(problem, "groups", &rows, NULL)); /* not numbers */
    assert_null(sa_problem_indices(problem, "capacities", NULL, NULL));
    assert_null(sa_problem_flags(problem, "eligible", &rows, NULL));
    assert_null(sa_problem_numbers(problem, "colours", NULL, NULL));
    assert_int_equal(rows, 0);
    for (size_t g = 0; g < 3; g++) {
        size_t best = ARMS;
        for (size_t i = 0; i < ARMS; i++)
            if (groups[i] == g && !excluded[i] && (best == ARMS || costs[i] > costs[best])) best = i;
        slate[g] = best;
    }
    *length = 3;
    ++*calls;
    return 0;
}

static void test_own_with_problem(void **state) {
    (void)state;
    sa_agent *agent = rig_create("hidden=3 train-every=1");
    sa_request *request = sa_request_new();
    sa_problem *problem = sa_problem_new();
    sa_decision *decision = NULL;
    const double costs[ARMS] = {5, 1, 2, 3, 4, 2, 7, 6};
    const size_t groups[ARMS] = {0, 0, 0, 1, 1, 2, 2, 2}, pair[2] = {4, 7};
    const bool excluded[ARMS] = {true};
    size_t calls = 0;
    assert_ok(
        sa_agent_oracle(agent, &(sa_oracle_callbacks){.solve_problem = dearest, .user = &calls, .alpha = 1}));
    sa_problem_costs(problem, costs, ARMS);
    sa_problem_capacity(problem, 9.5);
    sa_problem_groups(problem, groups, ARMS);
    sa_problem_exclusions(problem, pair, 1);
    sa_problem_exactly(problem, true);
    sa_request_contexts(request, rig_contexts(1), ARMS);
    sa_request_slate(request, 3);
    sa_request_exclude(request, excluded);
    sa_request_problem(request, problem);
    assert_ok(sa_agent_select(agent, request, &decision));
    assert_true(calls == 1 && sa_decision_slate(decision) == 3);
    const size_t *arms = sa_decision_arms(decision);
    assert_true(arms[0] == 2 && arms[1] == 4 && arms[2] == 6);
    sa_problem_costs(problem, costs, ARMS - 1); /* checked before it is asked */
    assert_int_equal(sa_agent_select(agent, request, &decision), SA_INVALID);
    assert_true(calls == 1 && strstr(sa_last_error(), "--costs: 7 entries, and there are 8 arms"));
    sa_problem_destroy(problem);
    sa_request_destroy(request);
    sa_decision_destroy(decision);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knapsack),         cmocka_unit_test(test_empty),
        cmocka_unit_test(test_domain),           cmocka_unit_test(test_own),
        cmocka_unit_test(test_own_with_problem),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

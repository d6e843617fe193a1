/* Slates of others are checked as oracles choose them: whatever passes is worth no more than the best
 * slate, the best slate passes, and among all slates that pass is one worth as much. */
#include "test_oracle_rig.h"

#include "oracle/oracle.h"

enum { ARMS = 6, ROUNDS = 60, MOST = ARMS };

typedef struct setting {
    const char *oracle;
    double scores[ARMS], costs[ARMS], matrix[2 * ARMS], bounds[2], capacity;
    size_t groups[ARMS], capacities[3], minimums[3], exclusions[4], edges[2 * ARMS], slate;
    bool eligible[3 * ARMS], exactly;
} setting;

static setting drawn(uint64_t round, const char *oracle) {
    draws from = draws_of(7, round);
    setting self = {.oracle = oracle, .slate = whole(&from, 1, 3), .exactly = false};
    for (size_t i = 0; i < ARMS; i++) {
        self.scores[i] = score(&from, round, false);
        self.costs[i] = (double)whole(&from, 0, 5);
        self.groups[i] = whole(&from, 0, 2);
        for (size_t row = 0; row < 2; row++) self.matrix[row * ARMS + i] = (double)whole(&from, 0, 4) - 1;
        for (size_t k = 0; k < 3; k++) self.eligible[k * ARMS + i] = whole(&from, 0, 3) > 0;
    }
    for (size_t i = 0; i < 3; i++) {
        self.capacities[i] = whole(&from, 1, 2);
        self.minimums[i] = i == 1 && self.slate > 1;
    }
    self.capacity = (double)whole(&from, 0, 9);
    for (size_t i = 0; i < 2; i++) {
        self.bounds[i] = (double)whole(&from, 0, 3);
        self.exclusions[2 * i] = whole(&from, 0, 2);
        self.exclusions[2 * i + 1] = whole(&from, 3, 5);
    }
    for (size_t i = 0; i < ARMS; i++) { /* connected: the first three arms are a line */
        self.edges[2 * i] = i < 3 ? i : whole(&from, 0, 3);
        self.edges[2 * i + 1] = i < 3 ? i + 1 : whole(&from, 0, 3);
    }
    return self;
}

static sa_problem *problem_of(const setting *self, uint64_t round) {
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, self->scores, ARMS);
    sa_problem_slate(problem, self->slate);
    if (!strcmp(self->oracle, "knapsack")) {
        sa_problem_costs(problem, self->costs, ARMS);
        sa_problem_capacity(problem, self->capacity);
    }
    bool groups = !strcmp(self->oracle, "matroid") && round % 2;
    if (groups || !strcmp(self->oracle, "assignment")) {
        sa_problem_groups(problem, self->groups, ARMS);
        if (!groups || round % 4 > 1) sa_problem_capacities(problem, self->capacities, 3);
    }
    if (!strcmp(self->oracle, "assignment")) {
        sa_problem_minimums(problem, self->minimums, 3);
        sa_problem_exclusions(problem, self->exclusions, 2);
        sa_problem_eligible(problem, self->eligible, self->slate, ARMS);
    }
    if ((!strcmp(self->oracle, "matroid") && !groups) || !strcmp(self->oracle, "matching") ||
        !strcmp(self->oracle, "shortest-path"))
        sa_problem_edges(problem, self->edges, ARMS);
    if (!strcmp(self->oracle, "shortest-path")) sa_problem_ends(problem, 0, 3);
    if (!strcmp(self->oracle, "ilp")) sa_problem_constraints(problem, self->matrix, self->bounds, 2, ARMS);
    return problem;
}

typedef struct search {
    const sa_oracle *oracle;
    const sa_oracle_problem *problem;
    sa_workspace workspace;
    double best, found; /* the oracle's, and that of all slates that pass */
    size_t longest;
} search;

/* All slates that start with these arms. */
static void try_all(search *self, size_t *arms, size_t length) {
    if (sa_slate_verify(self->oracle, self->problem, &self->workspace, arms, length) == SA_OK) {
        double reward = self->oracle->reward(self->problem, arms, length);
        if (reward > self->best + 1e-9)
            fail_msg("%s: a slate of %zu arms is worth %g, and the best %g", self->oracle->name, length,
                     reward, self->best);
        if (reward > self->found) self->found = reward;
        if (length > self->longest) self->longest = length;
    }
    for (size_t arm = 0; length < MOST && arm < ARMS; arm++) {
        bool taken = false;
        for (size_t i = 0; i < length; i++) taken = taken || arms[i] == arm;
        if (taken) continue;
        arms[length] = arm;
        try_all(self, arms, length + 1);
    }
}

static void check_clip(search *self, draws *from) {
    size_t arms[ARMS] = {0, 1, 2, 3, 4, 5}, given[ARMS], length = whole(from, 0, ARMS), kept = length, at = 0;
    for (size_t i = ARMS; i-- > 1;) {
        size_t other = whole(from, 0, i), moved = arms[i];
        arms[i] = arms[other];
        arms[other] = moved;
    }
    memcpy(given, arms, sizeof arms);
    bool right = sa_slate_verify(self->oracle, self->problem, &self->workspace, arms, length) == SA_OK;
    sa_status status = sa_slate_clip(self->oracle, self->problem, &self->workspace, arms, &kept);
    if (right) assert_true(status == SA_OK && kept == length && !memcmp(arms, given, length * sizeof *arms));
    if (status != SA_OK) return;
    assert_true(sa_slate_verify(self->oracle, self->problem, &self->workspace, arms, kept) == SA_OK);
    for (size_t i = 0; i < kept; i++) { /* in the order in which they were given */
        while (at < length && given[at] != arms[i]) at++;
        assert_true(at++ < length);
    }
}

static void test_against_oracles(void **state) {
    (void)state;
    static const char *const names[] = {"top-k",      "cascade",  "knapsack",      "matroid",
                                        "assignment", "matching", "shortest-path", "ilp"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t solved = 0;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            setting given = drawn(round, names[k]);
            sa_problem *problem = problem_of(&given, round);
            search self = {.oracle = sa_oracle_find(names[k]), .found = -INFINITY};
            sa_solution solution;
            sa_oracle_problem seen = {
                .scores = given.scores, .arms = ARMS, .slate = given.slate, .data = sa_problem_data(problem)};
            if (!strcmp(names[k], "cascade"))
                for (size_t i = 0; i < ARMS; i++) given.scores[i] = fabs(given.scores[i]) / 2;
            self.problem = &seen;
            size_t arms[ARMS], most;
            sa_status status = sa_problem_solve(problem, names[k], &solution);
            if (status == SA_OK) {
                solved++;
                self.best = solution.reward;
                sa_status kept =
                    sa_slate_verify(self.oracle, &seen, &self.workspace, solution.slate, solution.length);
                if (kept != SA_OK) fail_msg("%s: its own slate is refused: %s", names[k], sa_last_error());
                try_all(&self, arms, 0);
                assert_near(self.found, self.best, names[k], round);
                assert_int_equal(sa_slate_most(self.oracle, &seen, &self.workspace, &most), SA_OK);
                assert_true(self.longest <= most);
            }
            draws from = draws_of(8, round);
            for (int i = 0; i < 20; i++) check_clip(&self, &from);
            sa_workspace_clear(&self.workspace);
            sa_problem_destroy(problem);
        }
        if (strcmp(names[k], "ilp")) assert_true(solved > ROUNDS / 4); /* and ilp, where CBC is there */
    }
}

/* Sizes that follow from the data. */
static void test_most(void **state) {
    (void)state;
    const size_t groups[ARMS] = {0, 0, 0, 1, 1, 2}, capacities[3] = {2, 1, 4};
    const size_t edges[2 * ARMS] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2, 1, 3};
    const double costs[ARMS] = {4, 1, 3, 2, 9, 9};
    const struct {
        const char *oracle;
        sa_oracle_data data;
        size_t slate, most;
    } cases[] = {
        {"matroid", {.given = SA_BIT(SA_GROUPS), .groups = groups}, 6, 3},
        {"matroid",
         {.given = SA_BIT(SA_GROUPS) | SA_BIT(SA_CAPACITIES), .groups = groups, .capacities = capacities},
         6,
         4},
        {"matroid", {.given = SA_BIT(SA_GROUPS), .groups = groups}, 2, 2},
        {"matroid", {.given = SA_BIT(SA_EDGES), .edges = edges}, 1, 3},
        {"shortest-path", {.given = SA_BIT(SA_EDGES), .edges = edges}, 1, 3},
        {"matching", {.given = SA_BIT(SA_EDGES), .edges = edges}, 6, 4},
        {"knapsack", {.given = SA_BIT(SA_COSTS) | SA_BIT(SA_CAPACITY), .costs = costs, .capacity = 6}, 6, 3},
        {"top-k", {0}, 4, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sa_workspace workspace = {0};
        sa_oracle_problem problem = {.arms = ARMS, .slate = cases[i].slate, .data = &cases[i].data};
        size_t most = 0;
        assert_int_equal(sa_slate_most(sa_oracle_find(cases[i].oracle), &problem, &workspace, &most), SA_OK);
        assert_int_equal(most, cases[i].most);
        sa_workspace_clear(&workspace);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_oracles), cmocka_unit_test(test_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

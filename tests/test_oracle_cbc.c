/* Exact oracles against CBC on problems of medium size, written as integer programs. Without CBC there is
 * nothing to do. */
#include "test_oracle_rig.h"

/* CBC's presolve leaks when it finds a program infeasible; the sanitizer asks this function what to
 * overlook. */
SA_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libCoinUtils"; }

enum { ROUNDS = 12, MOST_ROWS = 700, MOST_COLUMNS = 200 };

static double matrix[MOST_ROWS * MOST_COLUMNS], bounds[MOST_ROWS];
static size_t rows, columns;

/* A new row, all 0, that is at most `bound`. */
static double *row(double bound) {
    assert_true(rows < MOST_ROWS && columns <= MOST_COLUMNS);
    double *fresh = matrix + rows * columns;
    memset(fresh, 0, columns * sizeof *fresh);
    bounds[rows++] = bound;
    return fresh;
}

/* The sum over the marked columns is exactly `count`. */
static void equal(const double *marks, double count) {
    double *most = row(count), *least = row(-count);
    for (size_t i = 0; i < columns; i++) {
        most[i] = marks[i];
        least[i] = -marks[i];
    }
}

static void begin(size_t count) {
    rows = 0;
    columns = count;
}

static double by_cbc(const double *scores) {
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, scores, columns);
    sa_problem_constraints(problem, matrix, bounds, rows, columns);
    sa_solution solution = solved(problem, "ilp");
    sa_problem_destroy(problem);
    return solution.reward;
}

static double by_oracle(sa_problem *problem, const char *oracle) {
    double reward = solved(problem, oracle).reward;
    sa_problem_destroy(problem);
    return reward;
}

/* ---- each as a program ---- */

static void test_assignment(void **state) {
    (void)state;
    enum { ARMS = 40, PLACES = 4 };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        draws from = draws_of(1, round);
        double scores[ARMS * PLACES], marks[ARMS * PLACES];
        for (size_t i = 0; i < ARMS; i++)
            for (size_t k = 0; k < PLACES; k++)
                scores[i * PLACES + k] = score(&from, round, false) * (round % 2 ? 1 : (double)(k + 1));
        sa_problem *problem = sa_problem_new();
        sa_problem_position_scores(problem, scores, ARMS, PLACES);
        begin(ARMS * PLACES);
        for (size_t i = 0; i < ARMS; i++) {
            double *once = row(1);
            for (size_t k = 0; k < PLACES; k++) once[i * PLACES + k] = 1;
        }
        for (size_t k = 0; k < PLACES; k++) {
            for (size_t i = 0; i < ARMS * PLACES; i++) marks[i] = i % PLACES == k;
            equal(marks, 1);
        }
        assert_near(by_oracle(problem, "assignment"), by_cbc(scores), "assignment", round);
    }
}

static void test_knapsack(void **state) {
    (void)state;
    enum { ARMS = 60 };
    for (uint64_t round = 0; round < 2 * ROUNDS; round++) {
        draws from = draws_of(2, round);
        double scores[ARMS], costs[ARMS];
        begin(ARMS);
        double *fits = row(100), *few = row(round % 4 < 2 ? 7 : ARMS);
        for (size_t i = 0; i < ARMS; i++) {
            scores[i] = score(&from, round, false);
            costs[i] = round % 2 ? (double)whole(&from, 1, 40) : (double)whole(&from, 1, 40000) / 1000;
            fits[i] = costs[i];
            few[i] = 1;
        }
        sa_problem *problem = sa_problem_new();
        sa_problem_scores(problem, scores, ARMS);
        sa_problem_costs(problem, costs, ARMS);
        sa_problem_capacity(problem, 100);
        if (round % 4 < 2) sa_problem_slate(problem, 7);
        assert_near(by_oracle(problem, "knapsack"), by_cbc(scores), "knapsack", round);
    }
}

static void test_matching(void **state) {
    (void)state;
    enum { ARMS = 120, SIDE = 20 };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        draws from = draws_of(3, round);
        double scores[ARMS];
        size_t edges[2 * ARMS];
        begin(ARMS);
        for (size_t i = 0; i < ARMS; i++) {
            scores[i] = score(&from, round, false);
            edges[2 * i] = whole(&from, 0, SIDE - 1);
            edges[2 * i + 1] = whole(&from, 0, SIDE - 1);
        }
        for (size_t side = 0; side < 2; side++)
            for (size_t node = 0; node < SIDE; node++) {
                double *once = row(1);
                for (size_t i = 0; i < ARMS; i++) once[i] = edges[2 * i + side] == node;
            }
        size_t most = round % 2 ? 8 : 0;
        double *few = row(most ? (double)most : ARMS);
        for (size_t i = 0; i < ARMS; i++) few[i] = 1;
        sa_problem *problem = sa_problem_new();
        sa_problem_scores(problem, scores, ARMS);
        sa_problem_edges(problem, edges, ARMS);
        sa_problem_slate(problem, most);
        assert_near(by_oracle(problem, "matching"), by_cbc(scores), "matching", round);
    }
}

/* At most |S| - 1 edges inside each set S of nodes, and one less than nodes in all. */
static void test_tree(void **state) {
    (void)state;
    enum { ARMS = 30, NODES = 9 };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        draws from = draws_of(4, round);
        double scores[ARMS], marks[ARMS];
        size_t edges[2 * ARMS];
        begin(ARMS);
        for (size_t i = 0; i < ARMS; i++) {
            scores[i] = score(&from, round, false);
            edges[2 * i] = i < NODES - 1 ? i : whole(&from, 0, NODES - 1);
            edges[2 * i + 1] = i < NODES - 1 ? i + 1 : (edges[2 * i] + whole(&from, 1, NODES - 1)) % NODES;
            marks[i] = 1;
        }
        for (unsigned set = 1; set < 1u << NODES; set++) {
            if (size_of(set) < 2) continue;
            double *inside = row((double)size_of(set) - 1);
            for (size_t i = 0; i < ARMS; i++) inside[i] = in(set, edges[2 * i]) && in(set, edges[2 * i + 1]);
        }
        equal(marks, NODES - 1);
        sa_problem *problem = sa_problem_new();
        sa_problem_scores(problem, scores, ARMS);
        sa_problem_edges(problem, edges, ARMS);
        assert_near(by_oracle(problem, "matroid"), by_cbc(scores), "matroid", round);
    }
}

/* What flows into a node flows out, but for 1 that starts at node 0 and ends at node 1. */
static void test_path(void **state) {
    (void)state;
    enum { ARMS = 150, NODES = 30 };
    for (uint64_t round = 0; round < ROUNDS; round++) {
        draws from = draws_of(5, round);
        double scores[ARMS], gains[ARMS], flow[ARMS];
        size_t edges[2 * ARMS];
        begin(ARMS);
        for (size_t i = 0; i < ARMS; i++) {
            scores[i] = score(&from, round, false);
            gains[i] = -fmax(0, 1 - scores[i]);
            edges[2 * i] = i < NODES ? i : whole(&from, 0, NODES - 1);
            edges[2 * i + 1] = i < NODES ? (i + NODES - 1) % NODES : whole(&from, 0, NODES - 1);
        }
        for (size_t node = 0; node < NODES; node++) {
            for (size_t i = 0; i < ARMS; i++)
                flow[i] = (double)(edges[2 * i] == node) - (double)(edges[2 * i + 1] == node);
            equal(flow, (double)(node == 0) - (double)(node == 1));
        }
        sa_problem *problem = sa_problem_new();
        sa_problem_scores(problem, scores, ARMS);
        sa_problem_edges(problem, edges, ARMS);
        sa_problem_ends(problem, 0, 1);
        assert_near(by_oracle(problem, "shortest-path"), by_cbc(gains), "shortest-path", round);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_assignment), cmocka_unit_test(test_knapsack), cmocka_unit_test(test_matching),
        cmocka_unit_test(test_tree),       cmocka_unit_test(test_path),
    };
    const double one = 1;
    sa_solution solution;
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, &one, 1);
    sa_problem_constraints(problem, &one, &one, 1, 1);
    sa_status status = sa_problem_solve(problem, "ilp", &solution);
    sa_problem_destroy(problem);
    if (status == SA_UNSUPPORTED) return 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Wrong problems get a status and a sentence, and change nothing: the same problem, put right, is solved
 * afterwards. */
#include "test_oracle_rig.h"

#include "temporary.h"

static const double SCORES[4] = {0.5, 0.25, 0.75, 0.125};

static sa_problem *problem_of(size_t slate) {
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, SCORES, 4);
    sa_problem_slate(problem, slate);
    return problem;
}

static void refuse(sa_problem *problem, const char *oracle, const char *words) {
    sa_solution solution = {.length = 77};
    sa_status status = sa_problem_solve(problem, oracle, &solution);
    if (status != SA_INVALID) fail_msg("%s: %s instead of \"%s\"", oracle, sa_status_name(status), words);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
    assert_true(solution.length == 77);
}

static void test_sizes(void **state) {
    (void)state;
    sa_problem *problem = sa_problem_new();
    sa_solution solution;
    refuse(problem, "top-k", "needs --scores");
    sa_problem_destroy(problem);
    problem = problem_of(0);
    static const char *const exactly[] = {"top-k", "assignment", "cascade"};
    for (int i = 0; i < 3; i++) refuse(problem, exactly[i], "--slate");
    sa_problem_slate(problem, 5);
    for (int i = 0; i < 3; i++) refuse(problem, exactly[i], "--slate 5 is more than the 4 arms");
    const bool excluded[4] = {true, false, true, false};
    sa_problem_exclude(problem, excluded);
    sa_problem_slate(problem, 3);
    for (int i = 0; i < 3; i++) refuse(problem, exactly[i], "--slate 3 is more than the 2 arms");
    sa_problem_slate(problem, 2);
    assert_int_equal(sa_problem_solve(problem, "top-k", &solution), SA_OK);
    assert_true(solution.slate[0] == 1 && solution.slate[1] == 3);
    refuse(problem, "nope", "nope is not an oracle");
    refuse(problem, "casacde", "did you mean cascade?");
    refuse(problem, NULL, "is not an oracle");
    sa_problem_scores(problem, SCORES, 0);
    refuse(problem, "top-k", "no arms");
    sa_problem_destroy(problem);
    assert_int_equal(sa_problem_solve(NULL, "top-k", &solution), SA_INVALID);
    sa_problem_destroy(NULL);
}

static void test_scores(void **state) {
    (void)state;
    double scores[4] = {0.5, NAN, 0.25, 1};
    sa_problem *problem = problem_of(2);
    sa_problem_scores(problem, scores, 4);
    refuse(problem, "top-k", "the score of arm 1 is nan");
    scores[1] = INFINITY;
    refuse(problem, "cascade", "the score of arm 1 is inf");
    scores[1] = 1.5;
    refuse(problem, "cascade", "arm 1 is 1.5, and cascade takes scores from 0 to 1");
    scores[1] = -0.5;
    refuse(problem, "cascade", "arm 1 is -0.5");
    assert_int_equal(sa_problem_set(problem, "reward", "sum"), SA_OK); /* any number will do */
    solved(problem, "cascade");
    refuse(problem, "top-k", "--reward is not for top-k");
    sa_problem_destroy(problem);
    problem = problem_of(2);
    sa_problem_position_scores(problem, SCORES, 2, 2);
    refuse(problem, "top-k", "one score an arm");
    sa_problem_slate(problem, 3);
    refuse(problem, "assignment", "--slate 3, and --scores are for 2 positions");
    sa_problem_slate(problem, 0);
    solved(problem, "assignment");
    sa_problem_discounts(problem, SCORES, 2);
    refuse(problem, "assignment", "nothing to discount");
    sa_problem_destroy(problem);
}

static void test_knapsack(void **state) {
    (void)state;
    double costs[4] = {1, 2, -3, 4};
    sa_problem *problem = problem_of(0);
    refuse(problem, "knapsack", "knapsack needs --costs");
    sa_problem_costs(problem, costs, 4);
    refuse(problem, "knapsack", "knapsack needs --capacity");
    sa_problem_capacity(problem, 5);
    refuse(problem, "knapsack", "--costs: entry 2 is -3, and must be 0 or more");
    costs[2] = NAN;
    refuse(problem, "knapsack", "--costs: entry 2 is nan");
    costs[2] = 3;
    sa_problem_costs(problem, costs, 3);
    refuse(problem, "knapsack", "--costs: 3 entries, and there are 4 arms");
    sa_problem_costs(problem, costs, 4);
    sa_problem_capacity(problem, -1);
    refuse(problem, "knapsack", "--capacity: -1");
    sa_problem_capacity(problem, NAN);
    refuse(problem, "knapsack", "--capacity: nan");
    sa_problem_capacity(problem, 0.5);
    assert_int_equal(solved(problem, "knapsack").length, 0); /* nothing fits, and nothing is asked for */
    sa_problem_capacity(problem, 1e18);
    assert_int_equal(solved(problem, "knapsack").length, 4);
    refuse(problem, "top-k", "--costs is not for top-k");
    sa_problem_destroy(problem);
}

static void test_graphs(void **state) {
    (void)state;
    const size_t edges[8] = {0, 1, 1, 2, 3, 4, 2, 0}, groups[4] = {0, 1, 7, 0}, capacities[2] = {1, 1};
    const size_t far[8] = {0, 1, 1, 2, 2, (size_t)1 << 40, 2, 0};
    sa_problem *problem = problem_of(0);
    refuse(problem, "matroid", "needs --groups");
    refuse(problem, "shortest-path", "needs --edges");
    refuse(problem, "matching", "needs --edges");
    sa_problem_edges(problem, edges, 4);
    refuse(problem, "matroid", "nothing leads from node 0 to node 3");
    refuse(problem, "shortest-path", "needs --source");
    sa_problem_ends(problem, 0, 4);
    refuse(problem, "shortest-path", "no path from --source 0 to --target 4");
    sa_problem_ends(problem, 0, 9);
    refuse(problem, "shortest-path", "--target: no arm leads to or from node 9");
    sa_problem_ends(problem, 9, 0);
    refuse(problem, "shortest-path", "--source: no arm");
    sa_problem_ends(problem, 1, 1);
    assert_int_equal(solved(problem, "shortest-path").length, 0);
    sa_problem_edges(problem, edges, 3);
    refuse(problem, "shortest-path", "--edges: 3 entries, and there are 4 arms");
    sa_problem_edges(problem, far, 4);
    refuse(problem, "shortest-path", "--edges: arm 2 has node 1099511627776");
    sa_problem_destroy(problem);

    problem = problem_of(0);
    sa_problem_groups(problem, groups, 4);
    sa_problem_capacities(problem, capacities, 2);
    refuse(problem, "matroid", "arm 2 is of group 7, and there are 2 capacities");
    sa_problem_edges(problem, edges, 4);
    sa_problem_capacities(problem, NULL, 0);
    refuse(problem, "matroid", "not both");
    sa_problem_edges(problem, NULL, 0);
    assert_int_equal(solved(problem, "matroid").length, 3); /* one a group without capacities */
    sa_problem_destroy(problem);
}

static void test_others(void **state) {
    (void)state;
    double numbers[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    sa_problem *problem = problem_of(2);
    refuse(problem, "assortment", "needs --revenues");
    numbers[3] = INFINITY;
    sa_problem_revenues(problem, numbers, 4);
    refuse(problem, "assortment", "--revenues: entry 3 is inf");
    sa_problem_revenues(problem, NULL, 0);
    refuse(problem, "submodular", "needs --topics");
    numbers[3] = -1;
    sa_problem_topics(problem, numbers, 4, 2);
    refuse(problem, "submodular", "--topics: entry 3 is -1");
    sa_problem_topics(problem, numbers, 3, 2);
    refuse(problem, "submodular", "--topics: 3 entries, and there are 4 arms");
    sa_problem_topics(problem, NULL, 0, 0);
    sa_problem_discounts(problem, numbers, 3);
    refuse(problem, "cascade", "--discounts: 3 entries, and there are 2 positions");
    sa_problem_discounts(problem, numbers + 2, 2);
    refuse(problem, "cascade", "--discounts: entry 1 is -1, and must be from 0 to 1");
    sa_problem_discounts(problem, NULL, 0);
    refuse(problem, "ilp", "needs --matrix");
    numbers[3] = NAN;
    sa_problem_constraints(problem, numbers, numbers, 1, 4);
    refuse(problem, "ilp", "--matrix: entry 3 is nan");
    sa_problem_constraints(problem, numbers, numbers, 1, 3);
    refuse(problem, "ilp", "--matrix: 3 columns, and 4 are wanted");
    sa_problem_destroy(problem);
}

static void test_rules(void **state) {
    (void)state;
    const size_t groups[4] = {0, 1, 2, 0}, limits[2] = {1, 1}, pairs[4] = {0, 1, 2, 9}, itself[2] = {3, 3};
    const bool eligible[8] = {true, true, true, true, true, true, true, true};
    sa_problem *problem = problem_of(2);
    sa_problem_groups(problem, groups, 4);
    sa_problem_minimums(problem, limits, 2);
    refuse(problem, "assignment", "arm 2 is of group 2, and there are 2 minimums");
    refuse(problem, "matroid", "--minimums is not for matroid");
    sa_problem_groups(problem, NULL, 0);
    sa_problem_minimums(problem, NULL, 0);
    sa_problem_exclusions(problem, pairs, 2);
    refuse(problem, "assignment", "--exclusions: pair 1 has arm 9, and there are 4");
    sa_problem_exclusions(problem, itself, 1);
    refuse(problem, "assignment", "pair 0 is arm 3 and itself");
    sa_problem_exclusions(problem, NULL, 0);
    sa_problem_eligible(problem, eligible, 4, 2);
    refuse(problem, "assignment", "--eligible: 4 entries, and there are 2 positions");
    sa_problem_eligible(problem, eligible, 2, 3);
    refuse(problem, "assignment", "--eligible: 3 columns, and 4 are wanted");
    sa_problem_eligible(problem, eligible, 2, 4);
    sa_problem_seconds(problem, 0);
    refuse(problem, "assignment", "--seconds: 0, and must be more than 0");
    sa_problem_seconds(problem, NAN);
    refuse(problem, "assignment", "--seconds: nan");
    sa_problem_seconds(problem, 1);
    solved(problem, "assignment");
    sa_problem_destroy(problem);
}

static void refuse_text(sa_problem *problem, const char *name, const char *text, const char *words) {
    assert_true(sa_problem_set(problem, name, text) != SA_OK);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
}

static void test_text(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    sa_problem *problem = problem_of(2);
    refuse_text(problem, "slate", "0", "--slate 0");
    refuse_text(problem, "slate", "two", "--slate two");
    refuse_text(problem, "source", "-1", "--source -1");
    refuse_text(problem, "capacity", "-1", "--capacity -1");
    refuse_text(problem, "capacity", "nan", "--capacity nan");
    refuse_text(problem, "reward", "money", "--reward money");
    refuse_text(problem, "colour", "red", "--colour");
    refuse_text(problem, "scores", inside(folder, "none.npy"), "none.npy");
    const char *path = write_npy(inside(folder, "a.npy"), SA_FLOAT64, 3, (size_t[]){2, 2, 2});
    refuse_text(problem, "scores", path, "a.npy: an array of 3 axes, and 1 or 2 are wanted");
    refuse_text(problem, "topics", path, "3 axes, and 2 are wanted");
    path = write_npy(inside(folder, "b.npy"), SA_FLOAT64, 1, (size_t[]){4});
    refuse_text(problem, "edges", path, "1 axes, and 2 are wanted");
    refuse_text(problem, "groups", path, "b.npy: entry 0 is 0.01, and must be a whole number from 0");
    assert_int_equal(sa_npy_write(path, SA_INT32, 1, (size_t[]){2}, (int32_t[]){1, -1}), SA_OK);
    refuse_text(problem, "capacities", path, "b.npy: entry 1 is -1");
    const sa_dtype types[] = {SA_INT32, SA_INT64, SA_FLOAT32, SA_FLOAT64};
    const void *data[] = {(int32_t[]){0, 1, 1, 0}, (int64_t[]){0, 1, 1, 0}, (float[]){0, 1, 1, 0},
                          (double[]){0, 1, 1, 0}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(sa_npy_write(path, types[i], 1, (size_t[]){4}, data[i]), SA_OK);
        assert_int_equal(sa_problem_set(problem, "groups", path), SA_OK);
        sa_solution solution = solved(problem, "matroid");
        assert_true(solution.length == 2 && solution.slate[0] == 2 && solution.slate[1] == 0);
    }
    sa_problem_destroy(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_scores), cmocka_unit_test(test_knapsack),
        cmocka_unit_test(test_graphs), cmocka_unit_test(test_rules),  cmocka_unit_test(test_others),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

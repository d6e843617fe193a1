/* Exactly K arms, from oracles that may leave arms out otherwise: against brute force over all sets of K
 * arms, against CBC on larger problems, and what is said where there is no such slate. Rules and rewards are
 * written again here. */
#include "test_oracle_rig.h"

/* CBC's presolve leaks when it finds a program infeasible; the sanitizer asks this function what to
 * overlook. */
SA_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libCoinUtils"; }

enum { ARMS = 9, GROUPS = 3, TOPICS = 3 };

typedef enum kind { MATROID, KNAPSACK, MATCHING, ASSORTMENT, ILP, KINDS } kind;
static const char *const NAMES[] = {"matroid", "knapsack", "matching", "assortment", "ilp"};

typedef struct instance {
    size_t arms, slate;
    double scores[ARMS], costs[ARMS], revenues[ARMS], capacity, matrix[2 * ARMS], bounds[2];
    size_t groups[ARMS], capacities[GROUPS], edges[2 * ARMS];
    bool excluded[ARMS];
} instance;

/* Scores of both signs, and in every fifth round all below 0. */
static instance draw(uint64_t seed, uint64_t round) {
    draws from = draws_of(seed, round);
    instance it = {.arms = whole(&from, 1, ARMS)};
    it.slate = whole(&from, 1, it.arms < 5 ? it.arms : 5);
    for (size_t i = 0; i < it.arms; i++) {
        it.scores[i] = score(&from, round, false) - (round % 5 ? 0 : 2);
        it.costs[i] = round % 2 ? (double)whole(&from, 0, 6) : (double)whole(&from, 0, 1 << 20) / (1 << 17);
        it.revenues[i] = (double)whole(&from, 0, 12) - 3;
        it.groups[i] = whole(&from, 0, GROUPS - 1);
        it.edges[2 * i] = whole(&from, 0, 3);
        it.edges[2 * i + 1] = whole(&from, 0, 3);
        it.excluded[i] = round % 4 == 0 && whole(&from, 0, 4) == 0;
        for (size_t row = 0; row < 2; row++) it.matrix[row * it.arms + i] = (double)whole(&from, 0, 8) - 3;
    }
    it.capacity = (double)whole(&from, 0, 200) / 10;
    for (size_t g = 0; g < GROUPS; g++) it.capacities[g] = whole(&from, 0, 3);
    for (size_t row = 0; row < 2; row++) it.bounds[row] = (double)whole(&from, 0, 10) - 2;
    return it;
}

static bool fits(const instance *it, kind which, unsigned set) {
    size_t count[GROUPS] = {0};
    unsigned left = 0, right = 0;
    double cost = 0, row[2] = {0};
    if (size_of(set) != it->slate) return false;
    for (size_t i = 0; i < it->arms; i++) {
        if (!in(set, i)) continue;
        if (it->excluded[i]) return false;
        if (which == MATCHING && (left >> it->edges[2 * i] & 1 || right >> it->edges[2 * i + 1] & 1))
            return false;
        left |= 1u << it->edges[2 * i];
        right |= 1u << it->edges[2 * i + 1];
        count[it->groups[i]]++;
        cost += it->costs[i];
        for (size_t r = 0; r < 2; r++) row[r] += it->matrix[r * it->arms + i];
    }
    for (size_t g = 0; which == MATROID && g < GROUPS; g++)
        if (count[g] > it->capacities[g]) return false;
    if (which == KNAPSACK && cost > it->capacity + 1e-12) return false;
    return which != ILP || (row[0] <= it->bounds[0] && row[1] <= it->bounds[1]);
}

static double worth(const instance *it, kind which, unsigned set) {
    double above = 0, below = 1;
    if (which != ASSORTMENT) return sum_of(set, it->scores, it->arms);
    for (size_t i = 0; i < it->arms; i++) {
        if (!in(set, i)) continue;
        above += it->revenues[i] * exp(it->scores[i]);
        below += exp(it->scores[i]);
    }
    return above / below;
}

static sa_problem *given(const instance *it, kind which) {
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, it->scores, it->arms);
    sa_problem_slate(problem, it->slate);
    sa_problem_exclude(problem, it->excluded);
    sa_problem_exactly(problem, true);
    if (which == MATROID) sa_problem_groups(problem, it->groups, it->arms);
    if (which == MATROID) sa_problem_capacities(problem, it->capacities, GROUPS);
    if (which == KNAPSACK) sa_problem_costs(problem, it->costs, it->arms);
    if (which == KNAPSACK) sa_problem_capacity(problem, it->capacity);
    if (which == MATCHING) sa_problem_edges(problem, it->edges, it->arms);
    if (which == ASSORTMENT) sa_problem_revenues(problem, it->revenues, it->arms);
    if (which == ILP) sa_problem_constraints(problem, it->matrix, it->bounds, 2, it->arms);
    return problem;
}

static void test_brute_force(void **state) {
    (void)state;
    for (kind which = 0; which < KINDS; which++) {
        size_t feasible = 0, negative = 0, rounds = which == ILP ? INSTANCES / 5 : 2 * INSTANCES;
        for (uint64_t round = 0; round < rounds; round++) {
            instance it = draw(50 + (uint64_t)which, round);
            double best = -INFINITY;
            for (unsigned set = 0; set < 1u << it.arms; set++)
                if (fits(&it, which, set)) best = fmax(best, worth(&it, which, set));
            sa_problem *problem = given(&it, which);
            sa_solution solution = {.length = 77};
            sa_status status = sa_problem_solve(problem, NAMES[which], &solution);
            if (which == ILP && status == SA_UNSUPPORTED) {
                sa_problem_destroy(problem);
                assert_non_null(strstr(sa_last_error(), "CBC"));
                feasible = rounds / 2;
                break;
            }
            if (best == -INFINITY) {
                if (status != SA_INVALID)
                    fail_msg("%s, instance %d: there is no slate", NAMES[which], (int)round);
                assert_true(strlen(sa_last_error()) > 10 && solution.length == 77);
            } else {
                feasible++;
                negative += best < 0;
                if (status != SA_OK)
                    fail_msg("%s, instance %d: %s", NAMES[which], (int)round, sa_last_error());
                unsigned set = set_of(&solution, it.arms);
                if (!fits(&it, which, set))
                    fail_msg("%s, instance %d: it does not fit", NAMES[which], (int)round);
                assert_near(worth(&it, which, set), best, NAMES[which], round);
                assert_near(solution.reward, best, NAMES[which], round);
                assert_true(solution.exact && solution.alpha == 1);
                assert_decreasing(&solution, it.scores);
            }
            sa_problem_destroy(problem);
        }
        assert_true(feasible > rounds / 8 && feasible < rounds);
        assert_true(negative > 0 || which == ILP);
    }
}

/* Oracles that choose K anyway take it, and change nothing. */
static void test_as_ever(void **state) {
    (void)state;
    static const char *const oracles[] = {"top-k", "assignment", "cascade", "submodular"};
    for (size_t which = 0; which < 4; which++)
        for (uint64_t round = 0; round < 50; round++) {
            instance it = draw(60, round);
            double positive[ARMS], topics[ARMS * TOPICS];
            size_t before[ARMS];
            for (size_t i = 0; i < it.arms; i++) positive[i] = fabs(it.scores[i]) / 4;
            for (size_t i = 0; i < it.arms * TOPICS; i++) topics[i] = (double)((i * 7) % 3);
            sa_problem *problem = sa_problem_new();
            sa_problem_scores(problem, positive, it.arms);
            sa_problem_slate(problem, it.slate);
            if (which == 3) sa_problem_topics(problem, topics, it.arms, TOPICS);
            sa_solution solution = solved(problem, oracles[which]);
            assert_int_equal(solution.length, it.slate);
            memcpy(before, solution.slate, it.slate * sizeof *before);
            sa_problem_exactly(problem, true);
            solution = solved(problem, oracles[which]);
            assert_int_equal(solution.length, it.slate);
            assert_memory_equal(solution.slate, before, it.slate * sizeof *before);
            sa_problem_destroy(problem);
        }
}

/* ---- larger ones: against CBC ---- */

static void test_cbc(void **state) {
    (void)state;
    enum { MANY = 60, ROWS = 7, PLACES = 6 };
    static double scores[MANY], costs[MANY], matrix[ROWS * MANY];
    static size_t groups[MANY];
    for (uint64_t round = 0; round < 24; round++) {
        draws from = draws_of(70, round);
        double bounds[ROWS] = {40, 2, 1, 2, 1, 2, 1};
        const size_t capacities[6] = {2, 1, 2, 1, 2, 1};
        bool basket = round % 2;
        memset(matrix, 0, sizeof matrix);
        for (size_t i = 0; i < MANY; i++) {
            scores[i] = score(&from, round, false) - (round % 4 < 2 ? 0.9 : 0);
            costs[i] = round % 3 ? (double)whole(&from, 1, 30) : (double)whole(&from, 1000, 30000) / 1000;
            groups[i] = whole(&from, 0, 5);
            matrix[i] = basket ? costs[i] : 0;
            matrix[(groups[i] + 1) * MANY + i] = !basket;
        }
        sa_problem *mine = sa_problem_new(), *program = sa_problem_new();
        sa_problem *both[2] = {mine, program};
        for (int i = 0; i < 2; i++) {
            sa_problem_scores(both[i], scores, MANY);
            sa_problem_slate(both[i], PLACES);
            sa_problem_exactly(both[i], true);
        }
        if (basket) {
            sa_problem_costs(mine, costs, MANY);
            sa_problem_capacity(mine, 40);
        } else {
            sa_problem_groups(mine, groups, MANY);
            sa_problem_capacities(mine, capacities, 6);
        }
        sa_problem_constraints(program, matrix, bounds, ROWS, MANY);
        sa_solution wanted, got = solved(mine, basket ? "knapsack" : "matroid");
        sa_status status = sa_problem_solve(program, "ilp", &wanted);
        if (status != SA_UNSUPPORTED) {
            assert_int_equal(status, SA_OK);
            assert_int_equal(wanted.length, PLACES);
            assert_near(got.reward, wanted.reward, basket ? "knapsack" : "matroid", round);
        }
        assert_int_equal(got.length, PLACES);
        sa_problem_destroy(mine);
        sa_problem_destroy(program);
    }
}

/* Scores so large that sums overflow elsewhere, and a hard search that is cut short: still exactly K. */
static void test_extremes(void **state) {
    (void)state;
    enum { MANY = 100, PLACES = 30 };
    double costs[MANY], scores[3] = {1e308, -1e308, -1.5e308}, flat[3] = {2.5, 1, 1};
    draws from = draws_of(80, 0);
    sa_problem *problem = sa_problem_new();
    sa_problem_exactly(problem, true);
    sa_problem_scores(problem, scores, 3);
    sa_problem_slate(problem, 2);
    sa_problem_costs(problem, flat, 3);
    sa_problem_capacity(problem, 3);
    sa_solution solution = solved(problem, "knapsack");
    assert_true(solution.length == 2 && solution.slate[0] == 1 && solution.slate[1] == 2);
    for (size_t i = 0; i < MANY; i++) costs[i] = 1 + (double)whole(&from, 0, 1 << 30) / (1 << 24);
    sa_problem_scores(problem, costs, MANY);
    sa_problem_costs(problem, costs, MANY);
    sa_problem_slate(problem, PLACES);
    sa_problem_capacity(problem, 1000.123456789);
    solution = solved(problem, "knapsack");
    assert_int_equal(solution.length, PLACES);
    assert_true(solution.reward <= 1000.123456789 * (1 + 1e-9) && solution.alpha > 0.999);
    sa_problem_destroy(problem);
}

/* ---- none, or not asked for properly ---- */

static void refuse(sa_problem *problem, const char *oracle, const char *words) {
    sa_solution solution = {.length = 77};
    sa_status status = sa_problem_solve(problem, oracle, &solution);
    if (status != SA_INVALID) fail_msg("%s: %s instead of \"%s\"", oracle, sa_status_name(status), words);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
    assert_true(solution.length == 77);
}

static void test_bad_input(void **state) {
    (void)state;
    const double scores[4] = {-1, 2, -3, 4}, costs[4] = {1, 2, 3, 4};
    const size_t groups[4] = {0, 0, 1, 1}, capacities[2] = {1, 1}, edges[8] = {0, 0, 0, 1, 1, 0, 2, 0};
    const bool all[4] = {true, true, true, true};
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, scores, 4);
    sa_problem_exactly(problem, true);
    sa_problem_groups(problem, groups, 4);
    sa_problem_capacities(problem, capacities, 2);
    refuse(problem, "matroid", "matroid needs --slate");
    sa_problem_slate(problem, 5);
    refuse(problem, "matroid", "--slate 5 is more than the 4 arms");
    sa_problem_slate(problem, 3);
    refuse(problem, "matroid", "no slate of 3 arms: the groups have room for 2");
    sa_problem_exclude(problem, all);
    refuse(problem, "matroid", "--slate 3 is more than the 0 arms");
    sa_problem_exclude(problem, NULL);
    sa_problem_groups(problem, NULL, 0);
    sa_problem_capacities(problem, NULL, 0);
    sa_problem_costs(problem, costs, 4);
    sa_problem_capacity(problem, 5.5);
    refuse(problem, "knapsack", "no slate of 3 arms: the cheapest cost 6, and --capacity is 5.5");
    sa_problem_capacity(problem, 2);
    refuse(problem, "knapsack", "only 2 fit --capacity 2");
    sa_problem_capacity(problem, 6);
    assert_int_equal(solved(problem, "knapsack").length, 3);
    sa_problem_costs(problem, NULL, 0);
    problem = (sa_problem_destroy(problem), sa_problem_new());
    sa_problem_scores(problem, scores, 4);
    sa_problem_exactly(problem, true);
    sa_problem_slate(problem, 3);
    sa_problem_edges(problem, edges, 4);
    refuse(problem, "matching", "no slate of 3 pairs: at most 2");
    refuse(problem, "matroid", "--exactly is for --groups");
    sa_problem_ends(problem, 0, 1);
    refuse(problem, "shortest-path", "--exactly is not for shortest-path");
    assert_int_equal(sa_problem_set(problem, "exactly", "maybe"), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--exactly maybe is neither true nor false"));
    assert_int_equal(sa_problem_set(problem, "exactly", "false"), SA_OK);
    solved(problem, "shortest-path");
    sa_problem_destroy(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force), cmocka_unit_test(test_as_ever),   cmocka_unit_test(test_cbc),
        cmocka_unit_test(test_extremes),    cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

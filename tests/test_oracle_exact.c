/* Exact oracles against brute force on a thousand small random problems each, with ties and scores of both
 * signs. The rewards and the rules are written again here: nothing is shared with the oracles. */
#include "test_oracle_rig.h"

/* CBC's presolve leaks when it finds a program infeasible; the sanitizer asks this function what to
 * overlook. */
SA_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libCoinUtils"; }

enum { ARMS = 9 };

/* ---- problems in which a slate is a set ---- */

typedef struct set_problem {
    size_t arms, most; /* most 0: no limit */
    double scores[ARMS], costs[ARMS], revenues[ARMS], capacity;
    size_t groups[ARMS], capacities[3], edges[2 * ARMS], nodes;
    double matrix[3 * ARMS], bounds[3];
    bool excluded[ARMS];
} set_problem;

typedef bool fits_call(const set_problem *problem, unsigned set);
typedef double worth_call(const set_problem *problem, unsigned set);

static double worth_sum(const set_problem *problem, unsigned set) {
    return sum_of(set, problem->scores, problem->arms);
}

/* -infinity when nothing fits. */
static double brute(const set_problem *problem, fits_call *fits, worth_call *worth) {
    double best = -INFINITY;
    for (unsigned set = 0; set < 1u << problem->arms; set++) {
        bool allowed = problem->most == 0 || size_of(set) <= problem->most;
        for (size_t i = 0; i < problem->arms; i++) allowed &= !(in(set, i) && problem->excluded[i]);
        if (allowed && fits(problem, set)) best = fmax(best, worth(problem, set));
    }
    return best;
}

static set_problem random_problem(draws *from, uint64_t round) {
    set_problem problem = {.arms = whole(from, 1, ARMS), .most = round % 2 ? whole(from, 1, 4) : 0};
    for (size_t i = 0; i < problem.arms; i++) {
        problem.scores[i] = score(from, round, false);
        problem.excluded[i] = round % 5 == 0 && whole(from, 0, 3) == 0;
    }
    return problem;
}

static void check(const char *oracle, sa_problem *given, const set_problem *problem, fits_call *fits,
                  worth_call *worth, uint64_t round) {
    sa_problem_scores(given, problem->scores, problem->arms);
    sa_problem_slate(given, problem->most);
    sa_problem_exclude(given, problem->excluded);
    double wanted = brute(problem, fits, worth);
    sa_solution solution;
    sa_status status = sa_problem_solve(given, oracle, &solution);
    if (wanted == -INFINITY) {
        assert_int_equal(status, SA_INVALID);
        return;
    }
    if (status != SA_OK) fail_msg("%s, instance %d: %s", oracle, (int)round, sa_last_error());
    unsigned set = set_of(&solution, problem->arms);
    if (!fits(problem, set)) fail_msg("%s, instance %d: the slate does not fit", oracle, (int)round);
    assert_true(problem->most == 0 || solution.length <= problem->most || !strcmp(oracle, "shortest-path"));
    for (size_t i = 0; i < solution.length; i++) assert_false(problem->excluded[solution.slate[i]]);
    assert_near(worth(problem, set), wanted, oracle, round);
    assert_near(solution.reward, wanted, oracle, round);
    assert_true(solution.exact && solution.alpha == 1);
    if (strcmp(oracle, "shortest-path")) assert_decreasing(&solution, problem->scores);
}

/* ---- knapsack ---- */

static bool fits_capacity(const set_problem *problem, unsigned set) {
    return sum_of(set, problem->costs, problem->arms) <= problem->capacity + 1e-12;
}

static void test_knapsack(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    for (uint64_t round = 0; round < 2 * INSTANCES; round++) {
        draws from = draws_of(1, round);
        set_problem problem = random_problem(&from, round);
        bool integers = round / 2 % 2;
        for (size_t i = 0; i < problem.arms; i++) {
            problem.costs[i] =
                integers ? (double)whole(&from, 0, 6) : (double)whole(&from, 0, 1 << 20) / (1 << 17);
            if (round % 7 == 0)
                problem.scores[i] = problem.costs[i] + 1; /* hard ones: all arms are worth about the same */
        }
        problem.capacity = integers ? (double)whole(&from, 0, 15) + (round % 4 == 2 ? 0.5 : 0)
                                    : (double)whole(&from, 0, 200) / 10;
        sa_problem_costs(given, problem.costs, problem.arms);
        sa_problem_capacity(given, problem.capacity);
        check("knapsack", given, &problem, fits_capacity, worth_sum, round);
    }
    sa_problem_destroy(given);
}

/* A hard one: what is worth exactly its cost. It ends, and says what it is sure of. */
static void test_hard_knapsack(void **state) {
    (void)state;
    enum { MANY = 100 };
    double costs[MANY];
    draws from = draws_of(40, 0);
    sa_problem *given = sa_problem_new();
    for (size_t i = 0; i < MANY; i++) costs[i] = 1 + (double)whole(&from, 0, 1 << 30) / (1 << 24);
    sa_problem_scores(given, costs, MANY);
    sa_problem_costs(given, costs, MANY);
    sa_problem_capacity(given, 1000.123456789);
    sa_solution solution = solved(given, "knapsack");
    double most = 1000.123456789 * (1 + 1e-9);
    assert_true(solution.reward <= most && solution.reward >= solution.alpha * most * (1 - 1e-9));
    assert_true(solution.exact ? solution.alpha == 1 : solution.alpha < 1 && solution.alpha > 0.9999);
    sa_problem_destroy(given);
}

/* ---- matroids ---- */

static bool fits_groups(const set_problem *problem, unsigned set) {
    size_t count[3] = {0};
    for (size_t i = 0; i < problem->arms; i++) count[problem->groups[i]] += in(set, i);
    return count[0] <= problem->capacities[0] && count[1] <= problem->capacities[1] &&
           count[2] <= problem->capacities[2];
}

static void test_groups(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    for (uint64_t round = 0; round < INSTANCES; round++) {
        draws from = draws_of(2, round);
        set_problem problem = random_problem(&from, round);
        for (size_t g = 0; g < 3; g++) problem.capacities[g] = whole(&from, 0, 3);
        for (size_t i = 0; i < problem.arms; i++) problem.groups[i] = whole(&from, 0, 2);
        sa_problem_groups(given, problem.groups, problem.arms);
        sa_problem_capacities(given, problem.capacities, 3);
        check("matroid", given, &problem, fits_groups, worth_sum, round);
    }
    sa_problem_destroy(given);
}

/* A tree: one edge less than nodes, and all nodes are reached. */
static bool is_tree(const set_problem *problem, unsigned set) {
    unsigned reached = 1;
    if (size_of(set) + 1 != problem->nodes) return false;
    for (size_t pass = 0; pass < problem->nodes; pass++)
        for (size_t i = 0; i < problem->arms; i++) {
            unsigned ends = 1u << problem->edges[2 * i] | 1u << problem->edges[2 * i + 1];
            if (in(set, i) && reached & ends) reached |= ends;
        }
    return reached == (1u << problem->nodes) - 1;
}

static void test_trees(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    size_t feasible = 0;
    for (uint64_t round = 0; round < 2 * INSTANCES; round++) {
        draws from = draws_of(3, round);
        set_problem problem = random_problem(&from, round);
        problem.most = 0;
        problem.nodes = 0;
        for (size_t i = 0; i < 2 * problem.arms; i++) {
            problem.edges[i] = whole(&from, 0, problem.arms > 4 ? 4 : 2);
            if (problem.edges[i] >= problem.nodes) problem.nodes = problem.edges[i] + 1;
        }
        feasible += brute(&problem, is_tree, worth_sum) > -INFINITY;
        sa_problem_edges(given, problem.edges, problem.arms);
        check("matroid", given, &problem, is_tree, worth_sum, round);
    }
    assert_true(feasible > INSTANCES / 2 && feasible < 2 * INSTANCES);
    sa_problem_destroy(given);
}

/* ---- matching ---- */

static bool is_matching(const set_problem *problem, unsigned set) {
    unsigned left = 0, right = 0;
    for (size_t i = 0; i < problem->arms; i++) {
        if (!in(set, i)) continue;
        unsigned one = 1u << problem->edges[2 * i], other = 1u << problem->edges[2 * i + 1];
        if (left & one || right & other) return false;
        left |= one;
        right |= other;
    }
    return true;
}

static void test_matching(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    for (uint64_t round = 0; round < INSTANCES; round++) {
        draws from = draws_of(4, round);
        set_problem problem = random_problem(&from, round);
        for (size_t i = 0; i < 2 * problem.arms; i++) problem.edges[i] = whole(&from, 0, 3);
        sa_problem_edges(given, problem.edges, problem.arms);
        check("matching", given, &problem, is_matching, worth_sum, round);
    }
    sa_problem_destroy(given);
}

/* ---- shortest path: from node 0 to node 1 ---- */

/* Some order of the set's arms walks from 0 to 1: each node but the ends is entered as often as it is left,
 * and all hangs together. Sets with cycles beside the path cost no less, so they do not change the best. */
static bool is_path(const set_problem *problem, unsigned set) {
    size_t node = 0, left = size_of(set);
    for (unsigned used = 0; left > 0; left--) {
        size_t next = problem->arms;
        for (size_t i = 0; i < problem->arms; i++)
            if (in(set, i) && !in(used, i) && problem->edges[2 * i] == node) next = i;
        if (next == problem->arms) return false;
        used |= 1u << next;
        node = problem->edges[2 * next + 1];
    }
    return node == 1;
}

static double worth_path(const set_problem *problem, unsigned set) {
    double total = 0;
    for (size_t i = 0; i < problem->arms; i++)
        if (in(set, i) && problem->scores[i] < 1) total += 1 - problem->scores[i];
    return -total;
}

static void test_paths(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    size_t feasible = 0;
    for (uint64_t round = 0; round < 2 * INSTANCES; round++) {
        draws from = draws_of(5, round);
        set_problem problem = random_problem(&from, round);
        problem.most = 0;
        for (size_t i = 0; i < 2 * problem.arms; i++) problem.edges[i] = whole(&from, 0, 4);
        problem.edges[0] = 1;
        feasible += brute(&problem, is_path, worth_path) > -INFINITY;
        sa_problem_edges(given, problem.edges, problem.arms);
        sa_problem_ends(given, 0, 1);
        check("shortest-path", given, &problem, is_path, worth_path, round);
    }
    assert_true(feasible > INSTANCES / 4);
    sa_problem_destroy(given);
}

/* ---- assortment ---- */

static bool fits_always(const set_problem *problem, unsigned set) { return problem || set; }

static double worth_offer(const set_problem *problem, unsigned set) {
    double above = 0, below = 1;
    for (size_t i = 0; i < problem->arms; i++) {
        if (!in(set, i)) continue;
        above += problem->revenues[i] * exp(problem->scores[i]);
        below += exp(problem->scores[i]);
    }
    return above / below;
}

static void test_assortment(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    for (uint64_t round = 0; round < INSTANCES; round++) {
        draws from = draws_of(6, round);
        set_problem problem = random_problem(&from, round);
        for (size_t i = 0; i < problem.arms; i++) {
            problem.scores[i] *= round % 4 == 0 ? 30 : 3;
            problem.revenues[i] = score(&from, round, false) * 10;
        }
        sa_problem_revenues(given, problem.revenues, problem.arms);
        check("assortment", given, &problem, fits_always, worth_offer, round);
    }
    sa_problem_destroy(given);
}

/* ---- ilp ---- */

static bool fits_rows(const set_problem *problem, unsigned set) {
    for (size_t row = 0; row < 3; row++)
        if (sum_of(set, problem->matrix + row * problem->arms, problem->arms) > problem->bounds[row] + 1e-9)
            return false;
    return true;
}

static void test_ilp(void **state) {
    (void)state;
    sa_problem *given = sa_problem_new();
    sa_solution solution;
    for (uint64_t round = 0; round < INSTANCES; round++) {
        draws from = draws_of(7, round);
        set_problem problem = random_problem(&from, round);
        for (size_t row = 0; row < 3; row++) {
            problem.bounds[row] = (double)whole(&from, 0, 8) - 2;
            for (size_t i = 0; i < problem.arms; i++)
                problem.matrix[row * problem.arms + i] = (double)whole(&from, 0, 6) - 2;
        }
        sa_problem_constraints(given, problem.matrix, problem.bounds, 3, problem.arms);
        if (round == 0) {
            sa_problem_scores(given, problem.scores, problem.arms);
            if (sa_problem_solve(given, "ilp", &solution) == SA_UNSUPPORTED) {
                assert_non_null(strstr(sa_last_error(), "CBC"));
                break;
            }
        }
        check("ilp", given, &problem, fits_rows, worth_sum, round);
    }
    sa_problem_destroy(given);
}

/* ---- problems in which the order matters ---- */

enum { PLACES = 3 };

typedef struct order_problem {
    size_t arms, places;
    double scores[ARMS * PLACES], discounts[PLACES];
    bool positional, discounted, click;
} order_problem;

static double worth_order(const order_problem *problem, const size_t *slate) {
    double missed = 1, sum = 0;
    for (size_t k = 0; k < problem->places && k < PLACES; k++) {
        double part =
            problem->positional ? problem->scores[slate[k] * problem->places + k] : problem->scores[slate[k]];
        if (problem->discounted) part *= problem->discounts[k];
        missed *= 1 - part;
        sum += part;
    }
    return problem->click ? 1 - missed : sum;
}

static double brute_order(const order_problem *problem, size_t *slate, size_t place) {
    double best = -INFINITY;
    if (place == problem->places || place == PLACES) return worth_order(problem, slate);
    for (size_t arm = 0; arm < problem->arms; arm++) {
        bool used = false;
        for (size_t k = 0; k < place; k++) used |= slate[k] == arm;
        if (used) continue;
        slate[place] = arm;
        best = fmax(best, brute_order(problem, slate, place + 1));
    }
    return best;
}

static void test_ordered(void **state) {
    (void)state;
    static const char *const oracles[] = {"top-k", "assignment", "cascade"};
    for (size_t which = 0; which < 3; which++) {
        for (uint64_t round = 0; round < INSTANCES; round++) {
            sa_problem *given = sa_problem_new();
            draws from = draws_of(8 + which, round);
            order_problem problem = {.arms = whole(&from, 1, 7)};
            size_t slate[PLACES], many = problem.arms < PLACES ? problem.arms : PLACES;
            problem.places = whole(&from, 1, many);
            problem.positional = which == 1 && round % 4;
            problem.discounted = which && !problem.positional && round % 8;
            problem.click = which == 2 && round % 2;
            for (size_t i = 0; i < problem.arms * PLACES; i++)
                problem.scores[i] = score(&from, round, problem.click);
            for (size_t k = 0; k < PLACES; k++) problem.discounts[k] = (double)whole(&from, 0, 4) / 4;
            if (problem.positional)
                sa_problem_position_scores(given, problem.scores, problem.arms, problem.places);
            else
                sa_problem_scores(given, problem.scores, problem.arms);
            sa_problem_slate(given, problem.places);
            if (problem.discounted) sa_problem_discounts(given, problem.discounts, problem.places);
            if (which == 2)
                assert_int_equal(sa_problem_set(given, "reward", problem.click ? "click" : "sum"), SA_OK);
            sa_solution solution = solved(given, oracles[which]);
            double wanted = brute_order(&problem, slate, 0);
            assert_int_equal(solution.length, problem.places);
            set_of(&solution, problem.arms);
            assert_near(worth_order(&problem, solution.slate), wanted, oracles[which], round);
            assert_near(solution.reward, wanted, oracles[which], round);
            assert_true(solution.exact && solution.alpha == 1);
            sa_problem_destroy(given);
        }
    }
}

/* With few arms for many positions, and with many (only the best of each position are looked at), all arms
 * tied or not. */
static void test_assignment_sizes(void **state) {
    (void)state;
    enum { MANY = 60 };
    for (uint64_t round = 0; round < 300; round++) {
        draws from = draws_of(20, round);
        static double scores[MANY * 2];
        size_t arms = round % 2 ? MANY : 10;
        for (size_t i = 0; i < arms * 2; i++) scores[i] = score(&from, round, false);
        double best = -INFINITY;
        for (size_t a = 0; a < arms; a++)
            for (size_t b = 0; b < arms; b++)
                if (a != b) best = fmax(best, scores[2 * a] + scores[2 * b + 1]);
        sa_problem *given = sa_problem_new();
        sa_problem_position_scores(given, scores, arms, 2);
        sa_solution solution = solved(given, "assignment");
        assert_near(solution.reward, best, "assignment", round);
        assert_true(solution.slate[0] != solution.slate[1]);
        sa_problem_destroy(given);
    }
}

/* ---- submodular: not exact, and never below 1 - 1/e ---- */

static void test_submodular(void **state) {
    (void)state;
    enum { TOPICS = 4 };
    sa_problem *given = sa_problem_new();
    size_t exact = 0;
    for (uint64_t round = 0; round < INSTANCES; round++) {
        draws from = draws_of(30, round);
        double scores[ARMS], topics[ARMS * TOPICS], best = 0;
        size_t arms = whole(&from, 1, ARMS), places = whole(&from, 1, arms < 4 ? arms : 4);
        for (size_t i = 0; i < arms; i++) scores[i] = score(&from, round, true);
        for (size_t i = 0; i < arms * TOPICS; i++)
            topics[i] = round % 2 ? (double)whole(&from, 0, 1) : score(&from, round, true);
        double got = 0;
        sa_problem_scores(given, scores, arms);
        sa_problem_slate(given, places);
        sa_problem_topics(given, topics, arms, TOPICS);
        sa_solution solution = solved(given, "submodular");
        unsigned mine = set_of(&solution, arms);
        assert_int_equal(solution.length, places);
        for (unsigned set = 0; set < 1u << arms; set++) {
            double worth = 0;
            if (size_of(set) > places) continue;
            for (size_t t = 0; t < TOPICS; t++) {
                double most = 0;
                for (size_t i = 0; i < arms; i++)
                    if (in(set, i)) most = fmax(most, scores[i] * topics[i * TOPICS + t]);
                worth += most;
            }
            best = fmax(best, worth);
            if (set == mine) got = worth;
        }
        assert_near(solution.reward, got, "submodular", round);
        assert_true(!solution.exact && fabs(solution.alpha - (1 - exp(-1))) < 1e-12);
        if (got < (1 - exp(-1)) * best - 1e-12) fail_msg("instance %d: %g of %g", (int)round, got, best);
        exact += got > best - 1e-12;
    }
    assert_true(exact > INSTANCES / 2 &&
                exact < INSTANCES); /* greedy is good, and not brute force in disguise */
    sa_problem_destroy(given);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_knapsack),   cmocka_unit_test(test_hard_knapsack),
        cmocka_unit_test(test_groups),     cmocka_unit_test(test_trees),
        cmocka_unit_test(test_matching),   cmocka_unit_test(test_paths),
        cmocka_unit_test(test_assortment), cmocka_unit_test(test_ilp),
        cmocka_unit_test(test_ordered),    cmocka_unit_test(test_assignment_sizes),
        cmocka_unit_test(test_submodular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Oracles allocate in their first call and no more, as long as problems do not grow; and short memory is a
 * status.
 *
 * Linked with --wrap for the allocators, so that the library's calls come here. */
#include "test_oracle_rig.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

static size_t allocations, fail_at;

static bool must_fail(void) { return ++allocations == fail_at; }

void *__wrap_malloc(size_t size) { return must_fail() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return must_fail() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return must_fail() ? NULL : __real_realloc(block, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return must_fail() ? NULL : __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    return must_fail() ? 12 : __real_posix_memalign(out, alignment, size);
}

enum { ARMS = 200, NODES = 20, PLACES = 6 };

static double scores[ARMS * PLACES], costs[ARMS];
static size_t edges[2 * ARMS], groups[ARMS];

static void fill(uint64_t round) {
    draws from = draws_of(1, round);
    for (size_t i = 0; i < ARMS * PLACES; i++) scores[i] = score(&from, round, true);
    for (size_t i = 0; i < ARMS; i++) {
        costs[i] = (double)whole(&from, 1, 20);
        groups[i] = whole(&from, 0, NODES - 1);
        edges[2 * i] = i < NODES ? i : whole(&from, 0, NODES - 1);
        edges[2 * i + 1] = i < NODES ? (i + NODES - 1) % NODES : whole(&from, 0, NODES - 1);
    }
    groups[0] = NODES - 1;
}

static sa_problem *problem_for(int which, const char **oracle) {
    static const char *const oracles[] = {
        "top-k",         "assignment", "cascade",    "knapsack",   "knapsack", "matroid",    "matroid",
        "shortest-path", "matching",   "assortment", "submodular", "knapsack", "assortment", "assignment"};
    sa_problem *problem = sa_problem_new();
    *oracle = oracles[which];
    sa_problem_scores(problem, scores, ARMS);
    sa_problem_slate(problem, PLACES);
    if (which == 1) sa_problem_position_scores(problem, scores, ARMS, PLACES);
    sa_problem_exactly(problem, which >= 11);
    if (which == 13) {
        static const size_t most[NODES] = {1, 2, 1, 2, 1, 2}, least[NODES] = {1};
        sa_problem_position_scores(problem, scores, ARMS, PLACES);
        sa_problem_groups(problem, groups, ARMS);
        sa_problem_capacities(problem, most, NODES);
        sa_problem_minimums(problem, least, NODES);
    }
    if (which == 3 || which == 4 || which == 11) {
        sa_problem_costs(problem, costs, ARMS);
        sa_problem_capacity(problem, which == 4 ? 1e12 : 50); /* by the table, and by branch and bound */
    }
    if (which == 5) sa_problem_groups(problem, groups, ARMS);
    if (which >= 6 && which <= 8) sa_problem_edges(problem, edges, ARMS);
    if (which == 7) sa_problem_ends(problem, 0, 1);
    if (which == 9 || which == 12) sa_problem_revenues(problem, costs, ARMS);
    if (which == 10) sa_problem_topics(problem, scores, ARMS, PLACES);
    return problem;
}

enum { KINDS = 14 };

static void test_hot_path(void **state) {
    (void)state;
    for (int which = 0; which < KINDS; which++) {
        const char *oracle;
        fill(0);
        sa_problem *problem = problem_for(which, &oracle);
        solved(problem, oracle);
        for (uint64_t round = 0; round < 30; round++) {
            fill(round);
            allocations = 0;
            solved(problem, oracle);
            if (allocations > 0) fail_msg("%s allocates in call %d", oracle, (int)round + 2);
        }
        sa_problem_destroy(problem);
    }
}

static void test_short_memory(void **state) {
    (void)state;
    for (int which = 0; which < KINDS; which++) {
        for (size_t n = 1; n < 20; n++) {
            const char *oracle;
            fill(3);
            sa_problem *problem = problem_for(which, &oracle);
            sa_solution solution;
            allocations = 0;
            fail_at = n;
            sa_status status = sa_problem_solve(problem, oracle, &solution);
            bool reached = allocations >= n;
            fail_at = 0;
            assert_int_equal(status, reached ? SA_OUT_OF_MEMORY : SA_OK);
            solved(problem, oracle);
            sa_problem_destroy(problem);
            if (!reached) break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hot_path), cmocka_unit_test(test_short_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Positions under rules: group limits, arms that exclude each other, places that take only some arms, rows of
 * a matrix. Against brute force over all ordered slates, against CBC on larger problems, and what is said
 * about rules that nothing keeps. */
#include "test_oracle_rig.h"

#include "temporary.h"

/* CBC's presolve leaks when it finds a program infeasible; the sanitizer asks this function what to
 * overlook. */
SA_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libCoinUtils"; }

enum { ARMS = 8, PLACES = 4, GROUPS = 3, PAIRS = 8 };

typedef struct page {
    size_t arms, places, groups_given, pair_count;
    double scores[ARMS * PLACES], discounts[PLACES], matrix[ARMS], bound;
    size_t groups[ARMS], most[GROUPS], least[GROUPS], pairs[2 * PAIRS];
    bool eligible[PLACES * ARMS], excluded[ARMS];
    bool positional, discounted, has_groups, has_most, has_least, has_eligible, has_matrix;
} page;

static double score_at(const page *it, size_t arm, size_t k) {
    if (it->positional) return it->scores[arm * it->places + k];
    return it->scores[arm] * (it->discounted ? it->discounts[k] : 1);
}

/* Does an arm fit place k after those before it? Exclusions and limits from above can be told early. */
static bool fits(const page *it, const size_t *slate, size_t k, size_t arm) {
    size_t same = 1;
    if (it->excluded[arm] || (it->has_eligible && !it->eligible[k * it->arms + arm])) return false;
    for (size_t j = 0; j < k; j++) {
        if (slate[j] == arm) return false;
        same += it->has_groups && it->groups[slate[j]] == it->groups[arm];
        for (size_t p = 0; p < it->pair_count; p++)
            if ((it->pairs[2 * p] == arm && it->pairs[2 * p + 1] == slate[j]) ||
                (it->pairs[2 * p + 1] == arm && it->pairs[2 * p] == slate[j]))
                return false;
    }
    return !it->has_most || same <= it->most[it->groups[arm]];
}

static bool complete(const page *it, const size_t *slate) {
    size_t count[GROUPS] = {0};
    double sum = 0;
    for (size_t k = 0; k < it->places; k++) {
        count[it->groups[slate[k]]]++;
        sum += it->matrix[slate[k]];
    }
    for (size_t g = 0; it->has_least && g < GROUPS; g++)
        if (count[g] < it->least[g]) return false;
    return !it->has_matrix || sum <= it->bound;
}

static double worth(const page *it, const size_t *slate) {
    double sum = 0;
    for (size_t k = 0; k < it->places; k++) sum += score_at(it, slate[k], k);
    return sum;
}

static double brute(const page *it, size_t *slate, size_t k) {
    double best = -INFINITY;
    if (k == it->places) return complete(it, slate) ? worth(it, slate) : -INFINITY;
    for (size_t arm = 0; arm < it->arms; arm++) {
        if (!fits(it, slate, k, arm)) continue;
        slate[k] = arm;
        best = fmax(best, brute(it, slate, k + 1));
    }
    return best;
}

static page draw(uint64_t round) {
    draws from = draws_of(90, round);
    page it = {.arms = whole(&from, 1, ARMS)};
    it.places = whole(&from, 1, it.arms < PLACES ? it.arms : PLACES);
    it.positional = round % 3 > 0;
    it.discounted = !it.positional && round % 2;
    for (size_t i = 0; i < it.arms * it.places; i++) it.scores[i] = score(&from, round, false);
    for (size_t k = 0; k < it.places; k++) it.discounts[k] = (double)whole(&from, 0, 4) / 4;
    it.has_groups = whole(&from, 0, 3) > 0;
    it.has_most = it.has_groups && whole(&from, 0, 4) > 0;
    it.has_least = it.has_groups && (!it.has_most || whole(&from, 0, 1));
    for (size_t g = 0; g < GROUPS; g++) {
        it.most[g] = whole(&from, 0, 3);
        it.least[g] = whole(&from, 0, 4) == 0 ? 1 + whole(&from, 0, 1) : 0;
    }
    it.has_eligible = whole(&from, 0, 2) == 0;
    for (size_t i = 0; i < it.arms; i++) {
        it.groups[i] = whole(&from, 0, GROUPS - 1);
        it.excluded[i] = whole(&from, 0, 7) == 0;
        it.matrix[i] = (double)whole(&from, 0, 3);
        for (size_t k = 0; k < it.places; k++) it.eligible[k * it.arms + i] = whole(&from, 0, 3) > 0;
    }
    it.has_matrix = round % 40 == 7;
    it.bound = (double)whole(&from, 0, 6);
    it.pair_count = it.arms > 1 && whole(&from, 0, 1) ? whole(&from, 1, PAIRS) : 0;
    for (size_t p = 0; p < it.pair_count; p++) {
        it.pairs[2 * p] = whole(&from, 0, it.arms - 1);
        it.pairs[2 * p + 1] = (it.pairs[2 * p] + whole(&from, 1, it.arms - 1)) % it.arms;
    }
    return it;
}

/* Three in four of those with pairs: pairs that make up sets of which at most one is chosen, some within a
 * group. */
static void make_sets(page *it, uint64_t round) {
    static const size_t sets[][6] = {{0, 1}, {0, 1, 1, 2, 2, 0}, {0, 2, 1, 3}};
    if (it->arms < 4 || it->pair_count == 0 || round % 4 == 0) return;
    const size_t *pairs = sets[round % 3];
    it->pair_count = round % 3 == 0 ? 1 : round % 3 == 1 ? 3 : 2;
    for (size_t i = 0; i < 2 * it->pair_count; i++) it->pairs[i] = pairs[i];
    for (size_t p = 0; p < it->pair_count && round % 8 > 1; p++)
        it->groups[pairs[2 * p + 1]] = it->groups[pairs[2 * p]];
    if (round % 3 == 1 && round % 8 > 1) it->groups[1] = it->groups[2] = it->groups[0];
}

static void give(sa_problem *problem, const page *it) {
    if (it->positional)
        sa_problem_position_scores(problem, it->scores, it->arms, it->places);
    else
        sa_problem_scores(problem, it->scores, it->arms);
    sa_problem_slate(problem, it->places);
    sa_problem_exclude(problem, it->excluded);
    sa_problem_discounts(problem, it->discounted ? it->discounts : NULL, it->places);
    sa_problem_groups(problem, it->has_groups ? it->groups : NULL, it->arms);
    sa_problem_capacities(problem, it->has_most ? it->most : NULL, GROUPS);
    sa_problem_minimums(problem, it->has_least ? it->least : NULL, GROUPS);
    sa_problem_exclusions(problem, it->pair_count ? it->pairs : NULL, it->pair_count);
    sa_problem_eligible(problem, it->has_eligible ? it->eligible : NULL, it->places, it->arms);
    sa_problem_constraints(problem, it->has_matrix ? it->matrix : NULL, it->has_matrix ? &it->bound : NULL, 1,
                           it->arms);
}

static void test_brute_force(void **state) {
    (void)state;
    sa_problem *problem = sa_problem_new();
    size_t feasible = 0, impossible = 0, programs = 0;
    for (uint64_t round = 0; round < 4 * INSTANCES; round++) {
        page it = draw(round);
        make_sets(&it, round);
        size_t slate[PLACES];
        double best = brute(&it, slate, 0);
        give(problem, &it);
        sa_solution solution = {.length = 77};
        sa_status status = sa_problem_solve(problem, "assignment", &solution);
        if (status == SA_UNSUPPORTED) { /* an integer program, and no CBC */
            programs++;
            assert_non_null(strstr(sa_last_error(), "CBC"));
            continue;
        }
        if (best == -INFINITY) {
            if (status != SA_INVALID) fail_msg("instance %d: nothing keeps the rules", (int)round);
            assert_true(solution.length == 77 && strlen(sa_last_error()) > 10);
            impossible++;
            continue;
        }
        feasible++;
        if (status != SA_OK) fail_msg("instance %d: %s", (int)round, sa_last_error());
        assert_int_equal(solution.length, it.places);
        for (size_t k = 0; k < it.places; k++)
            if (!fits(&it, solution.slate, k, solution.slate[k]))
                fail_msg("instance %d: place %zu", (int)round, k);
        if (!complete(&it, solution.slate)) fail_msg("instance %d: a minimum is not kept", (int)round);
        assert_near(worth(&it, solution.slate), best, "assignment", round);
        assert_near(solution.reward, best, "assignment", round);
        assert_true(solution.exact && solution.alpha == 1);
    }
    assert_true(feasible > INSTANCES && impossible > INSTANCES / 4 && programs < INSTANCES);
    sa_problem_destroy(problem);
}

/* ---- larger ones: against CBC, with a program of its own ---- */

enum { MANY = 80, ROOM = 5, KINDS = 12, ROWS = 1 + 2 * ROOM + MANY / 2 + 2 * KINDS, CELLS = MANY * ROOM };

static double scores[CELLS], matrix[ROWS * CELLS], bounds[ROWS];
static size_t groups[MANY], most[KINDS], least[KINDS], pairs[MANY], rows;
static bool eligible[CELLS];

/* A new row, all 0, that is at most `bound`; one column for each arm and place. */
static double *row(double bound) {
    assert_true(rows < ROWS);
    bounds[rows] = bound;
    return memset(matrix + rows++ * CELLS, 0, CELLS * sizeof *matrix);
}

/* Two neighbours are of a group and exclude each other; two groups must have an arm. */
static void draw_large(uint64_t round) {
    draws from = draws_of(91, round);
    for (size_t g = 0; g < KINDS; g++) {
        most[g] = 1 + g % 2;
        least[g] = g == round % KINDS || g == (round + 5) % KINDS;
    }
    for (size_t i = 0; i < MANY; i++) {
        double base = score(&from, round, false);
        groups[i] = i / 2 % KINDS;
        pairs[i] = i;
        for (size_t k = 0; k < ROOM; k++) {
            scores[i * ROOM + k] = base / (double)(k + 1) + 0.2 * score(&from, round, false);
            eligible[k * MANY + i] = whole(&from, 0, 4) > 0;
        }
    }
}

static void write_program(void) {
    rows = 0;
    double *never = row(0);
    for (size_t c = 0; c < CELLS; c++) never[c] = !eligible[c % ROOM * MANY + c / ROOM];
    for (size_t k = 0; k < ROOM; k++) {
        double *up = row(1), *down = row(-1);
        for (size_t i = 0; i < MANY; i++) down[i * ROOM + k] = -(up[i * ROOM + k] = 1);
    }
    for (size_t i = 0; i < MANY; i += 2) {
        double *one = row(1);
        for (size_t c = i * ROOM; c < (i + 2) * ROOM; c++) one[c] = 1;
    }
    for (size_t g = 0; g < KINDS; g++) {
        double *up = row((double)most[g]), *down = row(-(double)least[g]);
        for (size_t c = 0; c < CELLS; c++)
            if (groups[c / ROOM] == g) down[c] = -(up[c] = 1);
    }
}

static void test_cbc(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 16; round++) {
        draw_large(round);
        write_program();
        sa_problem *mine = sa_problem_new(), *program = sa_problem_new();
        sa_problem_position_scores(mine, scores, MANY, ROOM);
        sa_problem_groups(mine, groups, MANY);
        sa_problem_capacities(mine, most, KINDS);
        sa_problem_minimums(mine, least, KINDS);
        sa_problem_exclusions(mine, pairs, MANY / 2);
        sa_problem_eligible(mine, eligible, ROOM, MANY);
        sa_problem_scores(program, scores, CELLS);
        sa_problem_constraints(program, matrix, bounds, rows, CELLS);
        sa_solution wanted, got = solved(mine, "assignment");
        sa_status status = sa_problem_solve(program, "ilp", &wanted);
        if (status != SA_UNSUPPORTED) {
            assert_int_equal(status, SA_OK);
            assert_near(got.reward, wanted.reward, "assignment", round);
        }
        sa_problem_destroy(mine);
        sa_problem_destroy(program);
    }
}

/* Many arms, of which only the best of each place come in: the same reward as CBC finds with all of them. */
static void test_candidates(void **state) {
    (void)state;
    enum { MOST = 400, SHELF = 4 };
    static double many[MOST * SHELF];
    static size_t kind[MOST];
    for (uint64_t round = 0; round < 40; round++) {
        draws from = draws_of(92, round);
        size_t limits[8] = {1, 2, 1, 3, 0, 1, 2, 1}, minimums[8] = {0}, arms = round % 2 ? MOST : 24;
        bool ties = round % 3 == 0;
        minimums[round % 4] = 1;
        for (size_t i = 0; i < arms; i++) {
            double base = ties ? (double)whole(&from, 0, 4) : score(&from, 1, false);
            kind[i] = i < 8 ? i : whole(&from, 0, 7);
            base += round % 4 && (kind[i] == 0 || kind[i] == 2)
                        ? 5
                        : 0; /* the best are of groups that take one each */
            for (size_t k = 0; k < SHELF; k++)
                many[i * SHELF + k] = base * (1 + (double)k) + (ties ? 0 : score(&from, 1, false));
        }
        sa_problem *problem = sa_problem_new();
        sa_problem_position_scores(problem, many, arms, SHELF);
        sa_problem_groups(problem, kind, arms);
        sa_problem_capacities(problem, limits, 8);
        sa_problem_minimums(problem, minimums, 8);
        double found = solved(problem, "assignment").reward, nothing = 1;
        static double zeros[MOST];
        sa_problem_constraints(problem, zeros, &nothing, 1,
                               arms); /* a row that means nothing: an integer program */
        sa_solution solution;
        sa_status status = sa_problem_solve(problem, "assignment", &solution);
        if (status == SA_OK) assert_near(found, solution.reward, "assignment", round);
        assert_true(status == SA_OK || status == SA_UNSUPPORTED);
        sa_problem_destroy(problem);
    }
}

/* ---- no time, and no way ---- */

/* A search that is cut short gives the best so far and how far it may be from the best, or says that there
 * was no time. */
static void test_seconds(void **state) {
    (void)state;
    enum { HARD = 60, ROUNDS = 30 };
    static double values[HARD], weights[ROUNDS * HARD], limits[ROUNDS];
    draws from = draws_of(93, 0);
    for (size_t i = 0; i < HARD; i++) values[i] = 1 + score(&from, 1, true);
    for (size_t r = 0; r < ROUNDS; r++) {
        limits[r] = 40 * HARD / 4;
        for (size_t i = 0; i < HARD; i++) weights[r * HARD + i] = 20 + (double)whole(&from, 0, 40);
    }
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, values, HARD);
    sa_problem_constraints(problem, weights, limits, ROUNDS, HARD);
    sa_problem_seconds(problem, 0.05);
    sa_solution solution;
    sa_status status = sa_problem_solve(problem, "ilp", &solution);
    if (status == SA_OK) {
        assert_true(solution.exact == (solution.alpha == 1));
        assert_true(solution.alpha > 0.5 && solution.alpha <= 1 && solution.reward > 0);
    } else if (status == SA_INVALID) {
        assert_non_null(strstr(sa_last_error(), "no slate in 0.05 seconds (--seconds)"));
    } else {
        assert_int_equal(status, SA_UNSUPPORTED);
    }
    sa_problem_destroy(problem);
}

static void refuse(sa_problem *problem, const char *words) {
    sa_solution solution = {.length = 77};
    sa_status status = sa_problem_solve(problem, "assignment", &solution);
    if (status != SA_INVALID) fail_msg("%s instead of \"%s\"", sa_status_name(status), words);
    if (!strstr(sa_last_error(), words)) fail_msg("\"%s\" lacks \"%s\"", sa_last_error(), words);
    assert_true(solution.length == 77);
}

static void test_contradictions(void **state) {
    (void)state;
    const double plain[5] = {5, 4, 3, 2, 1};
    const size_t of[5] = {0, 0, 1, 1, 1}, one[3] = {1, 1, 1}, two[3] = {2, 2, 0}, empty[3] = {0, 0, 1},
                 few[3] = {0, 3, 0};
    const size_t all_of_two[2] = {0, 1}, clash[2] = {2, 3};
    const bool all[5] = {true, true, true, true, true}, some[5] = {false, false, true, true, true};
    bool places[15];
    for (size_t i = 0; i < 15; i++) places[i] = i < 5;
    sa_problem *problem = sa_problem_new();
    sa_problem_scores(problem, plain, 5);
    sa_problem_slate(problem, 3);
    sa_problem_capacities(problem, one, 3);
    refuse(problem, "--capacities are for --groups, which are not given");
    sa_problem_groups(problem, of, 5);
    refuse(problem, "no slate of 3 arms keeps the rules (--groups)");
    sa_problem_minimums(problem, two, 3);
    refuse(problem, "group 0 is to have at least 2 arms and at most 1");
    sa_problem_minimums(problem, two, 2);
    refuse(problem, "--minimums: 2 entries, and there are 3 capacities");
    sa_problem_capacities(problem, NULL, 0);
    sa_problem_minimums(problem, two, 3);
    refuse(problem, "--minimums: they add up to 4, and --slate is 3");
    sa_problem_minimums(problem, empty, 3);
    refuse(problem, "group 2 is to have at least 1 arms, and 0 can be chosen");
    sa_problem_minimums(problem, few, 3);
    solved(problem, "assignment");
    sa_problem_exclude(problem, some);
    refuse(problem, "--slate 3 is more than the 2 arms");
    sa_problem_exclude(problem, all);
    refuse(problem, "--slate 3 is more than the 0 arms");
    sa_problem_exclude(problem, NULL);
    sa_problem_exclusions(problem, clash, 1);
    refuse(problem, "no slate of 3 arms keeps the rules (--groups, --exclusions)");
    sa_problem_minimums(problem, NULL, 0);
    refuse(problem, "needs --capacities or --minimums");
    sa_problem_groups(problem, NULL, 0);
    sa_problem_exclusions(problem, all_of_two, 1);
    assert_int_equal(solved(problem, "assignment").slate[1], 2);
    sa_problem_eligible(problem, places, 3, 5);
    refuse(problem, "--eligible: position 1 takes none of the arms that can be chosen");
    places[5] = places[10] = true;
    refuse(problem, "no slate of 3 arms keeps the rules (--exclusions, --eligible)");
    sa_problem_destroy(problem);
}

static void test_text(void **state) {
    (void)state;
    const char *folder = temporary_folder(), *path = inside(folder, "e.npy");
    sa_problem *problem = sa_problem_new();
    assert_int_equal(sa_problem_set(problem, "scores", "3,2,1"), SA_OK);
    sa_problem_slate(problem, 2);
    assert_int_equal(sa_npy_write(path, SA_INT64, 2, (size_t[]){2, 3}, (int64_t[]){0, 1, 1, 1, 2, 1}), SA_OK);
    assert_int_equal(sa_problem_set(problem, "eligible", path), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "e.npy: entry 4 is 2, and must be 0 or 1"));
    assert_int_equal(sa_npy_write(path, SA_UINT8, 2, (size_t[]){2, 3}, (uint8_t[]){0, 1, 1, 1, 0, 1}), SA_OK);
    assert_int_equal(sa_problem_set(problem, "eligible", path), SA_OK);
    sa_solution solution = solved(problem, "assignment");
    assert_true(solution.slate[0] == 1 && solution.slate[1] == 0);
    assert_int_equal(sa_npy_write(path, SA_INT64, 2, (size_t[]){1, 2}, (int64_t[]){0, 1}), SA_OK);
    assert_int_equal(sa_problem_set(problem, "exclusions", path), SA_OK);
    solution = solved(problem, "assignment");
    assert_true(solution.slate[0] == 2 && solution.slate[1] == 0);
    assert_int_equal(sa_problem_set(problem, "seconds", "-1"), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--seconds -1"));
    sa_problem_destroy(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),    cmocka_unit_test(test_cbc),
        cmocka_unit_test(test_candidates),     cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_contradictions), cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

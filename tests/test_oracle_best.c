/* The best slate for covering topics, which greedy is not sure to find: against brute force written out here,
 * where all slates are looked at and where CBC is asked; and runs whose regret is measured against it. */
#include "test_oracle_rig.h"

#include <stdio.h>

#include "oracle/oracle.h"
#include "program.h"

SA_API const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libCoinUtils"; }

enum { MOST_ARMS = 22, TOPICS = 5 };

typedef struct coverage {
    size_t arms, slate, topics;
    double scores[MOST_ARMS], covers[MOST_ARMS * TOPICS];
    bool excluded[MOST_ARMS];
} coverage;

static double worth(const coverage *of, unsigned set) {
    double sum = 0;
    for (size_t t = 0; t < of->topics; t++) {
        double most = 0;
        for (size_t i = 0; i < of->arms; i++)
            if (in(set, i)) most = fmax(most, of->scores[i] * of->covers[i * of->topics + t]);
        sum += most;
    }
    return sum;
}

static double brute(const coverage *of) {
    double best = -INFINITY;
    for (unsigned set = 0; set < 1u << of->arms; set++) {
        bool allowed = (size_t)__builtin_popcount(set) == of->slate;
        for (size_t i = 0; allowed && i < of->arms; i++) allowed = !(in(set, i) && of->excluded[i]);
        if (allowed) best = fmax(best, worth(of, set));
    }
    return best;
}

/* What sa_submodular_best finds, which must be allowed and proven. */
static double found(const coverage *of) {
    sa_oracle_data data = {.given = SA_BIT(SA_TOPICS), .topics = of->covers};
    data.columns[SA_TOPICS] = of->topics;
    sa_oracle_problem problem = {
        .scores = of->scores, .arms = of->arms, .slate = of->slate, .excluded = of->excluded, .data = &data};
    sa_workspace workspace = {0};
    size_t slate[MOST_ARMS], length;
    unsigned set = 0;
    bool proven = false;
    assert_int_equal(sa_submodular_best(&problem, &workspace, slate, &length, &proven), SA_OK);
    sa_workspace_clear(&workspace);
    assert_true(proven);
    assert_int_equal(length, of->slate);
    for (size_t i = 0; i < length; i++) {
        assert_true(slate[i] < of->arms && !in(set, slate[i]) && !of->excluded[slate[i]]);
        set |= 1u << slate[i];
    }
    return worth(of, set);
}

static coverage random_coverage(uint64_t round, size_t arms, size_t slate) {
    draws from = draws_of(11, round);
    coverage of = {.arms = arms, .slate = slate, .topics = TOPICS};
    for (size_t i = 0; i < arms; i++) {
        of.scores[i] = score(&from, round, true);
        of.excluded[i] = round % 4 == 0 && i % 5 == 0;
        for (size_t t = 0; t < TOPICS; t++)
            of.covers[i * TOPICS + t] = whole(&from, 0, 1) ? score(&from, round, true) : 0;
    }
    return of;
}

static void test_looked_through(void **state) {
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        coverage of = random_coverage(round, 5 + round % 5, 1 + round % 4);
        assert_near(found(&of), brute(&of), "all slates", round);
    }
}

/* 74,613 slates of 6 out of 22: CBC is asked. */
static void test_program(void **state) {
    (void)state;
    if (sa_oracle_ilp.missing) skip();
    for (uint64_t round = 1; round < 4; round++) {
        coverage of = random_coverage(round, MOST_ARMS, 6);
        assert_near(found(&of), brute(&of), "CBC", round);
    }
}

/* More than anyone looks through: the slate is greedy's, and nobody says that it is the best. */
static void test_too_large(void **state) {
    (void)state;
    enum { MANY = 600, SLATE = 9 };
    static double scores[MANY], covers[MANY * TOPICS];
    for (size_t i = 0; i < MANY; i++) {
        scores[i] = 1 + (double)(i * 7 % 13);
        for (size_t t = 0; t < TOPICS; t++) covers[i * TOPICS + t] = 1 + (double)((i * 31 + t * 17) % 101);
    }
    sa_oracle_data data = {.given = SA_BIT(SA_TOPICS), .topics = covers};
    data.columns[SA_TOPICS] = TOPICS;
    sa_oracle_problem problem = {.scores = scores, .arms = MANY, .slate = SLATE, .data = &data};
    sa_workspace workspace = {0};
    size_t slate[SLATE], greedy[SLATE], length;
    bool proven = true;
    assert_int_equal(sa_submodular_best(&problem, &workspace, slate, &length, &proven), SA_OK);
    assert_false(proven);
    assert_int_equal(sa_oracle_submodular.solve(&problem, &workspace, greedy, &length), SA_OK);
    assert_memory_equal(slate, greedy, sizeof greedy);
    sa_workspace_clear(&workspace);
}

/* ---- runs ---- */

/* Arms that cover {0, 1, 2}, {3, 4, 5} and {1, 2, 3, 4}: greedy takes the last first, and ends with 5 topics
 * where the other two have all 6. */
static const double SETS[3 * 6] = {1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0};

static double first_regret(const char *folder, const char *out, const char *label) {
    char path[512];
    sa_array array = {0};
    snprintf(path, sizeof path, "%s/%s/%s/expected_regret.npy", folder, out, label);
    assert_int_equal(sa_npy_read(path, &array), SA_OK);
    double regret = sa_array_number(&array, 0);
    sa_array_clear(&array);
    return regret;
}

static const char *written(const char *path) {
    static char text[1 << 18];
    read_back(path, text, sizeof text);
    return text;
}

static void contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no %s in %.2000s", part, text);
}

static void test_alpha_regret(void **state) {
    (void)state;
    const char *folder = temporary_folder();
    const double ones[3] = {1, 1, 1}, alpha = 1 - exp(-1);
    assert_int_equal(sa_npy_write(inside(folder, "topics.npy"), SA_FLOAT64, 2, (size_t[]){3, 6}, SETS),
                     SA_OK);
    assert_int_equal(sa_npy_write(inside(folder, "x.npy"), SA_FLOAT64, 3, (size_t[]){1, 3, 1}, ones), SA_OK);
    assert_int_equal(sa_npy_write(inside(folder, "v.npy"), SA_FLOAT64, 2, (size_t[]){1, 3}, ones), SA_OK);
    outcome *ended = run(
        folder,
        "run --environment npy --contexts %s/x.npy --scores %s/v.npy --noise 0 --slate 2 --runs 1 --oracle "
        "submodular --topics %s/topics.npy --agent knows:algorithm=best --agent greedy:algorithm=cn-ucb "
        "--out %s/results",
        folder, folder, folder, folder);
    fine(ended);
    assert_near(first_regret(folder, "results", "knows"), alpha * 6 - 6, "best", 0);
    assert_near(first_regret(folder, "results", "greedy"), alpha * 6 - 5, "greedy", 0); /* not alpha 5 - 5 */
    contains(ended->out, "from knows on: alpha-regret, 0.632 times the best slate's reward");
    contains(written(inside(folder, "results/summary.json")),
             "\"against\": \"best\", \"unproven_rounds\": 0");
    fine(run(folder, "report %s/results", folder));
    contains(written(inside(folder, "results/report.html")), "alpha-regret, 0.632 times");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_looked_through),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_alpha_regret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

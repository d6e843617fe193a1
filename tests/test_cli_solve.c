/* superarm solve: what it prints, and what it says about wrong input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"

static const char *folder;

static const char *doubles(const char *name, size_t rows, size_t columns, const double *numbers) {
    const char *path = inside(folder, name);
    assert_int_equal(sa_npy_write(path, SA_FLOAT64, columns ? 2 : 1, (size_t[]){rows, columns}, numbers),
                     SA_OK);
    return path;
}

static const char *integers(const char *name, size_t rows, size_t columns, const int64_t *numbers) {
    const char *path = inside(folder, name);
    assert_int_equal(sa_npy_write(path, SA_INT64, columns ? 2 : 1, (size_t[]){rows, columns}, numbers),
                     SA_OK);
    return path;
}

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    doubles("scores.npy", 4, 0, (double[]){0.5, 0.25, 0.75, 0.125});
    doubles("signed.npy", 4, 0, (double[]){0.5, -0.25, 0.75, -0.125});
    doubles("zeros.npy", 4, 0, (double[]){0, 0, 0, 0}); /* exp(0) is 1 everywhere */
    doubles("places.npy", 3, 2, (double[]){3, 2, 2, 0, 1, 1});
    doubles("costs.npy", 4, 0, (double[]){2, 1, 3, 1});
    doubles("bad.npy", 4, 0, (double[]){2, 1, -3, 1});
    integers("groups.npy", 4, 0, (int64_t[]){0, 1, 0, 1});
    integers("capacities.npy", 2, 0, (int64_t[]){1, 2});
    integers("edges.npy", 4, 2, (int64_t[]){0, 1, 1, 2, 0, 2, 2, 3});
    doubles("topics.npy", 4, 2, (double[]){1, 0, 0, 1, 1, 0, 0, 1});
    doubles("matrix.npy", 1, 4, (double[]){1, 1, 1, 1});
    doubles("bounds.npy", 1, 0, (double[]){2});
    return 0;
}

static void expect(const char *words, const char *wanted) {
    char full[4096] = "solve ", *to = full + 6;
    for (const char *from = words; *from;) { /* @name is the file in the folder */
        if (*from != '@') {
            *to++ = *from++;
            continue;
        }
        to += sprintf(to, "%s/", folder);
        from++;
    }
    *to = 0;
    outcome *got = run(folder, "%s", full);
    if (*wanted == '{') {
        fine(got);
        if (strncmp(got->out, wanted, strlen(wanted)) || got->out[strlen(wanted)] != '\n')
            fail_msg("%s: %s", words, got->out);
    } else {
        refused(got, wanted);
    }
}

/* What has one axis may be written out. */
static void test_lists(void **state) {
    (void)state;
    expect("top-k --scores 0.5,0.25,.75 --slate 2",
           "{\"slate\": [2, 0], \"reward\": 1.25, \"alpha\": 1, \"exact\": true}");
    expect("cascade --scores @scores.npy --slate 2 --discounts 0.5,1",
           "{\"slate\": [0, 2], \"reward\": 0.8125, \"alpha\": 1, \"exact\": true}"); /* 1 - 0.75 0.25 */
    expect("matroid --scores 3,2,1 --groups 0,0,1 --capacities 1,1",
           "{\"slate\": [0, 2], \"reward\": 4, \"alpha\": 1, \"exact\": true}");
    expect("top-k --scores 0.5 --slate 1",
           "{\"slate\": [0], \"reward\": 0.5, \"alpha\": 1, \"exact\": true}");
    expect("top-k --scores 0.5,,1 --slate 1",
           "--scores: 0.5,,1 is neither a list of numbers, as in 0.5,1, nor a file");
    expect("top-k --scores 0.5,nan --slate 1", "--scores: 0.5,nan is neither");
    expect("top-k --scores 1e999,1 --slate 1", "the score of arm 0 is inf");
    expect("cascade --scores @scores.npy --slate 2 --discounts 0.5,2", "--discounts 0.5,2: entry 1 is 2");
    expect("cascade --scores @scores.npy --slate 2 --discounts 0.5", "--discounts 0.5: 1 entries");
    expect("matroid --scores 3,2,1 --groups 0,0,1.5 --capacities 1,1", "--groups 0,0,1.5: entry 2 is 1.5");
}

static void test_solutions(void **state) {
    (void)state;
    expect("top-k --scores @scores.npy --slate 2",
           "{\"slate\": [2, 0], \"reward\": 1.25, \"alpha\": 1, \"exact\": true}");
    expect("assignment --scores=@places.npy",
           "{\"slate\": [1, 0], \"reward\": 4, \"alpha\": 1, \"exact\": true}");
    expect("cascade --scores @scores.npy --slate 2",
           "{\"slate\": [2, 0], \"reward\": 0.875, \"alpha\": 1, \"exact\": true}");
    expect("cascade --scores @signed.npy --slate 2 --reward sum",
           "{\"slate\": [2, 0], \"reward\": 1.25, \"alpha\": 1, \"exact\": true}");
    expect("knapsack --scores @scores.npy --costs @costs.npy --capacity 4",
           "{\"slate\": [2, 1], \"reward\": 1, \"alpha\": 1, \"exact\": true}");
    expect("knapsack --scores @scores.npy --costs @costs.npy --capacity 0",
           "{\"slate\": [], \"reward\": 0, \"alpha\": 1, \"exact\": true}");
    expect("matroid --scores @signed.npy --groups @groups.npy --capacities @capacities.npy",
           "{\"slate\": [2], \"reward\": 0.75, \"alpha\": 1, \"exact\": true}");
    expect("matroid --scores @signed.npy --edges @edges.npy",
           "{\"slate\": [2, 0, 3], \"reward\": 1.125, \"alpha\": 1, \"exact\": true}");
    expect("shortest-path --scores @scores.npy --edges @edges.npy --source 0 --target 3",
           "{\"slate\": [2, 3], \"reward\": -1.125, \"alpha\": 1, \"exact\": true}");
    expect("matching --scores @signed.npy --edges @edges.npy",
           "{\"slate\": [2], \"reward\": 0.75, \"alpha\": 1, \"exact\": true}");
    expect("assortment --scores @zeros.npy --revenues @costs.npy",
           "{\"slate\": [0, 2], \"reward\": 1.6666666666666667, \"alpha\": 1, \"exact\": true}");
    expect("submodular --scores @scores.npy --topics @topics.npy --slate 2",
           "{\"slate\": [2, 1], \"reward\": 1, \"alpha\": 0.6321205588285577, \"exact\": false}");
}

static void test_exactly(void **state) {
    (void)state;
    expect("matroid --scores=-0.5,-0.125,-0.25,-1 --groups 0,1,1,1 --capacities 1,1 --slate 2 --exactly",
           "{\"slate\": [1, 0], \"reward\": -0.625, \"alpha\": 1, \"exact\": true}");
    expect("matroid --exactly --scores=-0.5,-0.125 --groups 0,1 --slate 2",
           "{\"slate\": [1, 0], \"reward\": -0.625, \"alpha\": 1, \"exact\": true}");
    expect("matroid --exactly=false --scores=-0.5,-0.125 --groups 0,1 --slate 2",
           "{\"slate\": [], \"reward\": 0, \"alpha\": 1, \"exact\": true}");
    expect("knapsack --scores @signed.npy --costs @costs.npy --capacity 4 --slate 3 --exactly",
           "{\"slate\": [0, 3, 1], \"reward\": 0.125, \"alpha\": 1, \"exact\": true}");
    expect("knapsack --scores @signed.npy --costs @costs.npy --capacity 3 --slate 3 --exactly",
           "the cheapest cost 4, and --capacity is 3");
    expect("matroid --exactly=perhaps --scores @scores.npy --groups @groups.npy", "neither true nor false");
    expect("shortest-path --scores @scores.npy --edges @edges.npy --source 0 --target 3 --exactly",
           "--exactly is not for shortest-path");
}

static void test_ilp(void **state) {
    (void)state;
    outcome *got =
        run(folder, "solve ilp --scores %s/signed.npy --matrix %s/matrix.npy --bounds %s/bounds.npy", folder,
            folder, folder);
    if (strstr(got->err, "needs CBC")) {
        assert_int_equal(got->exit_status, 2);
        return;
    }
    assert_string_equal(fine(got)->out,
                        "{\"slate\": [2, 0], \"reward\": 1.25, \"alpha\": 1, \"exact\": true}\n");
    doubles("never.npy", 1, 0, (double[]){-1});
    expect("ilp --scores @signed.npy --matrix @matrix.npy --bounds @never.npy", "no choice of arms fits");
}

static void test_wrong(void **state) {
    (void)state;
    expect("", "which oracle?");
    expect("knapsak", "did you mean knapsack?");
    expect("top-k top-k", "one oracle too many");
    expect("top-k -s", "-s is not an option");
    expect("top-k --slte 3", "did you mean --slate?");
    expect("top-k --slate", "--slate needs a value");
    expect("top-k --slate --scores", "--slate needs a value");
    expect("top-k --scores @none.npy --slate 1", "none.npy cannot be opened");
    expect("top-k --scores @scores.npy", "--slate");
    expect("top-k --scores @scores.npy --slate 5", "--slate 5 is more than the 4 arms");
    expect("knapsack --scores @scores.npy --costs @bad.npy --capacity 3", "bad.npy: entry 2 is -3");
    expect("knapsack --scores @scores.npy --costs @places.npy --capacity 3",
           "places.npy: an array of 2 axes");
    expect("shortest-path --scores @scores.npy --edges @edges.npy --source 3 --target 0",
           "no path from --source 3 to --target 0");
    expect("matroid --scores @scores.npy", "--groups");
}

static void test_help_and_list(void **state) {
    (void)state;
    assert_non_null(strstr(fine(run(folder, "solve --help"))->out, "Example"));
    const char *out = fine(run(folder, "list oracles"))->out;
    static const char *const words[] = {"shortest-path", "costs, capacity", "0.632", "O(N log N)"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_non_null(strstr(out, words[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions), cmocka_unit_test(test_lists), cmocka_unit_test(test_ilp),
        cmocka_unit_test(test_exactly),   cmocka_unit_test(test_wrong), cmocka_unit_test(test_help_and_list),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}

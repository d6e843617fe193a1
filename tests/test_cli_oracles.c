/* superarm run with structured slates: data from files, regret through the oracle, repeatable from
 * spec.yaml. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"

enum { ARMS = 12, ROUNDS = 40 };

static const char *folder;

static void doubles(const char *name, size_t rows, size_t columns, double (*number)(size_t)) {
    static double numbers[1000];
    for (size_t i = 0; i < rows * (columns ? columns : 1); i++) numbers[i] = number(i);
    assert_int_equal(
        sa_npy_write(inside(folder, name), SA_FLOAT64, columns ? 2 : 1, (size_t[]){rows, columns}, numbers),
        SA_OK);
}

static double cost(size_t i) { return (double)(1 + i % 3); }
static double group(size_t i) { return (double)(i % 4); }
static double node(size_t i) { return i % 2 ? (double)((i / 2 * i / 2 + 1) % 5) : (double)(i / 2 % 5); }
static double share(size_t i) { return 1 / (double)(1 + i); }
static double covers(size_t i) { return (double)(i % 7 == 0 || i % 5 == 1); }
static double sign(size_t i) { return i % 2 ? -1 : 1; }

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    doubles("costs.npy", ARMS, 0, cost);
    doubles("groups.npy", ARMS, 0, group);
    doubles("edges.npy", ARMS, 2, node);
    doubles("discounts.npy", 3, 0, share);
    doubles("topics.npy", ARMS, 4, covers);
    doubles("matrix.npy", 2, ARMS, sign);
    doubles("bounds.npy", 2, 0, cost);
    doubles("short.npy", 3, 0, cost);
    return 0;
}

/* `words` with @ for the folder. */
static outcome *play(const char *words, const char *out) {
    char full[4096], *to = full;
    for (const char *from = words; *from; from++) {
        if (*from == '@')
            to += sprintf(to, "%s/", folder);
        else
            *to++ = *from;
    }
    *to = 0;
    return run(
        folder,
        "run --environment h1 --arms %d --slate 3 --rounds %d --dim 4 --hidden 4 --runs 2 --delay 2 --quiet "
        "--algorithm cn-ucb,random,best --out %s/%s --oracle %s",
        ARMS, ROUNDS, folder, out, full);
}

static const char *const GOOD[] = {
    "top-k",
    "assignment --discounts @discounts.npy",
    "cascade",
    "cascade --reward sum --discounts @discounts.npy",
    "knapsack --costs @costs.npy --capacity 4",
    "knapsack --costs @costs.npy --capacity 0.5",
    "matroid --groups @groups.npy",
    "matroid --edges @edges.npy",
    "matching --edges @edges.npy",
    "shortest-path --edges @edges.npy --source 0 --target 1",
    "assortment --revenues @costs.npy",
    "submodular --topics @topics.npy",
};

/* The final regret of an agent's first run. */
static double regret_of(const char *out, const char *label) {
    char path[256];
    sa_array array = {0};
    snprintf(path, sizeof path, "%s/%s/%s/expected_regret.npy", folder, out, label);
    assert_int_equal(sa_npy_read(path, &array), SA_OK);
    double last = sa_array_number(&array, ROUNDS - 1);
    sa_array_clear(&array);
    return last;
}

static void test_regret(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        char out[32];
        snprintf(out, sizeof out, "good-%zu", i);
        fine(play(GOOD[i], out));
        double best = regret_of(out, "best"), learnt = regret_of(out, "cn-ucb"),
               random = regret_of(out, "random");
        bool exact = !strstr(GOOD[i], "submodular"), empty = strstr(GOOD[i], "0.5");
        if (exact && fabs(best) > 1e-9) fail_msg("%s: best has regret %g", GOOD[i], best);
        if (!exact) assert_true(best < 0); /* alpha-regret: greedy does better than it is sure of */
        if (!(learnt >= best - 1e-9)) fail_msg("%s: %g, and best %g", GOOD[i], learnt, best);
        if (empty ? random != 0 : !(random > best))
            fail_msg("%s: random has %g, and best %g", GOOD[i], random, best);
    }
}

static void test_spec(void **state) {
    (void)state;
    fine(play("knapsack --costs @costs.npy --capacity 4", "first"));
    fine(run(folder, "run %s/first/spec.yaml --quiet --out %s/again", folder, folder));
    assert_same_file(inside(folder, "first/cn-ucb/expected_regret.npy"),
                     inside(folder, "again/cn-ucb/expected_regret.npy"));
}

static void test_wrong(void **state) {
    (void)state;
    refused(play("knapsack", "wrong"), "knapsack needs --costs");
    refused(play("knapsack --costs @costs.npy --capacity -4", "wrong"), "--capacity -4");
    refused(play("knapsack --costs @short.npy --capacity 4", "wrong"),
            "short.npy: 3 entries, and there are 12 arms");
    refused(play("knapsack --costs @none.npy --capacity 4", "wrong"), "none.npy");
    refused(play("shortest-path --edges @edges.npy --source 0 --target 77", "wrong"), "node 77");
    refused(play("matroid", "wrong"), "--groups");
    assert_false(sa_file_exists(inside(folder, "wrong")));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_regret), cmocka_unit_test(test_spec),
                                       cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}

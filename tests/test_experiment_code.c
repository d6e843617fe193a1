/* Results know the code that they are of: runs of code that has changed are refused, and --replace makes
 * them again. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "test_experiment_own.h"

#include "base/sha256.h"

/* Chooses K arms from `*user` on. */
static int choose(void *state, const sa_own_round *round, size_t *arms, size_t *length) {
    (void)length;
    for (size_t i = 0; i < round->slate; i++) arms[i] = (*(const size_t *)state + i) % round->arms;
    return 0;
}

static const size_t ZERO = 0, ONE = 1;

static sa_own_agent code_of(const size_t *first, const char *code) {
    return (sa_own_agent){.user = (void *)first, .select = choose, .code = code};
}

/* An experiment with the agents `mine`, of this code, and ours. */
static sa_experiment *asked(const char *out, const size_t *first, const char *code, const char *runs) {
    sa_experiment *experiment = small("h2");
    sa_own_agent own = code_of(first, code);
    set(experiment, "runs", runs);
    set(experiment, "out", inside(folder, out));
    ok(sa_experiment_agent(experiment, "ours:algorithm=cn-ucb"));
    ok(sa_experiment_own_agent(experiment, "mine", &own));
    return experiment;
}

static double final_regret(const sa_experiment *experiment, size_t agent, size_t run) {
    sa_agent_result result = result_of(experiment, agent);
    return result.expected_regret[(run + 1) * result.rounds - 1];
}

static char *read_text(const char *path) {
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* A finished folder, and one that is to grow: both are refused with what changed, and nothing is written. */
static void test_changed_code(void **state) {
    (void)state;
    sa_experiment *first = asked("changed", &ZERO, "version 1", "2");
    ok(sa_experiment_run(first, NULL, NULL));
    double old = final_regret(first, 1, 0), ours = final_regret(first, 0, 0);
    char *before = read_text(inside(folder, "changed/summary.json"));
    const char *runs[] = {"2", "4"};
    for (size_t i = 0; i < 2; i++) {
        sa_experiment *second = asked("changed", &ONE, "version 2", runs[i]);
        set(second, "resume", "true");
        sa_status status = sa_experiment_run(second, NULL, NULL);
        assert_says(status, SA_INVALID,
                    "the code of agent mine (version 2) has changed since runs of agent mine in");
        assert_says(status, SA_INVALID, "--replace mine makes them again, or name another folder");
        sa_experiment_destroy(second);
    }
    char *after = read_text(inside(folder, "changed/summary.json"));
    assert_string_equal(before, after);
    free(after);
    free(before);

    sa_experiment *grown = asked("changed", &ZERO, "version 1", "3"); /* the same code goes on */
    set(grown, "resume", "true");
    ok(sa_experiment_run(grown, NULL, NULL));
    assert_true(final_regret(grown, 1, 0) == old);

    sa_experiment *again = asked("changed", &ONE, "version 2", "3"),
                  *alone = asked("alone", &ONE, "version 2", "3");
    set(again, "replace", "mine");
    ok(sa_experiment_run(again, NULL, NULL));
    ok(sa_experiment_run(alone, NULL, NULL));
    sa_agent_result new = result_of(again, 1), expected = result_of(alone, 1);
    assert_same_curves(&new, &expected);
    assert_true(final_regret(again, 1, 0) != old && final_regret(again, 0, 0) == ours);
    const char *both[] = {inside(folder, "changed"), inside(folder, "alone")};
    sa_report *report = NULL;
    ok(sa_report_open(both, 1, &report)); /* what is on the disk is whole */
    sa_report_destroy(report);
    sa_experiment_destroy(alone);
    sa_experiment_destroy(again);
    sa_experiment_destroy(grown);
    sa_experiment_destroy(first);
}

/* Of an agent of ours --replace takes other options, too; of none it says so. */
static void test_replace(void **state) {
    (void)state;
    sa_experiment *first = asked("replace", &ZERO, "v", "2");
    ok(sa_experiment_run(first, NULL, NULL));
    sa_experiment *second = small("h2");
    set(second, "runs", "2");
    set(second, "out", inside(folder, "replace"));
    set(second, "replace", "ours,nobody");
    ok(sa_experiment_agent(second, "ours:algorithm=cn-ucb,gamma=3"));
    assert_says(sa_experiment_run(second, NULL, NULL), SA_INVALID,
                "--replace: there is no agent nobody here or in");
    set(second, "replace", "ours");
    ok(sa_experiment_run(second, NULL, NULL));
    assert_true(final_regret(second, 0, 0) != final_regret(first, 0, 0));
    assert_true(final_regret(second, 1, 0) == final_regret(first, 1, 0)); /* mine, whose code is not here */
    set(second, "shard", "0/2");
    assert_says(sa_experiment_run(second, NULL, NULL), SA_INVALID, "--replace is for one process");
    sa_experiment_destroy(second);
    sa_experiment_destroy(first);
}

/* Environments and oracles are code, too, and all agents' runs are made of them. */
static int contexts(void *user, uint64_t run, uint64_t round, double *out, size_t *arms) {
    (void)user;
    for (size_t i = 0; i < *arms * DIM; i++) out[i] = (double)((run * 7 + round * 3 + i) % 11) / 11;
    return 0;
}

static int expected(void *user, uint64_t run, uint64_t round, double *out, size_t arms) {
    (void)user;
    for (size_t i = 0; i < arms; i++) out[i] = (double)((run + round + i) % 5);
    return 0;
}

static sa_experiment *in_own_environment(const char *code) {
    sa_experiment *experiment = sa_experiment_new();
    sa_own_environment own = {
        .rounds = 9, .arms = ARMS, .dim = DIM, .contexts = contexts, .expected = expected, .code = code};
    set(experiment, "runs", "2");
    set(experiment, "out", inside(folder, "environment"));
    set(experiment, "resume", "true");
    ok(sa_experiment_own_environment(experiment, &own));
    ok(sa_experiment_agent(experiment, "plain:algorithm=random"));
    return experiment;
}

static void test_environment(void **state) {
    (void)state;
    sa_experiment *first = in_own_environment("a"), *second = in_own_environment("b");
    set(first, "resume", "false");
    ok(sa_experiment_run(first, NULL, NULL));
    assert_says(sa_experiment_run(second, NULL, NULL), SA_INVALID,
                "the code of environment (b) has changed since runs of agent plain in");
    set(second, "replace", "plain");
    ok(sa_experiment_run(second, NULL, NULL));
    sa_experiment_destroy(second);
    sa_experiment_destroy(first);
}

/* Two folders of one label and two codes are not merged. */
static void test_merge(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        sa_experiment *experiment = asked(i ? "merge-b" : "merge-a", i ? &ONE : &ZERO, i ? "b" : "a", "2");
        set(experiment, "first-run", i ? "2" : "0");
        ok(sa_experiment_run(experiment, NULL, NULL));
        sa_experiment_destroy(experiment);
    }
    char first[512], second[512];
    snprintf(first, sizeof first, "%s", inside(folder, "merge-a"));
    snprintf(second, sizeof second, "%s", inside(folder, "merge-b"));
    const char *both[] = {first, second};
    sa_report *report = NULL;
    assert_says(sa_report_open(both, 2, &report), SA_INVALID,
                "the code of agent mine is not the same in runs of agent mine");
}

/* Runs of another version of the program. */
static void test_version(void **state) {
    (void)state;
    sa_experiment *first = asked("version", &ZERO, "a", "2");
    ok(sa_experiment_run(first, NULL, NULL));
    sa_experiment_destroy(first);
    char *text = read_text(inside(folder, "version/summary.json")), *at = text;
    const char *path = inside(folder, "version/summary.json");
    for (size_t size = strlen(sa_version()); (at = strstr(at, sa_version()));) memset(at, '9', size);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    free(text);
    sa_experiment *second = asked("version", &ZERO, "a", "2");
    set(second, "resume", "true");
    sa_status status = sa_experiment_run(second, NULL, NULL);
    assert_says(status, SA_INVALID, "runs of agent ours in");
    assert_says(status, SA_INVALID, "were made by Superarm 99999");
    set(second, "replace", "ours,mine");
    ok(sa_experiment_run(second, NULL, NULL));
    sa_experiment_destroy(second);
}

/* Without words of the caller's, it is the file that has the code: a library that is built again is
 * another. */
typedef int select_call(void *state, const sa_own_round *round, size_t *arms, size_t *length);

static void *build_library(const char *first, select_call **out) {
    char path[512], source[512], command[2048];
    snprintf(path, sizeof path, "%s", inside(folder, "mine.so"));
    snprintf(source, sizeof source, "%s", inside(folder, "mine.c"));
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fprintf(file,
            "#include <stddef.h>\nint choose(void *s, const void *r, size_t *arms, size_t *n) { (void)s; "
            "(void)r;\n"
            "for (size_t i = 0; i < *n; i++) arms[i] = i + %s; return 0; }\n",
            first);
    fclose(file);
    unlink(path);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s", path, source);
    assert_int_equal(system(command), 0);
    void *library = dlopen(path, RTLD_NOW);
    if (!library) fail_msg("%s", dlerror());
    void *symbol = dlsym(library, "choose");
    memcpy(out, &symbol, sizeof symbol);
    return library;
}

static void test_library(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        sa_own_agent own = {0};
        void *library = build_library(i ? "1" : "0", &own.select);
        sa_experiment *experiment = small("h2");
        set(experiment, "out", inside(folder, "library"));
        if (i) set(experiment, "resume", "true");
        ok(sa_experiment_own_agent(experiment, "mine", &own));
        sa_status status = sa_experiment_run(experiment, NULL, NULL);
        if (i)
            assert_says(status, SA_INVALID, "mine.so) has changed since");
        else
            ok(status);
        char hash[SA_SHA256_TEXT], *summary = read_text(inside(folder, "library/summary.json"));
        uint64_t bytes;
        ok(sa_sha256_file(inside(folder, "mine.so"), hash, &bytes));
        assert_int_equal(strstr(summary, hash) != NULL, i == 0);
        free(summary);
        sa_experiment_destroy(experiment);
        dlclose(library);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changed_code), cmocka_unit_test(test_replace),
                                       cmocka_unit_test(test_environment),  cmocka_unit_test(test_merge),
                                       cmocka_unit_test(test_version),      cmocka_unit_test(test_library)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

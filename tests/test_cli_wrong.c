/* Wrong input: exit status 2, one sentence that names what is wrong, and nothing written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "program.h"

static const char *folder, *out;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    out = inside(folder, "out");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

static void test_options(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"--slate 25 --arms 20", "superarm run: --slate 25 is more than --arms 20"},
        {"--slate 0", "--slate 0 is less than 1"},
        {"--slate 2.5", "--slate 2.5 is not a whole number"},
        {"--arms 0", "--arms 0"},
        {"--rounds 0", "--rounds 0"},
        {"--rounds -5", "--rounds -5"},
        {"--runs 0", "--runs 0"},
        {"--seed -1", "--seed -1"},
        {"--seed 99999999999999999999", "--seed 99999999999999999999"},
        {"--noise nan", "--noise nan is not a finite number"},
        {"--noise inf", "--noise inf"},
        {"--noise -inf", "--noise -inf"},
        {"--noise 1e999", "--noise 1e999"},
        {"--noise -0.1", "--noise -0.1 is less than 0"},
        {"--noise=", "--noise \"\""},
        {"--regularization 0", "--regularization 0 must be above 0"},
        {"--lambda 0", "--lambda 0 must be above 0"},
        {"--gamma -1", "--gamma -1 is less than 0"},
        {"--nu nan", "--nu nan"},
        {"--depth 1", "--depth 1 is less than 2"},
        {"--hidden 0", "--hidden 0"},
        {"--ts-samples 0", "--ts-samples 0"},
        {"--precision half", "--precision half is not one of single, double"},
        {"--preset nope", "--preset nope"},
        {"--oracle nope", "--oracle nope"},
        {"--confidence nope", "--confidence nope"},
        {"--feedback nope", "--feedback nope"},
        {"--algorithm nope", "--algorithm nope"},
        {"--algorithm cn-ucb,nope", "nope"},
        {"--algorithm cn-ucb,cn-ucb", "two agents are labelled cn-ucb"},
        {"--algorithm=", "empty name"},
        {"--environment nope", "--environment nope is unknown; there are h1, h2, h3, formula, npy"},
        {"--frobnicate 3", "--frobnicate is not an option"},
        {"--gama 3", "did you mean --gamma?"},
        {"-g 3", "-g is not an option"},
        {"--gamma", "--gamma needs a value"},
        {"--gamma --nu 1", "--gamma needs a value"},
        {"--resume=perhaps --gamma 1", "--resume perhaps is not true or false"},
        {"--agent shy", "--agent shy is not of the form"},
        {"--agent shy:algorithm=nope", "agent shy: --algorithm nope"},
        {"--agent a/b:gamma=1", "agent a/b"},
        {"--agent a:rounds=3", "agent a: --rounds is one for all agents"},
        {"--agent a:gamma=1 --agent a:gamma=2", "two agents are labelled a"},
        {"--init-weights absent.npz", "absent.npz"},
        {"--rounds 100000000 --runs 1000000", "--runs 1000000 of --rounds 100000000"},
        {"--arms 100000000 --dim 10000000", "--arms 100000000 of --dim 10000000"},
        {"--trace /nonexistent/folder/t.jsonl", "/nonexistent/folder/t.jsonl"},
        {"--trace /", "--trace / is a folder"},
        {"--contexts x.npy", "--contexts is for --environment npy"},
        {"absent.yaml", "absent.yaml"},
        {"one.yaml two.yaml", "two.yaml is one spec file too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        refused(run(folder, "run --out %s %s", out, cases[i][0]), cases[i][1]);
        if (sa_file_exists(out)) fail_msg("%s: something was written", cases[i][0]);
    }
}

static void test_commands(void **state) {
    (void)state;
    refused(run(folder, "%s", ""), "which command?");
    refused(run(folder, "frobnicate"), "frobnicate is not a command");
    refused(run(folder, "rum"), "did you mean run?");
    refused(run(folder, "list"), "say one of");
    refused(run(folder, "list oracels"), "did you mean oracles?");
    refused(run(folder, "list options options"), "say one of");
    refused(run(folder, "draw --rounds 3"), "a draw needs --out");
    refused(run(folder, "draw --gamma 3 --out %s", out), "--gamma is not an option here");
    refused(run(folder, "draw --agent a:gamma=1 --out %s", out), "--agent is not an option");
    refused(run(folder, "draw --noise nan --out %s", out), "--noise nan");
    refused(run(folder, "draw --rounds 100000000 --runs 1000000 --arms 100000 --dim 10000 --out %s", out),
            "too many");
    refused(run(folder, "draw --environment npy --contexts %s/absent.npy --out %s", folder, out),
            "absent.npy");
    assert_false(sa_file_exists(out));
}

static void test_replay(void **state) {
    (void)state;
    const size_t shape[] = {5, 4, 3}, other[] = {5, 3};
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 3, shape);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 2, shape);
    const char *w = write_npy(inside(folder, "w.npy"), SA_FLOAT64, 2, other);
#define REPLAY "run --environment npy --hidden 4 --runs 1 --out %s --contexts %s --scores %s "
    refused(run(folder, REPLAY "--slate 5", out, x, v), "--slate 5 is more than the 4 arms of --contexts");
    refused(run(folder, REPLAY "--rounds 6", out, x, v), "--rounds 6 is more than the 5 rounds");
    refused(run(folder, REPLAY "--arms 5", out, x, v), "--arms 5 contradicts");
    refused(run(folder, REPLAY, out, x, w), "w.npy has shape (5, 3)");
    refused(run(folder, REPLAY, out, x, inside(folder, "absent.npy")), "absent.npy");
    refused(run(folder, REPLAY "--noise-values %s", out, x, v, x), "x.npy has shape (5, 4, 3)");
    refused(run(folder, "run --environment npy --scores %s --out %s", v, out), "needs --contexts");
    write_text(inside(folder, "foreign.npy"), "GIF89a, not an array");
    refused(run(folder, REPLAY, out, inside(folder, "foreign.npy"), v), "foreign.npy");
    poke_npy(v, 7, NAN);
    refused(run(folder, REPLAY, out, x, v), "v.npy has nan at position (1, 3)");
    poke_npy(v, 7, INFINITY);
    refused(run(folder, REPLAY, out, x, v), "v.npy has an infinity at position (1, 3)");
    assert_int_equal(truncate(x, 300), 0);
    refused(run(folder, REPLAY, out, x, v), "x.npy");
    assert_false(sa_file_exists(out));
}

static void test_specs(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"rounds: 5\nroundz: 3\n", "spec.yaml:2: --roundz is not an option"},
        {"rounds: many\n", "spec.yaml:1: --rounds many"},
        {"rounds: [3, 4]\n", "--rounds 3,4"},
        {"- rounds\n- 5\n", "spec.yaml"},
        {"rounds: {a: 3}\n", "spec.yaml"},
        {"rounds: [3\n", "spec.yaml"},
        {"rounds: 5\nrounds: 6\n", "spec.yaml:2"},
        {"agents: 5\n", "spec.yaml"},
        {"agents:\n  a: {gamma: x}\n", "spec.yaml:2: agent a: --gamma x"},
        {"agents:\n  ../a: {gamma: 1}\n", "spec.yaml:2: agent ../a"},
        {"agents:\n  a: {seed: 1}\n", "agent a: --seed is one for all agents"},
        {"slate: 30\n", "--slate 30 is more than --arms 20"},
    };
    const char *path = inside(folder, "spec.yaml");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text(path, cases[i][0]);
        refused(run(folder, "run %s --out %s", path, out), cases[i][1]);
        assert_false(sa_file_exists(out));
    }
}

static void test_folders(void **state) {
    (void)state;
    const char *kept = inside(folder, "out/kept.txt");
    assert_int_equal(sa_folder_make(out), SA_OK);
    write_text(kept, "other results");
    refused(run(folder, "run --rounds 5 --out %s", out), "is not empty");
    refused(run(folder, "draw --rounds 5 --out %s", out), "is not empty");
    refused(run(folder, "run --rounds 5 --resume --out %s", out), "no spec.yaml");
    refused(run(folder, "run --rounds 5 --out %s", kept), "is not a folder");
    refused(run(folder, "run --rounds 5 --resume"), "--resume needs --out");
    char text[32];
    read_back(kept, text, sizeof text);
    assert_string_equal(text, "other results");
    assert_int_equal(sa_path_remove(kept), SA_OK);
    assert_true(sa_folder_is_empty(out));
}

/* What is not the input's fault has status 1. */
static void test_full_disk(void **state) {
    (void)state;
    outcome *got = run(folder, "run --rounds 300 --runs 1 --algorithm random --quiet --trace /dev/full");
    assert_int_equal(got->exit_status, 1);
    assert_non_null(strstr(got->err, "No space left"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_commands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_specs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

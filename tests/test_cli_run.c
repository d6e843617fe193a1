/* The program from end to end: what it prints, and every file it writes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>

#include "program.h"
#include "test_own_folder.h"

#define PLAIN "--rounds 25 --arms 7 --slate 3 --dim 4 --runs 2"
#define SMALL PLAIN " --hidden 6"

static sa_array load(const char *path) {
    sa_array array = {0};
    if (sa_npy_read(path, &array) != SA_OK) fail_msg("%s", sa_last_error());
    return array;
}

static json_t *load_json(const char *path) {
    json_error_t error;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json) fail_msg("%s:%d: %s", path, error.line, error.text);
    return json;
}

static double number(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    if (!json_is_number(value)) fail_msg("no number %s", name);
    return json_number_value(value);
}

static void check_regret(json_t *agent, const char *name, const char *path) {
    json_t *regret = json_object_get(agent, name), *interval = json_object_get(regret, "ci95");
    sa_array curves = load(path);
    assert_true(curves.type == SA_FLOAT64 && curves.axes == 2 && curves.shape[0] == 2 &&
                curves.shape[1] == 25);
    const double *ends = curves.data;
    double a = ends[24], b = ends[49], mean = (a + b) / 2, sd = fabs(a - b) / sqrt(2);
    assert_true(fabs(number(regret, "mean") - mean) < 1e-12);
    assert_true(fabs(number(regret, "sd") - sd) < 1e-12);
    assert_true(number(regret, "worst") == fmax(a, b));
    assert_int_equal(json_array_size(interval), 2);
    double half = 12.706204736432095 * sd / sqrt(2);
    assert_true(fabs(json_number_value(json_array_get(interval, 0)) - (mean - half)) < 1e-9);
    assert_true(fabs(json_number_value(json_array_get(interval, 1)) - (mean + half)) < 1e-9);
    sa_array_clear(&curves);
}

static void test_files(void **state) {
    (void)state;
    const char *out = inside(folder, "out");
    outcome *got =
        fine(run(folder, "run --environment h2 --algorithm cn-ucb,random " SMALL " --seed 3 --out %s", out));
    assert_non_null(strstr(got->out, "cn-ucb"));
    assert_non_null(strstr(got->out, "  CN-UCB (tuned)\n"));
    assert_non_null(strstr(got->out, "95% interval"));
    assert_string_equal(got->err, "");
    json_t *summary = load_json(inside(out, "summary.json")), *agents = json_object_get(summary, "agents");
    assert_true(json_is_string(json_object_get(summary, "version")));
    assert_true(number(json_object_get(summary, "options"), "seed") == 3);
    assert_true(number(json_object_get(summary, "options"), "noise") == 0.01);
    assert_int_equal(json_object_size(agents), 2);
    const char *label;
    json_t *agent;
    json_object_foreach(agents, label, agent) {
        char path[512];
        assert_string_equal(json_string_value(json_object_get(agent, "algorithm")), label);
        assert_true(number(json_object_get(agent, "options"), "hidden") == 6);
        assert_null(json_object_get(json_object_get(agent, "options"), "rounds"));
        assert_true(number(agent, "runs") == 2 && number(agent, "rounds") == 25);
        double parts = number(agent, "select_seconds") + number(agent, "update_seconds") +
                       number(agent, "train_seconds");
        assert_true(number(agent, "seconds_per_run") > 0 && parts <= number(agent, "seconds_per_run") * 1.01);
        assert_true(number(agent, "peak_bytes") > 0 && number(agent, "diverged_trainings") >= 0);
        snprintf(path, sizeof path, "%s/%s/expected_regret.npy", out, label);
        check_regret(agent, "expected_regret", path);
        snprintf(path, sizeof path, "%s/%s/realised_regret.npy", out, label);
        check_regret(agent, "realised_regret", path);
        snprintf(path, sizeof path, "%s/%s/reward.npy", out, label);
        sa_array reward = load(path);
        assert_true(reward.axes == 2 && reward.shape[0] == 2 && reward.shape[1] == 25);
        sa_array_clear(&reward);
    }
    json_decref(summary);
    assert_false(sa_file_exists(inside(out, "parts")));
    fine(run(folder, "run %s --out %s", inside(out, "spec.yaml"), inside(folder, "again")));
    assert_same_file(inside(out, "cn-ucb/expected_regret.npy"),
                     inside(folder, "again/cn-ucb/expected_regret.npy"));
    assert_same_file(inside(out, "spec.yaml"), inside(folder, "again/spec.yaml"));
}

static const char *item(json_t *line, const char *name, size_t size) {
    json_t *array = json_object_get(line, name);
    return json_is_array(array) && json_array_size(array) == size ? "" : name;
}

/* Every line of the trace, in order, and its regrets against the curves. */
static void test_trace(void **state) {
    (void)state;
    const char *out = inside(folder, "out"), *trace = inside(folder, "trace.jsonl");
    fine(run(folder, "run --environment h1 --algorithm cn-ucb,random " SMALL " --out %s --trace %s", out,
             trace));
    char *text;
    size_t size;
    assert_int_equal(sa_file_read(trace, &text, &size), SA_OK);
    const char *const labels[] = {"cn-ucb", "random"};
    char *line = text;
    for (int agent = 0; agent < 2; agent++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s/expected_regret.npy", out, labels[agent]);
        sa_array curves = load(path);
        for (int run_number = 0; run_number < 2; run_number++) {
            double sum = 0;
            for (int round = 1; round <= 25; round++) {
                char *end = strchr(line, '\n');
                assert_non_null(end);
                json_t *object = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, NULL);
                assert_non_null(object);
                assert_string_equal(json_string_value(json_object_get(object, "agent")), labels[agent]);
                assert_true(number(object, "run") == run_number && number(object, "round") == round);
                assert_string_equal(item(object, "mean", 7), "");
                assert_string_equal(item(object, "width", 7), "");
                assert_string_equal(item(object, "score", 7), "");
                assert_string_equal(item(object, "slate", 3), "");
                assert_string_equal(item(object, "feedback", 3), "");
                json_t *width = json_array_get(json_object_get(object, "width"), 0);
                assert_true(agent == 0 ? json_number_value(width) > 0
                                       : json_is_null(width)); /* random has none */
                assert_true(number(object, "realised_regret") >= 0);
                sum += number(object, "expected_regret");
                assert_true(fabs(sum - ((double *)curves.data)[run_number * 25 + round - 1]) < 1e-6);
                json_decref(object);
                line = end + 1;
            }
        }
        sa_array_clear(&curves);
    }
    assert_true(*line == 0);
    sa_free(text);
}

/* The largest sum of three scores out of seven, by trying all. */
static double best_sum(const double *scores) {
    double best = -INFINITY;
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < j; k++) best = fmax(best, scores[i] + scores[j] + scores[k]);
    return best;
}

/* Regrets, reward and feedback, computed again from the draws and the slates of the trace. */
static void test_regrets_recomputed(void **state) {
    (void)state;
    const char *trace = inside(folder, "trace.jsonl");
#define NOISY "--environment h2 --rounds 25 --arms 7 --dim 4 --runs 2 --first-run 3 --noise 0.5"
    fine(run(folder, "draw " NOISY " --out %s/draws", folder));
    fine(run(folder, "run " NOISY " --algorithm random --slate 3 --precision double --out %s/out --trace %s",
             folder, trace));
    sa_array scores = load(inside(folder, "draws/scores.npy")),
             noise = load(inside(folder, "draws/noise.npy"));
    sa_array curves[3] = {load(inside(folder, "out/random/expected_regret.npy")),
                          load(inside(folder, "out/random/realised_regret.npy")),
                          load(inside(folder, "out/random/reward.npy"))};
    FILE *lines = fopen(trace, "r");
    double sums[3] = {0};
    for (size_t place = 0; place < 2 * 25; place++) {
        json_t *line = json_loadf(lines, JSON_DISABLE_EOF_CHECK, NULL);
        double expected[7], realised[7], expected_reward = 0, reward = 0;
        for (size_t i = 0; i < 7; i++) {
            expected[i] = ((double *)scores.data)[place * 7 + i];
            realised[i] = expected[i] + ((double *)noise.data)[place * 7 + i];
        }
        for (size_t i = 0; i < 3; i++) {
            json_int_t arm = json_integer_value(json_array_get(json_object_get(line, "slate"), i));
            assert_true(json_number_value(json_array_get(json_object_get(line, "feedback"), i)) ==
                        realised[arm]);
            expected_reward += expected[arm];
            reward += realised[arm];
        }
        assert_true(number(line, "run") == (double)(3 + place / 25));
        assert_true(fabs(number(line, "expected_regret") - (best_sum(expected) - expected_reward)) < 1e-12);
        assert_true(fabs(number(line, "realised_regret") - (best_sum(realised) - reward)) < 1e-12);
        if (place % 25 == 0) sums[0] = sums[1] = sums[2] = 0;
        sums[0] += number(line, "expected_regret");
        sums[1] += number(line, "realised_regret");
        sums[2] += reward;
        for (int kind = 0; kind < 3; kind++)
            assert_true(fabs(((double *)curves[kind].data)[place] - sums[kind]) < 1e-11);
        json_decref(line);
    }
    fclose(lines);
    for (int kind = 0; kind < 3; kind++) sa_array_clear(&curves[kind]);
    sa_array_clear(&noise);
    sa_array_clear(&scores);
}

/* Without --out too, and into a pipe or device; nothing is left behind. */
static void test_trace_alone(void **state) {
    (void)state;
    const char *trace = inside(folder, "t.jsonl");
    write_text(trace, "an older trace");
    fine(run(folder, "run --algorithm random " PLAIN " --trace %s", trace));
    outcome *got = fine(run(folder, "run --algorithm random " PLAIN " --quiet --trace /dev/stdout"));
    char text[65536];
    read_back(trace, text, sizeof text);
    assert_string_equal(got->out, text);
    assert_int_equal(sa_path_remove(trace), SA_OK);
    assert_int_equal(sa_path_remove(inside(folder, "stdout")), SA_OK);
    assert_int_equal(sa_path_remove(inside(folder, "stderr")), SA_OK);
    assert_true(sa_folder_is_empty(folder));
}

static void test_double_has_17_digits(void **state) {
    (void)state;
    size_t longest[2] = {0};
    for (int precise = 0; precise < 2; precise++) {
        outcome *got =
            fine(run(folder, "run --algorithm cn-ucb " SMALL " --quiet --trace /dev/stdout --precision %s",
                     precise ? "double" : "single"));
        for (char *c = strstr(got->out, "\"mean\""); *c; c++)
            longest[precise] =
                strspn(c, "0123456789") > longest[precise] ? strspn(c, "0123456789") : longest[precise];
    }
    assert_true(longest[0] >= 8 && longest[0] <= 13); /* 0.000123456789 */
    assert_true(longest[1] >= 16);
}

static void test_same_bytes(void **state) {
    (void)state;
    static const char *const threads[] = {"1", "2", "1"};
    for (int i = 0; i < 3; i++)
        fine(run(folder,
                 "run --environment h3 --algorithm cn-ts " SMALL
                 " --threads %s --out %s/%d --trace %s/%d.jsonl",
                 threads[i], folder, i, folder, i));
    for (int i = 1; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%d/cn-ts/expected_regret.npy", i);
        assert_same_file(inside(folder, "0/cn-ts/expected_regret.npy"), inside(folder, name));
        snprintf(name, sizeof name, "%d/cn-ts/realised_regret.npy", i);
        assert_same_file(inside(folder, "0/cn-ts/realised_regret.npy"), inside(folder, name));
        snprintf(name, sizeof name, "%d.jsonl", i);
        assert_same_file(inside(folder, "0.jsonl"), inside(folder, name));
    }
}

static void test_labels_and_first_run(void **state) {
    (void)state;
    const char *out = inside(folder, "out"), *alone = inside(folder, "alone");
    fine(run(folder,
             "run " SMALL
             " '--agent=shy one:algorithm=cn-ucb,gamma=0.1' --agent bold:algorithm=cn-ucb,lambda=3 --out %s",
             out));
    fine(run(folder, "run " SMALL " --agent bold:algorithm=cn-ucb,lambda=3 --first-run 1 --runs 1 --out %s",
             alone));
    json_t *summary = load_json(inside(out, "summary.json")), *agents = json_object_get(summary, "agents");
    json_t *shy = json_object_get(json_object_get(agents, "shy one"), "options");
    assert_true(number(shy, "gamma") == 0.1 && number(shy, "regularization") == 1);
    assert_true(number(json_object_get(json_object_get(agents, "bold"), "options"), "regularization") == 3);
    json_decref(summary);
    sa_array both = load(inside(out, "bold/expected_regret.npy")),
             one = load(inside(alone, "bold/expected_regret.npy"));
    assert_memory_equal((double *)both.data + 25, one.data, 25 * sizeof(double));
    sa_array_clear(&both);
    sa_array_clear(&one);
}

static void test_draw_and_replay(void **state) {
    (void)state;
    const char *draws = inside(folder, "draws");
    fine(run(folder, "draw --environment h2 --rounds 25 --arms 7 --dim 4 --runs 2 --out %s", draws));
    sa_array contexts = load(inside(draws, "contexts.npy"));
    assert_true(contexts.axes == 4 && contexts.shape[0] == 2 && contexts.shape[1] == 25 &&
                contexts.shape[2] == 7 && contexts.shape[3] == 4 && contexts.type == SA_FLOAT64);
    sa_array_clear(&contexts);
    fine(run(folder, "run --environment h2 --algorithm cn-ucb " SMALL " --out %s", inside(folder, "a")));
    fine(run(
        folder,
        "run --environment npy --contexts %s/contexts.npy --scores %s/scores.npy --noise-values %s/noise.npy "
        "--algorithm cn-ucb --slate 3 --hidden 6 --runs 2 --out %s",
        draws, draws, draws, inside(folder, "b")));
    assert_same_file(inside(folder, "a/cn-ucb/expected_regret.npy"),
                     inside(folder, "b/cn-ucb/expected_regret.npy"));
    assert_same_file(inside(folder, "a/cn-ucb/realised_regret.npy"),
                     inside(folder, "b/cn-ucb/realised_regret.npy"));
    fine(run(folder, "run %s --out %s", inside(folder, "b/spec.yaml"), inside(folder, "c")));
    assert_same_file(inside(folder, "a/cn-ucb/reward.npy"), inside(folder, "c/cn-ucb/reward.npy"));
}

static void test_help_and_lists(void **state) {
    (void)state;
    static const char *const helps[] = {"--help", "run --help", "draw --help", "list --help"};
    for (size_t i = 0; i < 4; i++) {
        outcome *got = fine(run(folder, "%s", helps[i]));
        assert_non_null(strstr(got->out, "Example"));
        assert_non_null(strstr(got->out, "superarm"));
    }
    assert_non_null(
        strstr(fine(run(folder, "run --preset icml23 --help"))->out, "  a full set of options [icml23]"));
    static const char *const lists[][2] = {{"algorithms", "cn-ucb"},    {"environments", "h3"},
                                           {"oracles", "top-k"},        {"confidence", "exact"},
                                           {"feedback", "semi-bandit"}, {"options", "epoch-length"},
                                           {"presets", "tuned-2: "}};
    for (size_t i = 0; i < 7; i++)
        assert_non_null(strstr(fine(run(folder, "list %s", lists[i][0]))->out, lists[i][1]));
    assert_non_null(strstr(fine(run(folder, "--version"))->out, "superarm 0."));
}

static void test_progress_and_quiet(void **state) {
    (void)state;
    outcome *got = fine(run(folder, "run --algorithm random " PLAIN " --progress"));
    assert_non_null(strstr(got->err, "of 2 runs"));
    assert_string_equal(got->err + strlen(got->err) - 4, "\r\033[K"); /* erased */
    got = fine(run(folder, "run --algorithm random " PLAIN " --quiet --no-progress"));
    assert_string_equal(got->err, "");
    assert_string_equal(got->out, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_regrets_recomputed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trace_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_double_has_17_digits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_labels_and_first_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_draw_and_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_help_and_lists, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_progress_and_quiet, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

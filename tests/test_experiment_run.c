/* Running through the library: regrets, pairing, threads, progress, stopping and resuming. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <superarm/superarm.h>

#include "test_own_folder.h"
#include "test_parts.h"

enum { RUNS = 3, ROUNDS = 30 };

static void fine(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

static void set(sa_experiment *experiment, const char *name, const char *value) {
    fine(sa_experiment_set(experiment, name, value));
}

static sa_experiment *small(const char *algorithm) {
    sa_experiment *experiment = sa_experiment_new();
    set(experiment, "environment", "h2");
    set(experiment, "algorithm", algorithm);
    set(experiment, "rounds", "30");
    set(experiment, "runs", "3");
    set(experiment, "arms", "8");
    set(experiment, "slate", "3");
    set(experiment, "dim", "5");
    set(experiment, "hidden", "8");
    set(experiment, "threads", "2");
    test_experiment_share(experiment);
    return experiment;
}

static void test_references(void **state) {
    (void)state;
    sa_experiment *experiment = small("best,random");
    sa_agent_result best, random;
    assert_int_equal(sa_experiment_result(experiment, 0, &best), SA_INVALID);
    fine(sa_experiment_check(experiment));
    assert_int_equal(sa_experiment_result(experiment, 0, &best), SA_INVALID);
    fine(sa_experiment_run(experiment, NULL, NULL));
    fine(sa_experiment_result(experiment, 0, &best));
    fine(sa_experiment_result(experiment, 1, &random));
    assert_int_equal(sa_experiment_result(experiment, 2, &best), SA_INVALID);
    assert_string_equal(best.label, "best");
    assert_true(best.runs == RUNS && best.rounds == ROUNDS);
    for (size_t i = 0; i < RUNS * ROUNDS; i++) {
        assert_true(best.expected_regret[i] == 0); /* exactly: it knows the scores */
        assert_true(best.realised_regret[i] >= 0);
        assert_true(random.expected_regret[i] >= (i % ROUNDS ? random.expected_regret[i - 1] : 0));
        /* paired: the best realised reward is the same for both */
        assert_true(fabs(best.realised_regret[i] + best.reward[i] - random.realised_regret[i] -
                         random.reward[i]) < 1e-12);
    }
    assert_true(best.mean == 0 && best.sd == 0 && random.mean > 1 && random.low < random.mean &&
                random.mean < random.high);
    set(experiment, "show-regret", "realised");
    fine(sa_experiment_result(experiment, 1, &random)); /* still those of the run */
    fine(sa_experiment_run(experiment, NULL, NULL));
    fine(sa_experiment_result(experiment, 1, &random));
    double sum = 0, most = 0;
    for (size_t run = 0; run < RUNS; run++) {
        double end = random.realised_regret[(run + 1) * ROUNDS - 1];
        sum += end;
        most = fmax(most, end);
    }
    assert_true(fabs(random.mean - sum / RUNS) < 1e-12 && random.worst == most);
    sa_experiment_destroy(experiment);
}

static void run_into(const char *out, const char *threads, const char *trace) {
    sa_experiment *experiment = small("cn-ucb,cn-ts");
    set(experiment, "threads", threads);
    set(experiment, "out", out);
    set(experiment, "trace", trace);
    fine(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
}

static const char *const CURVES[] = {"cn-ucb/expected_regret.npy", "cn-ucb/realised_regret.npy",
                                     "cn-ucb/reward.npy",          "cn-ts/expected_regret.npy",
                                     "cn-ts/realised_regret.npy",  "cn-ts/reward.npy"};

static void assert_same_curves(const char *one, const char *other) {
    for (size_t i = 0; i < sizeof CURVES / sizeof *CURVES; i++)
        assert_same_file(inside(one, CURVES[i]), inside(other, CURVES[i]));
}

static void test_threads_do_not_show(void **state) {
    (void)state;
    run_into(inside(folder, "one"), "1", inside(folder, "one.jsonl"));
    run_into(inside(folder, "two"), "2", inside(folder, "two.jsonl"));
    run_into(inside(folder, "many"), "64", inside(folder, "many.jsonl"));
    assert_same_curves(inside(folder, "one"), inside(folder, "two"));
    assert_same_curves(inside(folder, "one"), inside(folder, "many"));
    assert_same_file(inside(folder, "one.jsonl"), inside(folder, "two.jsonl"));
    assert_same_file(inside(folder, "one.jsonl"), inside(folder, "many.jsonl"));
    assert_same_file(inside(folder, "one/spec.yaml"), inside(folder, "two/spec.yaml"));
    assert_false(sa_file_exists(inside(folder, "one/parts")));
}

/* Stops once a given number of runs is done. */
typedef struct stopping {
    size_t after, calls;
    double last_share;
} stopping;

static int stop_later(void *user, const sa_progress *progress) {
    stopping *self = user;
    self->calls++;
    assert_int_equal(progress->jobs, 2 * RUNS);
    assert_true(progress->rounds_done >= self->last_share && progress->rounds_done <= 1);
    self->last_share = progress->rounds_done;
    return progress->jobs_done >= self->after;
}

static void resume(const char *out, const char *trace, sa_status wanted) {
    sa_experiment *experiment = small("cn-ucb,cn-ts");
    set(experiment, "out", out);
    set(experiment, "trace", trace);
    set(experiment, "resume", "true");
    sa_status status = sa_experiment_run(experiment, NULL, NULL);
    if (status != wanted) fail_msg("%d: %s", status, sa_last_error());
    sa_experiment_destroy(experiment);
}

static void stop_after(size_t jobs, const char *out, const char *trace) {
    sa_experiment *experiment = small("cn-ucb,cn-ts");
    stopping stop = {.after = jobs};
    set(experiment, "threads", "1");
    set(experiment, "out", out);
    set(experiment, "trace", trace);
    assert_int_equal(sa_experiment_run(experiment, stop_later, &stop), SA_INTERRUPTED);
    assert_non_null(strstr(sa_last_error(), "--resume"));
    assert_true(stop.calls > 0);
    sa_agent_result result;
    assert_int_equal(sa_experiment_result(experiment, 0, &result), SA_INVALID);
    sa_experiment_destroy(experiment);
}

static void test_stop_and_resume(void **state) {
    (void)state;
    const char *whole = inside(folder, "whole"), *out = inside(folder, "stopped"),
               *trace = inside(folder, "b.jsonl");
    run_into(whole, "2", inside(folder, "a.jsonl"));
    stop_after(0, out, trace);
    assert_true(sa_file_exists(inside(out, "spec.yaml")));
    assert_false(sa_file_exists(inside(out, "summary.json")));
    assert_false(sa_file_exists(trace));
    resume(out, trace, SA_OK);
    assert_same_curves(whole, out);
    assert_same_file(inside(folder, "a.jsonl"), trace);
    resume(out, "", SA_OK); /* complete: reports */
    assert_same_curves(whole, out);
}

/* A damaged part, a part without its trace and leftovers of a killed program are no hindrance. */
static void test_damaged_parts(void **state) {
    (void)state;
    const char *whole = inside(folder, "whole"), *out = inside(folder, "out"),
               *trace = inside(folder, "b.jsonl");
    run_into(whole, "2", inside(folder, "a.jsonl"));
    run_into(out, "2", "");
    assert_int_equal(sa_path_remove(inside(out, "summary.json")), SA_OK);
    assert_int_equal(sa_folder_make(inside(out, "parts")), SA_OK);
    write_text(inside(out, "parts/cn-ucb-0.npz"), "damaged");
    write_text(inside(out, "parts/cn-ts-1.npz.1-0.tmp"), "left over");
    write_text(inside(out, "summary.json.1-0.tmp"), "left over");
    resume(out, trace, SA_OK);
    assert_same_curves(whole, out);
    assert_same_file(inside(folder, "a.jsonl"), trace);
    assert_false(sa_file_exists(inside(out, "summary.json.1-0.tmp")));
    assert_false(sa_file_exists(inside(out, "parts")));
}

static void write_part(const char *path, double number) {
    const size_t rounds = ROUNDS, stats = 6;
    double curve[ROUNDS], numbers[6] = {1, 0.5, 0.25, 0.125, 1e6, 3}, none = 0;
    sa_npz_writer *writer;
    for (size_t i = 0; i < ROUNDS; i++) curve[i] = number;
    fine(sa_npz_begin(&writer));
    fine(sa_npz_add(writer, "expected_regret", SA_FLOAT64, 1, &rounds, curve));
    fine(sa_npz_add(writer, "realised_regret", SA_FLOAT64, 1, &rounds, curve));
    fine(sa_npz_add(writer, "reward", SA_FLOAT64, 1, &rounds, curve));
    fine(sa_npz_add(writer, "stats", SA_FLOAT64, 1, &stats, numbers));
    fine(sa_npz_add(writer, "replay_seconds", SA_FLOAT64, 0, NULL, &none));
    fine(sa_npz_add(writer, "certificate", SA_FLOAT64, 0, NULL, &none));
    fine(sa_npz_finish(writer, path));
}

/* What a part says is taken, not computed again; its memory and counts reach the summary. */
static void test_parts_are_taken(void **state) {
    (void)state;
    const char *out = inside(folder, "out");
    sa_array before = {0}, after = {0};
    run_into(out, "2", "");
    fine(sa_npy_read(inside(out, "cn-ucb/expected_regret.npy"), &before));
    assert_int_equal(sa_path_remove(inside(out, "summary.json")), SA_OK);
    assert_int_equal(sa_folder_make(inside(out, "parts")), SA_OK);
    write_part(inside(out, "parts/cn-ucb-1.npz"), 42);
    resume(out, "", SA_OK);
    fine(sa_npy_read(inside(out, "cn-ucb/expected_regret.npy"), &after));
    const double *was = before.data, *is = after.data;
    assert_memory_equal(was, is, ROUNDS * sizeof *was);
    for (size_t i = 0; i < ROUNDS; i++) assert_true(is[ROUNDS + i] == 42);
    assert_memory_equal(was + 2 * ROUNDS, is + 2 * ROUNDS, ROUNDS * sizeof *was);
    sa_array_clear(&before);
    sa_array_clear(&after);
    char *summary;
    size_t size;
    fine(sa_file_read(inside(out, "summary.json"), &summary, &size));
    assert_non_null(strstr(summary, "\"peak_bytes\": 1000000,"));
    assert_non_null(strstr(summary, "\"diverged_trainings\": 3"));
    sa_free(summary);
}

static void test_folders_that_do_not_fit(void **state) {
    (void)state;
    const char *out = inside(folder, "out");
    run_into(out, "2", "");
    sa_experiment *other = small("cn-ucb,cn-ts");
    set(other, "out", out);
    assert_int_equal(sa_experiment_check(other), SA_INVALID); /* not empty */
    set(other, "resume", "true");
    set(other, "gamma", "2");
    assert_int_equal(sa_experiment_run(other, NULL, NULL), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "agent cn-ucb: --gamma is 2 here and 1 in"));
    set(other, "out", "");
    assert_int_equal(sa_experiment_check(other), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "--resume needs --out"));
    assert_int_equal(sa_folder_make(inside(folder, "foreign")), SA_OK);
    write_text(inside(folder, "foreign/thesis.tex"), "years of work");
    set(other, "out", inside(folder, "foreign"));
    assert_int_equal(sa_experiment_run(other, NULL, NULL), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "no spec.yaml"));
    assert_false(sa_file_exists(inside(folder, "foreign/spec.yaml")));
    set(other, "out", inside(folder, "foreign/thesis.tex"));
    assert_int_equal(sa_experiment_check(other), SA_INVALID);
    sa_experiment_destroy(other);
}

/* What was drawn and replayed gives the bytes of the synthetic environment, and one run alone those among
 * several. */
static void test_draw_and_replay(void **state) {
    (void)state;
    const char *draws = inside(folder, "draws");
    sa_experiment *experiment = small("cn-ucb,cn-ts");
    set(experiment, "out", draws);
    fine(sa_experiment_draw(experiment));
    assert_int_equal(sa_experiment_draw(experiment), SA_INVALID); /* not empty any more */
    sa_experiment_destroy(experiment);
    run_into(inside(folder, "drawn"), "2", "");
    experiment = small("cn-ucb,cn-ts");
    set(experiment, "environment", "npy");
    set(experiment, "contexts", inside(draws, "contexts.npy"));
    set(experiment, "scores", inside(draws, "scores.npy"));
    set(experiment, "noise-values", inside(draws, "noise.npy"));
    set(experiment, "out", inside(folder, "replayed"));
    fine(sa_experiment_run(experiment, NULL, NULL));
    assert_same_curves(inside(folder, "drawn"), inside(folder, "replayed"));
    set(experiment, "first-run", "2");
    set(experiment, "runs", "1");
    set(experiment, "out", inside(folder, "alone"));
    fine(sa_experiment_run(experiment, NULL, NULL));
    sa_array all = {0}, alone = {0};
    fine(sa_npy_read(inside(folder, "drawn/cn-ts/expected_regret.npy"), &all));
    fine(sa_npy_read(inside(folder, "alone/cn-ts/expected_regret.npy"), &alone));
    assert_int_equal(alone.shape[0], 1);
    assert_memory_equal(alone.data, (double *)all.data + 2 * ROUNDS, ROUNDS * sizeof(double));
    sa_array_clear(&alone);
    sa_array_clear(&all);
    sa_experiment_destroy(experiment);
}

/* Runs differ by the agent's own random numbers too, even where they share all draws of the environment. */
static void test_agents_differ_by_run(void **state) {
    (void)state;
    const size_t shape[] = {20, 6, 2};
    sa_agent_result result;
    sa_experiment *experiment = sa_experiment_new();
    set(experiment, "environment", "npy");
    set(experiment, "contexts", write_npy(inside(folder, "x.npy"), SA_FLOAT64, 3, shape));
    set(experiment, "scores", write_npy(inside(folder, "v.npy"), SA_FLOAT64, 2, shape));
    set(experiment, "noise-values", write_npy(inside(folder, "e.npy"), SA_FLOAT64, 2, shape));
    set(experiment, "slate", "2");
    set(experiment, "runs", "2");
    set(experiment, "algorithm", "random");
    fine(sa_experiment_run(experiment, NULL, NULL));
    fine(sa_experiment_result(experiment, 0, &result));
    assert_memory_not_equal(result.reward, result.reward + 20, 20 * sizeof(double));
    sa_experiment_destroy(experiment);
}

/* Finite scores and finite noise can add up to an infinity. */
static void test_infinite_sum(void **state) {
    (void)state;
    const size_t shape[] = {2, 3, 2};
    const char *x = write_npy(inside(folder, "x.npy"), SA_FLOAT64, 3, shape);
    const char *v = write_npy(inside(folder, "v.npy"), SA_FLOAT64, 2, shape);
    const char *e = write_npy(inside(folder, "e.npy"), SA_FLOAT64, 2, shape);
    poke_npy(v, 4, 1.7e308);
    poke_npy(e, 4, 1.7e308);
    sa_experiment *experiment = sa_experiment_new();
    set(experiment, "environment", "npy");
    set(experiment, "contexts", x);
    set(experiment, "scores", v);
    set(experiment, "noise-values", e);
    set(experiment, "slate", "2");
    set(experiment, "runs", "1");
    set(experiment, "hidden", "4");
    assert_int_equal(sa_experiment_run(experiment, NULL, NULL), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "run 0, round 2: the score of arm 1"));
    sa_experiment_destroy(experiment);
}

static void test_choices(void **state) {
    (void)state;
    const char *const kinds[] = {"environments", "oracles", "confidence", "feedback"};
    const char *const first[] = {"h1", "top-k", "exact", "semi-bandit"};
    const char *name, *summary;
    for (size_t i = 0; i < 4; i++) {
        size_t count = 0;
        assert_true(sa_choice_at(kinds[i], 0, &name, &summary));
        assert_string_equal(name, first[i]);
        while (sa_choice_at(kinds[i], count, &name, &summary)) {
            assert_true(*name && *summary);
            count++;
        }
        assert_true(count > 0 && !sa_choice_at(kinds[i], SIZE_MAX, &name, &summary));
    }
    assert_false(sa_choice_at("nothing", 0, &name, &summary));
    assert_true(strlen(sa_version()) >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_references, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_threads_do_not_show, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stop_and_resume, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parts_are_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders_that_do_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_draw_and_replay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_agents_differ_by_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_infinite_sum, set_up, tear_down),
        cmocka_unit_test(test_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

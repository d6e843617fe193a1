/* run --log: a line a round, with the contexts, slates and feedback that the trace and the files have. */
#include "test_experiment_trace.h"

static sa_log_reader *open_log(const char *name) {
    sa_log_reader *reader;
    assert_ok(sa_log_reader_open(scratch(name), false, &reader));
    return reader;
}

static void test_as_the_trace(void **state) {
    (void)state;
    game_round rounds[GAME_ROUNDS];
    char options[512];
    game_write();
    snprintf(options, sizeof options, "algorithm=cn-ts hidden=8 precision=double log=%s",
             scratch("log.jsonl"));
    game_run(options, scratch("trace.jsonl"));
    game_read(scratch("trace.jsonl"), rounds);
    sa_log_reader *reader = open_log("log.jsonl");
    const sa_log_entry *entry;
    for (size_t t = 0; t < GAME_ROUNDS; t++) {
        char event[32], extra[64];
        assert_ok(sa_log_reader_next(reader, &entry));
        snprintf(event, sizeof event, "cn-ts-0-%zu", t + 1);
        snprintf(extra, sizeof extra, "{\"run\":0,\"round\":%zu}", t + 1);
        assert_string_equal(entry->event, event);
        assert_string_equal(entry->agent, "cn-ts");
        assert_int_equal(entry->extra_size, strlen(extra));
        assert_memory_equal(entry->extra, extra, strlen(extra));
        assert_int_equal(entry->candidates, GAME_ARMS);
        assert_int_equal(entry->dim, RIG_DIM);
        assert_memory_equal(entry->contexts, game_contexts[t], sizeof game_contexts[t]); /* to the last bit */
        assert_int_equal(entry->slate, GAME_SLATE);
        assert_memory_equal(entry->arms, rounds[t].slate, sizeof rounds[t].slate);
        assert_memory_equal(entry->feedback, rounds[t].feedback, sizeof rounds[t].feedback);
        assert_true(entry->propensity > 0 && entry->propensity <= 1 && entry->final);
        assert_true(entry->prefix_propensities[GAME_SLATE - 1] == entry->propensity);
    }
    assert_ok(sa_log_reader_next(reader, &entry));
    assert_null(entry);
    sa_log_reader_close(reader);
}

/* Agents and runs in order, whatever the threads; what was not seen is null. */
static void test_runs(void **state) {
    (void)state;
    char options[512];
    for (int threads = 1; threads <= 2; threads++) {
        snprintf(options, sizeof options,
                 "algorithm=random,comblin-ucb runs=3 clicks=cascade feedback=cascade threads=%d log=%s",
                 threads, scratch(threads == 1 ? "one.jsonl" : "two.jsonl"));
        sa_experiment *experiment = game_experiment(options);
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        sa_experiment_destroy(experiment);
    }
    char *one, *two;
    size_t size, other;
    assert_ok(sa_file_read(scratch("one.jsonl"), &one, &size));
    assert_ok(sa_file_read(scratch("two.jsonl"), &two, &other));
    assert_int_equal(size, other);
    assert_memory_equal(one, two, size);
    sa_free(one);
    sa_free(two);
    sa_log_reader *reader = open_log("one.jsonl");
    const sa_log_entry *entry;
    size_t lines = 0, unseen = 0;
    for (;; lines++) {
        assert_ok(sa_log_reader_next(reader, &entry));
        if (!entry) break;
        assert_string_equal(entry->agent, lines < 3 * GAME_ROUNDS ? "random" : "comblin-ucb");
        for (size_t k = 0; k < entry->slate; k++) unseen += isnan(entry->feedback[k]);
    }
    assert_int_equal(lines, 2 * 3 * GAME_ROUNDS);
    assert_true(unseen > 0);
    sa_log_reader_close(reader);
}

static int stop_at_once(void *user, const sa_progress *progress) {
    (void)user;
    return progress->jobs_done >= 2;
}

/* A run that was stopped goes on, and the log is that of one that was not. */
static void test_resume(void **state) {
    (void)state;
    char options[512];
    static const char *const logs[] = {"whole.jsonl", "resumed.jsonl"};
    for (int i = 0; i < 2; i++) {
        snprintf(options, sizeof options, "algorithm=random runs=4 log=%s", scratch(logs[i]));
        sa_experiment *experiment = game_experiment(options);
        assert_ok(sa_experiment_set(experiment, "out", scratch(i ? "resumed" : "whole")));
        if (i) assert_int_equal(sa_experiment_run(experiment, stop_at_once, NULL), SA_INTERRUPTED);
        assert_ok(sa_experiment_set(experiment, "resume", i ? "true" : "false"));
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        sa_experiment_destroy(experiment);
    }
    char *one, *two;
    size_t size, other;
    assert_ok(sa_file_read(scratch(logs[0]), &one, &size));
    assert_ok(sa_file_read(scratch(logs[1]), &two, &other));
    assert_int_equal(size, other);
    assert_memory_equal(one, two, size);
    sa_free(one);
    sa_free(two);
}

static void test_refused(void **state) {
    (void)state;
    char options[512];
    snprintf(options, sizeof options, "algorithm=random log=%s", scratch_folder);
    sa_experiment *experiment = game_experiment(options);
    assert_fails(sa_experiment_check(experiment), SA_INVALID, "--log /tmp/superarm-test");
    assert_ok(sa_experiment_set(experiment, "log", "/nowhere/log.jsonl"));
    assert_fails(sa_experiment_check(experiment), SA_FILE, "/nowhere/log.jsonl cannot be written");
    assert_ok(sa_experiment_set(experiment, "log", scratch("same")));
    assert_ok(sa_experiment_set(experiment, "trace", scratch("same")));
    assert_fails(sa_experiment_check(experiment), SA_INVALID, "--trace and --log are the same file");
    sa_experiment_destroy(experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_trace), cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_resume), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}

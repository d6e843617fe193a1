/* Traces of algorithms with epochs say which epoch, and how many hidden units, chose the slate; others say
 * nothing of it. */
#include "test_experiment_trace.h"

#define EPOCHS "hidden=6 train-steps=4 train-every=3 epoch-hidden-growth=2 epoch-length=6 "

/* Line t of a trace, from 0. */
static json_t *line_of(const char *text, size_t t) {
    for (; t > 0; t--) text = strchr(text, '\n') + 1;
    json_t *line = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(line);
    return line;
}

static char *traced(const char *text, const char *name) {
    char *trace;
    size_t size;
    game_run(text, scratch(name));
    assert_ok(sa_file_read(scratch(name), &trace, &size));
    return trace;
}

/* When round t, from 1, is chosen, t - 1 - delay decisions are answered; epochs end at 6, 12, 24. */
static void traces_show_the_epoch_that_chose(void **state) {
    (void)state;
    static const size_t delays[] = {0, 3};
    for (size_t d = 0; d < 2; d++) {
        char text[256];
        snprintf(text, sizeof text, EPOCHS "algorithm=cn-ts-d delay=%zu", delays[d]);
        char *trace = traced(text, "trace.jsonl"), *again = traced(text, "again.jsonl");
        assert_string_equal(trace, again);
        for (size_t t = 0; t < GAME_ROUNDS; t++) {
            size_t answered = t > delays[d] ? t - delays[d] : 0;
            size_t epoch = (answered >= 6) + (answered >= 12) + (answered >= 24);
            json_t *line = line_of(trace, t);
            assert_int_equal(json_integer_value(json_object_get(line, "epoch")), epoch);
            assert_int_equal(json_integer_value(json_object_get(line, "hidden")), 6 << epoch);
            json_decref(line);
        }
        sa_free(trace);
        sa_free(again);
    }
}

static void others_have_none(void **state) {
    (void)state;
    char *trace = traced(EPOCHS "algorithm=cn-ts", "trace.jsonl");
    assert_null(strstr(trace, "epoch"));
    assert_null(strstr(trace, "hidden"));
    sa_free(trace);
}

static void replays_are_timed(void **state) {
    (void)state;
    static const char *const names[] = {"algorithm=cn-ucb-d", "algorithm=cn-ucb"};
    for (int i = 0; i < 2; i++) {
        char text[256];
        snprintf(text, sizeof text, EPOCHS "%s", names[i]);
        sa_experiment *experiment = game_experiment(text);
        sa_agent_result result;
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        assert_ok(sa_experiment_result(experiment, 0, &result));
        assert_true(i == 0 ? result.replay_seconds > 0 : result.replay_seconds == 0);
        assert_true(result.select_seconds + result.update_seconds + result.train_seconds +
                        result.replay_seconds <=
                    result.seconds_per_run);
        sa_experiment_destroy(experiment);
    }
}

static int setup(void **state) {
    if (rig_setup(state)) return 1;
    game_write();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_show_the_epoch_that_chose),
        cmocka_unit_test(others_have_none),
        cmocka_unit_test(replays_are_timed),
    };
    return cmocka_run_group_tests(tests, setup, scratch_teardown);
}

/* The certificate in results and summary.json: the largest of all rounds and runs, also of an experiment that
 * was stopped. */
#include <jansson.h>

#include "base/file.h"
#include "base/memory.h"
#include "test_agent_rig.h"
#include "test_parts.h"
#include <superarm/experiment.h>

enum { AGENTS = 4 };

static sa_experiment *experiment_of(const char *runs, const char *first_run, const char *out) {
    static const char *const options[][2] = {{"preset", "paper"}, {"environment", "h2"}, {"rounds", "30"},
                                             {"dim", "5"},        {"arms", "8"},         {"slate", "3"},
                                             {"hidden", "6"},     {"threads", "1"}};
    static const char *const agents[AGENTS] = {
        "exact:algorithm=cn-ucb", "sketch:algorithm=cn-ucb,confidence=sketch,sketch-size=6",
        "diagonal:algorithm=cn-ucb,confidence=diagonal", "random:algorithm=random"};
    sa_experiment *experiment = sa_experiment_new();
    assert_non_null(experiment);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        assert_ok(test_experiment_set(experiment, options[i][0], options[i][1]));
    for (size_t i = 0; i < AGENTS; i++) assert_ok(sa_experiment_agent(experiment, agents[i]));
    assert_ok(sa_experiment_set(experiment, "runs", runs));
    assert_ok(sa_experiment_set(experiment, "first-run", first_run));
    assert_ok(sa_experiment_set(experiment, "out", out));
    return experiment;
}

static double result_of(const sa_experiment *experiment, size_t agent) {
    sa_agent_result result;
    assert_ok(sa_experiment_result(experiment, agent, &result));
    return result.certificate;
}

/* NaN for null */
static double in_summary(const char *out, const char *label) {
    char *text;
    size_t size;
    sa_file_read(out, &text, &size);
    json_t *summary = json_loadb(text, size, 0, NULL);
    assert_non_null(summary);
    json_t *value =
        json_object_get(json_object_get(json_object_get(summary, "agents"), label), "certificate");
    assert_non_null(value);
    double number = json_is_null(value) ? NAN : json_number_value(value);
    json_decref(summary);
    sa_free(text);
    return number;
}

static double run_alone(const char *run) {
    sa_experiment *experiment = experiment_of("1", run, "");
    assert_ok(sa_experiment_run(experiment, NULL, NULL));
    double certificate = result_of(experiment, 1);
    sa_experiment_destroy(experiment);
    return certificate;
}

static int stop_after_six(void *user, const sa_progress *progress) {
    (void)user;
    return progress->jobs_done >= 6;
}

static void the_largest_is_kept(void **state) {
    (void)state;
    char out[512];
    snprintf(out, sizeof out, "%s", scratch("out"));
    double first = run_alone("0"), second = run_alone("1"), largest = fmax(first, second);
    assert_true(first > 1 && second > 1 && first != second);
    sa_experiment *stopped = experiment_of("2", "0", out);
    sa_status status = sa_experiment_run(stopped, stop_after_six, NULL);
    assert_true(status == SA_INTERRUPTED ||
                status == SA_OK); /* small runs may all be done before it is asked */
    sa_experiment_destroy(stopped);
    for (int again = 0; again < 2; again++) { /* the rest; then from the finished folder */
        sa_experiment *experiment = experiment_of("2", "0", out);
        assert_ok(sa_experiment_set(experiment, "resume", "true"));
        assert_ok(sa_experiment_run(experiment, NULL, NULL));
        assert_true(result_of(experiment, 0) == 1 && result_of(experiment, 1) == largest);
        assert_true(isnan(result_of(experiment, 2)) && isnan(result_of(experiment, 3)));
        sa_experiment_destroy(experiment);
    }
    char path[600];
    snprintf(path, sizeof path, "%s/summary.json", out);
    assert_true(in_summary(path, "exact") == 1 && in_summary(path, "sketch") == largest);
    assert_true(isnan(in_summary(path, "diagonal")) && isnan(in_summary(path, "random")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_is_kept),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

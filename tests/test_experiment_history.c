/* --history in experiments: what a run left is written over, and nothing else is; all of it is known before
 * anything is written. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "past/history_head.h"
#include <superarm/superarm.h>

#include "test_own_folder.h"
#include "test_parts.h"

static void fine(sa_status status) {
    if (status != SA_OK) fail_msg("%s", sa_last_error());
}

/* One of eight texts in turn. */
static const char *in_folder(const char *name) {
    static char text[8][512];
    static size_t next;
    char *path = text[next++ % 8];
    snprintf(path, sizeof *text, "%s/%s", folder, name);
    return path;
}

static sa_experiment *small(const char *history) {
    static const char *const options[][2] = {
        {"environment", "h2"}, {"algorithm", "cn-ucb"}, {"rounds", "5"},
        {"runs", "3"},         {"arms", "8"},           {"slate", "3"},
        {"dim", "5"},          {"hidden", "8"},         {"threads", "1"}};
    sa_experiment *experiment = sa_experiment_new();
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        fine(test_experiment_set(experiment, options[i][0], options[i][1]));
    fine(sa_experiment_set(experiment, "history", in_folder(history)));
    return experiment;
}

/* Refused by the check and by the run, before the folder of results is made or the first run has a
 * history. */
static void assert_refused(sa_experiment *experiment, const char *sentence) {
    fine(sa_experiment_set(experiment, "out", in_folder("out")));
    for (int run = 0; run < 2; run++) {
        sa_status status = run ? sa_experiment_run(experiment, NULL, NULL) : sa_experiment_check(experiment);
        assert_int_not_equal(status, SA_OK);
        if (!strstr(sa_last_error(), sentence)) fail_msg("'%s' is not in '%s'", sentence, sa_last_error());
        assert_int_not_equal(access(in_folder("out"), F_OK), 0);
    }
    sa_experiment_destroy(experiment);
}

static void run_over(const char *history) {
    sa_experiment *experiment = small(history);
    fine(sa_experiment_run(experiment, NULL, NULL));
    sa_experiment_destroy(experiment);
}

static void what_a_run_left_is_written_over(void **state) {
    (void)state;
    struct stat before, after;
    run_over("left");
    assert_true(sa_is_history(in_folder("left.cn-ucb.2")));
    int held = open(in_folder("left.cn-ucb.2"), O_RDONLY); /* so that its number is not given to another */
    assert_int_equal(fstat(held, &before), 0);
    run_over("left");
    assert_int_equal(stat(in_folder("left.cn-ucb.2"), &after), 0);
    assert_true(before.st_ino != after.st_ino);
    close(held);
}

/* Alive or saved, its feedback stays. */
static void an_agents_history_is_not(void **state) {
    (void)state;
    sa_options *options = sa_options_new("tuned");
    sa_agent *agent = NULL;
    fine(sa_options_set_any(options, "dim", "5"));
    fine(sa_options_set_any(options, "history", in_folder("mine.cn-ucb.1")));
    fine(sa_agent_create(options, &agent));
    fine(sa_agent_save(agent, in_folder("saved.npz")));
    assert_refused(small("mine"), "mine.cn-ucb.1 is in use by another agent");
    sa_agent_destroy(agent);
    assert_refused(small("mine"), "mine.cn-ucb.1 belongs to a saved agent");
    assert_int_not_equal(access(in_folder("mine.cn-ucb.0"), F_OK), 0);
    fine(sa_agent_load(in_folder("saved.npz"), &agent));
    sa_agent_destroy(agent);
    sa_options_destroy(options);
}

static void one_in_use_is_not(void **state) {
    (void)state;
    run_over("used");
    int file = open(in_folder("used.cn-ucb.2"), O_RDWR);
    assert_int_equal(flock(file, LOCK_EX), 0);
    assert_refused(small("used"), "used.cn-ucb.2 is in use by another agent");
    assert_int_equal(sa_history_file_make_way(in_folder("used.cn-ucb.2"), true), SA_FILE);
    assert_true(sa_is_history(in_folder("used.cn-ucb.2")));
    close(file);
    run_over("used");
}

static void places_that_cannot_be(void **state) {
    (void)state;
    assert_refused(small("none/here"), "none/here.cn-ucb.0 cannot be written");
    assert_int_equal(symlink("nowhere", in_folder("link.cn-ucb.2")), 0);
    assert_refused(small("link"), "link.cn-ucb.2 exists, and is no history");
}

/* Two names of one file, however they are written. */
static void no_two_runs_have_the_same(void **state) {
    (void)state;
    sa_experiment *experiment = small("a");
    char text[1024];
    snprintf(text, sizeof text, "b.c:algorithm=cn-ucb,history=%s", in_folder("a"));
    fine(sa_experiment_agent(experiment, text));
    snprintf(text, sizeof text, "c:algorithm=cn-ts,history=%s", in_folder("./a.b"));
    fine(sa_experiment_agent(experiment, text));
    assert_refused(experiment, "agents b.c and c would both have their feedback in");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_run_left_is_written_over), cmocka_unit_test(an_agents_history_is_not),
        cmocka_unit_test(one_in_use_is_not), cmocka_unit_test(places_that_cannot_be),
        cmocka_unit_test(no_two_runs_have_the_same)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

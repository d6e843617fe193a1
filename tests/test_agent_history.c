/* Feedback kept in a file: the same agent as one whose feedback is in memory, bit for bit; and every file
 * that is not its own, or not whole, is refused with a sentence and left as it is. */
#include "test_agent_rig.h"

#include <fcntl.h>
#include <sys/wait.h>

#include "agent/agent.h"
#include "base/file.h"
#include "past/history_file.h"
#include "test_parts.h"

/* The place of a number in the head. */
enum { AT_VERSION = 16, AT_DIM = 32, AT_ID = 64 };

static sa_agent *create_in(const char *text, const char *name) {
    char both[1024];
    remove(scratch(name));
    snprintf(both, sizeof both, "%s history=%s", text, scratch(name));
    return rig_create(both);
}

static sa_agent *load(const char *name) {
    sa_agent *agent = NULL;
    assert_ok(sa_agent_load(scratch(name), &agent));
    return agent;
}

/* Rounds answered at once, from the number that the agent has reached. */
static void play(sa_agent *agent, size_t rounds) {
    sa_decision *decision = NULL;
    for (size_t i = 0; i < rounds; i++) {
        uint64_t id = rig_counts(agent).decisions;
        rig_select(agent, id, 8, 3, &decision);
        rig_answer(agent, id, 3);
    }
    sa_decision_destroy(decision);
}

/* ---- the same agent ---- */

static const char *const kinds[] = {
    "hidden=44",
    "normalize=standard train-batch=4 optimizer=adam",
    "feedback=position slate=3",
    "feedback=cascade algorithm=cn-ts precision=double",
    "algorithm=comblin-ucb",
    "algorithm=cn-ucb-d epoch-length=5 hidden=44",
    "window=6 rebuild=true",
    "discount=0.9 train-batch=5",
};

static void file_and_memory_are_alike(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        sa_agent *in_memory = rig_create(kinds[k]), *in_file = create_in(kinds[k], "h");
        rig_go_on_alike(in_memory, in_file, 0, 20);
        assert_ok(sa_agent_save(in_file, scratch("f.npz")));
        rig_go_on_alike(in_memory, in_file, 20, 10); /* saving changes nothing */
        assert_ok(sa_agent_save(in_file, scratch("f.npz")));
        sa_agent_destroy(in_file);
        in_file = load("f.npz");
        rig_go_on_alike(in_memory, in_file, 30, 20);
        sa_agent_destroy(in_memory);
        sa_agent_destroy(in_file);
    }
}

/* Beyond the first segments, in steps of odd sizes: what comes back is what was put in. */
static void growth_moves_nothing(void **state) {
    (void)state;
    enum { ROWS = 70000 };
    sa_options *options = rig_options("feedback=cascade precision=double");
    const sa_inputs inputs = sa_inputs_from(MODEL_OF(options));
    sa_history history;
    remove(scratch("long"));
    sa_history_init(&history, &inputs, true);
    assert_ok(sa_history_file_create(&history, scratch("long")));
    for (size_t i = 0; i < ROWS;) {
        size_t many = 1 + i % 5;
        assert_ok(sa_history_reserve(&history, many));
        sa_history_begin_decision(&history);
        for (size_t k = 0; k < many; k++, i++) {
            double context[RIG_DIM];
            for (size_t j = 0; j < RIG_DIM; j++) context[j] = (double)(i * RIG_DIM + j);
            sa_history_add(&history, context, -(double)i, k, 1 / (double)(k + 1));
        }
    }
    sa_history_mark mark;
    const sa_history_mark *now;
    assert_ok(sa_history_file_sync(&history, &now));
    mark = *now;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0, d = 0; i < ROWS; d++) {
            size_t many = 1 + i % 5;
            assert_true(history.start[d] == (int64_t)i);
            for (size_t k = 0; k < many; k++, i++) {
                for (size_t j = 0; j < RIG_DIM; j++)
                    assert_true(((double *)history.contexts)[i * RIG_DIM + j] == (double)(i * RIG_DIM + j));
                assert_true(history.scores[i] == -(double)i && history.psi[i] == 1 / (double)(k + 1));
            }
        }
        assert_true(history.count >= ROWS);
        sa_history_clear(&history);
        if (again) break;
        sa_history_init(&history, &inputs, true);
        assert_ok(sa_history_file_open(&history, scratch("long"), &mark));
    }
    sa_options_destroy(options);
}

/* ---- what comes after a save ---- */

/* A process that is killed loses what came after the last save, and nothing else. */
static void a_killed_process_loses_what_was_not_saved(void **state) {
    (void)state;
    sa_agent *twin = rig_create("");
    play(twin, 12);
    remove(scratch("h"));
    pid_t child = fork();
    if (child == 0) {
        sa_agent *agent = create_in("", "h");
        play(agent, 12);
        if (sa_agent_save(agent, scratch("k.npz")) != SA_OK) _exit(1);
        play(agent, 9);
        kill(getpid(), SIGKILL);
    }
    int how;
    assert_true(waitpid(child, &how, 0) == child && WIFSIGNALED(how));
    sa_agent *agent = load("k.npz");
    assert_int_equal(rig_counts(agent).observations, 36);
    sa_agent_destroy(agent); /* what came later is still there until the agent goes on */
    agent = load("k.npz");
    rig_go_on_alike(twin, agent, 100, 15);
    sa_agent_destroy(agent);
    sa_agent_destroy(twin);
}

/* Of several saved copies, only the one that was saved last can be loaded. */
static void an_older_copy_is_refused(void **state) {
    (void)state;
    sa_agent *agent = create_in("", "h"), *refused = NULL;
    play(agent, 4);
    assert_ok(sa_agent_save(agent, scratch("early.npz")));
    assert_ok(sa_agent_save(agent, scratch("same.npz"))); /* nothing has come since */
    sa_agent_destroy(agent);
    sa_agent_destroy(load("early.npz"));
    agent = load("same.npz");
    play(agent, 4);
    assert_int_equal(sa_agent_save(agent, scratch("none/late.npz")), SA_FILE); /* which gives up nothing */
    sa_agent_destroy(agent);
    agent = load("early.npz");
    play(agent, 4);
    assert_ok(sa_agent_save(agent, scratch("late.npz")));
    sa_agent_destroy(agent);
    assert_int_equal(sa_agent_load(scratch("early.npz"), &refused), SA_FORMAT);
    assert_non_null(strstr(sa_last_error(), "only the agent that was saved last can be loaded"));
    assert_null(refused);
    agent = load("late.npz");
    assert_int_equal(rig_counts(agent).observations, 24);
    sa_agent_destroy(agent);
}

/* A save that was cut short leaves the older agent or the newer one. Either can be loaded, until one of them
 * goes on; room that was asked for, by an update that then failed, is not yet that. */
static void a_save_that_was_cut_short(void **state) {
    (void)state;
    sa_options *options = rig_options("");
    const sa_inputs inputs = sa_inputs_from(MODEL_OF(options));
    const sa_history_mark *now;
    sa_history_mark mark[2];
    float context[RIG_DIM] = {1};
    for (int goes_on = 0; goes_on < 2; goes_on++) { /* the older one, the newer one */
        sa_history history;
        remove(scratch("cut"));
        sa_history_init(&history, &inputs, false);
        assert_ok(sa_history_file_create(&history, scratch("cut")));
        for (int save = 0; save < 2; save++) {
            assert_ok(sa_history_reserve(&history, 1));
            sa_history_begin_decision(&history);
            sa_history_add(&history, context, save, 0, 1);
            assert_ok(sa_history_file_sync(&history, &now));
            mark[save] = *now;
            if (save == 0) sa_history_file_saved(&history);
        }
        for (int writes = 0; writes < 2; writes++)
            for (int turn = 0; turn < 2; turn++) {
                int which = turn ? 1 - goes_on : goes_on;
                sa_history_clear(&history);
                sa_history_init(&history, &inputs, false);
                bool lost = writes && which != goes_on;
                assert_int_equal(sa_history_file_open(&history, scratch("cut"), &mark[which]),
                                 lost ? SA_FORMAT : SA_OK);
                if (lost) continue;
                assert_true(history.count == (size_t)which + 1 && history.scores[which] == which);
                assert_ok(sa_history_reserve(&history, 1));
                if (writes) sa_history_begin_decision(&history);
            }
        sa_history_clear(&history);
    }
    sa_options_destroy(options);
}

/* As a run makes it. */
static sa_status create_anew(sa_agent **agent) {
    char text[512];
    snprintf(text, sizeof text, "history=%s", scratch("h"));
    sa_options *options = rig_options(text);
    options->history_anew = true;
    sa_status status = sa_agent_create(options, agent);
    sa_options_destroy(options);
    return status;
}

/* An agent that died before its first save leaves a history that is of no use. */
static void one_whose_agent_was_never_saved_is_begun_again(void **state) {
    (void)state;
    sa_agent *agent = create_in("", "h"), *second = NULL;
    play(agent, 3);
    assert_fails(create_anew(&second), SA_FILE, "is in use by another agent");
    sa_agent_destroy(agent);
    assert_ok(create_anew(&agent));
    assert_int_equal(rig_counts(agent).observations, 0);
    play(agent, 4);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
    assert_fails(create_anew(&second), SA_FILE, "belongs to a saved agent: load that, or give another name");
    sa_agent_destroy(load("a.npz"));
    assert_ok(sa_file_write(scratch("h"), "a diary", 7));
    assert_fails(create_anew(&second), SA_FILE, "exists, and is no history");
    remove(scratch("h"));
    assert_null(second);
    assert_ok(create_anew(&second)); /* where there is none, it is like any other */
    sa_agent_destroy(second);
    remove(scratch("h"));
}

/* ---- refused ---- */

static void overwrite(const char *name, long at, const void *bytes, size_t count) {
    FILE *file = fopen(scratch(name), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static void copy(const char *from, const char *to) {
    char *data;
    size_t size;
    assert_ok(sa_file_read(scratch(from), &data, &size));
    assert_ok(sa_file_write(scratch(to), data, size));
    sa_free(data);
}

/* The saved agent is refused with this sentence, its file stays as it is, and with the right one all is
 * well. */
static void assert_refused(sa_status status, const char *sentence) {
    sa_agent *agent = NULL;
    char *before, *after;
    size_t size, now;
    bool exists = sa_file_exists(scratch("h"));
    if (exists) assert_ok(sa_file_read(scratch("h"), &before, &size));
    assert_int_equal(sa_agent_load(scratch("a.npz"), &agent), status);
    if (!strstr(sa_last_error(), sentence)) fail_msg("%s", sa_last_error());
    assert_null(agent);
    assert_int_equal(sa_file_exists(scratch("h")), exists);
    if (exists) {
        assert_ok(sa_file_read(scratch("h"), &after, &now));
        assert_int_equal(size, now);
        assert_memory_equal(before, after, size);
        sa_free(before);
        sa_free(after);
    }
    copy("good", "h");
    sa_agent_destroy(load("a.npz"));
}

static void wrong_files_are_refused(void **state) {
    (void)state;
    sa_agent *agent = create_in("", "h"), *other = create_in("", "other");
    play(agent, 5);
    play(other, 9);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    sa_agent_destroy(agent);
    sa_agent_destroy(other);
    copy("h", "good");

    copy("other", "h");
    assert_refused(SA_FORMAT, "belongs to another agent");
    static const long sizes[] = {0, 15, 1000, 65535, 65536, 65536 + 16384 * 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(truncate(scratch("h"), sizes[i]), 0);
        assert_refused(SA_FORMAT, "is truncated: it has");
    }
    overwrite("h", AT_VERSION, &(uint64_t){3}, 8);
    assert_refused(SA_NEWER, "is of format 3, newer than 2");
    overwrite("h", AT_VERSION, &(uint64_t){1}, 8);
    assert_refused(SA_FORMAT, "is of format 1, older than 2");
    overwrite("h", AT_DIM, &(uint64_t){6}, 8);
    assert_refused(SA_FORMAT, "its observations are of another shape");
    overwrite("h", 0, "superarm mystery", 16);
    assert_refused(SA_FORMAT, "is not a history of an agent");
    overwrite("h", AT_ID, &(uint64_t){1}, 8);
    assert_refused(SA_FORMAT, "belongs to another agent");
    overwrite("h", AT_ID + 16, &(uint64_t){3}, 8);
    assert_refused(SA_FORMAT, "has 3 observations of this saved agent's 15");
    overwrite("h", 65536 + 16384 * (RIG_DIM * 4 + 8) + 8, &(uint64_t){99}, 8); /* the start of a decision */
    assert_refused(SA_FORMAT, "it is not sound");
    remove(scratch("h"));
    assert_refused(SA_FILE, "cannot be opened");
}

static void one_agent_at_a_time(void **state) {
    (void)state;
    sa_agent *agent = create_in("", "h"), *second = NULL;
    char text[512];
    play(agent, 3);
    assert_ok(sa_agent_save(agent, scratch("a.npz")));
    assert_int_equal(sa_agent_load(scratch("a.npz"), &second), SA_FILE);
    assert_non_null(strstr(sa_last_error(), "is in use by another agent"));
    snprintf(text, sizeof text, "history=%s", scratch("h"));
    assert_int_equal(rig_try_create(text, &second), SA_FILE);
    assert_non_null(
        strstr(sa_last_error(),
               "exists: load its agent, give another name, or remove it if its agent was never saved"));
    play(agent, 3); /* unharmed */
    sa_agent_destroy(agent);
    assert_int_equal(rig_try_create(text, &second),
                     SA_FILE); /* nor is a file without an agent written over */
    snprintf(text, sizeof text, "history=%s/none/h", scratch(""));
    assert_int_equal(rig_try_create(text, &second), SA_FILE);
    assert_null(second);
    assert_true(sa_is_history(scratch("h")) && !sa_is_history(scratch("a.npz")) &&
                !sa_is_history(scratch("none")));
    sa_agent_destroy(load("a.npz"));
}

/* Neither over its own history, nor without one: nothing is written, and the agent goes on. */
static void a_save_that_could_not_be_loaded_is_refused(void **state) {
    (void)state;
    sa_agent *agent = create_in("", "h");
    char history[512], other[512], *before, *after;
    size_t size, now;
    snprintf(history, sizeof history, "%s", scratch("h"));
    snprintf(other, sizeof other, "%s", scratch("other"));
    remove(other);
    remove(scratch("s.npz"));
    play(agent, 3);
    assert_int_equal(link(history, other), 0);
    assert_ok(sa_file_read(history, &before, &size));
    assert_int_equal(sa_agent_save(agent, history), SA_INVALID);
    assert_non_null(strstr(sa_last_error(), "is the agent's history"));
    assert_int_equal(sa_agent_save(agent, other), SA_INVALID); /* by another name */
    assert_ok(sa_file_read(history, &after, &now));
    assert_int_equal(size, now);
    assert_memory_equal(before, after, size);
    sa_free(before);
    sa_free(after);

    for (int replaced = 0; replaced < 2; replaced++) {
        assert_int_equal(remove(history), 0);
        if (replaced) copy("other", "h");
        assert_int_equal(sa_agent_save(agent, scratch("s.npz")), SA_FILE);
        assert_non_null(strstr(sa_last_error(), "was removed, moved or replaced"));
        assert_false(sa_file_exists(scratch("s.npz")));
        if (!replaced) assert_int_equal(link(other, history), 0);
    }
    play(agent, 3);
    assert_int_equal(rename(other, history), 0); /* put back */
    assert_ok(sa_agent_save(agent, scratch("s.npz")));
    sa_agent_destroy(agent);
    agent = load("s.npz");
    assert_int_equal(rig_counts(agent).observations, 18);
    sa_agent_destroy(agent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_and_memory_are_alike),
        cmocka_unit_test(growth_moves_nothing),
        cmocka_unit_test(a_killed_process_loses_what_was_not_saved),
        cmocka_unit_test(an_older_copy_is_refused),
        cmocka_unit_test(a_save_that_was_cut_short),
        cmocka_unit_test(one_whose_agent_was_never_saved_is_begun_again),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(one_agent_at_a_time),
        cmocka_unit_test(a_save_that_could_not_be_loaded_is_refused),
    };
    return cmocka_run_group_tests(tests, rig_setup, scratch_teardown);
}

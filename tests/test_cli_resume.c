/* Killed at any moment and resumed, an experiment ends with the bytes of one that ran through. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "program.h"

#define WORK                                                                                                 \
    "run --environment h2 --algorithm cn-ucb,cn-ts --rounds 150 --arms 10 --slate 3 --dim 6 --hidden 16 "    \
    "--runs 4 "                                                                                              \
    "--quiet "

static const char *folder;

static int set_up(void **state) {
    (void)state;
    folder = temporary_folder();
    fine(run(folder, WORK "--out %s/whole --trace %s/whole.jsonl", folder, folder));
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    return sa_path_remove(folder) != SA_OK;
}

static void assert_whole(const char *name) {
    static const char *const files[] = {"cn-ucb/expected_regret.npy",
                                        "cn-ucb/realised_regret.npy",
                                        "cn-ucb/reward.npy",
                                        "cn-ts/expected_regret.npy",
                                        "cn-ts/realised_regret.npy",
                                        "cn-ts/reward.npy",
                                        "spec.yaml"};
    const char *out = inside(folder, name);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_same_file(inside(inside(folder, "whole"), files[i]), inside(out, files[i]));
    assert_true(sa_file_exists(inside(out, "summary.json")));
    assert_false(sa_file_exists(inside(out, "parts")));
}

static size_t count_parts(const char *out) {
    size_t count = 0;
    DIR *parts = opendir(inside(out, "parts"));
    for (struct dirent *entry; parts && (entry = readdir(parts));) {
        size_t size = strlen(entry->d_name);
        count += size > 4 && !strcmp(entry->d_name + size - 4, ".npz");
    }
    if (parts) closedir(parts);
    return count;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

/* Sends the signal once so many runs are kept, or the program has ended; returns how it ended. */
static int kill_after(const char *name, size_t parts, int number) {
    char words[2048], out[256];
    strcpy(out,
           inside(folder, name)); /* of its own: the wait below asks for more paths than `inside` keeps */
    snprintf(words, sizeof words, WORK "--threads 1 --out %s --trace %s.jsonl", out, out);
    pid_t child = start(words, inside(folder, "stdout"), inside(folder, "stderr"));
    for (int waited = 0; waited < 20000 && count_parts(out) < parts; waited++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
            break;
        pause_ms(1);
    }
    kill(child, number);
    return wait_for(child);
}

static void resume(const char *name) {
    fine(run(folder, WORK "--resume --out %s/%s --trace %s/%s.jsonl", folder, name, folder, name));
    char trace[64];
    snprintf(trace, sizeof trace, "%s.jsonl", name);
    assert_whole(name);
    assert_same_file(inside(folder, "whole.jsonl"), inside(folder, trace));
}

static void test_killed(void **state) {
    (void)state;
    size_t kills = 0;
    for (size_t attempt = 0; attempt < 3 || (kills == 0 && attempt < 12);
         attempt++) { /* on a busy machine it may end first */
        char name[32];
        snprintf(name, sizeof name, "killed%zu", attempt);
        int ended = kill_after(name, 1 + 2 * (attempt % 3), SIGKILL);
        assert_true(ended == -SIGKILL || ended == 0);
        kills += ended == -SIGKILL;
        resume(name);
    }
    assert_true(kills > 0); /* else the work is too short for this test */
}

/* At moments that nobody chose, the very first among them: again and again until it is through. */
static void test_killed_again_and_again(void **state) {
    (void)state;
    for (long ms = 2;; ms += 9 + ms / 2) {
        char words[2048];
        const char *out = inside(folder, "again");
        bool begun = sa_file_exists(out);
        snprintf(words, sizeof words, WORK "%s--out %s --trace %s.jsonl", begun ? "--resume " : "", out, out);
        pid_t child = start(words, inside(folder, "stdout"), inside(folder, "stderr"));
        for (long waited = 0; waited < ms; waited += 50) pause_ms(ms < 50 ? ms : 50);
        kill(child, SIGKILL);
        int ended = wait_for(child);
        assert_true(ended == -SIGKILL || ended == 0);
        if (ended == 0) break;
    }
    fine(run(folder, WORK "--resume --out %s/again", folder)); /* complete: only reports */
    assert_whole("again");
    assert_same_file(inside(folder, "whole.jsonl"), inside(folder, "again.jsonl"));
}

static void test_interrupted(void **state) {
    (void)state;
    char text[1024];
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"interrupted", SIGINT}, {"terminated", SIGTERM}};
    for (size_t i = 0; i < 2; i++) {
        int ended = kill_after(signals[i].name, 1, signals[i].number);
        assert_true(ended == 128 + signals[i].number || ended == 0);
        read_back(inside(folder, "stderr"), text, sizeof text);
        if (ended) assert_non_null(strstr(text, "--resume"));
        resume(signals[i].name);
    }
}

static void test_complete(void **state) {
    (void)state;
    outcome *got = fine(run(folder, WORK "--quiet=false --resume --out %s/whole", folder));
    assert_non_null(strstr(got->out, "cn-ts"));
    assert_whole("whole");
    refused(run(folder, WORK "--out %s/whole", folder), "holds a finished experiment");
    refused(run(folder, WORK "--resume --noise 0.5 --out %s/whole", folder),
            "--noise is 0.5 here and 0.01 in");
    refused(run(folder, WORK "--resume --first-run 9 --out %s/whole", folder),
            "9 to 12 would leave out those between");
    refused(run(folder, WORK "--resume --out %s/gone", folder), "there is no folder");
    assert_false(sa_file_exists(inside(folder, "gone")));
    assert_whole("whole");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_killed_again_and_again),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_complete),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

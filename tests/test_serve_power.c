/* Power cuts. A child serves itself from a disk that forgets what was not synced (serve_vfs.h), and for
 * checkpoints from a file system that tears files that were not synced before their renaming and undoes
 * renamings that the folder's sync did not follow. It writes down, in a pipe, what was acknowledged, and
 * is killed at random. Its parent reads what is left as an ordinary service does. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "serve.h"
#include "serve_rig.h"
#include "serve_vfs.h"
#include "temporary.h"

enum { ROUNDS = 12, CLIENTS = 3, SYNCED = 4096 };

/* ---- a file system with a cache, in the child only ---- */

int __real_fsync(int file);
int __real_rename(const char *from, const char *to);
int __wrap_fsync(int file);
int __wrap_rename(const char *from, const char *to);

static struct {
    bool on;
    pthread_mutex_t lock;
    ino_t synced[SYNCED];
    size_t count;
    char from[600], to[600]; /* a renaming that is in the cache alone */
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

int __wrap_fsync(int file) {
    struct stat about;
    if (!files.on || fstat(file, &about)) return __real_fsync(file);
    pthread_mutex_lock(&files.lock);
    if (S_ISDIR(about.st_mode) && *files.from) {
        __real_rename(files.from, files.to);
        *files.from = 0;
    } else if (files.count < SYNCED)
        files.synced[files.count++] = about.st_ino;
    pthread_mutex_unlock(&files.lock);
    return 0;
}

int __wrap_rename(const char *from, const char *to) {
    struct stat about;
    if (!files.on || stat(from, &about)) return __real_rename(from, to);
    pthread_mutex_lock(&files.lock);
    bool synced = false;
    for (size_t i = 0; i < files.count; i++) synced = synced || files.synced[i] == about.st_ino;
    if (!synced && truncate(from, about.st_size / 2)) abort();
    snprintf(files.from, sizeof files.from, "%s", from);
    snprintf(files.to, sizeof files.to, "%s", to);
    pthread_mutex_unlock(&files.lock);
    return 0;
}

/* ---- the child ---- */

typedef struct note { /* what was acknowledged */
    int round, client, number, feedback;
} note;

typedef struct client {
    sv_service *service;
    int round, number, pipe;
} client;

static void body_of(char body[200], const note *about) {
    int many = about->round * 7919 + about->client * 104729 + about->number;
    if (about->feedback)
        snprintf(body, 200, "{\"event\": \"r%d-c%d-%d\", \"id\": \"f\", \"feedback\": [%d, 0]}", about->round,
                 about->client, about->number, many % 2);
    else
        snprintf(body, 200, "{\"event\": \"r%d-c%d-%d\", \"contexts\": [[0.%d, 1], [1, 0.%d], [0.5, 0.5]]}",
                 about->round, about->client, about->number, many % 97, many % 89);
}

static int ask(sv_service *service, const note *about) {
    char body[200];
    body_of(body, about);
    return rig_ask(service, "POST", about->feedback ? "/v1/agents/home/feedback" : "/v1/agents/home/decide",
                   body, NULL);
}

static void *work(void *user) {
    client *self = user;
    for (int i = 0; i < 100000; i++)
        for (int feedback = 0; feedback < 2; feedback++) {
            note about = {self->round, self->number, i, feedback};
            int status = ask(self->service, &about);
            if (status != (feedback ? 204 : 201)) _exit(3);
            if (write(self->pipe, &about, sizeof about) != sizeof about) _exit(4);
        }
    return NULL;
}

static void serve_until_killed(const char *folder, int round, int pipe) {
    pthread_t threads[CLIENTS];
    client clients[CLIENTS];
    vfs_register(true);
    files.on = true;
    sv_service *service = rig_start(folder, 0.03);
    if (!service) _exit(1);
    int status = rig_ask(service, "PUT", "/v1/agents/home", RIG_AGENT, NULL);
    if (status != (round ? 200 : 201)) _exit(2);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (client){service, round, i, pipe};
        if (pthread_create(&threads[i], NULL, work, &clients[i])) _exit(5);
    }
    pause();
    _exit(6);
}

/* ---- the parent ---- */

static size_t read_notes(int pipe, note *notes, size_t count, size_t most) {
    while (count < most && read(pipe, &notes[count], sizeof *notes) == sizeof *notes) count++;
    return count;
}

static uint64_t number_in(sv_service *service, const char *name) {
    char *answer = NULL;
    assert_int_equal(rig_ask(service, "GET", "/v1/agents/home", NULL, &answer), 200);
    const char *at = strstr(answer, name);
    assert_non_null(at);
    uint64_t number = strtoull(at + strlen(name), NULL, 10);
    free(answer);
    return number;
}

static void check_notes(const char *folder, const note *notes, size_t from, size_t count) {
    char message[512] = "";
    if (sv_serve_check(folder, message)) fail_msg("%s", message);
    sv_service *service = rig_start(folder, 1000);
    assert_non_null(service);
    for (size_t i = from; i < count; i++) {
        int status = ask(service, &notes[i]);
        if (status != (notes[i].feedback ? 204 : 200))
            fail_msg("round %d, client %d, %s %d was acknowledged, and is now %d", notes[i].round,
                     notes[i].client, notes[i].feedback ? "feedback" : "decision", notes[i].number, status);
    }
    sv_agent *agent = sv_agents_find(&service->agents, "home");
    assert_int_equal(atomic_load(&agent->feedbacks), 0); /* all of them were there: none was taken as new */
    sv_agent_release(agent);
    assert_int_equal(number_in(service, "\"retries\": "), count - from);
    sv_service_stop(service);
}

static void what_was_acknowledged_outlives_power_cuts(void **state) {
    enum { MOST = 200000 };
    (void)state;
    const char *folder = temporary_folder();
    note *notes = calloc(MOST, sizeof *notes);
    assert_non_null(notes);
    size_t count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            close(ends[0]);
            serve_until_killed(folder, round, ends[1]);
        }
        close(ends[1]);
        size_t before = count;
        count += read(ends[0], &notes[count], sizeof *notes) == sizeof *notes; /* it serves */
        usleep(20000 + (useconds_t)(round * 7919 % 13) * 15000);
        kill(child, SIGKILL);
        count = read_notes(ends[0], notes, count, MOST);
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status)) fail_msg("the child ended by itself: %d", WEXITSTATUS(status));
        check_notes(folder, notes, before, count);
    }
    check_notes(folder, notes, 0, count);
    print_message("%zu acknowledgements, %d power cuts\n", count, ROUNDS);
    assert_true(count > 100);
    free(notes);
    assert_int_equal(sa_path_remove(folder), SA_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_acknowledged_outlives_power_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

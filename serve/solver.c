#define _GNU_SOURCE
#include "solver.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "solver_wire.h"

enum { HELPERS = 4 };
/* The helper ends itself by its processor time; this is for one that does not. */
static const double LONGEST = 20;

typedef struct helper {
    pid_t process; /* 0: none */
    int socket;
} sv_helper;

struct solver {
    char *program;
    pthread_mutex_t lock;
    pthread_cond_t returned;
    sv_helper free[HELPERS];
    size_t free_count, out; /* out: being asked */
    atomic_ullong failures;
};

static bool spawn(const char *program, int socket, pid_t *process) {
    char *words[] = {(char *)"superarm", (char *)"serve", (char *)"--solver", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t about;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&about);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    posix_spawnattr_setsigmask(&about, &none);
    posix_spawnattr_setsigdefault(&about, &all);
    posix_spawnattr_setflags(&about, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    bool good = !posix_spawn(process, program, &actions, &about, words, environ);
    posix_spawnattr_destroy(&about);
    posix_spawn_file_actions_destroy(&actions);
    return good;
}

static bool start_helper(const char *program, sv_helper *out) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return false;
    bool good = spawn(program, ends[1], &out->process);
    close(ends[1]);
    out->socket = ends[0];
    if (!good) close(ends[0]);
    return good;
}

/* Returns the signal that ended it, 0: it ended by itself. */
static int end_helper(sv_helper *self) {
    int status = 0;
    struct timespec moment = {0, 2000000};
    close(self->socket);
    for (int i = 0; i < 10; i++) { /* it may be ending: its own reason is better than ours */
        if (waitpid(self->process, &status, WNOHANG) == self->process)
            return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        nanosleep(&moment, NULL);
    }
    kill(self->process, SIGKILL);
    while (waitpid(self->process, &status, 0) < 0 && errno == EINTR) continue;
    return SIGKILL;
}

/* One that waits, or a new one. */
static bool take(sv_solver *self, sv_helper *out) {
    pthread_mutex_lock(&self->lock);
    while (!self->free_count && self->out >= HELPERS) pthread_cond_wait(&self->returned, &self->lock);
    bool waits = self->free_count;
    if (waits) *out = self->free[--self->free_count];
    self->out++;
    pthread_mutex_unlock(&self->lock);
    return waits || start_helper(self->program, out);
}

static void give_back(sv_solver *self, const sv_helper *helper) {
    pthread_mutex_lock(&self->lock);
    self->out--;
    if (helper) self->free[self->free_count++] = *helper;
    pthread_cond_signal(&self->returned);
    pthread_mutex_unlock(&self->lock);
}

static bool converse(const sv_helper *helper, const sa_integer_program *program, sv_wire_answer *head,
                     size_t *chosen) {
    sv_wire_question question = {program->columns, program->rows, program->entries, program->seconds};
    sv_wire_part parts[WIRE_ARRAYS];
    double until = sv_clock_seconds() + LONGEST + program->seconds;
    bool good = sv_wire_send(helper->socket, &question, sizeof question, until);
    sv_wire_parts(program, parts);
    for (int i = 0; i < WIRE_ARRAYS && good; i++)
        good = sv_wire_send(helper->socket, parts[i].at, parts[i].size, until);
    if (!good || !sv_wire_receive(helper->socket, head, sizeof *head, until)) return false;
    return head->count <= program->columns &&
           sv_wire_receive(helper->socket, chosen, (size_t)head->count * sizeof *chosen, until);
}

sa_status sv_solver_solve(void *user, const sa_integer_program *program, sa_integer_answer *answer) {
    sv_solver *self = user;
    sv_helper helper;
    sv_wire_answer head;
    if (!take(self, &helper)) {
        give_back(self, NULL);
        snprintf(answer->message, sizeof answer->message, "no process could be had for the solver");
        return SA_OUT_OF_MEMORY;
    }
    if (!converse(&helper, program, &head, answer->chosen)) {
        int signal = end_helper(&helper);
        give_back(self, NULL);
        atomic_fetch_add(&self->failures, 1);
        snprintf(answer->message, sizeof answer->message,
                 signal == SIGPROF || signal == SIGKILL
                     ? "the rules took the solver longer than it may take: simplify them"
                     : "the solver broke down at these rules: simplify them, or make their numbers smaller");
        return SA_INVALID;
    }
    give_back(self, &helper);
    answer->found = head.found;
    answer->count = (size_t)head.count;
    answer->gap = head.gap;
    memcpy(answer->message, head.message, sizeof answer->message);
    answer->message[sizeof answer->message - 1] = 0;
    return (sa_status)head.status;
}

unsigned long long sv_solver_failures(sv_solver *self) { return self ? atomic_load(&self->failures) : 0; }

sv_solver *sv_solver_start(const char *program) {
    sv_solver *self = calloc(1, sizeof *self);
    if (!self || !(self->program = strdup(program))) {
        free(self);
        return NULL;
    }
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->returned, NULL);
    return self;
}

void sv_solver_stop(sv_solver *self) {
    if (!self) return;
    while (self->free_count) end_helper(&self->free[--self->free_count]);
    pthread_cond_destroy(&self->returned);
    pthread_mutex_destroy(&self->lock);
    free(self->program);
    free(self);
}

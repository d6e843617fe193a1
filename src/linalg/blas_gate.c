#include "linalg/blas_gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Threads count themselves in and out, each in a cache line that it hardly ever shares: two uncontended
 * additions a call, less than OpenBLAS's own lock costs. */
enum { LINES = 64, LONGEST_WAIT = 10 /* seconds, for whatever could go wrong */ };

typedef struct line {
    _Alignas(64) atomic_int inside;
} line;

static line lines[LINES];
static atomic_uint threads;
static atomic_int forks; /* under way */
static _Thread_local line *mine;

static void pause_a_moment(void) { nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL); }

/* Either this thread sees the fork, or the fork sees this thread: both first write and then read. */
void sa_blas_enter(void) {
    if (!mine) mine = &lines[atomic_fetch_add(&threads, 1) % LINES];
    atomic_fetch_add(&mine->inside, 1);
    while (atomic_load(&forks) > 0) {
        atomic_fetch_sub(&mine->inside, 1);
        while (atomic_load(&forks) > 0) pause_a_moment();
        atomic_fetch_add(&mine->inside, 1);
    }
}

void sa_blas_leave(void) { atomic_fetch_sub(&mine->inside, 1); }

static bool somebody_inside(void) {
    for (int i = 0; i < LINES; i++)
        if (atomic_load(&lines[i].inside) > 0) return true;
    return false;
}

static void before_fork(void) {
    struct timespec now, until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LONGEST_WAIT;
    atomic_fetch_add(&forks, 1);
    while (somebody_inside()) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > until.tv_sec) return;
        pause_a_moment();
    }
}

static void in_parent(void) { atomic_fetch_sub(&forks, 1); }

static void in_child(void) {
    for (int i = 0; i < LINES; i++) atomic_store(&lines[i].inside, 0);
    atomic_store(&forks, 0);
}

/* OpenBLAS was loaded before, and ends its threads before a fork: handlers run in reverse, so nobody is
 * inside by then. */
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(before_fork, in_parent, in_child);
}

#define _GNU_SOURCE
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "thread_name.h"

/* A handler, and not a mask: libraries have threads of their own that were there before us, and would die of
 * a signal for all. */
static int ends[2]; /* of a pipe: numbers of signals */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool serving, asked;
    double seconds;
    void (*reload)(void *user);
    void *user;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void handle(int number) {
    int before = errno;
    char byte = (char)number;
    if (write(ends[1], &byte, 1) < 0) { /* full: enough of them are known */
    }
    errno = before;
}

/* The next signal; 0: none until then. */
static int next_signal(double until) {
    struct pollfd waits = {.fd = ends[0], .events = POLLIN};
    for (;;) {
        double left = until - sv_clock_seconds();
        char byte;
        if (left <= 0) return 0;
        if (poll(&waits, 1, left > 1000 ? 1000000 : (int)(left * 1000) + 1) > 0 &&
            read(ends[0], &byte, 1) == 1)
            return byte;
    }
}

static void take_reload(void) {
    pthread_mutex_lock(&all.lock);
    if (all.serving && all.reload && !all.asked) all.reload(all.user);
    pthread_mutex_unlock(&all.lock);
}

/* Whoever waits for the service to end has waited enough, or asks a second time. */
static void end_in_time(void) {
    double until = sv_clock_seconds() + all.seconds;
    int got;
    while ((got = next_signal(until)) == SIGHUP) continue;
    if (got) _exit(0);
    static const char line[] = "superarm serve: it did not end in time, and is ended: what was "
                               "acknowledged is on disk\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) { /* nobody reads it: no matter */
    }
    _exit(0);
}

static void *listen_to_signals(void *unused) {
    sv_thread_name("signals");
    for (int got = 0; got != SIGTERM && got != SIGINT;) {
        got = next_signal(sv_clock_seconds() + 1e6);
        if (got == SIGHUP) take_reload();
    }
    pthread_mutex_lock(&all.lock);
    if (!all.serving) _exit(0); /* nothing was asked of it so far */
    all.asked = true;
    pthread_cond_signal(&all.changed);
    pthread_mutex_unlock(&all.lock);
    end_in_time();
    return unused;
}

bool sv_signals_begin(double seconds) {
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction about = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t thread;
    all.seconds = seconds;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || pthread_create(&thread, NULL, listen_to_signals, NULL))
        return false;
    pthread_detach(thread);
    for (int i = 0; i < 3; i++) sigaction(numbers[i], &about, NULL);
    return true;
}

void sv_signals_serving(void (*reload)(void *user), void *user) {
    pthread_mutex_lock(&all.lock);
    all.serving = true;
    all.reload = reload;
    all.user = user;
    pthread_mutex_unlock(&all.lock);
}

void sv_signals_wait(void) {
    pthread_mutex_lock(&all.lock);
    while (!all.asked) pthread_cond_wait(&all.changed, &all.lock);
    pthread_mutex_unlock(&all.lock);
}

void sv_signals_end(void) {
    pthread_mutex_lock(&all.lock);
    all.reload = NULL;
    pthread_mutex_unlock(&all.lock);
}

/* Conditions of threads that wait for so long at most, by the clock that never goes back. */
#ifndef SERVE_WAITING_H
#define SERVE_WAITING_H

#include <pthread.h>
#include <stdbool.h>

#include "clock.h"

static inline void sv_waiting_begin(pthread_cond_t *condition) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Until that moment of sv_clock_seconds. false: it has come before anything else. */
static inline bool sv_waiting_until(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds) {
    struct timespec until = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}

#endif

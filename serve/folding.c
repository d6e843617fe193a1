#include "folding.h"

#include <pthread.h>
#include <stdlib.h>

#include "clock.h"
#include "thread_name.h"

enum { PAGES = 1000 }; /* 4 MB of log */
static const double SECONDS = 0.1;

struct folding {
    sv_store *store;
    const sv_store *writer;
    pthread_t thread;
    pthread_mutex_t lock; /* of stop */
    pthread_cond_t stopping;
    bool stop;
};

static bool wait(sv_folding *self) {
    double seconds = clock_seconds() + SECONDS;
    struct timespec until = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pthread_mutex_lock(&self->lock);
    if (!self->stop) pthread_cond_timedwait(&self->stopping, &self->lock, &until);
    bool stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    return !stop;
}

static void *work(void *user) {
    sv_folding *self = user;
    thread_name("folding");
    while (wait(self))
        if (store_log_pages(self->writer) >= PAGES) store_fold(self->store);
    return NULL;
}

sv_folding *folding_start(sv_store *store, const sv_store *writer) {
    pthread_condattr_t monotonic;
    sv_folding *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->store = store;
    self->writer = writer;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->stopping, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&self->thread, NULL, work, self)) {
        free(self);
        return NULL;
    }
    return self;
}

void folding_stop(sv_folding *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->stopping);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    store_close(self->store);
    pthread_cond_destroy(&self->stopping);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

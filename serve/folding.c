#include "folding.h"

#include <pthread.h>
#include <stdlib.h>

#include "thread_name.h"
#include "waiting.h"

enum { PAGES = 1000 }; /* 4 MB of log */
/* An emptying that finds a reader waits twice as long before each further try. */
static const double SECONDS = 0.1, FIRST_PAUSE = 0.02, LONGEST_PAUSE = 1, EMPTYING_SECONDS = 20;

struct folding {
    sv_store *store, *writer;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t changed;
    sv_emptying *waiting;
    bool stop;

    double next, pause; /* the thread's own: of the next try to empty the log */
};

/* Until there is something to do, or for SECONDS. false: it stops. */
static bool wait(sv_folding *self) {
    double now = sv_clock_seconds(), until = now + SECONDS;
    pthread_mutex_lock(&self->lock);
    if (self->waiting && self->next < until) until = self->next;
    if (!self->stop && until > now) sv_waiting_until(&self->changed, &self->lock, until);
    bool stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    return !stop;
}

static sv_emptying *take_all(sv_folding *self) {
    pthread_mutex_lock(&self->lock);
    sv_emptying *all = self->waiting;
    self->waiting = NULL;
    pthread_mutex_unlock(&self->lock);
    return all;
}

static void put_back(sv_folding *self, sv_emptying *one) {
    pthread_mutex_lock(&self->lock);
    one->next = self->waiting;
    self->waiting = one;
    pthread_mutex_unlock(&self->lock);
}

static sv_store_status see(sv_folding *self, sv_store_status status) {
    if (status == STORE_FAILED) sv_store_ruin(self->writer, sv_store_sentence(self->store));
    return status;
}

/* Each one was put here after its erasure was committed, so one emptying serves all. */
static void empty(sv_folding *self, bool last) {
    double now = sv_clock_seconds();
    sv_emptying *all = now >= self->next || last ? take_all(self) : NULL;
    if (!all) return;
    bool done = see(self, sv_store_empty_log(self->store)) == STORE_OK;
    for (sv_emptying *next; all; all = next) {
        next = all->next;
        if (done || last || now >= all->until)
            all->end(all, done);
        else
            put_back(self, all);
    }
    self->pause = done ? FIRST_PAUSE : self->pause * 2 < LONGEST_PAUSE ? self->pause * 2 : LONGEST_PAUSE;
    self->next = done ? 0 : now + self->pause;
}

static void *work(void *user) {
    sv_folding *self = user;
    sv_thread_name("folding");
    while (wait(self)) {
        empty(self, false);
        if (sv_store_log_pages(self->writer) >= PAGES) see(self, sv_store_fold(self->store));
    }
    empty(self, true);
    return NULL;
}

void sv_folding_empty(sv_folding *self, sv_emptying *who) {
    who->until = sv_clock_seconds() + EMPTYING_SECONDS;
    pthread_mutex_lock(&self->lock);
    bool stopped = self->stop;
    if (!stopped) {
        who->next = self->waiting;
        self->waiting = who;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    if (stopped) who->end(who, false);
}

sv_folding *sv_folding_start(sv_store *store, sv_store *writer) {
    sv_folding *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->store = store;
    self->writer = writer;
    self->pause = FIRST_PAUSE;
    pthread_mutex_init(&self->lock, NULL);
    sv_waiting_begin(&self->changed);
    if (pthread_create(&self->thread, NULL, work, self)) {
        free(self);
        return NULL;
    }
    return self;
}

void sv_folding_stop(sv_folding *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}

void sv_folding_destroy(sv_folding *self) {
    if (!self) return;
    sv_store_close(self->store);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

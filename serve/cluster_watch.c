/* A database that hangs, or a network that swallows everything, says nothing: the beat waits for its answer
 * as all sessions do. A thread looks at the time. After SHARED_SILENCE seconds it says so, and ends the
 * sessions: who waits gets 503, and they are made again. */
#include "cluster_own.h"
#include "thread_name.h"

static const double WATCH_SECONDS = 0.25;

bool sv_cluster_is_silent(const sv_cluster *self) { return atomic_load(&self->silent); }

static void look(sv_cluster *self) {
    static const double silence = SHARED_SILENCE_SECONDS;
    double asked = atomic_load(&self->asked);
    if (asked > 0 && sv_clock_seconds() - asked > silence) {
        atomic_store(&self->silent, true);
        sv_cluster_set_trouble(
            self, "the database cannot be used: it has not answered for " SHARED_SILENCE " seconds", false);
    }
    if (!atomic_load(&self->silent)) return;
    if (atomic_load(&self->service->stopping))
        sv_shared_give_up(); /* a stop does not wait for it */
    else
        sv_shared_cut(silence); /* not those that were made since */
}

static void *work(void *user) {
    sv_cluster *self = user;
    sv_thread_name("watch");
    pthread_mutex_lock(&self->lock);
    while (!self->unwatched) {
        sv_waiting_until(&self->told_watch, &self->lock, sv_clock_seconds() + WATCH_SECONDS);
        pthread_mutex_unlock(&self->lock);
        look(self);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

bool sv_cluster_start_watch(sv_cluster *self) {
    self->watches = pthread_create(&self->watch_thread, NULL, work, self) == 0;
    return self->watches;
}

void sv_cluster_stop_watch(sv_cluster *self) {
    if (!self->watches) return;
    pthread_mutex_lock(&self->lock);
    self->unwatched = true;
    pthread_cond_signal(&self->told_watch);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->watch_thread, NULL);
    self->watches = false;
}

/* That this server is there. A thread of its own says so twice a second, on a connection of its own, and its
 * commits do not wait for the disk: neither a slow disk nor a large policy makes a server silent. One that is
 * stopped or cut off is, and others take over what it held (SHARED_SILENCE). */
#include <stdio.h>
#include <string.h>

#include "cluster_own.h"
#include "thread_name.h"
#include <superarm/superarm.h>

static const double BEAT_SECONDS = 0.5;
static const double GRACE_SECONDS = 2; /* in which servers that were there say so after a database returns */

static sv_store_status say(sv_cluster *self) {
    char keys[sizeof self->keys];
    pthread_mutex_lock(&self->lock);
    memcpy(keys, self->keys, sizeof keys);
    self->news = false;
    sv_shared_server me = {.id = self->id,
                           .name = self->name,
                           .version = sa_version(),
                           .keys = keys,
                           .learns = self->learning != LEARNING_NO && !*self->scratch_trouble &&
                                     !atomic_load(&self->stop),
                           .backend = self->backend};
    pthread_mutex_unlock(&self->lock);
    return sv_shared_beat(self->beat_store, &me);
}

/* ---- being let in ---- */

typedef struct others {
    const char *keys;
    size_t count, same;
} others;

static void see_other(void *user, const sv_shared_server *server) {
    others *self = user;
    self->count++;
    self->same += !strcmp(server->keys, self->keys);
}

/* Servers that others cannot tell apart take the same keys. One server at a time looks who is there and joins
 * them, so that two which start together see each other. Who is refused has written nothing. */
sv_store_status sv_cluster_join(sv_cluster *self, sv_refusal *why) {
    char keys[sizeof self->keys];
    sv_store *store = self->beat_store;
    pthread_mutex_lock(&self->lock);
    memcpy(keys, self->keys, sizeof keys);
    pthread_mutex_unlock(&self->lock);
    others all = {.keys = keys};
    sv_store_status status = sv_store_begin(store);
    if (status == STORE_OK) status = sv_shared_join(store);
    if (status == STORE_OK) status = sv_shared_servers(store, see_other, &all);
    if (status == STORE_OK && all.count && !all.same) {
        status = STORE_NONE;
        sv_refuse(why, 400,
                  "the servers that share this database, %zu, have other --keys than this one: give all of "
                  "them the same file, and send SIGHUP to those that run (one that was killed counts "
                  "for " SHARED_SILENCE " seconds)",
                  all.count);
    }
    if (status == STORE_OK) status = say(self);
    if (status == STORE_OK) status = sv_store_commit(store);
    if (status != STORE_OK) sv_store_rollback(store);
    if (status == STORE_OK) atomic_store(&self->joined, true);
    return status;
}

/* ---- the thread ---- */

/* A database that is gone says so in several ways, of which one is enough in the log. */
void sv_cluster_set_trouble(sv_cluster *self, const char *sentence, bool refused) {
    pthread_mutex_lock(&self->lock);
    bool before = *self->trouble, other = strncmp(self->trouble, sentence, sizeof self->trouble - 1);
    snprintf(self->trouble, sizeof self->trouble, "%.319s", sentence);
    pthread_mutex_unlock(&self->lock);
    if (before != (*sentence != 0) || (refused && other))
        fprintf(stderr, "superarm serve: %s%s\n", *sentence ? sentence : "the database is there again",
                *sentence ? ": it is tried again, and answers are 503 until then" : "");
}

bool sv_cluster_trouble(sv_cluster *self, char sentence[320]) {
    pthread_mutex_lock(&self->lock);
    bool troubled = *self->trouble;
    memcpy(sentence, self->trouble, sizeof self->trouble);
    pthread_mutex_unlock(&self->lock);
    if (troubled || sv_cluster_is_open(self)) return troubled;
    snprintf(sentence, 320, "the database is not there yet, and agents are not known: try again");
    return true;
}

/* The database was not there at the start. Servers that ran before it went come first. */
static sv_store_status join_late(sv_cluster *self, sv_refusal *why) {
    double now = sv_clock_seconds();
    others any = {.keys = ""};
    sv_store_status status = sv_shared_servers(self->beat_store, see_other, &any);
    if (status != STORE_OK)
        self->there_since = 0;
    else if (self->there_since == 0)
        self->there_since = now;
    if (status != STORE_OK || now - self->there_since < GRACE_SECONDS) return STORE_LATER;
    return sv_cluster_join(self, why);
}

/* true: it was said. */
static bool beat(sv_cluster *self) {
    sv_refusal why = {0};
    bool joined = atomic_load(&self->joined);
    sv_store_status status = joined ? say(self) : join_late(self, &why);
    const char *sentence = status == STORE_OK ? ""
                           : why.status       ? why.message
                                              : sv_store_sentence(self->beat_store);
    if (status == STORE_OK) atomic_store(&self->silent, false);
    sv_cluster_set_trouble(self, sentence, why.status);
    return status == STORE_OK;
}

/* One more before it leaves: a database that hangs then is seen by it, too. */
static void *work(void *user) {
    sv_cluster *self = user;
    sv_thread_name("beat");
    for (bool last = false; !last;) {
        last = atomic_load(&self->leaves);
        double until = sv_clock_seconds() + BEAT_SECONDS;
        atomic_store(&self->asked, sv_clock_seconds());
        bool good = beat(self);
        atomic_store(&self->asked, 0);
        pthread_mutex_lock(&self->lock);
        while (!(good && self->news) && !atomic_load(&self->leaves))
            if (!sv_waiting_until(&self->told_beat, &self->lock, until)) break;
        pthread_mutex_unlock(&self->lock);
    }
    return NULL;
}

void sv_cluster_tell(sv_cluster *self) {
    pthread_mutex_lock(&self->lock);
    self->news = true;
    pthread_cond_signal(&self->told_beat);
    pthread_mutex_unlock(&self->lock);
}

void sv_cluster_set_backend(sv_cluster *self, int backend) {
    pthread_mutex_lock(&self->lock);
    self->news = self->news || self->backend != backend;
    self->backend = backend;
    pthread_cond_signal(&self->told_beat);
    pthread_mutex_unlock(&self->lock);
}

bool sv_cluster_start_beat(sv_cluster *self) {
    self->beats = pthread_create(&self->beat_thread, NULL, work, self) == 0;
    return self->beats;
}

void sv_cluster_stop_beat(sv_cluster *self) {
    if (!self->beats) return;
    pthread_mutex_lock(&self->lock);
    atomic_store(&self->leaves, true);
    pthread_cond_signal(&self->told_beat);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->beat_thread, NULL);
    self->beats = false;
}

#include "readers.h"

void sv_readers_begin(sv_readers *self) {
    *self = (sv_readers){0};
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->returned, NULL);
}

static sv_store *open_one(sv_readers *self, sv_refusal *why) {
    sa_buffer sentence = {0};
    sv_store *made = sv_store_open(self->place, false, &sentence);
    if (!made) sv_refuse(why, 503, "%s", sentence.size ? sentence.text : "memory could not be had");
    sa_buffer_clear(&sentence);
    return made;
}

sv_store *sv_readers_take(sv_readers *self, sv_refusal *why) {
    sv_store *taken = NULL;
    pthread_mutex_lock(&self->lock);
    while (!self->free_count && self->opened == READERS) pthread_cond_wait(&self->returned, &self->lock);
    if (self->free_count)
        taken = self->free[--self->free_count];
    else
        self->opened++;
    pthread_mutex_unlock(&self->lock);
    if (taken || (taken = open_one(self, why))) return taken;
    pthread_mutex_lock(&self->lock);
    self->opened--;
    pthread_cond_signal(&self->returned);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

void sv_readers_give_back(sv_readers *self, sv_store *reader) {
    pthread_mutex_lock(&self->lock);
    self->free[self->free_count++] = reader;
    pthread_cond_signal(&self->returned);
    pthread_mutex_unlock(&self->lock);
}

void sv_readers_end(sv_readers *self) {
    while (self->free_count) sv_store_close(self->free[--self->free_count]);
    pthread_cond_destroy(&self->returned);
    pthread_mutex_destroy(&self->lock);
}

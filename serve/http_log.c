#define _GNU_SOURCE
#include "http_log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "thread_name.h"

enum { ROOM = 1 << 20, STACK = 256 << 10 };

struct http_log {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled;
    char *lines; /* (ROOM) what waits */
    size_t size;
    bool stop;
    char *writing; /* (ROOM) the thread's own */
};

/* A reader that has stopped keeps this thread waiting, but not for longer than a second once it must end. */
static void write_all(sv_http_log *self, size_t size) {
    struct pollfd waits = {.fd = STDERR_FILENO, .events = POLLOUT};
    for (size_t at = 0; at < size;) {
        size_t part = size - at < 4096 ? size - at : 4096; /* a pipe that has room takes this much */
        if (poll(&waits, 1, 1000) > 0) {
            ssize_t wrote = write(STDERR_FILENO, self->writing + at, part);
            if (wrote < 0 && errno != EINTR && errno != EAGAIN) return;
            at += wrote > 0 ? (size_t)wrote : 0;
            continue;
        }
        pthread_mutex_lock(&self->lock);
        bool stop = self->stop;
        pthread_mutex_unlock(&self->lock);
        if (stop) return;
    }
}

static void *work(void *user) {
    sv_http_log *self = user;
    sv_thread_name("log");
    pthread_mutex_lock(&self->lock);
    while (!self->stop || self->size) {
        while (!self->size && !self->stop) pthread_cond_wait(&self->filled, &self->lock);
        char *full = self->lines;
        size_t size = self->size;
        self->lines = self->writing;
        self->writing = full;
        self->size = 0;
        pthread_mutex_unlock(&self->lock);
        write_all(self, size);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

sv_http_log *sv_http_log_start(void) {
    pthread_attr_t about;
    sv_http_log *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->lines = malloc(ROOM);
    self->writing = malloc(ROOM);
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->filled, NULL);
    pthread_attr_init(&about);
    pthread_attr_setstacksize(&about, STACK);
    bool good = self->lines && self->writing && !pthread_create(&self->thread, &about, work, self);
    pthread_attr_destroy(&about);
    if (good) return self;
    free(self->lines);
    free(self->writing);
    free(self);
    return NULL;
}

bool sv_http_log_add(sv_http_log *self, const sa_buffer *line) {
    if (line->status || !line->size) return false;
    pthread_mutex_lock(&self->lock);
    bool room = self->size + line->size <= ROOM;
    if (room) {
        memcpy(self->lines + self->size, line->text, line->size);
        if (!self->size) pthread_cond_signal(&self->filled);
        self->size += line->size;
    }
    pthread_mutex_unlock(&self->lock);
    return room;
}

void sv_http_log_stop(sv_http_log *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->lock);
    free(self->lines);
    free(self->writing);
    free(self);
}

#define _GNU_SOURCE
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_loop.h"

enum { ACCEPTS = 64 }; /* in one turn */
static const double LISTEN_PAUSE = 0.05;

static void turn_away(sv_http *self, int socket) {
    sv_refusal why = {0};
    sv_refuse(&why, 503, "there are too many connections: try again later");
    sv_http_say(self, socket, &why);
    close(socket);
}

/* Room for one more from there, if need be by closing the one that is missed least. */
static bool make_room(sv_http *self, const struct sockaddr *from) {
    sv_connection *instead;
    if (sv_http_connections_has_room(&self->connections, from, self->now, &instead)) return true;
    if (self->options.turned_away) atomic_fetch_add(self->options.turned_away, 1);
    if (!instead) return false;
    sv_http_close(self, instead);
    return true;
}

static bool add_connection(sv_http *self, int socket, const struct sockaddr *from) {
    sv_connection *made = sv_http_connections_add(&self->connections, socket, from, self->now);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = made};
    if (!made) return false;
    made->window = self->window - 1;
    if (epoll_ctl(self->epoll, EPOLL_CTL_ADD, socket, &event)) {
        sv_http_connections_remove(&self->connections, made);
        sv_http_connections_free(made);
        return false;
    }
    sv_http_count_open(self);
    return true;
}

void sv_http_watch_listener(sv_http *self, bool on) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &self->listener};
    epoll_ctl(self->epoll, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, self->listener, &event);
}

/* Descriptors or memory are short: one that is missed least goes, and it is tried again a little later. */
static void pause_listening(sv_http *self) {
    sv_connection *rests = sv_http_connections_first(&self->connections, CONNECTION_NEW);
    if (!rests) rests = sv_http_connections_first(&self->connections, CONNECTION_RESTING);
    if (rests) sv_http_close(self, rests);
    sv_http_watch_listener(self, false);
    self->listen_again = self->now + LISTEN_PAUSE;
}

void sv_http_accept(sv_http *self) {
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage from = {0};
        socklen_t size = sizeof from;
        int got = accept4(self->listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (got < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (got < 0) {
            if (errno != EAGAIN) pause_listening(self);
            return;
        }
        if (!make_room(self, (struct sockaddr *)&from))
            turn_away(self, got);
        else if (!add_connection(self, got, (struct sockaddr *)&from)) {
            turn_away(self, got);
            pause_listening(self);
            return;
        }
    }
}

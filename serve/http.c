#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "http_line.h"
#include "http_listen.h"
#include "http_loop.h"
#include "thread_name.h"

enum { EVENTS = 256, TURN_MILLISECONDS = 100, OTHER_FILES = 256, STACK = 1 << 20 };
static const double REST_SECONDS = 60, SEND_SECONDS = 300, LEAVE_SECONDS = 2;

bool sv_http_is_loopback(const char *address) {
    return !strncmp(address, "127.", 4) || !strcmp(address, "::1") || !strcmp(address, "localhost");
}

/* ---- requests ---- */

bool sv_http_hold(sv_http *self, sv_request *request, size_t bytes) {
    size_t held = atomic_load(&self->held), budget = (size_t)self->options.body_memory;
    /* an eighth is for small bodies, so that large ones cannot take it all */
    if (request->held + bytes > SMALL_BODY) budget -= budget / 8;
    if (bytes > budget || held > budget - bytes) return false;
    request->held += bytes;
    atomic_fetch_add(&self->held, bytes);
    if (self->options.held) atomic_store(self->options.held, held + bytes);
    return true;
}

void sv_http_let_go(sv_http *self, sv_request *request) {
    size_t held = atomic_fetch_sub(&self->held, request->held) - request->held;
    if (self->options.held) atomic_store(self->options.held, held);
    request->held = 0;
}

void sv_http_end_request(sv_http *self, sv_connection *connection) {
    sv_request *request = connection->request;
    if (!request) return;
    sv_exchange *exchange = &request->exchange;
    double seconds = sv_clock_seconds() - exchange->begin;
    bool wanted =
        self->options.log == LOG_REQUESTS || (self->options.log == LOG_ERRORS && exchange->status >= 400);
    if (request->seen && wanted && self->log) sv_http_line_write(exchange, seconds, self->log);
    if (exchange->file >= 0) close(exchange->file);
    sv_http_let_go(self, request);
    if (request->seen) self->options.end(exchange, seconds);
    free(request->head);
    free(request);
    connection->request = NULL;
}

/* ---- connections ---- */

void sv_http_count_open(sv_http *self) {
    if (self->options.open) atomic_store(self->options.open, (unsigned)self->connections.count);
}

void sv_http_queue(sv_http *self, sv_connection *connection) {
    if (connection->queued) return;
    connection->queued = true;
    connection->next_queued = NULL;
    *self->last_queued = connection;
    self->last_queued = &connection->next_queued;
}

void sv_http_close(sv_http *self, sv_connection *connection) {
    if (connection->state == CONNECTION_GONE) return;
    sv_http_end_request(self, connection);
    close(connection->socket);
    sv_http_connections_remove(&self->connections, connection);
    sv_http_count_open(self);
    sv_http_queue(self, connection); /* where it is freed */
}

/* ---- time ---- */

static void end_late(sv_http *self, sv_connection_state state, double seconds, int status,
                     const char *sentence) {
    sv_connection *first;
    while ((first = sv_http_connections_first(&self->connections, state)) &&
           self->now - first->since > seconds) {
        sv_refusal why = {0};
        if (!status) {
            sv_http_close(self, first);
            continue;
        }
        sv_refuse(&why, status, "%s", sentence);
        if (first->request) { /* for the line and the metrics */
            first->close = true;
            sv_exchange_refuse(&first->request->exchange, &why);
            sv_http_answer(self, first);
        } else
            sv_http_turn_away(self, first, &why);
    }
}

static void look_at_clock(sv_http *self) {
    double seconds = self->options.request_seconds,
           rest = REST_SECONDS < 2 * seconds ? REST_SECONDS : 2 * seconds;
    end_late(self, CONNECTION_READING, seconds, 408, "the whole request did not arrive in time");
    end_late(self, CONNECTION_NEW, rest, 0, NULL);
    end_late(self, CONNECTION_RESTING, rest, 0, NULL);
    end_late(self, CONNECTION_SENDING, SEND_SECONDS, 0, NULL);
    end_late(self, CONNECTION_LEAVING, LEAVE_SECONDS, 0, NULL);
    if (self->listen_again > 0 && self->now >= self->listen_again && self->drain_until == 0) {
        self->listen_again = 0;
        sv_http_watch_listener(self, true);
    }
    if ((unsigned)self->now != self->window) {
        self->window = (unsigned)self->now;
        self->of_last_window = self->of_window;
        self->of_window = 0;
    }
    if (self->options.active)
        atomic_store(self->options.active,
                     self->of_window > self->of_last_window ? self->of_window : self->of_last_window);
}

/* ---- the loop ---- */

static void go_on(sv_http *self, sv_connection *connection) {
    if (connection->state == CONNECTION_GONE) return;
    if (connection->state == CONNECTION_SENDING) sv_http_send(self, connection);
    if (connection->readable || connection->pending) sv_http_read(self, connection);
}

static void take_event(sv_http *self, const struct epoll_event *event) {
    sv_connection *connection = event->data.ptr;
    uint64_t count;
    if (event->data.ptr == &self->listener)
        sv_http_accept(self);
    else if (event->data.ptr == &self->wake) {
        if (read(self->wake, &count, sizeof count) < 0) { /* woken all the same */
        }
    } else if (connection->state != CONNECTION_GONE) {
        if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->readable = true;
        if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) connection->hung_up = true;
        if (connection->state == CONNECTION_SENDING && !(event->events & EPOLLOUT)) {
            if (event->events & (EPOLLHUP | EPOLLERR)) sv_http_close(self, connection);
        } else
            go_on(self, connection);
    }
}

/* What lanes and the writer have answered. */
static bool take_done(sv_http *self) {
    pthread_mutex_lock(&self->lock);
    sv_exchange *each = self->done;
    self->done = NULL;
    self->last_done = &self->done;
    bool stop = self->stop;
    self->drain_until = self->drain;
    pthread_mutex_unlock(&self->lock);
    for (sv_exchange *next; each; each = next) {
        sv_connection *connection = ((sv_request *)each)->connection;
        next = each->next;
        sv_http_answer(self, connection);
        go_on(self, connection);
    }
    return stop;
}

static void take_queued(sv_http *self) {
    sv_connection *each = self->queued, *next;
    self->queued = NULL;
    self->last_queued = &self->queued;
    for (; each; each = next) {
        next = each->next_queued;
        each->queued = false;
        if (each->state == CONNECTION_GONE)
            sv_http_connections_free(each);
        else
            go_on(self, each);
    }
}

static size_t open_requests(const sv_http *self) {
    const size_t *counts = self->connections.counts;
    return counts[CONNECTION_READING] + counts[CONNECTION_WORKING] + counts[CONNECTION_SENDING] +
           counts[CONNECTION_LEAVING];
}

/* No new connections; those that rest end, and those that are read have a third of the time. true: nothing is
 * left to answer, or it is too late. */
static bool drain(sv_http *self, double begin) {
    if (self->listener >= 0) {
        close(self->listener);
        self->listener = -1;
    }
    end_late(self, CONNECTION_NEW, -1, 0, NULL);
    end_late(self, CONNECTION_RESTING, -1, 0, NULL);
    if (self->now - begin > (self->drain_until - begin) / 3)
        end_late(self, CONNECTION_READING, -1, 503, "the service is stopping");
    return !open_requests(self) || self->now >= self->drain_until;
}

static void cut_all(sv_http *self) {
    sv_connection *each;
    sv_refusal why = {0};
    sv_refuse(&why, 503, "the service is stopping");
    while ((each = sv_http_connections_first(&self->connections, CONNECTION_WORKING))) {
        sv_http_say(self, each->socket, &why); /* somebody works at its request, which is left alone */
        shutdown(each->socket, SHUT_RDWR);
        sv_http_connections_remove(&self->connections, each);
        self->cut++;
    }
    for (int state = 0; state < CONNECTION_STATES; state++)
        while ((each = sv_http_connections_first(&self->connections, (sv_connection_state)state)))
            sv_http_close(self, each);
    while (self->queued) take_queued(self);
}

static void *work(void *user) {
    sv_http *self = user;
    struct epoll_event events[EVENTS];
    double clock = 0, drain_begin = 0;
    sv_thread_name("http");
    for (bool stop = false; !stop;) {
        int count = epoll_wait(self->epoll, events, EVENTS, self->queued ? 0 : TURN_MILLISECONDS);
        self->now = sv_clock_seconds();
        for (int i = 0; i < count; i++) take_event(self, &events[i]);
        bool drains = take_done(self);
        take_queued(self);
        if (self->now - clock > 1e-3 * TURN_MILLISECONDS || drains) {
            clock = self->now;
            look_at_clock(self);
        }
        if (!drains) continue;
        if (!drain_begin) drain_begin = self->now;
        stop = drain(self, drain_begin);
    }
    cut_all(self);
    return NULL;
}

/* ---- the server ---- */

/* More descriptors, as far as the system allows; fewer connections where it does not. */
static void find_limits(sv_http_options *options) {
    struct rlimit limit;
    if (!options->connections) options->connections = LIMIT_CONNECTIONS;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        rlim_t wanted = options->connections + OTHER_FILES;
        if (limit.rlim_cur < wanted) {
            limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
            setrlimit(RLIMIT_NOFILE, &limit);
            getrlimit(RLIMIT_NOFILE, &limit);
        }
        if (limit.rlim_cur < wanted)
            options->connections = limit.rlim_cur > 2 * OTHER_FILES ? (unsigned)limit.rlim_cur - OTHER_FILES
                                                                    : (unsigned)limit.rlim_cur / 2;
    }
    if (!options->of_address) options->of_address = options->connections / 2;
    if (!(options->body_memory > 0)) options->body_memory = LIMIT_BODIES;
}

static bool open_all(sv_http *self, sv_refusal *why) {
    sv_http_lanes_options about = {.quick = self->options.threads, .answer = self->options.answer};
    pthread_attr_t small;
    self->listener = sv_http_listen(self->options.address, self->options.port, &self->port, why);
    if (self->listener < 0) return false;
    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &self->wake};
    if (self->epoll < 0 || self->wake < 0 || epoll_ctl(self->epoll, EPOLL_CTL_ADD, self->wake, &event))
        return sv_refuse(why, 503, "no descriptors could be had: %s", strerror(errno));
    sv_http_watch_listener(self, true);
    if (self->options.log != LOG_NONE && !(self->log = sv_http_log_start()))
        return sv_refuse(why, 503, "no thread could be had");
    self->lanes = sv_http_lanes_start(&about);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    self->running = self->lanes && !pthread_create(&self->thread, &small, work, self);
    pthread_attr_destroy(&small);
    return self->running || sv_refuse(why, 503, "no thread could be had");
}

sv_http *sv_http_start(const sv_http_options *options, sv_refusal *why) {
    sv_http *self = calloc(1, sizeof *self);
    if (!self) {
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->options = *options;
    self->listener = self->epoll = self->wake = -1;
    self->last_queued = &self->queued;
    self->last_done = &self->done;
    pthread_mutex_init(&self->lock, NULL);
    signal(SIGPIPE, SIG_IGN);
    find_limits(&self->options);
    sv_http_connections_begin(&self->connections, self->options.connections, self->options.of_address);
    if (open_all(self, why)) return self;
    sv_http_stop(self);
    return NULL;
}

unsigned sv_http_port(const sv_http *self) { return self->port; }

size_t sv_http_drain(sv_http *self, double seconds) {
    uint64_t one = 1;
    if (!self->running) return self->cut;
    pthread_mutex_lock(&self->lock);
    self->drain = sv_clock_seconds() + seconds;
    self->stop = true;
    pthread_mutex_unlock(&self->lock);
    if (write(self->wake, &one, sizeof one) < 0) { /* it looks by itself, too */
    }
    pthread_join(self->thread, NULL);
    self->running = false;
    return self->cut;
}

void sv_http_stop(sv_http *self) {
    if (!self) return;
    if (sv_http_drain(self, 0)) return; /* threads still work at requests */
    sv_http_lanes_stop(self->lanes);
    sv_http_log_stop(self->log);
    if (self->listener >= 0) close(self->listener);
    if (self->epoll >= 0) close(self->epoll);
    if (self->wake >= 0) close(self->wake);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* What the files of the HTTP server share. One thread, the loop, owns sockets and connections; requests are
 * answered in lanes and come back through a list. */
#ifndef SERVE_HTTP_LOOP_H
#define SERVE_HTTP_LOOP_H

#include <pthread.h>
#include <stdatomic.h>

#include "http_chunks.h"
#include "http_connections.h"
#include "http_head.h"
#include "http_lanes.h"
#include "http_log.h"
#include "http_options.h"

enum {
    READ_SIZE = 64 << 10, /* bytes read at a time, into one buffer for all */
    READS = 4,            /* and requests begun in one turn, of one connection, before the others' */
    REQUESTS = 16,
    DISCARD =
        1 << 20, /* bytes of a refused request's body that are read, so that its connection stays of use */
    SMALL_BODY = 64 << 10
};

typedef struct request {
    sv_exchange exchange; /* first */
    sv_http *http;
    sv_connection *connection;
    char *head; /* its bytes; the exchange's texts are in it */
    sv_http_chunks chunks;
    uint64_t left;                /* of a body with a length */
    size_t most, discarded, held; /* held: bytes counted against the budget */
    bool chunked, admitted, only_head, seen;
} sv_request;

struct http {
    sv_http_options options;
    sv_http_connections connections;
    sv_http_lanes *lanes;
    sv_http_log *log;
    pthread_t thread;
    bool running;
    int epoll, listener, wake; /* wake: an eventfd */
    unsigned port;
    char buffer[READ_SIZE];
    sv_connection *queued, **last_queued; /* those that have more to do at once */
    double now, listen_again;             /* listen_again: when descriptors or memory were short */
    unsigned window, of_window, of_last_window;
    double drain_until; /* as the loop knows it */
    char date[64];
    int64_t date_second;

    atomic_size_t held; /* bytes of bodies, and of answers that could not be sent at once */

    pthread_mutex_t lock;           /* of the following */
    sv_exchange *done, **last_done; /* answered in a lane, or by the writer */
    bool stop;
    double drain; /* until when; 0: not asked for */
    size_t cut;   /* requests that were not answered in time */
};

/* ---- sv_http_read.c ---- */

/* Reads what is there, and begins, goes on with and hands out requests. */
void sv_http_read(sv_http *self, sv_connection *connection);
/* The request is whole, and admitted or refused. */
void sv_http_hand_out(sv_http *self, sv_connection *connection);

/* ---- sv_http_send.c ---- */

/* The request has its answer: it is sent, as far as the socket takes it. */
void sv_http_answer(sv_http *self, sv_connection *connection);
/* Goes on with an answer. */
void sv_http_send(sv_http *self, sv_connection *connection);
/* An answer to what is no request that can be understood, or never became one; the connection ends. */
void sv_http_turn_away(sv_http *self, sv_connection *connection, const sv_refusal *why);
/* The same on a bare socket, as far as it takes it at once. */
void sv_http_say(sv_http *self, int socket, const sv_refusal *why);

/* ---- sv_http_accept.c ---- */

/* Takes the connections that wait. */
void sv_http_accept(sv_http *self);
void sv_http_watch_listener(sv_http *self, bool on);

/* ---- http.c ---- */

/* Closes it and ends its request, which nobody works at. */
void sv_http_close(sv_http *self, sv_connection *connection);
/* It goes on in the loop's next turn. */
void sv_http_queue(sv_http *self, sv_connection *connection);
/* Counts bytes of a request against the budget of all; false: it is spent. */
bool sv_http_hold(sv_http *self, sv_request *request, size_t bytes);
void sv_http_let_go(sv_http *self, sv_request *request);
void sv_http_count_open(sv_http *self);
void sv_http_end_request(sv_http *self, sv_connection *connection);

#endif

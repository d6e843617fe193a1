/* HTTP/1.1 by libmicrohttpd: a few threads, each with many connections, so that a slow client costs a slot
 * and no thread. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "exchange.h"

typedef struct http sv_http;

typedef struct http_options {
    const char *address; /* 127.0.0.1, ::1, 0.0.0.0... */
    unsigned port;       /* 0: any that is free */
    unsigned threads;
    double request_seconds; /* for a whole request to arrive */
    bool quiet;             /* no line a request on stderr */
    /* The request is known by its headers: false, it is answered; and then, with its body: answered, or
     * `later` is set. */
    bool (*admit)(sv_exchange *exchange);
    void (*answer)(sv_exchange *exchange);
    void (*end)(sv_exchange *exchange, double seconds);
    sv_service *service;      /* for the exchanges */
    atomic_uint *connections; /* counted here; NULL: nobody wants to know */
} http_options;

sv_http *http_start(const http_options *options, sv_refusal *why);
unsigned http_port(const sv_http *self);
/* Takes no more connections, and waits at most `seconds` until what was accepted is answered. */
void http_drain(sv_http *self, double seconds);
void http_stop(sv_http *self); /* NULL is fine */
/* Is it an address of this machine that nobody else can reach? */
bool http_is_loopback(const char *address);

#endif

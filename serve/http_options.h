/* What the HTTP server is told at its start. */
#ifndef SERVE_HTTP_OPTIONS_H
#define SERVE_HTTP_OPTIONS_H

#include "exchange.h"

typedef struct http sv_http;

typedef enum log_level { LOG_REQUESTS, LOG_ERRORS, LOG_NONE } sv_log_level;

typedef struct http_options {
    const char *address;              /* 127.0.0.1, ::1, 0.0.0.0... */
    unsigned port;                    /* 0: any that is free */
    unsigned threads;                 /* of the quick lane */
    double request_seconds;           /* for a whole request to arrive */
    unsigned connections, of_address; /* at a time, in all and from one address; 0: 16384, and half of it */
    double body_memory;               /* bytes of all bodies; 0: 256 MB */
    sv_log_level log;                 /* lines on stderr */
    /* The request is known by its headers: false, it is answered; and then, with its body, in a thread of a
     * lane: answered, or `later` is set, or it is moved to another lane. */
    bool (*admit)(sv_exchange *exchange);
    void (*answer)(sv_exchange *exchange);
    void (*end)(sv_exchange *exchange, double seconds);
    /* Something that was no request was refused; NULL: nobody wants to know. */
    void (*refused)(sv_service *service, const sv_refusal *why, const char *from);
    sv_service *service; /* for the exchanges */
    /* Counted here; NULL: nobody wants to know. `active`: connections that had a request within the last
     * second or two; `turned_away`: connections for which there was no room, or that made some for others. */
    atomic_uint *open, *active;
    atomic_uint_fast64_t *turned_away;
    atomic_size_t *held; /* bytes of bodies */
} sv_http_options;

#endif

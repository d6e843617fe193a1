/* A listening socket and the thread that accepts. libmicrohttpd's own threads race for new connections, and
 * the first to wake takes most of them; given to it one by one, they are spread evenly. */
#ifndef SERVE_HTTP_LISTEN_H
#define SERVE_HTTP_LISTEN_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "refusal.h"

typedef struct http_listen sv_http_listen;

typedef struct http_listen_options {
    const char *address; /* 127.0.0.1, ::1, 0.0.0.0... */
    unsigned port;       /* 0: any that is free */
    /* Takes the connection: it is the callee's from here on. */
    void (*take)(void *user, int socket, const struct sockaddr *from, socklen_t size);
    bool (*has_room)(void *user); /* no: the rest wait in the system's queue */
    void *user;
} http_listen_options;

/* 400 where the address or port is wrong or taken. */
sv_http_listen *http_listen_start(const http_listen_options *options, sv_refusal *why);
unsigned http_listen_port(const sv_http_listen *self);
/* No connection is taken after it. */
void http_listen_stop(sv_http_listen *self); /* NULL is fine */

#endif

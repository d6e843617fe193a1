/* HTTP/1.1: one thread reads and writes for all connections, so that a client that is slow, or silent, costs
 * a connection and no thread; lanes of threads answer (http_lanes.h).
 *
 * The server is our own. libmicrohttpd 0.9.75, which was here before, waits for a mutex that it owns when
 * connections end while others wait for room, answers some errors itself in HTML, takes two Content-Length,
 * and has no budget for bodies. What is needed of HTTP is small: a strict head, a body with a length or in
 * chunks, one answer. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "http_options.h"

sv_http *sv_http_start(const sv_http_options *options, sv_refusal *why);
unsigned sv_http_port(const sv_http *self);
/* Takes no more connections, and waits at most `seconds` until what was accepted is answered; what is not by
 * then gets 503. Returns how many those were: their threads go on, and the process must end. */
size_t sv_http_drain(sv_http *self, double seconds);
void sv_http_stop(sv_http *self); /* NULL is fine */
/* Is it an address of this machine that nobody else can reach? */
bool sv_http_is_loopback(const char *address);

#endif

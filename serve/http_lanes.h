/* Threads that answer requests, in lanes that do not wait for each other: what may take long never keeps
 * what is quick waiting. */
#ifndef SERVE_HTTP_LANES_H
#define SERVE_HTTP_LANES_H

#include "exchange.h"

typedef struct http_lanes sv_http_lanes;

typedef struct http_lanes_options {
    unsigned quick; /* threads of that lane; the others have their own numbers */
    /* Answers it, or sets `later`, or moves it to another lane; in a thread of its lane. */
    void (*answer)(sv_exchange *exchange);
} sv_http_lanes_options;

/* NULL: no threads could be had. */
sv_http_lanes *sv_http_lanes_start(const sv_http_lanes_options *options);
/* Gives it to the exchange's lane; its `done` is called once it is answered, from any thread. false with a
 * refusal: the lane is full, and it stays the caller's. */
bool sv_http_lanes_put(sv_http_lanes *self, sv_exchange *exchange, sv_refusal *why);
size_t sv_http_lanes_waiting(sv_http_lanes *self, sv_lane lane);
/* Nothing may be in them any longer. */
void sv_http_lanes_stop(sv_http_lanes *self); /* NULL is fine */

#endif

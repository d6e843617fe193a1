/* A listening socket. */
#ifndef SERVE_HTTP_LISTEN_H
#define SERVE_HTTP_LISTEN_H

#include "refusal.h"

/* The socket, which does not block, and the port that it got; -1 with 400 where the address or port is wrong
 * or taken. Port 0: any that is free. */
int sv_http_listen(const char *address, unsigned port, unsigned *got, sv_refusal *why);

#endif

#define _GNU_SOURCE
#include "http_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 1024, PAUSE_MILLISECONDS = 20 };

struct http_listen {
    http_listen_options options;
    int socket, stop[2]; /* a byte in the pipe ends the thread */
    unsigned port;
    pthread_t thread;
};

static bool read_address(const http_listen_options *options, struct sockaddr_storage *out, socklen_t *size,
                         sv_refusal *why) {
    const char *address = !strcmp(options->address, "localhost") ? "127.0.0.1" : options->address;
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (strchr(address, ':')) {
        *size = sizeof *six;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)options->port);
        if (inet_pton(AF_INET6, address, &six->sin6_addr) == 1) return true;
    } else {
        *size = sizeof *four;
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)options->port);
        if (inet_pton(AF_INET, address, &four->sin_addr) == 1) return true;
    }
    return refuse(why, 400, "--bind %s is not an address", options->address);
}

static bool open_socket(sv_http_listen *self, sv_refusal *why) {
    struct sockaddr_storage address;
    socklen_t size;
    int one = 1;
    if (!read_address(&self->options, &address, &size, why)) return false;
    self->socket = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->socket >= 0) setsockopt(self->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (self->socket < 0 || bind(self->socket, (struct sockaddr *)&address, size) ||
        listen(self->socket, BACKLOG) || getsockname(self->socket, (struct sockaddr *)&address, &size))
        return refuse(why, 400, "%s port %u cannot be served: %s", self->options.address, self->options.port,
                      strerror(errno));
    self->port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                                     : ((struct sockaddr_in *)&address)->sin_port);
    return true;
}

/* Takes those that wait. Where none can be taken (no room, no descriptors), it is tried again a little
 * later. */
static bool take_waiting(sv_http_listen *self) {
    while (self->options.has_room(self->options.user)) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        int got = accept4(self->socket, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (got < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        if (got < 0) return errno == EAGAIN;
        self->options.take(self->options.user, got, (struct sockaddr *)&from, size);
    }
    return false;
}

static void *work(void *user) {
    sv_http_listen *self = user;
    struct pollfd waits[2] = {{.fd = self->stop[0], .events = POLLIN},
                              {.fd = self->socket, .events = POLLIN}};
    while (!(poll(waits, 2, -1) > 0 && waits[0].revents))
        if (!take_waiting(self)) poll(waits, 1, PAUSE_MILLISECONDS);
    return NULL;
}

sv_http_listen *http_listen_start(const http_listen_options *options, sv_refusal *why) {
    sv_http_listen *self = calloc(1, sizeof *self);
    if (!self) {
        refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->options = *options;
    self->socket = self->stop[0] = self->stop[1] = -1;
    if (!open_socket(self, why)) goto fail;
    if (pipe2(self->stop, O_CLOEXEC) || pthread_create(&self->thread, NULL, work, self)) {
        refuse(why, 503, "no thread could be had");
        goto fail;
    }
    return self;
fail:
    if (self->stop[0] >= 0) close(self->stop[0]), close(self->stop[1]);
    if (self->socket >= 0) close(self->socket);
    free(self);
    return NULL;
}

unsigned http_listen_port(const sv_http_listen *self) { return self->port; }

void http_listen_stop(sv_http_listen *self) {
    if (!self) return;
    if (write(self->stop[1], "", 1) == 1) pthread_join(self->thread, NULL);
    close(self->stop[0]);
    close(self->stop[1]);
    close(self->socket);
    free(self);
}

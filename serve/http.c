#include "http.h"

#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "clock.h"
#include "http_clients.h"
#include "http_line.h"
#include "http_listen.h"
#include "pool.h"
#include "routes.h"

enum {
    DISCARD = 1 << 20
}; /* bytes of a refused request's body that are read, so that its connection stays of use */

struct http {
    struct MHD_Daemon *daemon;
    http_options options;
    http_clients clients;
    sv_http_listen *listen; /* NULL after a drain */
    atomic_uint connections;
    atomic_uint open; /* whole requests that are not answered */
};

typedef struct request {
    sv_exchange exchange; /* first */
    sv_http *http;
    struct MHD_Connection *connection;
    sv_client *client;
    char *uri;
    bool admitted, begun, whole, suspended;
    size_t most, discarded;
} sv_request;

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* ---- answers ---- */

static const char POLICY[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static void add_headers(const sv_exchange *exchange, struct MHD_Response *response) {
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    if (exchange->status != 204 && exchange->answer_type)
        MHD_add_response_header(response, "Content-Type", exchange->answer_type);
    if (exchange->answer_type && !strncmp(exchange->answer_type, "text/html", 9)) {
        MHD_add_response_header(response, "Content-Security-Policy", POLICY);
        MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    }
    if (exchange->status == 405 && exchange->allow)
        MHD_add_response_header(response, "Allow", exchange->allow);
    if (exchange->status == 401) MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (exchange->status == 429 || exchange->status == 503)
        MHD_add_response_header(response, "Retry-After", "1");
}

static enum MHD_Result send_answer(sv_request *self) {
    sv_exchange *exchange = &self->exchange;
    struct MHD_Response *response;
    exchange_settle(exchange);
    if (exchange->file >= 0) {
        off_t size = lseek(exchange->file, 0, SEEK_END);
        response = size >= 0 ? MHD_create_response_from_fd64((uint64_t)size, exchange->file) : NULL;
        if (response) exchange->file = -1; /* the response closes it */
    } else {
        response = MHD_create_response_from_buffer(exchange->answer.size, exchange->answer.data,
                                                   MHD_RESPMEM_MUST_FREE);
        if (response)
            exchange->answer = (sv_text){.size = exchange->answer.size}; /* the size is for the line */
    }
    if (!response) return MHD_NO;
    add_headers(exchange, response);
    http_clients_set(&self->http->clients, self->client, CLIENT_ANSWERING);
    enum MHD_Result result = MHD_queue_response(self->connection, (unsigned)exchange->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Called from another thread, once. */
static void resume(sv_exchange *exchange) { MHD_resume_connection(((sv_request *)exchange)->connection); }

/* ---- requests ---- */

static void *see_request_line(void *user, const char *uri, struct MHD_Connection *connection) {
    sv_http *self = user;
    sv_request *made = calloc(1, sizeof *made);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (!made || !(made->uri = strdup(uri))) {
        free(made);
        return NULL;
    }
    made->http = self;
    made->connection = connection;
    made->client = info ? info->socket_context : NULL;
    made->exchange.file = -1;
    made->exchange.service = self->options.service;
    made->exchange.begin = clock_seconds();
    http_clients_set(&self->clients, made->client, CLIENT_READING);
    return made;
}

static void refuse_request(sv_request *self, int status, const char *sentence, int number) {
    sv_refusal why = {0};
    refuse(&why, status, "%s %d bytes", sentence, number);
    exchange_refuse(&self->exchange, &why);
    self->admitted = false;
}

/* After the headers. A refusal waits for the end of a small body. */
static enum MHD_Result take_headers(sv_request *self, const char *method) {
    sv_exchange *exchange = &self->exchange;
    const char *length = header(self->connection, "Content-Length");
    char *query = strchr(self->uri, '?');
    if (query) *query++ = 0;
    self->begun = true;
    exchange->method = method;
    exchange->path = self->uri;
    exchange->query = query;
    exchange->type = header(self->connection, "Content-Type");
    exchange->authorization = header(self->connection, "Authorization");
    exchange->host = header(self->connection, "Host");
    exchange->done = resume;
    self->admitted = self->http->options.admit(exchange);
    self->most = exchange->route && exchange->route->body == BODY_NPZ ? LIMIT_MODEL : LIMIT_BODY;
    unsigned long long announced = length ? strtoull(length, NULL, 10) : 0;
    if (self->admitted && announced > self->most)
        refuse_request(self, 413, "the body is larger than", (int)self->most);
    if (!self->admitted && announced > DISCARD) return send_answer(self);
    return MHD_YES;
}

static enum MHD_Result take_body(sv_request *self, const char *data, size_t *size) {
    if (!self->admitted) {
        self->discarded += *size;
        *size = 0;
        return self->discarded > 8 * (size_t)DISCARD ? MHD_NO : MHD_YES; /* MHD_NO: the connection is cut */
    }
    if (self->exchange.body.size + *size > self->most)
        refuse_request(self, 413, "the body is larger than", (int)self->most);
    else
        text_add(&self->exchange.body, data, *size);
    if (self->exchange.body.failed)
        refuse_request(self, 503, "memory could not be had for a body of more than", 0);
    *size = 0;
    return MHD_YES;
}

static enum MHD_Result take_request(sv_request *self) {
    sv_exchange *exchange = &self->exchange;
    http_clients_set(&self->http->clients, self->client, CLIENT_ANSWERING);
    self->whole = true;
    atomic_fetch_add(&self->http->open, 1);
    if (self->admitted) self->http->options.answer(exchange);
    if (exchange->status || !exchange->later) return send_answer(self);
    self->suspended = true;
    MHD_suspend_connection(self->connection);
    exchange->later(exchange);
    return MHD_YES;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **context) {
    sv_request *self = *context;
    (void)user, (void)connection, (void)url, (void)version;
    if (!self) return MHD_NO; /* memory is short */
    if (!self->begun) return take_headers(self, method);
    if (*size) return take_body(self, data, size);
    return self->suspended ? send_answer(self) : take_request(self);
}

static void complete(void *user, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode code) {
    sv_http *self = user;
    sv_request *request = *context;
    (void)connection, (void)code;
    if (!request) return;
    double seconds = clock_seconds() - request->exchange.begin;
    if (request->begun) {
        if (!self->options.quiet) http_line_write(&request->exchange, seconds);
        self->options.end(&request->exchange, seconds);
    }
    if (request->exchange.file >= 0) close(request->exchange.file);
    http_clients_set(&self->clients, request->client, CLIENT_IDLE);
    if (request->whole) atomic_fetch_sub(&self->open, 1);
    free(request->uri);
    free(request);
    *context = NULL;
}

static void see_connection(void *user, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode code) {
    sv_http *self = user;
    bool closed = code == MHD_CONNECTION_NOTIFY_CLOSED;
    atomic_fetch_add(&self->connections, closed ? -1u : 1u);
    if (self->options.connections) atomic_fetch_add(self->options.connections, closed ? -1u : 1u);
    if (closed) {
        http_clients_remove(&self->clients, *context);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = info ? http_clients_add(&self->clients, info->connect_fd) : NULL;
}

/* ---- the server ---- */

bool http_is_loopback(const char *address) {
    return !strncmp(address, "127.", 4) || !strcmp(address, "::1") || !strcmp(address, "localhost");
}

static void take_connection(void *user, int socket, const struct sockaddr *from, socklen_t size) {
    sv_http *self = user;
    MHD_add_connection(self->daemon, socket, from, size); /* closes it where it cannot */
}

static bool has_room(void *user) { return atomic_load(&((sv_http *)user)->connections) < LIMIT_CONNECTIONS; }

sv_http *http_start(const http_options *options, sv_refusal *why) {
    sv_http *self = calloc(1, sizeof *self);
    if (!self) goto fail;
    self->options = *options;
    signal(SIGPIPE, SIG_IGN);
    pool_install();
    if (!http_clients_start(&self->clients, options->request_seconds)) goto fail;
    self->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET, 0,
        NULL, NULL, handle, self, MHD_OPTION_THREAD_POOL_SIZE, options->threads, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)LIMIT_CONNECTIONS + options->threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)LIMIT_HEADERS, MHD_OPTION_CONNECTION_TIMEOUT, 120u, MHD_OPTION_URI_LOG_CALLBACK,
        see_request_line, self, MHD_OPTION_NOTIFY_COMPLETED, complete, self, MHD_OPTION_NOTIFY_CONNECTION,
        see_connection, self, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    http_listen_options about = {.address = options->address,
                                 .port = options->port,
                                 .take = take_connection,
                                 .has_room = has_room,
                                 .user = self};
    self->listen = self->daemon ? http_listen_start(&about, why) : NULL;
    if (self->listen) return self;
    if (self->daemon) MHD_stop_daemon(self->daemon);
    http_clients_stop(&self->clients);
fail:
    if (!why->status) refuse(why, 503, "memory or threads could not be had");
    free(self);
    return NULL;
}

unsigned http_port(const sv_http *self) { return http_listen_port(self->listen); }

void http_drain(sv_http *self, double seconds) {
    struct timespec moment = {0, 10000000};
    double until = clock_seconds() + seconds;
    http_listen_stop(self->listen);
    self->listen = NULL;
    while (atomic_load(&self->open) && clock_seconds() < until) nanosleep(&moment, NULL);
}

void http_stop(sv_http *self) {
    if (!self) return;
    http_listen_stop(self->listen);
    MHD_stop_daemon(self->daemon);
    http_clients_stop(&self->clients);
    free(self);
}

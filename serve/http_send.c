#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "http_line.h"
#include "http_loop.h"

static const struct {
    int status;
    const char *phrase;
} PHRASES[] = {{200, "OK"},
               {201, "Created"},
               {204, "No Content"},
               {400, "Bad Request"},
               {401, "Unauthorized"},
               {403, "Forbidden"},
               {404, "Not Found"},
               {405, "Method Not Allowed"},
               {408, "Request Timeout"},
               {409, "Conflict"},
               {413, "Content Too Large"},
               {414, "URI Too Long"},
               {415, "Unsupported Media Type"},
               {429, "Too Many Requests"},
               {431, "Request Header Fields Too Large"},
               {503, "Service Unavailable"},
               {505, "HTTP Version Not Supported"}};

static const char POLICY[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "Referrer-Policy: no-referrer\r\n";

static const char *phrase_of(int status) {
    for (size_t i = 0; i < sizeof PHRASES / sizeof *PHRASES; i++)
        if (PHRASES[i].status == status) return PHRASES[i].phrase;
    return "Answer";
}

static const char *date(sv_http *self) {
    time_t now = time(NULL);
    struct tm day;
    if (self->date_second == (int64_t)now) return self->date;
    self->date_second = (int64_t)now;
    gmtime_r(&now, &day);
    strftime(self->date, sizeof self->date, "%a, %d %b %Y %H:%M:%S GMT", &day);
    return self->date;
}

enum { HEAD_ROOM = 1536 };

/* Returns its size. */
static size_t write_head(sv_http *self, const sv_exchange *exchange, uint64_t length, bool close,
                         char out[HEAD_ROOM]) {
    int status = exchange->status;
    const char *type = exchange->answer_type ? exchange->answer_type : "application/json";
    bool page = !strncmp(type, "text/html", 9);
    int size = snprintf(out, HEAD_ROOM,
                        "HTTP/1.1 %d %s\r\nDate: %s\r\nX-Content-Type-Options: nosniff\r\n"
                        "Cache-Control: no-store\r\n",
                        status, phrase_of(status), date(self));
    char *at = out + size, *end = out + HEAD_ROOM;
    if (status != 204) /* which has no body */
        at += snprintf(at, (size_t)(end - at), "Content-Type: %.100s\r\nContent-Length: %llu\r\n", type,
                       (unsigned long long)length);
    at += snprintf(at, (size_t)(end - at), "%s%s%s%s", page ? POLICY : "",
                   status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
                   status == 429 || status == 503 ? "Retry-After: 1\r\n" : "",
                   close ? "Connection: close\r\n" : "");
    if (status == 405 && exchange->allow)
        at += snprintf(at, (size_t)(end - at), "Allow: %.100s\r\n", exchange->allow);
    if (exchange->code) at += snprintf(at, (size_t)(end - at), "x-ms-error-code: %.64s\r\n", exchange->code);
    at += snprintf(at, (size_t)(end - at), "\r\n");
    return (size_t)(at - out);
}

static bool sends_body(const sv_exchange *exchange) {
    return exchange->status != 204 && (!exchange->method || strcmp(exchange->method, "HEAD"));
}

/* ---- what is left of an answer ---- */

/* All of it is gone. */
static void finish(sv_http *self, sv_connection *connection) {
    bool whole = !connection->request || !connection->request->only_head;
    sv_http_end_request(self, connection);
    sa_buffer_clear(&connection->head);
    connection->sent = 0;
    if (!connection->close) {
        sv_http_connections_set(&self->connections, connection, CONNECTION_RESTING, self->now);
        connection->pending = connection->kept.size > 0;
        return;
    }
    sa_buffer_clear(&connection->kept);
    if (whole) {
        sv_http_close(self, connection);
        return;
    }
    shutdown(connection->socket, SHUT_WR);
    sv_http_connections_set(&self->connections, connection, CONNECTION_LEAVING, self->now);
    if (connection->readable) sv_http_queue(self, connection);
}

/* The socket takes no more, or is broken. */
static void pause_or_close(sv_http *self, sv_connection *connection) {
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
        sv_http_close(self, connection);
        return;
    }
    if (connection->state == CONNECTION_SENDING) return;
    sv_http_connections_set(&self->connections, connection, CONNECTION_SENDING, self->now);
    sv_request *request = connection->request;
    /* who does not read what was asked for goes when memory is short */
    if (!sv_http_hold(self, request, request->exchange.answer.size)) sv_http_close(self, connection);
}

static ssize_t send_some(const sv_connection *connection, const char *head, size_t head_size) {
    const sv_exchange *exchange = &connection->request->exchange;
    size_t body = exchange->file < 0 && sends_body(exchange) ? exchange->answer.size : 0;
    size_t sent = connection->sent, of_head = sent < head_size ? head_size - sent : 0,
           of_body = body && sent > head_size ? sent - head_size : 0;
    struct iovec parts[2] = {{(char *)head + (head_size - of_head), of_head},
                             {exchange->answer.text + of_body, body - of_body}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = body > of_body ? 2 : 1};
    if (of_head + body - of_body > 0)
        return sendmsg(connection->socket, &message, MSG_NOSIGNAL | (exchange->file >= 0 ? MSG_MORE : 0));
    if (exchange->file < 0 || !sends_body(exchange)) return 0;
    off_t at = (off_t)(sent - head_size);
    return sendfile(connection->socket, exchange->file, &at, 1 << 20);
}

static void send_on(sv_http *self, sv_connection *connection, const char *head, size_t head_size,
                    uint64_t whole) {
    while (connection->sent < whole) {
        ssize_t went = send_some(connection, head, head_size);
        if (went < 0 && errno == EINTR) continue;
        if (went == 0) errno = EPIPE; /* a file that is shorter than it was */
        if (went <= 0) {
            if (!connection->head.size) sa_buffer_bytes(&connection->head, head, head_size);
            if (connection->head.status) errno = ENOMEM;
            pause_or_close(self, connection);
            return;
        }
        connection->sent += (size_t)went;
    }
    finish(self, connection);
}

static uint64_t length_of(const sv_exchange *exchange) {
    off_t size = exchange->file >= 0 ? lseek(exchange->file, 0, SEEK_END) : 0;
    return exchange->file >= 0 ? (uint64_t)(size > 0 ? size : 0) : exchange->answer.size;
}

void sv_http_send(sv_http *self, sv_connection *connection) {
    const sv_exchange *exchange = &connection->request->exchange;
    size_t head_size = connection->head.size;
    send_on(self, connection, connection->head.text, head_size,
            head_size + (sends_body(exchange) ? length_of(exchange) : 0));
}

/* ---- new answers ---- */

static const char NO_MEMORY[] =
    "{\"error\": {\"code\": \"unavailable\", \"message\": \"memory could not be had\"}}\n";

/* An error has a body also where there was no memory for one. */
static void fill_in(sv_exchange *exchange) {
    if (exchange->status < 400 || exchange->answer.size || exchange->file >= 0) return;
    exchange->answer_type = "application/json";
    sa_buffer_bytes(&exchange->answer, NO_MEMORY, sizeof NO_MEMORY - 1);
}

void sv_http_answer(sv_http *self, sv_connection *connection) {
    char head[HEAD_ROOM];
    sv_request *request = connection->request;
    sv_exchange *exchange = &request->exchange;
    sv_exchange_settle(exchange);
    size_t body_size = exchange->body.size; /* for the line */
    sa_buffer_clear(&exchange->body);
    exchange->body.size = body_size;
    sv_http_let_go(self, request);
    fill_in(exchange);
    if (request->left || (request->chunked && request->chunks.place != CHUNK_END))
        connection->close = request->only_head = true; /* the rest of its body is not read */
    if (self->drain_until > 0) connection->close = true;
    uint64_t length = length_of(exchange);
    size_t size = write_head(self, exchange, length, connection->close, head);
    connection->sent = 0;
    send_on(self, connection, head, size, size + (sends_body(exchange) ? length : 0));
}

/* A whole answer in `out`; its size. */
static void write_refusal(sv_http *self, const sv_refusal *why, sa_buffer *out) {
    char head[HEAD_ROOM];
    sv_exchange answer = {.status = why->status, .file = -1};
    sv_refusal_write(why, NULL, &answer.answer);
    size_t size = write_head(self, &answer, answer.answer.size, true, head);
    sa_buffer_bytes(out, head, size);
    sa_buffer_bytes(out, answer.answer.text, answer.answer.size);
    if (answer.answer.status) out->status = SA_OUT_OF_MEMORY;
    sa_buffer_clear(&answer.answer);
}

void sv_http_say(sv_http *self, int socket, const sv_refusal *why) {
    sa_buffer all = {0};
    write_refusal(self, why, &all);
    if (!all.status && send(socket, all.text, all.size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) { /* it is gone */
    }
    sa_buffer_clear(&all);
}

void sv_http_turn_away(sv_http *self, sv_connection *connection, const sv_refusal *why) {
    sv_http_say(self, connection->socket, why);
    sv_exchange none = {.method = "", .path = "", .from = connection->from, .status = why->status};
    memcpy(none.error, why->message, sizeof none.error - 1);
    if (self->log) sv_http_line_write(&none, self->now - connection->since, self->log);
    if (self->options.refused) self->options.refused(self->options.service, why, connection->from);
    shutdown(connection->socket, SHUT_WR);
    sv_http_connections_set(&self->connections, connection, CONNECTION_LEAVING, self->now);
    if (connection->readable) sv_http_queue(self, connection);
}

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "http_loop.h"
#include "routes.h"

/* ---- the body ---- */

static void refuse_request(sv_request *self, int status, const char *sentence, size_t number) {
    sv_refusal why = {0};
    sv_refuse(&why, status, "%s %zu bytes", sentence, number);
    sv_exchange_refuse(&self->exchange, &why);
    self->admitted = false;
}

/* Room for so many more, taken from the budget as they arrive: what was announced and not sent costs nothing.
 */
static bool make_room(sv_http *http, sv_request *self, size_t more) {
    sa_buffer *body = &self->exchange.body;
    size_t needed = body->size + more + 1;
    if (needed <= body->capacity) return true;
    size_t room = body->capacity ? 2 * body->capacity : 1024, whole = body->size + (size_t)self->left + 1;
    if (room < needed) room = needed;
    if (!self->chunked && room > whole) room = whole;
    if (!sv_http_hold(http, self, room - body->capacity)) {
        refuse_request(self, 503, "bodies that are being read or answered take all of --body-memory,",
                       (size_t)http->options.body_memory);
        return false;
    }
    sa_buffer_reserve(body, room);
    if (body->status) refuse_request(self, 503, "memory could not be had for a body of", needed);
    return !body->status;
}

static void take_body(sv_http *http, sv_request *self, const char *data, size_t size) {
    sa_buffer *body = &self->exchange.body;
    if (!self->admitted) {
        self->discarded += size;
        return;
    }
    if (body->size + size > self->most) {
        refuse_request(self, 413, "the body is larger than", self->most);
        return;
    }
    if (!make_room(http, self, size)) return;
    memcpy(body->text + body->size, data, size);
    body->size += size;
    body->text[body->size] = 0;
}

/* Is it worth reading on, for the sake of the connection? */
static bool should_end(const sv_request *self) {
    return !self->admitted &&
           (self->discarded > DISCARD || (!self->chunked && self->left > DISCARD) || self->only_head);
}

/* Returns how many bytes were the body's. */
static size_t read_body(sv_http *http, sv_connection *connection, const char *bytes, size_t size) {
    sv_request *self = connection->request;
    size_t at = 0;
    while (at < size && self->chunked && self->chunks.place != CHUNK_END) {
        const char *data;
        size_t data_size;
        at += sv_http_chunks_take(&self->chunks, bytes + at, size - at, &data, &data_size);
        if (self->chunks.place == CHUNK_WRONG) {
            sv_refusal why = {0};
            sv_refuse(&why, 400, "the body's chunks are malformed");
            sv_exchange_refuse(&self->exchange, &why);
            self->admitted = false;
            self->only_head = true;
            break;
        }
        if (data_size) take_body(http, self, data, data_size);
        if (should_end(self)) break;
    }
    if (!self->chunked && self->left) {
        at = size < self->left ? size : (size_t)self->left;
        take_body(http, self, bytes, at);
        self->left -= at;
    }
    if (self->chunked ? self->chunks.place == CHUNK_END : !self->left)
        sv_http_hand_out(http, connection);
    else if (should_end(self)) {
        connection->close = true;
        sv_http_answer(http, connection);
    }
    return at;
}

/* ---- the head ---- */

static void done(sv_exchange *exchange) {
    sv_http *self = ((sv_request *)exchange)->http;
    uint64_t one = 1;
    exchange->next = NULL;
    pthread_mutex_lock(&self->lock);
    bool first = !self->done;
    *self->last_done = exchange;
    self->last_done = &exchange->next;
    pthread_mutex_unlock(&self->lock);
    if (first && write(self->wake, &one, sizeof one) < 0) { /* full: it will wake all the same */
    }
}

/* Copies the head, so that the buffer can be used for others. */
static sv_request *make_request(sv_http *http, sv_connection *connection, const char *bytes,
                                const sv_http_head *head) {
    sv_request *self = calloc(1, sizeof *self);
    if (!self || !(self->head = malloc(head->size))) {
        free(self);
        return NULL;
    }
    memcpy(self->head, bytes, head->size);
#define MOVED(text) ((text) ? self->head + ((text)-bytes) : NULL)
    self->exchange = (sv_exchange){.method = MOVED(head->method),
                                   .path = MOVED(head->path),
                                   .query = MOVED(head->query),
                                   .type = MOVED(head->type),
                                   .authorization = MOVED(head->authorization),
                                   .subscription = MOVED(head->subscription),
                                   .request = MOVED(head->request),
                                   .host = MOVED(head->host),
                                   .from = connection->from,
                                   .peer = connection->address,
                                   .file = -1,
                                   .done = done,
                                   .service = http->options.service,
                                   .begin = sv_clock_seconds()};
#undef MOVED
    self->http = http;
    self->connection = connection;
    self->chunked = head->chunked;
    self->left = head->length;
    return self;
}

static void admit(sv_http *http, sv_connection *connection, const sv_http_head *head) {
    sv_request *self = connection->request;
    sv_exchange *exchange = &self->exchange;
    self->seen = true;
    self->admitted = http->options.admit(exchange);
    static const size_t most[] = {[BODY_NONE] = LIMIT_BODY,
                                  [BODY_JSON] = LIMIT_BODY,
                                  [BODY_NPZ] = LIMIT_MODEL,
                                  [BODY_LINES] = LIMIT_LINES};
    self->most = exchange->route ? most[exchange->route->body] : LIMIT_BODY;
    if (self->most > http->options.body_memory) self->most = (size_t)http->options.body_memory;
    if (self->admitted && head->length > self->most)
        refuse_request(self, 413, "the body is larger than", self->most);
    bool body = self->chunked || self->left;
    if (body && head->wants_to_go_on) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        if (!self->admitted)
            self->only_head = true;
        else
            send(connection->socket, go_on, sizeof go_on - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (!body)
        sv_http_hand_out(http, connection);
    else if (should_end(self)) {
        connection->close = true;
        sv_http_answer(http, connection);
    }
}

/* Returns how many bytes it took; 0: there is more to come, or the connection ends. */
static size_t read_head(sv_http *http, sv_connection *connection, char *bytes, size_t size) {
    sv_http_head head;
    sv_refusal why = {0};
    switch (sv_http_head_read(bytes, size, &head, &why)) {
    case HEAD_UNFINISHED: return 0;
    case HEAD_REFUSED: sv_http_turn_away(http, connection, &why); return 0;
    case HEAD_WHOLE: break;
    }
    if (!(connection->request = make_request(http, connection, bytes, &head))) {
        sv_refuse(&why, 503, "memory could not be had");
        sv_http_turn_away(http, connection, &why);
        return 0;
    }
    connection->close = connection->close || head.close;
    if (connection->window != http->window) {
        connection->window = http->window;
        http->of_window++;
    }
    admit(http, connection, &head);
    return head.size;
}

/* ---- the bytes ---- */

static bool is_reading(const sv_connection *connection) {
    return connection->state == CONNECTION_NEW || connection->state == CONNECTION_RESTING ||
           connection->state == CONNECTION_READING;
}

/* Empty lines in front of a request are skipped. */
static size_t skip_lines(const char *bytes, size_t size) {
    size_t at = 0;
    while (at + 1 < size && at < 8 && bytes[at] == '\r' && bytes[at + 1] == '\n') at += 2;
    return at;
}

/* Returns how many bytes were used: the rest is kept by the caller. */
static size_t use(sv_http *self, sv_connection *connection, char *bytes, size_t size) {
    size_t at = 0;
    for (int requests = 0; at < size && is_reading(connection); requests++) {
        if (!connection->request) {
            at += skip_lines(bytes + at, size - at);
            if (at == size) break;
            if (connection->state != CONNECTION_READING)
                sv_http_connections_set(&self->connections, connection, CONNECTION_READING, self->now);
            if (requests >= REQUESTS) {
                connection->pending = true;
                sv_http_queue(self, connection);
                break;
            }
            size_t head = read_head(self, connection, bytes + at, size - at);
            if (!head) break;
            at += head;
        } else
            at += read_body(self, connection, bytes + at, size - at);
    }
    return at;
}

/* What was kept goes first. */
static void use_all(sv_http *self, sv_connection *connection, char *bytes, size_t size) {
    sa_buffer kept = connection->kept;
    if (!kept.size) {
        size_t used = use(self, connection, bytes, size);
        if (used < size && connection->state < CONNECTION_LEAVING)
            sa_buffer_bytes(&connection->kept, bytes + used, size - used);
    } else {
        sa_buffer_bytes(&kept, bytes, size);
        connection->kept = (sa_buffer){0};
        size_t used = kept.status ? 0 : use(self, connection, kept.text, kept.size);
        if (used < kept.size) {
            memmove(kept.text, kept.text + used, kept.size - used);
            kept.size -= used;
            connection->kept = kept;
        } else
            sa_buffer_clear(&kept);
    }
    if (!connection->kept.status) return;
    sv_refusal why = {0};
    sa_buffer_clear(&connection->kept);
    sv_refuse(&why, 503, "memory could not be had");
    if (is_reading(connection) && !connection->request) sv_http_turn_away(self, connection, &why);
}

void sv_http_read(sv_http *self, sv_connection *connection) {
    if (connection->pending && is_reading(connection)) {
        connection->pending = false;
        use_all(self, connection, NULL, 0);
    }
    for (int reads = 0;
         connection->readable && (is_reading(connection) || connection->state == CONNECTION_LEAVING);
         reads++) {
        if (reads == READS) {
            sv_http_queue(self, connection);
            return;
        }
        ssize_t got = recv(connection->socket, self->buffer, sizeof self->buffer, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            connection->readable = false;
            return;
        }
        if (got <= 0) {
            sv_http_close(self, connection);
            return;
        }
        if ((size_t)got < sizeof self->buffer && !connection->hung_up) connection->readable = false;
        if (connection->state != CONNECTION_LEAVING)
            use_all(self, connection, self->buffer, (size_t)got);
        else if ((connection->dropped += (size_t)got) > 8 * (size_t)DISCARD)
            sv_http_close(self, connection);
    }
}

/* ---- whole requests ---- */

void sv_http_hand_out(sv_http *self, sv_connection *connection) {
    sv_request *request = connection->request;
    sv_exchange *exchange = &request->exchange;
    sv_refusal why = {0};
    if (!request->admitted) {
        sv_http_answer(self, connection);
        return;
    }
    exchange->lane = exchange->route ? exchange->route->lane : LANE_QUICK;
    if (exchange->lane == LANE_QUICK && exchange->body.size > SMALL_BODY) exchange->lane = LANE_LARGE;
    if (exchange->lane == LANE_NOW) {
        self->options.answer(exchange);
        sv_http_answer(self, connection);
        return;
    }
    sv_http_connections_set(&self->connections, connection, CONNECTION_WORKING, self->now);
    if (sv_http_lanes_put(self->lanes, exchange, &why)) return;
    sv_exchange_refuse(exchange, &why);
    sv_http_answer(self, connection);
}

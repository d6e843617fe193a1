#include "http_clients.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clock.h"

static const double IDLE_SECONDS = 60, ANSWER_SECONDS = 300;

static const char TOO_SLOW[] =
    "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n"
    "Content-Length: 86\r\n\r\n"
    "{\"error\": {\"code\": \"timeout\", \"message\": \"the whole request did not arrive in time\"}}\n";

/* The lock is held, so the server has not closed the socket yet. Nothing is being sent on it while its
 * request is read. */
static void cut(sv_client *client) {
    if (client->state == CLIENT_READING)
        send(client->socket, TOO_SLOW, sizeof TOO_SLOW - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    shutdown(client->socket, SHUT_RDWR);
    client->state = CLIENT_CUT;
}

static double allowed(const http_clients *self, const sv_client *client) {
    switch (client->state) {
    case CLIENT_READING: return self->request_seconds;
    case CLIENT_IDLE:
        return IDLE_SECONDS < 2 * self->request_seconds ? IDLE_SECONDS : 2 * self->request_seconds;
    case CLIENT_ANSWERING: return ANSWER_SECONDS;
    default: return 1e9;
    }
}

static void *watch(void *user) {
    http_clients *self = user;
    pthread_mutex_lock(&self->lock);
    while (!self->stop) {
        struct timespec until;
        double now = clock_seconds();
        for (sv_client *each = self->first; each; each = each->next)
            if (now - each->since > allowed(self, each)) cut(each);
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 250000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&self->stopping, &self->lock, &until);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

bool http_clients_start(http_clients *self, double request_seconds) {
    pthread_condattr_t monotonic;
    *self = (http_clients){.request_seconds = request_seconds};
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->stopping, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return pthread_create(&self->thread, NULL, watch, self) == 0;
}

void http_clients_stop(http_clients *self) {
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->stopping);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}

sv_client *http_clients_add(http_clients *self, int socket) {
    sv_client *added = calloc(1, sizeof *added);
    if (!added) return NULL;
    added->socket = socket;
    added->since = clock_seconds();
    pthread_mutex_lock(&self->lock);
    added->next = self->first;
    added->link = &self->first;
    if (self->first) self->first->link = &added->next;
    self->first = added;
    pthread_mutex_unlock(&self->lock);
    return added;
}

void http_clients_remove(http_clients *self, sv_client *client) {
    if (!client) return;
    pthread_mutex_lock(&self->lock);
    *client->link = client->next;
    if (client->next) client->next->link = client->link;
    pthread_mutex_unlock(&self->lock);
    free(client);
}

void http_clients_set(http_clients *self, sv_client *client, client_state state) {
    if (!client) return;
    pthread_mutex_lock(&self->lock);
    if (client->state != CLIENT_CUT) client->state = state;
    client->since = clock_seconds();
    pthread_mutex_unlock(&self->lock);
}

/* Connections and how long they may take. The server's own timeout is for silence; a client that sends a
 * byte a second is never silent, so the time of whole requests is watched here. */
#ifndef SERVE_HTTP_CLIENTS_H
#define SERVE_HTTP_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>

typedef enum client_state { CLIENT_IDLE, CLIENT_READING, CLIENT_ANSWERING, CLIENT_CUT } client_state;

typedef struct client {
    struct client *next, **link;
    int socket;
    client_state state;
    double since;
} sv_client;

typedef struct http_clients {
    pthread_t thread;
    pthread_mutex_t lock; /* of all clients */
    pthread_cond_t stopping;
    sv_client *first;
    bool stop;
    double request_seconds;
} http_clients;

bool http_clients_start(http_clients *self, double request_seconds);
void http_clients_stop(http_clients *self);
/* NULL when memory is short: nobody watches it, then. */
sv_client *http_clients_add(http_clients *self, int socket);
void http_clients_remove(http_clients *self, sv_client *client);
void http_clients_set(http_clients *self, sv_client *client, client_state state);

#endif

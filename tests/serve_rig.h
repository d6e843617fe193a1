/* What tests of the service in C share: a service without its network, asked as the HTTP server asks it. */
#ifndef TESTS_SERVE_RIG_H
#define TESTS_SERVE_RIG_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "routes.h"
#include "service.h"

typedef struct rig_call {
    sv_exchange exchange; /* first */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
} rig_call;

static inline void rig_done(sv_exchange *exchange) {
    rig_call *self = (rig_call *)exchange;
    pthread_mutex_lock(&self->lock);
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->lock);
}

/* The status; `*answer` (NULL: not wanted) is from malloc. */
static inline int rig_ask_bytes(sv_service *service, const char *method, const char *path, const char *query,
                                const char *type, const void *body, size_t size, char **answer) {
    rig_call call = {.exchange = {.service = service,
                                  .method = method,
                                  .path = path,
                                  .query = query,
                                  .type = type,
                                  .host = "127.0.0.1",
                                  .file = -1,
                                  .done = rig_done}};
    sv_exchange *exchange = &call.exchange;
    pthread_mutex_init(&call.lock, NULL);
    pthread_cond_init(&call.ended, NULL);
    if (sv_routes_admit(exchange)) {
        sa_buffer_bytes(&exchange->body, body, size);
        sv_routes_answer(exchange);
        if (!exchange->status) {
            exchange->later(exchange);
            pthread_mutex_lock(&call.lock);
            while (!call.done) pthread_cond_wait(&call.ended, &call.lock);
            pthread_mutex_unlock(&call.lock);
        }
    }
    int status = exchange->status;
    if (answer) *answer = exchange->answer.text ? strdup(exchange->answer.text) : strdup("");
    if (exchange->file >= 0) close(exchange->file);
    sv_routes_end(exchange);
    pthread_cond_destroy(&call.ended);
    pthread_mutex_destroy(&call.lock);
    return status;
}

static inline int rig_ask(sv_service *service, const char *method, const char *path, const char *body,
                          char **answer) {
    return rig_ask_bytes(service, method, path, NULL, "application/json", body, body ? strlen(body) : 0,
                         answer);
}

/* Does it serve; and has it learnt all that was there at its start? */
static inline bool rig_is_ready(sv_service *service, bool recovered) {
    char *answer = NULL;
    int status = rig_ask(service, "GET", "/readyz", NULL, &answer);
    bool ready = status == 200 && !(recovered && strstr(answer, "recovering"));
    free(answer);
    return ready;
}

static inline sv_service *rig_start_with(const sv_service_options *options, bool recovered) {
    sv_refusal why = {0};
    sv_service *service = sv_service_start(options, &why);
    if (!service) {
        fprintf(stderr, "%s\n", why.message);
        return NULL;
    }
    for (int i = 0; i < 12000 && !rig_is_ready(service, recovered); i++) usleep(5000);
    return service;
}

/* Waits until the agents are there, with all that they had learnt. NULL: it does not start. */
static inline sv_service *rig_start(const char *folder, double checkpoint_seconds) {
    return rig_start_with(&(sv_service_options){.folder = folder, .checkpoint_seconds = checkpoint_seconds},
                          true);
}

#define RIG_AGENT                                                                                            \
    "{\"options\": {\"algorithm\": \"cn-ucb\", \"dim\": 2, \"hidden\": 4}, \"slate\": 2, "                   \
    "\"default_feedback\": 0, "                                                                              \
    "\"wait_seconds\": 0}"

#endif

/* The service without its network: agents, journal, learner, keys. */
#ifndef SERVE_SERVICE_H
#define SERVE_SERVICE_H

#include "agents.h"
#include "counting.h"
#include "folder.h"
#include "folding.h"
#include "keys.h"
#include "learner.h"
#include "metrics.h"
#include "writer.h"

enum { SERVICE_CLOSINGS = 256 };

/* An event whose wait has ended in the group that is being written. */
typedef struct closed {
    sv_agent *agent;
    double reward;
    uint64_t seq;
} sv_closed;

/* A pass of retention over the agents. */
enum { PASS_DELETED = 64 };
typedef struct turn {
    int64_t agent, age; /* milliseconds */
    bool deleted;
    uint64_t waited, removed; /* of the last batch: events that were not learnt; and all */
} sv_turn;
typedef struct pass {
    sv_turn turns[LIMIT_AGENTS + 1 + PASS_DELETED];
    size_t count, at, first; /* at: whose turn it is; first: who was when the batch began */
    bool runs;
    uint64_t removed;
    double next, pause; /* when the next one begins; seconds before it */
} sv_pass;

typedef struct service sv_service;

struct service {
    sv_folder folder;
    sv_keys keys;
    sv_agents agents;
    sv_metrics metrics;
    sv_writer *writer;
    sv_learner *learner;
    sv_folding *folding;
    sv_counting *counting;
    pthread_mutex_t reading; /* of the reader */
    sv_store *reader;        /* for the log */
    atomic_bool stopping;
    atomic_uint connections; /* open ones, which the HTTP server counts */
    sv_chore closing, retention;
    sv_closed closed[SERVICE_CLOSINGS]; /* the writer's own */
    size_t closed_count;
    sv_pass pass;
};

typedef struct service_options {
    const char *folder;
    const char *keys;          /* file; NULL: none */
    double checkpoint_seconds; /* 0: none */
    double recovery_seconds;   /* 0: 10 */
} service_options;

/* Opens the folder, which is made where it is missing, and goes on from its journal. NULL with a refusal:
 * 400 where the user's input is wrong. */
sv_service *service_start(const service_options *options, sv_refusal *why);
/* Ends after what was accepted is answered. */
void service_stop(sv_service *self);
/* The two things that the writer does by itself (chores.c). */
void service_add_chores(sv_service *self);

#endif

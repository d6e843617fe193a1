/* What the files of the cluster share. */
#ifndef SERVE_CLUSTER_OWN_H
#define SERVE_CLUSTER_OWN_H

#include "cluster.h"
#include "service.h"
#include "store_shared.h"
#include "waiting.h"

enum { CLUSTER_SERVERS = 1024 };

/* Another server, or this one. */
typedef struct peer {
    char id[40];
    bool learns;
    double since; /* when it was seen first */
} sv_peer;

struct cluster {
    sv_service *service;
    sv_learning learning;
    char id[40], name[80];
    sv_store *store; /* the thread's own */
    pthread_t thread;
    int wake[2]; /* a pipe */
    atomic_bool stop, open, told;
    atomic_int backend; /* of the session that holds agents */
    sv_maintenance beat;
    int said; /* of the backend, by the last beat; and when: the writer's own */
    double said_time;
    pthread_mutex_t lock; /* of the following */
    sv_cluster_wait *waits;
    sv_cluster_counts counts;
    char keys[2 * SA_SHA256_BYTES + 1];
    size_t peer_count; /* the thread alone writes it */
    /* the thread's own */
    sv_peer peers[CLUSTER_SERVERS];
    uint64_t epoch; /* of the last agent that was taken */
    double looked;
    bool runs;
};

/* Runs it in the thread that holds agents, and waits for its end: STORE_OK, it is on disk. */
typedef struct holder_job {
    sv_job job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    sv_store_status status;
} sv_holder_job;
sv_store_status sv_cluster_ask_holder(sv_cluster *self, sv_holder_job *job,
                                      sv_store_status (*run)(sv_job *job, sv_store *store));

/* Which agents this server takes and lets go. */
void sv_cluster_take_roles(sv_cluster *self);
/* The policy of an agent that another server learns, where there is a newer one. */
void sv_cluster_follow(sv_cluster *self, sv_agent *agent, uint64_t newest);

#endif

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
    int wake[2];                          /* a pipe */
    atomic_bool stop, open, told, leaves; /* leaves: others hear no more of it */
    atomic_bool joined;                   /* it may be among the servers: its keys are theirs */
    sv_store *beat_store;
    pthread_t beat_thread;
    bool beats;
    _Atomic double asked; /* when a beat began that has not ended; 0: none */
    atomic_bool silent;   /* it has not ended for too long, and none was good since */
    pthread_t watch_thread;
    bool watches;
    pthread_t scratch_thread;
    bool tries_scratch;
    double there_since;   /* the database, before it has joined; of its thread */
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t told_beat, told_scratch, told_watch;
    bool unwatched;            /* the watch is to end */
    bool news;                 /* that the next beat has, and the last did not */
    int backend;               /* of the session that holds agents; 0: none */
    char trouble[320];         /* why it cannot say that it is there; "": it can */
    char scratch_trouble[320]; /* likewise of files */
    double largest;            /* bytes of a policy */
    double scratch_failed;     /* when a policy could not be written to a file; 0: never */
    sv_cluster_wait *waits;
    sv_cluster_counts counts;
    bool complete; /* each agent of the start had a policy here, or was broken, at one moment */
    char keys[2 * SA_SHA256_BYTES + 1];
    size_t peer_count; /* the thread alone writes it */
    /* the thread's own */
    sv_peer peers[CLUSTER_SERVERS];
    uint64_t epoch; /* of the last agent that was taken */
    double looked, evaluations_looked, sums_looked;
    size_t sums_turn;
    size_t unanswered;   /* looks at roles, since the holder answered last */
    struct roles *roles; /* that it was asked for, and has not answered; NULL: none */
    bool runs;
};

/* Joins the servers that are there; STORE_NONE: they have other keys, and the refusal says so. */
sv_store_status sv_cluster_join(sv_cluster *self, sv_refusal *why);
bool sv_cluster_start_beat(sv_cluster *self);
void sv_cluster_stop_beat(sv_cluster *self);
void sv_cluster_tell(sv_cluster *self); /* the next beat is at once: there is news */
void sv_cluster_set_backend(sv_cluster *self, int backend);
/* What /readyz says, "" for nothing, and the log when that begins and ends. */
void sv_cluster_set_trouble(sv_cluster *self, const char *sentence, bool refused);
/* Does the beat get its answers? Until all other threads have ended: it frees them from a silent database. */
bool sv_cluster_start_watch(sv_cluster *self);
void sv_cluster_stop_watch(sv_cluster *self);

/* Can files be written? A thread tries it, and says so in the log when that changes. */
bool sv_cluster_start_scratch(sv_cluster *self);
void sv_cluster_stop_scratch(sv_cluster *self);              /* once `stop` is set */
void sv_cluster_need_scratch(sv_cluster *self, double size); /* of a policy, bytes */
void sv_cluster_scratch_failed(sv_cluster *self);

/* Runs it in the thread that holds agents, and waits for its end: STORE_OK, it is on disk. Or has it run: the
 * job stays until its end has been heard; false: it has not ended within so many seconds. */
typedef struct holder_job {
    sv_job job;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    sv_store_status status;
} sv_holder_job;
sv_store_status sv_cluster_ask_holder(sv_cluster *self, sv_holder_job *job,
                                      sv_store_status (*run)(sv_job *job, sv_store *store));
void sv_cluster_tell_holder(sv_cluster *self, sv_holder_job *job,
                            sv_store_status (*run)(sv_job *job, sv_store *store));
bool sv_cluster_hear_holder(sv_holder_job *job, double seconds, sv_store_status *status);

/* The catalogue of an agent, where another server has made a newer one. */
void sv_cluster_follow_items(sv_cluster *self, sv_agent *agent, uint64_t version, uint64_t past);
/* Which agents this server takes and lets go. true: one will be free at once. A thread that holds agents and
 * is busy is not waited for: the next call hears what it has done. */
bool sv_cluster_take_roles(sv_cluster *self);
void sv_cluster_end_roles(sv_cluster *self); /* that thread has ended */
/* Ends those of its evaluations that others want to end. */
void sv_cluster_look_at_evaluations(sv_cluster *self);
typedef enum policy_end {
    POLICY_READ,
    POLICY_LATER,   /* database, disk or memory are in trouble, or a newer one has taken its place */
    POLICY_FOREIGN, /* other programs can read it: newer ones, or those that have what this build has not */
    POLICY_DAMAGED, /* nobody can */
} sv_policy_end;
/* The file `path` becomes the policy, which ends with its connection's next call; `chunks` says what is in
 * the file, before and after. */
sv_policy_end sv_cluster_fetch(sv_cluster *self, sv_store *store, int64_t agent,
                               const sv_shared_policy *policy, const char *path, sv_chunks *chunks);

/* The policy of an agent that another server learns, where there is a newer one. */
void sv_cluster_follow(sv_cluster *self, sv_agent *agent, uint64_t newest);

#endif

/* One server among others that share a store (store_shared.h). A thread of its own follows what the others
 * do: agents that are made, changed and deleted, and policies; it decides which agents this server learns,
 * and wakes who waits for a learner elsewhere.
 *
 * Agents are spread over the servers that may learn by a hash of server and agent: each agent has one
 * preferred server among those that are there. A server that is gone is noticed by its session, one that
 * hangs by its silence; then another one is the preferred one, and takes over. */
#ifndef SERVE_CLUSTER_H
#define SERVE_CLUSTER_H

#include "agents.h"
#include "writer.h"

typedef struct service sv_service;
typedef struct cluster sv_cluster;
/* Does a server learn, or only learn? */
typedef enum learning { LEARNING_YES, LEARNING_NO, LEARNING_ONLY } sv_learning;

/* Takes over the store, a connection of its own. NULL with a refusal, 400: servers are there that have other
 * keys; then the store is closed. */
sv_cluster *sv_cluster_new(sv_service *service, sv_store *store, sv_learning learning, sv_refusal *why);
/* That it is there, which the writer of requests says now and then. */
sv_maintenance *sv_cluster_beat(sv_cluster *self);
/* Its thread, once writers and learner are there. */
bool sv_cluster_start(sv_cluster *self);
void sv_cluster_stop(sv_cluster *self);     /* before them; NULL is fine */
void sv_cluster_destroy(sv_cluster *self);  /* after them */
void sv_cluster_set_keys(sv_cluster *self); /* the service's keys have changed */

/* Somebody who waits for a row that a server, this one or another, makes of an entry of the inbox. `end` is
 * called once this server serves it, or the agent is broken or deleted: done; or after 15 seconds. */
typedef struct cluster_wait {
    void (*end)(struct cluster_wait *self, bool done);
    sv_agent *agent; /* borrowed */
    int64_t inbox;
    uint64_t covered; /* inbox 0: until a policy that is written has this row */
    uint64_t seq;     /* the row that the entry has become */
    double until;
    struct cluster_wait *next;
} sv_cluster_wait;
void sv_cluster_await(sv_cluster *self, sv_cluster_wait *wait);

/* Does it know the agents? Not before the database was there once. */
bool sv_cluster_is_open(const sv_cluster *self);
void sv_cluster_opened(sv_cluster *self); /* they have been read */
/* Agents without a policy here; agents whose policy here is older than one that was published a while ago. */
typedef struct cluster_counts {
    size_t servers, held, without, lagging;
    size_t recovering;  /* agents whose policy here has not learnt all rows that were there at the start */
    double lag_seconds; /* the longest of these */
    uint64_t fetched_bytes, policy_bytes, written_bytes; /* chunks; whole policies; chunks of the learner */
} sv_cluster_counts;
void sv_cluster_count(sv_cluster *self, sv_cluster_counts *out);

/* The newest policy of an agent, as a saved agent, into a file. */
bool sv_cluster_save(sv_cluster *self, sv_store *store, sv_agent *agent, const char *path, sv_refusal *why);
/* From now on no policy is without row `seq`; STORE_NONE: none has it yet, and nothing is changed. */
sv_store_status sv_cluster_cover(sv_store *store, int64_t agent, uint64_t seq);

/* ---- for the learner: its own thread ---- */

/* The agent as its newest policy has it, or as the one before it has it; without one it begins with row 1.
 * false: not now. */
bool sv_cluster_open(void *self, sv_store *store, sv_agent *agent);
/* The agent as it is now becomes a policy. false: not now, or it is not held any longer. */
bool sv_cluster_publish(void *self, sv_agent *agent);
bool sv_cluster_keep_newest(void *self, sv_agent *agent); /* older policies go */
/* It cannot go on, and why; NULL: it can again. */
void sv_cluster_break(void *self, sv_agent *agent, const char *why);

#endif

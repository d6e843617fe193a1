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

/* Takes over the store, a connection of its own, and makes another. NULL with a refusal, 400: servers are
 * there that have other keys; then the store is closed. */
sv_cluster *sv_cluster_new(sv_service *service, sv_store *store, sv_learning learning, sv_refusal *why);
/* Its threads, once writers and learner are there. */
bool sv_cluster_start(sv_cluster *self);
/* Before them: it learns no more agents. NULL is fine. */
void sv_cluster_stop(sv_cluster *self);
/* After those that hold agents, which others would end where it is not among the servers. NULL is fine. */
void sv_cluster_leave(sv_cluster *self);
void sv_cluster_destroy(sv_cluster *self);  /* after them */
void sv_cluster_set_keys(sv_cluster *self); /* the service's keys have changed */

/* Somebody who waits for a row that a server, this one or another, makes of an entry of the inbox. `end` is
 * called once this server serves it, or the agent is broken or deleted: done; or after 15 seconds. */
typedef struct cluster_wait {
    void (*end)(struct cluster_wait *self, bool done);
    sv_agent *agent; /* borrowed */
    int64_t inbox;
    uint64_t covered; /* inbox 0: until a policy that is written has this row, or the agent is broken */
    bool evaluations; /* or until none that was told to end runs */
    uint64_t seq;     /* the row that the entry has become */
    double until;
    bool was_broken; /* and a reset is to mend it */
    struct cluster_wait *next;
} sv_cluster_wait;
void sv_cluster_await(sv_cluster *self, sv_cluster_wait *wait);

/* Are these the agent's settings still? This server may lag: the database is asked. false with 503. */
bool sv_cluster_has_settings(sv_service *service, const sv_agent *agent, uint64_t version, sv_refusal *why);
/* Is there an agent of this name, which this server does not know yet? false: no, or with 503. */
bool sv_cluster_has_agent(sv_service *service, const char *name, sv_refusal *why);

/* Does it know the agents? Not before the database was there once, and let it in. */
bool sv_cluster_is_open(const sv_cluster *self);
/* Why it is cut off from the database now, or cannot write scratch files, and so not learn; false: it is
 * not. */
bool sv_cluster_trouble(sv_cluster *self, char sentence[320]);
bool sv_cluster_scratch_trouble(sv_cluster *self, char sentence[320]);
bool sv_cluster_is_silent(
    const sv_cluster *self);              /* the database does not answer: nobody is to wait for it */
void sv_cluster_opened(sv_cluster *self); /* they have been read */
/* Agents without a policy here, that are not broken; agents whose policy here is older than one that was
 * published a while ago. */
typedef struct cluster_counts {
    size_t servers, held, without, lagging;
    bool starting;      /* it has not had a policy of each agent that was there at its start */
    size_t recovering;  /* agents whose policy here has not learnt all rows that were there at the start */
    double lag_seconds; /* the longest of these */
    uint64_t fetched_bytes, policy_bytes, written_bytes; /* chunks; whole policies; chunks of the learner */
} sv_cluster_counts;
void sv_cluster_count(sv_cluster *self, sv_cluster_counts *out);

/* The newest policy of an agent, as a saved agent, into a file. */
bool sv_cluster_save(sv_cluster *self, sv_store *store, sv_agent *agent, const char *path, sv_refusal *why);
/* From now on no policy is without row `seq`; STORE_NONE: none has it yet, and nothing is changed. */
sv_store_status sv_cluster_cover(sv_store *store, int64_t agent, uint64_t seq);

/* ---- evaluations: each is one server's, and others may end it ---- */

const char *sv_cluster_id(const sv_cluster *self);
/* It runs; STORE_NONE: another server has deleted it. */
sv_store_status sv_cluster_begin_evaluation(sv_store *store, int64_t agent, int64_t id);
/* All of the agent's that run are to end, and say `why`. How many; a wait for `evaluations` is over when they
 * have ended, and nothing of them is left. */
sv_store_status sv_cluster_stop_evaluations(sv_store *store, int64_t agent, const char *why, uint64_t *count);

/* ---- stored items ---- */

/* They, and revisions, are not begun while a server is there that does not know them; from then on none can
 * come. In a transaction. false with 409 or 503. */
bool sv_cluster_can_store(sv_store *store, const char *what, sv_refusal *why);
/* The agent's catalogue as the store has it now. */
bool sv_cluster_catch_up(sv_store *store, sv_agent *agent, sv_refusal *why);

/* ---- for the learner: its own thread ---- */

/* The agent as its newest policy has it that can be read; without one it begins with row 1, or with the last
 * one that sets it new. false: not now. */
bool sv_cluster_open(void *self, sv_store *store, sv_agent *agent);
/* The agent as it is now becomes a policy. false: not now, or it is not held any longer. */
bool sv_cluster_publish(void *self, sv_agent *agent);
bool sv_cluster_keep_newest(void *self, sv_agent *agent); /* older policies go */
/* It cannot go on, and why; NULL: it can again. false: not now. */
bool sv_cluster_break(void *self, sv_agent *agent, const char *why);

#endif

/* One thread learns: it takes journal rows in order, trains between them, publishes policies and writes
 * checkpoints. After a start it first opens every agent's checkpoint and publishes what it has, and then
 * learns the rows behind it. */
#ifndef SERVE_LEARNER_H
#define SERVE_LEARNER_H

#include "agents.h"
#include "store.h"
#include "writer.h"

typedef struct learner sv_learner;

/* Where servers share the store: an agent is learnt while it is held (sv_agent.tenure), and opened and
 * published by these (cluster.h), instead of by checkpoints. */
typedef struct learner_shared {
    void *user;
    bool (*open)(void *user, sv_store *store, sv_agent *agent); /* false: not now */
    bool (*publish)(void *user, sv_agent *agent);
    bool (*keep_newest)(void *user, sv_agent *agent); /* older policies go, and let retention go on */
    /* NULL: it can go on again. false: not now */
    bool (*broke)(void *user, sv_agent *agent, const char *why);
} sv_learner_shared;

typedef struct learner_options {
    const char *scratch;       /* borrowed: how the paths of files begin that do not stay */
    const char *folder;        /* borrowed */
    double recovery_seconds;   /* that learning again what is in no checkpoint may take */
    double checkpoint_seconds; /* at the latest between two checkpoints of an agent that has learnt; 0: any */
    sv_writer *writer;         /* for the rows of checkpoints */
    sv_agents *agents;
    const sv_learner_shared *shared; /* borrowed; NULL: this process alone learns */
} sv_learner_options;

/* Takes over the store, a connection of its own with a snapshot of the journal as it was before the writer.
 * */
sv_learner *sv_learner_start(const sv_learner_options *options, sv_store *store);
/* Ends after the row it is at, with a checkpoint of each agent that has learnt since its last one. */
void sv_learner_stop(sv_learner *self);
void sv_learner_destroy(sv_learner *self); /* after it, and after the writer, which wakes it, has stopped */
/* The agent has rows to learn. */
void sv_learner_wake(sv_learner *self, sv_agent *agent);

/* Called by the learner once the agent has learnt row `seq`, or will never. */
typedef struct task {
    void (*run)(struct task *self, sv_learner *learner);
    sv_agent *agent; /* borrowed: the caller's */
    uint64_t seq;
    struct task *next;
} sv_task;
void sv_learner_do(sv_learner *self, sv_task *task);
/* For tasks: from now on every checkpoint has row `seq`, which the agent has learnt. */
bool sv_learner_checkpoint(sv_learner *self, sv_agent *agent, uint64_t seq, sv_refusal *why);
/* For tasks: the agent as it is now, into a file of this name in the folder. */
bool sv_learner_save(sv_learner *self, sv_agent *agent, const char *path, sv_refusal *why);

/* That an agent has no policy yet; false: all is well. */
bool sv_learner_trouble(sv_learner *self, char sentence[480]);
typedef struct learner_counts {
    uint64_t rows, checkpoints, failed_checkpoints, publications;
    uint64_t recovering;       /* agents that have not learnt all that was there at the start */
    double checkpoint_seconds; /* the last one's */
} sv_learner_counts;
void sv_learner_count(sv_learner *self, sv_learner_counts *out);

#endif

/* What the files of the learner share: learner_thread.c has the thread and the rows, learner_checkpoints.c
 * what a folder keeps of agents, learner_shared.c what other servers get. All is the thread's own but for
 * what is behind the lock. */
#ifndef SERVE_LEARNER_OWN_H
#define SERVE_LEARNER_OWN_H

#include "checkpoints.h"
#include "clock.h"
#include "learner.h"

struct learner {
    sv_learner_options options;
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t filled;
    sv_agent *first, **last; /* dirty agents */
    sv_task *tasks;
    atomic_bool stop;
    size_t unopened, recovering; /* agents without a policy; that have not learnt all rows of the start */
    sv_learner_counts counts;
    /* the thread's own */
    sv_agent *opening[LIMIT_AGENTS + 1]; /* those of the start */
    size_t opening_count;
    double replay_seconds; /* of all agents */
    double look_time;
};

enum { RETENTION_PARTS = 8 }; /* checkpoints, or policies that are alone, in one retention */

/* ---- learner_thread.c ---- */

/* What has been learnt, for requests, and for other servers. */
void sv_learner_publish(sv_learner *self, sv_agent *agent);
/* What learning the rows after its checkpoint would take, and so of all agents. */
void sv_learner_set_replay(sv_learner *self, sv_agent *agent, double seconds);
void sv_learner_end_recovery(sv_learner *self, sv_agent *agent);
/* What the agent needs is not to be had now: until it is, the agent goes on as it is; it is tried again. */
void sv_learner_stall(sv_agent *agent, const char *sentence);
void sv_learner_try_again(sv_learner *self, sv_agent *agent, double now);
/* Does a policy of the rows so far take the requests that are sent now? */
bool sv_learner_fits(sv_agent *agent);
void sv_learner_count_checkpoint(sv_learner *self, bool good, double seconds);

/* ---- learner_checkpoints.c: where this process alone has the folder ---- */

void sv_learner_write_checkpoints(sv_learner *self); /* those whose time has come */
void sv_learner_write_last(sv_learner *self);        /* of each agent that has learnt */

/* ---- learner_shared.c: where servers share the store ---- */

double sv_learner_shared_pause(void); /* between two looks at what waits to be published */
/* Others are told whether it is broken, and why; again and again, where the database does not take it. */
void sv_learner_tell_broken(sv_learner *self, sv_agent *agent);
/* Is it this server's, with all that it has learnt so far? It is opened where it has been taken, and dropped
 * where it is lost. */
bool sv_learner_is_held(sv_learner *self, sv_agent *agent);
/* `now`: it does not wait for its time. */
void sv_learner_publish_shared(sv_learner *self, sv_agent *agent, bool now);
void sv_learner_publish_waiting(sv_learner *self); /* those that waited for it */

#endif

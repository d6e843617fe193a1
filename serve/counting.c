#include "counting.h"

#include <stdlib.h>

#include "thread_name.h"

enum { AT_A_TIME = 5000 }; /* a query that is open for long would keep the log from being folded in */

struct counting {
    sv_store *store;
    sv_agents *agents;
    pthread_t thread;
    int64_t last; /* feedback after it is counted as it comes */
    atomic_bool stop;
};

static void add(void *user, int64_t id, uint64_t count, uint64_t late) {
    sv_counting *self = user;
    sv_agent *agent = agents_find_id(self->agents, id);
    if (!agent) return;
    atomic_fetch_add(&agent->feedbacks_before, count);
    atomic_fetch_add(&agent->late_before, late);
    agent_release(agent);
}

static void tell(sv_counting *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = agents_all(self->agents, all);
    for (size_t i = 0; i < count; i++) {
        atomic_store(&all[i]->feedbacks_known, true);
        agent_release(all[i]);
    }
}

static void *work(void *user) {
    sv_counting *self = user;
    store_status status = STORE_OK;
    thread_name("counting");
    for (int64_t from = 0; from < self->last && status == STORE_OK && !atomic_load(&self->stop);
         from += AT_A_TIME) {
        int64_t to = self->last - from > AT_A_TIME ? from + AT_A_TIME : self->last;
        status = store_feedback_tally(self->store, from, to, add, self);
    }
    if (status == STORE_OK && !atomic_load(&self->stop)) tell(self);
    return NULL;
}

sv_counting *counting_start(sv_store *store, sv_agents *agents) {
    sv_counting *self = calloc(1, sizeof *self);
    if (self) {
        self->store = store;
        self->agents = agents;
        if (store_feedback_last(store, &self->last) == STORE_OK &&
            pthread_create(&self->thread, NULL, work, self) == 0)
            return self;
    }
    free(self);
    store_close(store);
    return NULL;
}

void counting_stop(sv_counting *self) {
    if (!self) return;
    atomic_store(&self->stop, true);
    pthread_join(self->thread, NULL);
    store_close(self->store);
    free(self);
}

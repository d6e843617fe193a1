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
    sv_agent *agent = sv_agents_find_id(self->agents, id);
    if (!agent) return;
    atomic_fetch_add(&agent->feedbacks_before, count);
    atomic_fetch_add(&agent->late_before, late);
    sv_agent_release(agent);
}

static void tell(sv_counting *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = sv_agents_all(self->agents, all);
    for (size_t i = 0; i < count; i++) {
        atomic_store(&all[i]->feedbacks_known, true);
        sv_agent_release(all[i]);
    }
}

static void *work(void *user) {
    sv_counting *self = user;
    sv_store_status status = STORE_OK;
    sv_thread_name("counting");
    for (int64_t from = 0; from < self->last && status == STORE_OK && !atomic_load(&self->stop);
         from += AT_A_TIME) {
        int64_t to = self->last - from > AT_A_TIME ? from + AT_A_TIME : self->last;
        status = sv_store_feedback_tally(self->store, from, to, add, self);
    }
    if (status == STORE_OK && !atomic_load(&self->stop)) tell(self);
    return NULL;
}

sv_counting *sv_counting_start(sv_store *store, sv_agents *agents) {
    sv_counting *self = calloc(1, sizeof *self);
    if (self) {
        self->store = store;
        self->agents = agents;
        if (sv_store_feedback_last(store, &self->last) == STORE_OK &&
            pthread_create(&self->thread, NULL, work, self) == 0)
            return self;
    }
    free(self);
    sv_store_close(store);
    return NULL;
}

void sv_counting_stop(sv_counting *self) {
    if (!self) return;
    atomic_store(&self->stop, true);
    pthread_join(self->thread, NULL);
    sv_store_close(self->store);
    free(self);
}

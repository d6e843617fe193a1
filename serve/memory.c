#include "memory.h"

#include <sys/resource.h>
#include <unistd.h>

void sv_memory_begin(sv_memory *self, double most) {
    struct rlimit limit;
    *self = (sv_memory){.most = (size_t)most};
    pthread_mutex_init(&self->lock, NULL);
    if (self->most) return;
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && (double)limit.rlim_cur < all)
        all = (double)limit.rlim_cur;
    self->most = (size_t)(all / 2);
}

void sv_memory_end(sv_memory *self) { pthread_mutex_destroy(&self->lock); }

static size_t bytes_of(sv_agent *agent) {
    pthread_mutex_lock(&agent->lock);
    size_t bytes = agent->counts.bytes;
    pthread_mutex_unlock(&agent->lock);
    return bytes > agent->asked ? bytes : agent->asked;
}

static size_t sum(sv_agents *agents, const sv_agent *without) {
    static const size_t OTHER = 16384; /* of an agent, beside what it has learnt */
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = sv_agents_all(agents, all), bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i] != without) bytes += bytes_of(all[i]) + OTHER;
        sv_agent_release(all[i]);
    }
    return bytes;
}

size_t sv_memory_of_agents(sv_agents *agents) { return sum(agents, NULL); }

bool sv_memory_promise(sv_memory *self, sv_agents *agents, const sv_agent *instead, size_t bytes,
                       sv_refusal *why) {
    if (!self->most) return true;
    pthread_mutex_lock(&self->lock);
    size_t taken = sum(agents, instead) + self->promised;
    bool room = taken + bytes <= self->most;
    if (room) self->promised += bytes;
    pthread_mutex_unlock(&self->lock);
    return room ||
           sv_refuse(why, 409,
                     "the agent needs %.1f MB, and the others have %.1f MB of the %.1f MB of --memory: "
                     "delete some, or ask for a smaller one",
                     (double)bytes / 1048576, (double)taken / 1048576, (double)self->most / 1048576);
}

void sv_memory_release(sv_memory *self, size_t bytes) {
    pthread_mutex_lock(&self->lock);
    self->promised -= bytes < self->promised ? bytes : self->promised;
    pthread_mutex_unlock(&self->lock);
}

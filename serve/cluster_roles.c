/* Which agents this server learns: those for which it is the preferred one of the servers that may learn and
 * are there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_own.h"

static const double SETTLE_SECONDS = 2; /* before an agent is let go to a server that is new */
static const double BUSY_SECONDS = 0.1; /* after which the thread that holds agents is waited for no longer */
enum { UNANSWERED = 3 };                /* looks, after which the session counts as gone */

/* ---- who is there ---- */

typedef struct roll {
    sv_cluster *cluster;
    sv_peer *peers;
    size_t count;
    double now;
} roll;

static double since(const sv_cluster *self, const char *id, double now) {
    for (size_t i = 0; i < self->peer_count; i++)
        if (!strcmp(self->peers[i].id, id)) return self->peers[i].since;
    return now;
}

static void see_server(void *user, const sv_shared_server *server) {
    roll *self = user;
    if (self->count == CLUSTER_SERVERS) return;
    sv_peer *peer = &self->peers[self->count++];
    snprintf(peer->id, sizeof peer->id, "%s", server->id);
    peer->learns = server->learns && server->backend;
    peer->since = since(self->cluster, server->id, self->now);
}

static void call_roll(sv_cluster *self) {
    static _Thread_local sv_peer peers[CLUSTER_SERVERS];
    roll now = {.cluster = self, .peers = peers, .now = sv_clock_seconds()};
    bool good = sv_shared_servers(self->store, see_server, &now) == STORE_OK;
    pthread_mutex_lock(&self->lock);
    self->peer_count = good ? now.count : 0;
    memcpy(self->peers, peers, self->peer_count * sizeof *peers);
    pthread_mutex_unlock(&self->lock);
}

/* ---- whose an agent is ---- */

static uint64_t weigh(const char *server, int64_t agent) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *at = server; *at; at++) h = (h ^ (uint64_t)(unsigned char)*at) * UINT64_C(0x100000001b3);
    h ^= (uint64_t)agent * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 27) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static const sv_peer *preferred(const sv_cluster *self, int64_t agent) {
    const sv_peer *best = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < self->peer_count; i++) {
        uint64_t weight = weigh(self->peers[i].id, agent);
        if (self->peers[i].learns && (!best || weight > most)) {
            best = &self->peers[i];
            most = weight;
        }
    }
    return best;
}

/* ---- taking and letting go: in the thread that has the session ---- */

typedef struct roles {
    sv_holder_job job; /* first */
    size_t count;
    sv_agent *agents[LIMIT_AGENTS + 1]; /* (count), as the following */
    bool take[LIMIT_AGENTS + 1], give[LIMIT_AGENTS + 1];
    bool holds[LIMIT_AGENTS + 1], taken[LIMIT_AGENTS + 1]; /* taken: by another session */
    int backend;                                           /* of its session */
} roles;

static sv_store_status run_roles(sv_job *base, sv_store *store) {
    roles *self = (roles *)base;
    sv_store_status status = STORE_OK;
    for (size_t i = 0; i < self->count && (status == STORE_OK || status == STORE_NONE); i++) {
        int64_t id = self->agents[i]->id;
        if (self->give[i]) sv_store_let_go(store, id);
        status = self->take[i] ? sv_store_hold(store, id) : STORE_OK;
        self->taken[i] = status == STORE_NONE;
        self->holds[i] = sv_store_holds(store, id) && !self->give[i]; /* until the commit it still does */
    }
    self->backend = sv_shared_backend(store);
    return status == STORE_NONE ? STORE_OK : status;
}

static void take_over(sv_cluster *self, sv_agent *agent) {
    atomic_store(&agent->tenure, ++self->epoch);
    sv_learner_wake(self->service->learner, agent);
}

static void lose(sv_cluster *self, sv_agent *agent) {
    atomic_store(&agent->tenure, 0);
    sv_learner_wake(self->service->learner, agent);
}

/* The session may have gone since the last look, and with it every lock. Where it gave no answer it may be
 * there: a look that shared its transaction with one that failed, as on a full disk, says nothing. true: a
 * session was ended that held one for which this server waits. */
static bool see_roles(sv_cluster *self, const roles *found, sv_store_status status) {
    bool ended = false, good = status == STORE_OK;
    self->unanswered = good ? 0 : self->unanswered + 1;
    if (!good && status != STORE_LOST && self->unanswered < UNANSWERED) return false;
    for (size_t i = 0; i < found->count; i++) {
        sv_agent *agent = found->agents[i];
        bool holds = good && found->holds[i], held = atomic_load(&agent->tenure) != 0;
        if (holds && !held && !atomic_load(&agent->deleted)) take_over(self, agent);
        if (!holds && held) lose(self, agent);
        if (good && found->taken[i] && sv_shared_unseat(self->store, agent->id) == STORE_OK) ended = true;
    }
    sv_cluster_set_backend(self, good ? found->backend : 0);
    return ended;
}

static void wish(sv_cluster *self, roles *all) {
    double now = sv_clock_seconds();
    for (size_t i = 0; i < all->count; i++) {
        const sv_peer *best = preferred(self, all->agents[i]->id);
        bool held = atomic_load(&all->agents[i]->tenure) != 0, mine = best && !strcmp(best->id, self->id);
        all->take[i] = mine && !held && !atomic_load(&all->agents[i]->deleted);
        all->give[i] = held && best && !mine && now - best->since > SETTLE_SECONDS;
    }
}

static bool ask(sv_cluster *self) {
    roles *now = self->roles = calloc(1, sizeof *now);
    if (!now) return false;
    now->count = sv_agents_all(&self->service->agents, now->agents);
    wish(self, now);
    sv_cluster_tell_holder(self, &now->job, run_roles);
    return true;
}

bool sv_cluster_take_roles(sv_cluster *self) {
    sv_store_status status;
    if (atomic_load(&self->service->stopping)) return false;
    call_roll(self);
    if (self->learning == LEARNING_NO || (!self->roles && !ask(self))) return false;
    if (!sv_cluster_hear_holder(&self->roles->job, BUSY_SECONDS, &status)) return false;
    bool soon = see_roles(self, self->roles, status);
    sv_cluster_end_roles(self);
    return soon;
}

void sv_cluster_end_roles(sv_cluster *self) {
    for (size_t i = 0; self->roles && i < self->roles->count; i++) sv_agent_release(self->roles->agents[i]);
    free(self->roles);
    self->roles = NULL;
}

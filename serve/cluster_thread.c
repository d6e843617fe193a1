#define _GNU_SOURCE
#include "cluster_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "thread_name.h"

static const double TICK_SECONDS = 0.4, SHORT_TICK = 0.02, PATIENCE = 15, GRACE = 2, SUMS_SECONDS = 1;
enum { SUMS_TURNS = 5 };

/* ---- agents ---- */

static void forget_agent(sv_cluster *self, sv_agent *agent) {
    atomic_store(&agent->deleted, true);
    atomic_store(&agent->tenure, 0);
    sv_agents_remove(&self->service->agents, agent);
    sv_learner_wake(self->service->learner, agent);
}

static sv_settings *read_settings(const sv_store_agent *from, bool *readable, sv_refusal *unread) {
    sv_settings *settings = sv_settings_read_text(from->settings, strlen(from->settings), unread);
    *readable = settings;
    return settings ? settings : sv_settings_guess(from->settings, strlen(from->settings));
}

static sv_agent *add_agent(sv_cluster *self, const sv_store_agent *from) {
    bool readable;
    sv_refusal unread = {0};
    sv_settings *settings = read_settings(from, &readable, &unread);
    sv_agent *agent = settings ? sv_agent_new(from->id, from->name, settings) : NULL;
    sv_settings_release(settings);
    if (!agent) return NULL;
    agent->checkpoint_time = sv_clock_seconds();
    agent->settings_version = from->version;
    agent->decisions_known = agent->feedbacks_known = true;           /* what it has seen itself */
    if (!atomic_load(&self->open)) agent->start_seq = from->last_seq; /* the database came late */
    if (!readable) {
        atomic_store(&agent->unreadable, true);
        sv_agent_break(agent, unread.message);
    }
    if (sv_agents_add(&self->service->agents, agent)) return agent;
    sv_agent_release(agent);
    return NULL;
}

static void change_agent(sv_agent *agent, const sv_store_agent *from) {
    bool readable;
    sv_refusal unread = {0};
    uint64_t version;
    sv_settings_release(sv_agent_settings_at(agent, &version));
    sv_settings *settings = version < from->version ? read_settings(from, &readable, &unread) : NULL;
    if (settings && sv_agent_change_settings(agent, settings, from->version) && !readable) {
        atomic_store(&agent->unreadable, true);
        sv_agent_break(agent, unread.message);
    }
    sv_settings_release(settings);
}

static void see_broken(sv_agent *agent, const char *why) {
    if (atomic_load(&agent->tenure) || atomic_load(&agent->unreadable)) return;
    if (why && !atomic_load(&agent->broken)) sv_agent_break(agent, why);
    if (!why && atomic_load(&agent->broken)) sv_agent_mend(agent);
}

/* An agent as the database has it. */
typedef struct known {
    int64_t id;
    uint64_t policy, items, past;
} known;
typedef struct look {
    sv_cluster *cluster;
    known *seen;
    size_t count, room;
} look;

static bool see_agent(void *user, const sv_store_agent *from) {
    look *self = user;
    sv_agents *agents = &self->cluster->service->agents;
    sv_agent *agent = sv_agents_find_id(agents, from->id);
    if (from->deleted) {
        if (agent) forget_agent(self->cluster, agent);
        sv_agent_release(agent);
        return true;
    }
    if (!agent && !(agent = add_agent(self->cluster, from))) return true;
    change_agent(agent, from);
    see_broken(agent, from->broken);
    if (!atomic_load(&agent->tenure)) atomic_store(&agent->checkpointed, from->policy);
    if (from->last_seq > atomic_load(&agent->last_seq)) sv_agent_wrote(agent, from->last_seq);
    if (self->count < self->room)
        self->seen[self->count++] = (known){from->id, from->policy, from->items, from->past};
    sv_agent_release(agent);
    return true;
}

static const known *find_known(const look *self, int64_t id) {
    for (size_t i = 0; i < self->count; i++)
        if (self->seen[i].id == id) return &self->seen[i];
    return NULL;
}

/* Agents, and the policies of those that others learn. false: the database is not there. */
static bool look_at_agents(sv_cluster *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    known seen[LIMIT_AGENTS + 1];
    look now = {.cluster = self, .seen = seen, .room = LIMIT_AGENTS + 1};
    size_t before = sv_agents_all(&self->service->agents, all); /* those that came later are not missed */
    bool good = sv_store_agents(self->store, see_agent, &now) == STORE_OK;
    for (size_t i = 0; i < before; i++) {
        bool there = find_known(&now, all[i]->id);
        if (good && !there && !atomic_load(&all[i]->deleted)) forget_agent(self, all[i]);
        sv_agent_release(all[i]);
    }
    size_t count = good ? sv_agents_all(&self->service->agents, all) : 0;
    for (size_t i = 0; i < count; i++) {
        const known *as = find_known(&now, all[i]->id);
        if (as && !atomic_load(&all[i]->tenure) && as->policy) sv_cluster_follow(self, all[i], as->policy);
        if (as && as->items) sv_cluster_follow_items(self, all[i], as->items, as->past);
        sv_agent_release(all[i]);
    }
    return good;
}

/* What is known of the sides of agents that others learn: GET says the same at any server, a moment later.
 * Agents with one side take turns. */
static void look_at_sums(sv_cluster *self, double now) {
    sv_agent *all[LIMIT_AGENTS + 1];
    if (now - self->sums_looked < SUMS_SECONDS) return;
    self->sums_looked = now;
    size_t count = sv_agents_all(&self->service->agents, all), turn = ++self->sums_turn;
    for (size_t i = 0; i < count; i++) {
        sv_settings *settings = sv_agent_settings(all[i]);
        bool two = settings->control > 0 || settings->mode != MODE_ONLINE;
        if (!atomic_load(&all[i]->tenure) && (two || (turn + i) % SUMS_TURNS == 0))
            sv_sums_load_one(self->store, all[i]);
        sv_settings_release(settings);
        sv_agent_release(all[i]);
    }
}

/* ---- who waits ---- */

static uint64_t served_by(sv_agent *agent) {
    sv_policy *policy = NULL;
    sv_settings *settings = NULL;
    if (!sv_agent_serving(agent, &policy, &settings)) return 0;
    uint64_t version = sv_policy_version(policy);
    sv_policy_release(policy);
    sv_settings_release(settings);
    return version;
}

static bool is_over(sv_cluster *self, sv_cluster_wait *wait, bool *done) {
    sv_agent *agent = wait->agent;
    *done = true;
    if (atomic_load(&agent->deleted)) return true;
    uint64_t written = 0, ending = 0;
    if (wait->evaluations && sv_shared_evaluations_ending(self->store, agent->id, &ending) == STORE_OK &&
        !ending)
        return true;
    if (wait->covered &&
        (atomic_load(&agent->broken) ||
         (sv_shared_newest(self->store, agent->id, &written) == STORE_OK && written >= wait->covered)))
        return true;
    if (wait->inbox && !wait->seq) sv_shared_inbox_row(self->store, wait->inbox, &wait->seq);
    if (wait->seq && (served_by(agent) >= wait->seq || (atomic_load(&agent->broken) && !wait->was_broken)))
        return true;
    *done = false;
    return sv_clock_seconds() >= wait->until || atomic_load(&self->stop);
}

static bool end_waits(sv_cluster *self) {
    pthread_mutex_lock(&self->lock);
    sv_cluster_wait *all = self->waits, *left = NULL;
    self->waits = NULL;
    pthread_mutex_unlock(&self->lock);
    for (sv_cluster_wait *next; all; all = next) {
        bool done;
        next = all->next;
        if (is_over(self, all, &done))
            all->end(all, done);
        else {
            all->next = left;
            left = all;
        }
    }
    pthread_mutex_lock(&self->lock);
    while (left) {
        sv_cluster_wait *next = left->next;
        left->next = self->waits;
        self->waits = left;
        left = next;
    }
    bool any = self->waits;
    pthread_mutex_unlock(&self->lock);
    return any;
}

static void wake(sv_cluster *self) {
    if (!atomic_exchange(&self->told, true) && write(self->wake[1], "", 1) < 0)
        atomic_store(&self->told, false);
}

void sv_cluster_await(sv_cluster *self, sv_cluster_wait *wait) {
    wait->until = sv_clock_seconds() + PATIENCE;
    wait->was_broken = atomic_load(&wait->agent->broken);
    pthread_mutex_lock(&self->lock);
    wait->next = self->waits;
    self->waits = wait;
    pthread_mutex_unlock(&self->lock);
    wake(self);
}

/* ---- what is told about it ---- */

void sv_cluster_opened(sv_cluster *self) { atomic_store(&self->open, true); }

bool sv_cluster_is_open(const sv_cluster *self) {
    return atomic_load(&self->open) && atomic_load(&self->joined);
}

static void count(sv_cluster *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    bool open = sv_cluster_is_open(self), starting = false; /* first: then all that were there are in it */
    size_t agents = sv_agents_all(&self->service->agents, all), held = 0, without = 0, lagging = 0,
           recovering = 0;
    double longest = 0, now = sv_clock_seconds();
    for (size_t i = 0; i < agents; i++) {
        pthread_mutex_lock(&all[i]->lock);
        uint64_t version = all[i]->policy ? sv_policy_version(all[i]->policy) : 0;
        double since = all[i]->behind_since;
        pthread_mutex_unlock(&all[i]->lock);
        held += atomic_load(&all[i]->tenure) != 0;
        bool sound = !atomic_load(&all[i]->broken);
        without += !version && sound;
        starting = starting || (!version && sound && all[i]->start_seq);
        recovering += version < all[i]->start_seq && sound;
        double lag = version < atomic_load(&all[i]->last_seq) && since > 0 ? now - since : 0;
        lagging += lag > GRACE;
        if (lag > GRACE && lag > longest) longest = lag;
        sv_agent_release(all[i]);
    }
    pthread_mutex_lock(&self->lock);
    self->counts.servers = self->peer_count;
    self->counts.held = held;
    self->counts.without = without;
    self->complete = self->complete || (open && !starting);
    self->counts.starting = !self->complete;
    self->counts.lagging = lagging;
    self->counts.recovering = recovering;
    self->counts.lag_seconds = longest;
    pthread_mutex_unlock(&self->lock);
}

void sv_cluster_count(sv_cluster *self, sv_cluster_counts *out) {
    count(self);
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    pthread_mutex_unlock(&self->lock);
}

/* ---- the thread ---- */

static void *work(void *user) {
    sv_cluster *self = user;
    sv_thread_name("cluster");
    bool waits = false, soon = atomic_load(&self->joined) && sv_cluster_take_roles(self);
    while (!atomic_load(&self->stop)) {
        bool told = sv_shared_wait(self->store, waits || soon ? SHORT_TICK : TICK_SECONDS, self->wake[0]);
        atomic_store(&self->told, false);
        if (!atomic_load(&self->joined)) continue;
        double now = sv_clock_seconds();
        if (look_at_agents(self)) sv_cluster_opened(self);
        if (now - self->looked >= (told || waits || soon ? SHORT_TICK : TICK_SECONDS)) {
            self->looked = now;
            soon = sv_cluster_take_roles(self);
        }
        look_at_sums(self, now);
        sv_cluster_look_at_evaluations(self);
        waits = end_waits(self);
    }
    return NULL;
}

static void name_server(sv_cluster *self) {
    uint8_t random[16] = {0};
    char host[64] = "";
    if (getrandom(random, sizeof random, 0) < 0) memcpy(random, &(pid_t){getpid()}, sizeof(pid_t));
    sv_hex_write(random, sizeof random, self->id);
    gethostname(host, sizeof host - 1);
    snprintf(self->name, sizeof self->name, "%s/%d", host, (int)getpid());
}

void sv_cluster_set_keys(sv_cluster *self) {
    pthread_mutex_lock(&self->lock);
    sv_keys_digest(&self->service->keys, self->keys);
    pthread_mutex_unlock(&self->lock);
}

/* A database that is not there yet lets it in later. */
static bool open_beat(sv_cluster *self, sv_refusal *why) {
    sa_buffer sentence = {0};
    self->beat_store = sv_store_open(self->service->place, true, &sentence);
    if (!self->beat_store)
        sv_refuse(why, 400, "%s",
                  sentence.size && !sentence.status ? sentence.text : "memory could not be had");
    sa_buffer_clear(&sentence);
    if (!self->beat_store) return false;
    sv_store_status status = sv_cluster_join(self, why);
    if (status != STORE_OK && status != STORE_NONE) /* the first answer says why, too */
        sv_cluster_set_trouble(self, sv_store_sentence(self->beat_store), false);
    return status != STORE_NONE;
}

sv_cluster *sv_cluster_new(sv_service *service, sv_store *store, sv_learning learning, sv_refusal *why) {
    sv_cluster *self = calloc(1, sizeof *self);
    if (!self || pipe2(self->wake, O_CLOEXEC | O_NONBLOCK)) {
        free(self);
        sv_store_close(store);
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    self->service = service;
    self->learning = learning;
    self->store = store;
    pthread_mutex_init(&self->lock, NULL);
    sv_waiting_begin(&self->told_beat);
    sv_waiting_begin(&self->told_scratch);
    sv_waiting_begin(&self->told_watch);
    name_server(self);
    sv_cluster_set_keys(self);
    if (open_beat(self, why)) return self;
    sv_cluster_destroy(self);
    return NULL;
}

bool sv_cluster_start(sv_cluster *self) {
    self->runs = pthread_create(&self->thread, NULL, work, self) == 0;
    return self->runs && sv_cluster_start_scratch(self) && sv_cluster_start_watch(self) &&
           sv_cluster_start_beat(self);
}

void sv_cluster_stop(sv_cluster *self) {
    if (!self || !self->runs) return;
    atomic_store(&self->stop, true);
    wake(self);
    pthread_join(self->thread, NULL);
    self->runs = false;
    sv_cluster_tell(self);
    sv_cluster_stop_scratch(self);
    end_waits(self);
}

void sv_cluster_leave(sv_cluster *self) {
    if (!self || !self->beats) return;
    sv_cluster_stop_beat(self);
    sv_shared_leave(self->store, self->id);
}

void sv_cluster_destroy(sv_cluster *self) {
    if (!self) return;
    sv_cluster_stop_watch(self);
    sv_cluster_end_roles(self);
    sv_store_close(self->store);
    sv_store_close(self->beat_store);
    close(self->wake[0]);
    close(self->wake[1]);
    pthread_cond_destroy(&self->told_beat);
    pthread_cond_destroy(&self->told_scratch);
    pthread_cond_destroy(&self->told_watch);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

#include "agents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

void sv_agents_begin(sv_agents *self) { pthread_rwlock_init(&self->lock, NULL); }

void sv_agents_end(sv_agents *self) {
    for (size_t i = 0; i < self->count; i++) sv_agent_release(self->list[i]);
    pthread_rwlock_destroy(&self->lock);
}

sv_agent *sv_agent_new(int64_t id, const char *name, sv_settings *settings) {
    sv_agent *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->owners = 1;
    self->id = id;
    snprintf(self->name, sizeof self->name, "%s", name);
    pthread_mutex_init(&self->lock, NULL);
    sv_settings_retain(settings);
    self->settings = settings;
    return self;
}

void sv_agent_retain(sv_agent *self) { atomic_fetch_add(&self->owners, 1); }

void sv_agent_release(sv_agent *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    for (size_t i = 0; i < RECENT; i++) sa_buffer_clear(&self->recent[i].json);
    while (self->catalogue) {
        sv_catalogue *older = self->catalogue->older;
        sv_catalogue_release(self->catalogue);
        self->catalogue = older;
    }
    sv_policy_release(self->policy);
    sv_settings_release(self->served);
    sv_chunks_clear(&self->followed);
    sv_chunks_clear(&self->written);
    sv_model_destroy(self->model);
    free(self->checkpoint.settings);
    free(self->older.settings);
    sv_settings_release(self->learner_settings);
    sv_settings_release(self->settings);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

bool sv_agents_add(sv_agents *self, sv_agent *agent) {
    pthread_rwlock_wrlock(&self->lock);
    bool room = self->count < LIMIT_AGENTS;
    for (size_t i = 0; i < self->count && room; i++) room = self->list[i]->id != agent->id;
    if (room) {
        sv_agent_retain(agent);
        self->list[self->count++] = agent;
    }
    pthread_rwlock_unlock(&self->lock);
    return room;
}

bool sv_agents_reserve(sv_agents *self) {
    pthread_rwlock_wrlock(&self->lock);
    bool room = self->count + self->reserved < LIMIT_NEW_AGENTS;
    self->reserved += room;
    pthread_rwlock_unlock(&self->lock);
    return room;
}

void sv_agents_unreserve(sv_agents *self) {
    pthread_rwlock_wrlock(&self->lock);
    self->reserved--;
    pthread_rwlock_unlock(&self->lock);
}

void sv_agents_remove(sv_agents *self, sv_agent *agent) {
    pthread_rwlock_wrlock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i] == agent) {
            self->list[i] = self->list[--self->count];
            sv_agent_release(agent);
            break;
        }
    pthread_rwlock_unlock(&self->lock);
}

static sv_agent *find(sv_agents *self, const char *name, int64_t id) {
    sv_agent *found = NULL;
    pthread_rwlock_rdlock(&self->lock);
    for (size_t i = 0; i < self->count && !found; i++)
        if (name ? !strcmp(self->list[i]->name, name) : self->list[i]->id == id) found = self->list[i];
    if (found) sv_agent_retain(found);
    pthread_rwlock_unlock(&self->lock);
    return found;
}

sv_agent *sv_agents_find(sv_agents *self, const char *name) { return find(self, name, 0); }
sv_agent *sv_agents_find_id(sv_agents *self, int64_t id) { return find(self, NULL, id); }

size_t sv_agents_count(sv_agents *self) {
    pthread_rwlock_rdlock(&self->lock);
    size_t count = self->count;
    pthread_rwlock_unlock(&self->lock);
    return count;
}

size_t sv_agents_broken(sv_agents *self, sa_buffer *names) {
    size_t count = 0;
    if (names) sa_buffer_format(names, "[");
    pthread_rwlock_rdlock(&self->lock);
    for (size_t i = 0; i < self->count; i++) {
        if (!atomic_load(&self->list[i]->broken)) continue;
        if (names && count) sa_buffer_format(names, ", ");
        if (names) sa_buffer_quote(names, self->list[i]->name);
        count++;
    }
    pthread_rwlock_unlock(&self->lock);
    if (names) sa_buffer_format(names, "]");
    return count;
}

size_t sv_agents_all(sv_agents *self, sv_agent **out) {
    pthread_rwlock_rdlock(&self->lock);
    size_t count = self->count;
    for (size_t i = 0; i < count; i++) sv_agent_retain(out[i] = self->list[i]);
    pthread_rwlock_unlock(&self->lock);
    return count;
}

sv_settings *sv_agent_settings_at(sv_agent *self, uint64_t *version) {
    pthread_mutex_lock(&self->lock);
    sv_settings *settings = self->settings;
    sv_settings_retain(settings);
    *version = self->settings_version;
    pthread_mutex_unlock(&self->lock);
    return settings;
}

sv_settings *sv_agent_settings(sv_agent *self) {
    uint64_t version;
    return sv_agent_settings_at(self, &version);
}

bool sv_agent_serving(sv_agent *self, sv_policy **policy, sv_settings **settings) {
    pthread_mutex_lock(&self->lock);
    bool there = self->policy;
    if (there) {
        sv_policy_retain(*policy = self->policy);
        sv_settings_retain(*settings = self->served);
    }
    pthread_mutex_unlock(&self->lock);
    return there;
}

bool sv_agent_change_settings(sv_agent *self, sv_settings *settings, uint64_t version) {
    pthread_mutex_lock(&self->lock);
    bool newer = !version || version > self->settings_version;
    struct settings *before = self->settings;
    if (newer) {
        sv_settings_retain(settings);
        self->settings = settings;
        self->settings_version = version;
        atomic_store(&self->unreadable, false);
    }
    pthread_mutex_unlock(&self->lock);
    if (newer) sv_settings_release(before);
    return newer;
}

void sv_agent_publish(sv_agent *self, sv_policy *policy, sv_settings *settings, const sa_agent_counts *counts,
                      int64_t row_time) {
    sv_settings_retain(settings);
    pthread_mutex_lock(&self->lock);
    struct policy *before = self->policy;
    struct settings *served = self->served;
    self->policy = policy;
    self->served = settings;
    self->policy_time = sv_clock_seconds();
    self->counts = *counts;
    if (sv_policy_version(policy) >= atomic_load(&self->last_seq))
        self->behind_since = 0;
    else { /* the next row is younger than the one that was learnt last */
        double age = 1e-3 * (double)(sv_clock_milliseconds() - row_time), since = self->policy_time - age;
        if (age > 0 && since > self->behind_since) self->behind_since = since;
    }
    pthread_mutex_unlock(&self->lock);
    sv_policy_release(before);
    sv_settings_release(served);
}

void sv_agent_wrote(sv_agent *self, uint64_t seq) {
    pthread_mutex_lock(&self->lock);
    atomic_store(&self->last_seq, seq);
    if (self->behind_since == 0) self->behind_since = sv_clock_seconds();
    pthread_mutex_unlock(&self->lock);
}

void sv_agent_break(sv_agent *self, const char *why) {
    pthread_mutex_lock(&self->lock);
    snprintf(self->why, sizeof self->why, "%s", why);
    atomic_store(&self->broken, true);
    pthread_mutex_unlock(&self->lock);
}

void sv_agent_mend(sv_agent *self) {
    pthread_mutex_lock(&self->lock);
    *self->why = 0;
    atomic_store(&self->broken, false);
    pthread_mutex_unlock(&self->lock);
}

bool sv_agent_is_sound(sv_agent *self, sv_refusal *why) {
    pthread_mutex_lock(&self->lock);
    bool sound = !atomic_load(&self->broken) ||
                 sv_refuse(why, 503, "agent %s is broken: %.400s", self->name, self->why);
    pthread_mutex_unlock(&self->lock);
    return sound;
}

bool sv_agent_wants_decision(sv_agent *self) {
    int64_t now = sv_clock_milliseconds();
    pthread_mutex_lock(&self->lock);
    bool wanted = now - self->recent_time > 100 || now < self->recent_time;
    if (wanted) self->recent_time = now;
    pthread_mutex_unlock(&self->lock);
    return wanted;
}

void sv_agent_show_decision(sv_agent *self, sa_buffer json) {
    pthread_mutex_lock(&self->lock);
    sa_buffer before = self->recent[self->recent_next].json;
    self->recent[self->recent_next].json = json;
    self->recent_next = (self->recent_next + 1) % RECENT;
    pthread_mutex_unlock(&self->lock);
    sa_buffer_clear(&before);
}

/* Of now; the lock is held. */
static sv_bucket *present(sv_agent *self) {
    int64_t number = sv_clock_milliseconds() / 1000 / SERIES_SECONDS;
    sv_bucket *at = &self->series[number % SERIES_BUCKETS];
    if (at->number != number) *at = (sv_bucket){.number = number};
    return at;
}

void sv_agent_count_activation(sv_agent *self) {
    atomic_fetch_sub(&self->held, 1);
    atomic_fetch_add(&self->waiting, 1);
}

void sv_agent_count_decision(sv_agent *self, bool held) {
    atomic_fetch_add(&self->decisions, 1);
    atomic_fetch_add(held ? &self->held : &self->waiting, 1);
    pthread_mutex_lock(&self->lock);
    present(self)->decisions++;
    pthread_mutex_unlock(&self->lock);
}

void sv_agent_count_feedback(sv_agent *self) {
    atomic_fetch_add(&self->feedbacks, 1);
    pthread_mutex_lock(&self->lock);
    present(self)->feedbacks++;
    pthread_mutex_unlock(&self->lock);
}

void sv_agent_count_learnt(sv_agent *self, double reward) {
    atomic_fetch_sub(&self->waiting, 1);
    atomic_fetch_add(&self->learnt, 1);
    pthread_mutex_lock(&self->lock);
    sv_bucket *now = present(self);
    now->learnt++;
    now->reward += reward;
    self->reward_sum += reward;
    self->reward_count++;
    pthread_mutex_unlock(&self->lock);
}

void sv_agent_publish_since(sv_agent *self, const sv_since *since) {
    pthread_mutex_lock(&self->lock);
    self->since = *since;
    pthread_mutex_unlock(&self->lock);
}

bool sv_agent_warn(sv_agent *self, const sv_unknown *request, const sa_schema *schema, sa_buffer *out) {
    pthread_mutex_lock(&self->lock);
    bool warned = sv_unknown_warn(&self->unknown, request, schema, out);
    pthread_mutex_unlock(&self->lock);
    return warned;
}

void sv_agent_count_unknown(sv_agent *self, const sv_unknown *request) {
    pthread_mutex_lock(&self->lock);
    sv_unknown_add(&self->unknown, request);
    pthread_mutex_unlock(&self->lock);
}

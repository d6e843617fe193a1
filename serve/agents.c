#include "agents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

void agents_begin(sv_agents *self) { pthread_rwlock_init(&self->lock, NULL); }

void agents_end(sv_agents *self) {
    for (size_t i = 0; i < self->count; i++) agent_release(self->list[i]);
    pthread_rwlock_destroy(&self->lock);
}

sv_agent *agent_new(int64_t id, const char *name, sv_settings *settings) {
    sv_agent *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->owners = 1;
    self->id = id;
    snprintf(self->name, sizeof self->name, "%s", name);
    pthread_mutex_init(&self->lock, NULL);
    settings_retain(settings);
    self->settings = settings;
    return self;
}

void agent_retain(sv_agent *self) { atomic_fetch_add(&self->owners, 1); }

void agent_release(sv_agent *self) {
    if (!self || atomic_fetch_sub(&self->owners, 1) > 1) return;
    for (size_t i = 0; i < RECENT; i++) free(self->recent[i].json);
    policy_release(self->policy);
    settings_release(self->served);
    brain_destroy(self->brain);
    free(self->checkpoint.settings);
    free(self->older.settings);
    settings_release(self->learner_settings);
    settings_release(self->settings);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

bool agents_add(sv_agents *self, sv_agent *agent) {
    pthread_rwlock_wrlock(&self->lock);
    bool room = self->count < LIMIT_AGENTS;
    if (room) {
        agent_retain(agent);
        self->list[self->count++] = agent;
    }
    pthread_rwlock_unlock(&self->lock);
    return room;
}

bool agents_reserve(sv_agents *self) {
    pthread_rwlock_wrlock(&self->lock);
    bool room = self->count + self->reserved < LIMIT_NEW_AGENTS;
    self->reserved += room;
    pthread_rwlock_unlock(&self->lock);
    return room;
}

void agents_unreserve(sv_agents *self) {
    pthread_rwlock_wrlock(&self->lock);
    self->reserved--;
    pthread_rwlock_unlock(&self->lock);
}

void agents_remove(sv_agents *self, sv_agent *agent) {
    pthread_rwlock_wrlock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        if (self->list[i] == agent) {
            self->list[i] = self->list[--self->count];
            agent_release(agent);
            break;
        }
    pthread_rwlock_unlock(&self->lock);
}

static sv_agent *find(sv_agents *self, const char *name, int64_t id) {
    sv_agent *found = NULL;
    pthread_rwlock_rdlock(&self->lock);
    for (size_t i = 0; i < self->count && !found; i++)
        if (name ? !strcmp(self->list[i]->name, name) : self->list[i]->id == id) found = self->list[i];
    if (found) agent_retain(found);
    pthread_rwlock_unlock(&self->lock);
    return found;
}

sv_agent *agents_find(sv_agents *self, const char *name) { return find(self, name, 0); }
sv_agent *agents_find_id(sv_agents *self, int64_t id) { return find(self, NULL, id); }

size_t agents_count(sv_agents *self) {
    pthread_rwlock_rdlock(&self->lock);
    size_t count = self->count;
    pthread_rwlock_unlock(&self->lock);
    return count;
}

size_t agents_broken(sv_agents *self, sv_text *names) {
    size_t count = 0;
    if (names) text_put(names, "[");
    pthread_rwlock_rdlock(&self->lock);
    for (size_t i = 0; i < self->count; i++) {
        if (!atomic_load(&self->list[i]->broken)) continue;
        if (names && count) text_put(names, ", ");
        if (names) text_string(names, self->list[i]->name);
        count++;
    }
    pthread_rwlock_unlock(&self->lock);
    if (names) text_put(names, "]");
    return count;
}

size_t agents_all(sv_agents *self, sv_agent **out) {
    pthread_rwlock_rdlock(&self->lock);
    size_t count = self->count;
    for (size_t i = 0; i < count; i++) agent_retain(out[i] = self->list[i]);
    pthread_rwlock_unlock(&self->lock);
    return count;
}

sv_settings *agent_settings(sv_agent *self) {
    pthread_mutex_lock(&self->lock);
    sv_settings *found = self->settings;
    settings_retain(found);
    pthread_mutex_unlock(&self->lock);
    return found;
}

bool agent_serving(sv_agent *self, sv_policy **policy, sv_settings **settings) {
    pthread_mutex_lock(&self->lock);
    bool there = self->policy;
    if (there) {
        policy_retain(*policy = self->policy);
        settings_retain(*settings = self->served);
    }
    pthread_mutex_unlock(&self->lock);
    return there;
}

void agent_change_settings(sv_agent *self, sv_settings *settings) {
    settings_retain(settings);
    pthread_mutex_lock(&self->lock);
    struct settings *before = self->settings;
    self->settings = settings;
    pthread_mutex_unlock(&self->lock);
    atomic_store(&self->unreadable, false);
    settings_release(before);
}

void agent_publish(sv_agent *self, sv_policy *policy, sv_settings *settings, const sa_agent_counts *counts) {
    settings_retain(settings);
    pthread_mutex_lock(&self->lock);
    struct policy *before = self->policy;
    struct settings *served = self->served;
    self->policy = policy;
    self->served = settings;
    self->policy_time = clock_seconds();
    self->counts = *counts;
    pthread_mutex_unlock(&self->lock);
    policy_release(before);
    settings_release(served);
}

void agent_break(sv_agent *self, const char *why) {
    pthread_mutex_lock(&self->lock);
    snprintf(self->why, sizeof self->why, "%s", why);
    atomic_store(&self->broken, true);
    pthread_mutex_unlock(&self->lock);
}

void agent_mend(sv_agent *self) {
    pthread_mutex_lock(&self->lock);
    *self->why = 0;
    atomic_store(&self->broken, false);
    pthread_mutex_unlock(&self->lock);
}

bool agent_is_sound(sv_agent *self, sv_refusal *why) {
    pthread_mutex_lock(&self->lock);
    bool sound =
        !atomic_load(&self->broken) || refuse(why, 503, "agent %s is broken: %.400s", self->name, self->why);
    pthread_mutex_unlock(&self->lock);
    return sound;
}

bool agent_wants_decision(sv_agent *self) {
    int64_t now = clock_milliseconds();
    pthread_mutex_lock(&self->lock);
    bool wanted = now - self->recent_time > 100 || now < self->recent_time;
    if (wanted) self->recent_time = now;
    pthread_mutex_unlock(&self->lock);
    return wanted;
}

void agent_show_decision(sv_agent *self, char *json) {
    pthread_mutex_lock(&self->lock);
    char *before = self->recent[self->recent_next].json;
    self->recent[self->recent_next].json = json;
    self->recent_next = (self->recent_next + 1) % RECENT;
    pthread_mutex_unlock(&self->lock);
    free(before);
}

/* Of now; the lock is held. */
static sv_bucket *present(sv_agent *self) {
    int64_t number = clock_milliseconds() / 1000 / SERIES_SECONDS;
    sv_bucket *at = &self->series[number % SERIES_BUCKETS];
    if (at->number != number) *at = (sv_bucket){.number = number};
    return at;
}

void agent_count_decision(sv_agent *self) {
    atomic_fetch_add(&self->decisions, 1);
    atomic_fetch_add(&self->waiting, 1);
    pthread_mutex_lock(&self->lock);
    present(self)->decisions++;
    pthread_mutex_unlock(&self->lock);
}

void agent_count_feedback(sv_agent *self) {
    atomic_fetch_add(&self->feedbacks, 1);
    pthread_mutex_lock(&self->lock);
    present(self)->feedbacks++;
    pthread_mutex_unlock(&self->lock);
}

void agent_count_learnt(sv_agent *self, double reward) {
    atomic_fetch_sub(&self->waiting, 1);
    atomic_fetch_add(&self->learnt, 1);
    pthread_mutex_lock(&self->lock);
    sv_bucket *now = present(self);
    now->learnt++;
    now->reward += reward;
    pthread_mutex_unlock(&self->lock);
}

bool agent_warn(sv_agent *self, const sv_unknown *request, const sa_schema *schema, sv_text *out) {
    pthread_mutex_lock(&self->lock);
    bool warned = unknown_warn(&self->unknown, request, schema, out);
    pthread_mutex_unlock(&self->lock);
    return warned;
}

void agent_count_unknown(sv_agent *self, const sv_unknown *request) {
    pthread_mutex_lock(&self->lock);
    unknown_add(&self->unknown, request);
    pthread_mutex_unlock(&self->lock);
}

/* Rates over the bucket before this one and what there is of this one. */
static void write_rates(sv_agent *self, sv_text *out) {
    int64_t now = clock_milliseconds(), number = now / 1000 / SERIES_SECONDS;
    double decisions = 0, feedbacks = 0,
           seconds = (double)(now - (number - 1) * SERIES_SECONDS * 1000) / 1000;
    for (int64_t i = number > 0 ? number - 1 : 0; i <= number; i++) {
        const sv_bucket *at = &self->series[i % SERIES_BUCKETS];
        if (at->number != i) continue;
        decisions += (double)at->decisions;
        feedbacks += (double)at->feedbacks;
    }
    text_put(out, "\"rates\": {\"decisions_per_second\": %.3g, \"feedback_per_second\": %.3g}",
             decisions / seconds, feedbacks / seconds);
}

/* Oldest first: [[seconds since 1970, decisions, feedback, learnt, mean feedback or null], ...]. */
static void write_series(sv_agent *self, sv_text *out) {
    int64_t number = clock_milliseconds() / 1000 / SERIES_SECONDS;
    text_put(out, ", \"series\": {\"seconds\": %d, \"rows\": [", SERIES_SECONDS);
    bool first = true;
    for (int64_t i = number < SERIES_BUCKETS ? 0 : number - SERIES_BUCKETS + 1; i <= number; i++) {
        const sv_bucket *at = &self->series[i % SERIES_BUCKETS];
        if (at->number != i) continue;
        text_put(out, "%s[%lld, %llu, %llu, %llu, ", first ? "" : ", ", (long long)i * SERIES_SECONDS,
                 (unsigned long long)at->decisions, (unsigned long long)at->feedbacks,
                 (unsigned long long)at->learnt);
        text_number(out, at->learnt ? at->reward / (double)at->learnt : NAN);
        text_put(out, "]");
        first = false;
    }
    text_put(out, "]}, \"recent\": [");
    first = true;
    for (size_t i = 1; i <= RECENT; i++) {
        const char *json = self->recent[(self->recent_next + RECENT - i) % RECENT].json;
        if (!json) break;
        text_put(out, "%s%s", first ? "" : ", ", json);
        first = false;
    }
    text_put(out, "]");
}

/* After a start, what the journal has is counted while others are counted on: 0 stands for less than that. */
static unsigned long long get(atomic_uint_fast64_t *counter) {
    int64_t value = (int64_t)atomic_load(counter);
    return value > 0 ? (unsigned long long)value : 0;
}

void agent_write(sv_agent *self, bool all, sv_text *out) {
    text_put(out, "{\"name\": ");
    text_string(out, self->name);
    pthread_mutex_lock(&self->lock);
    const sa_agent_counts *counts = &self->counts;
    text_put(out, ", \"settings\": ");
    settings_write(self->settings, out);
    if (atomic_load(&self->broken)) {
        text_put(out, ", \"broken\": ");
        text_string(out, self->why);
    }
    text_put(out, ", \"model\": ");
    if (self->policy)
        text_put(out, "%llu, \"model_age_seconds\": %.1f", (unsigned long long)policy_version(self->policy),
                 clock_seconds() - self->policy_time);
    else
        text_put(out, "null");
    text_put(
        out,
        ", \"counts\": {\"decisions\": %llu, \"waiting\": %llu, \"learnt\": %llu, \"feedback\": %llu, "
        "\"late\": %llu, \"retries\": %llu, \"skipped\": %llu, \"observations\": %llu, \"trainings\": %llu, "
        "\"diverged_trainings\": %llu, \"bytes\": %llu}, \"seq\": %llu, ",
        get(&self->decisions), get(&self->waiting), get(&self->learnt), get(&self->feedbacks),
        get(&self->late), get(&self->retries), get(&self->skipped), (unsigned long long)counts->observations,
        (unsigned long long)counts->trainings, (unsigned long long)counts->diverged_trainings,
        (unsigned long long)counts->bytes, get(&self->last_seq));
    write_rates(self, out);
    if (self->unknown.count) {
        text_put(out, ", \"unknown_fields\": ");
        unknown_write(&self->unknown, out);
    }
    if (all) write_series(self, out);
    pthread_mutex_unlock(&self->lock);
    text_put(out, "}");
}

/* Policies: written by the server that learns the agent, fetched by the others. Each is a whole saved
 * agent, and so what another learner goes on from. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chunks.h"
#include "cluster_own.h"

/* Those that are kept, and those after them that nobody can read (SQL_POLICIES_TIDY). */
enum { MOST_POLICIES = 2 * SHARED_POLICIES };

static bool path_of(const sv_cluster *self, const sv_agent *agent, const char *what, sa_buffer *out) {
    sa_buffer_format(out, "%s-%s-%lld.npz", self->service->folder.scratch, what, (long long)agent->id);
    return !out->status;
}

/* ---- an agent out of a policy ---- */

/* The agent that it saves. */
typedef struct reading {
    sv_model *model;
    sv_settings *settings;
    sv_refusal why; /* status 0: there is nothing to say */
} reading;

static void end_reading(reading *self) {
    sv_model_destroy(self->model);
    sv_settings_release(self->settings);
}

static sv_policy_end read_policy(sv_cluster *self, sv_store *store, int64_t agent,
                                 const sv_shared_policy *policy, const char *path, sv_chunks *chunks,
                                 reading *out) {
    out->settings = sv_settings_read_text(policy->settings, strlen(policy->settings), &out->why);
    if (!out->settings) return out->why.status == 503 ? POLICY_LATER : POLICY_DAMAGED;
    sv_policy_end end = sv_cluster_fetch(self, store, agent, policy, path, chunks);
    if (end == POLICY_DAMAGED) sv_refuse(&out->why, 400, "chunks of it are missing or damaged");
    if (end != POLICY_READ) return end;
    sa_status status = sv_model_open(path, &out->model, &out->why);
    if (status == SA_OK) return POLICY_READ;
    sv_chunks_clear(chunks); /* nothing is copied from that file */
    if (status == SA_NEWER || status == SA_UNSUPPORTED) return POLICY_FOREIGN;
    return out->why.status == 503 ? POLICY_LATER : POLICY_DAMAGED;
}

static void say_unused(const sv_agent *agent, uint64_t version, const sv_refusal *why) {
    if (why->status)
        fprintf(stderr, "superarm serve: agent %s: its policy %llu is not used: %s\n", agent->name,
                (unsigned long long)version, why->message);
}

/* ---- for those who follow ---- */

static bool serve(sv_agent *agent, sv_model *model, sv_settings *settings, uint64_t version, int64_t time,
                  sv_refusal *why) {
    sv_policy *policy = NULL;
    sa_agent_counts counts;
    if (!sv_model_policy(model, version, &policy, why)) return false;
    sv_model_count(model, &counts);
    sv_agent_publish(agent, policy, settings, &counts, time);
    return true;
}

static uint64_t served_version(sv_agent *agent) {
    pthread_mutex_lock(&agent->lock);
    uint64_t version = agent->policy ? sv_policy_version(agent->policy) : 0;
    pthread_mutex_unlock(&agent->lock);
    return version;
}

static bool is_unread(const sv_agent *agent, const sv_shared_policy *policy) {
    for (size_t i = 0; i < UNREAD; i++)
        if (agent->unread[i].version == policy->version && agent->unread[i].time == policy->time) return true;
    return false;
}

/* false: it cannot be read, and an older one is better than none. */
static bool follow_one(sv_cluster *self, sv_agent *agent, const sv_shared_policy *policy, const char *path) {
    sv_unread as = {policy->version, policy->time}; /* it ends with the next call */
    reading now = {0};
    sv_policy_end end = read_policy(self, self->store, agent->id, policy, path, &agent->followed, &now);
    bool readable = end == POLICY_READ || end == POLICY_LATER;
    if (!readable) agent->unread[agent->unread_next++ % UNREAD] = as;
    if (end == POLICY_READ && !atomic_load(&agent->tenure))
        serve(agent, now.model, now.settings, as.version, as.time, &now.why);
    say_unused(agent, as.version, &now.why);
    end_reading(&now);
    return readable;
}

/* Never back: who has let the agent go serves newer rows than the last policy that was written. A database
 * that is set back under its servers would have older ones, too: they are restarted then. */
void sv_cluster_follow(sv_cluster *self, sv_agent *agent, uint64_t newest) {
    sv_shared_policy policy;
    sa_buffer path = {0};
    uint64_t served = served_version(agent);
    bool found = newest <= served || !path_of(self, agent, "follow", &path);
    for (size_t skip = 0; skip < MOST_POLICIES && !found; skip++)
        found = sv_shared_policy_get(self->store, agent->id, skip, &policy) != STORE_OK ||
                policy.version <= served ||
                (!is_unread(agent, &policy) && follow_one(self, agent, &policy, path.text));
    sa_buffer_clear(&path);
}

/* Policies are not written after every row: the one that has the last row comes soon. Not for long: this is
 * one of few threads, and who wants a later one asks again. */
static void await_newest(sv_store *store, const sv_agent *agent) {
    static const double SECONDS = 1;
    uint64_t version = 0, last = atomic_load(&agent->last_seq);
    for (double until = sv_clock_seconds() + SECONDS; sv_clock_seconds() < until; usleep(20000))
        if (sv_shared_newest(store, agent->id, &version) != STORE_OK || version >= last) return;
}

bool sv_cluster_save(sv_cluster *self, sv_store *store, sv_agent *agent, const char *path, sv_refusal *why) {
    sv_chunks none = {0};
    await_newest(store, agent);
    for (int tries = 0; tries < 5; tries++) { /* a newer one may take its place meanwhile */
        sv_shared_policy policy;
        sv_store_status status = sv_shared_policy_get(store, agent->id, 0, &policy);
        if (status == STORE_NONE) return sv_refuse(why, 503, "agent %s is not there yet", agent->name);
        if (status != STORE_OK) return sv_refuse(why, 503, "%s", sv_store_sentence(store));
        /* the list ends with the next call */
        bool good = sv_cluster_fetch(self, store, agent->id, &policy, path, &none) == POLICY_READ;
        sv_chunks_clear(&none);
        if (good) return true;
    }
    return sv_refuse(why, 503, "the saved agent cannot be read");
}

/* ---- for the learner ---- */

static sv_policy_end open_one(sv_cluster *self, sv_store *store, sv_agent *agent,
                              const sv_shared_policy *policy) {
    sa_buffer path = {0};
    reading now = {0};
    uint64_t version = policy->version;
    sv_policy_end end = path_of(self, agent, "learn", &path)
                            ? read_policy(self, store, agent->id, policy, path.text, &agent->written, &now)
                            : POLICY_LATER;
    if (path.text) unlink(path.text);
    sa_buffer_clear(&path);
    if (end == POLICY_READ) {
        agent->model = now.model;
        agent->learner_settings = now.settings;
        agent->learnt_seq = agent->written_seq = version;
        atomic_store(&agent->policy_there, true);
        return end;
    }
    if (end == POLICY_DAMAGED) say_unused(agent, version, &now.why); /* else it is tried again, and again */
    end_reading(&now);
    return end;
}

/* Nobody can read a policy. The journal has all that they had, unless retention has removed rows since the
 * agent was set new: then the learner finds that it cannot go on. */
static bool begin_again(sv_store *store, sv_agent *agent) {
    uint64_t seq = 1;
    sv_store_status status = sv_store_row_reset(store, agent->id, 1, false, &seq);
    if (status != STORE_OK && status != STORE_NONE) return false;
    agent->learnt_seq = seq - 1;
    fprintf(stderr,
            "superarm serve: agent %s: none of its policies can be read: it learns again from row %llu\n",
            agent->name, (unsigned long long)seq);
    return true;
}

bool sv_cluster_open(void *user, sv_store *store, sv_agent *agent) {
    sv_cluster *self = user;
    sv_store_status status = STORE_OK;
    bool any = false, later = false;
    for (size_t skip = 0; skip < MOST_POLICIES && !agent->model; skip++) {
        sv_shared_policy policy;
        sv_chunks_clear(&agent->written);
        status = sv_shared_policy_get(store, agent->id, skip, &policy);
        if (status != STORE_OK) break;
        any = true;
        if (open_one(self, store, agent, &policy) != POLICY_DAMAGED) later = true;
    }
    if (agent->model) return true;
    if (later || (status != STORE_OK && status != STORE_NONE)) return false;
    return !any || begin_again(store, agent);
}

typedef struct publication {
    sv_holder_job job; /* first */
    sv_cluster *cluster;
    sv_agent *agent;
    const uint8_t *bytes; /* of the saved agent */
    sv_chunks *chunks;
    sa_buffer settings;
    uint64_t written;
    bool lost;
} publication;

static sv_store_status run_publication(sv_job *base, sv_store *store) {
    publication *self = (publication *)base;
    const sv_chunks *all = self->chunks;
    int64_t id = self->agent->id;
    sv_store_status status = STORE_OK;
    self->written = 0;
    self->lost = !sv_store_holds(store, id);
    for (size_t i = 0; i < all->count && status == STORE_OK && !self->lost; i++) {
        const uint8_t *hash = all->hashes + i * SA_SHA256_BYTES;
        size_t size = (size_t)(all->offsets[i + 1] - all->offsets[i]);
        if (sv_chunks_find(&self->agent->written, hash) < self->agent->written.count) continue;
        if (sv_chunks_find(all, hash) < i) continue; /* there twice */
        status = sv_shared_chunk_put(store, id, hash, self->bytes + all->offsets[i], size);
        self->written += size;
    }
    sv_shared_policy policy = {.version = self->agent->learnt_seq,
                               .settings = self->settings.text,
                               .size = all->count ? all->offsets[all->count] : 0,
                               .hashes = all->hashes,
                               .count = all->count};
    if (status == STORE_OK && !self->lost) status = sv_shared_policy_put(store, id, &policy);
    self->lost = self->lost || status == STORE_NONE;
    return status;
}

/* The agent as a file, in memory. NULL: it cannot be written. */
static const uint8_t *save(sv_cluster *self, sv_agent *agent, const char *path, size_t *size) {
    sa_status status = sv_model_save(agent->model, path);
    const uint8_t *bytes = status == SA_OK ? sv_chunks_map(path, size) : NULL;
    if (bytes) sv_cluster_need_scratch(self, (double)*size);
    if (!bytes && status != SA_OUT_OF_MEMORY) sv_cluster_scratch_failed(self);
    return bytes;
}

bool sv_cluster_publish(void *user, sv_agent *agent) {
    sv_cluster *self = user;
    sa_buffer path = {0};
    sv_chunks chunks = {0};
    size_t size = 0;
    publication work = {.cluster = self, .agent = agent, .chunks = &chunks};
    sv_settings_write(agent->learner_settings, &work.settings);
    bool good = !work.settings.status && path_of(self, agent, "publish", &path) &&
                (work.bytes = save(self, agent, path.text, &size)) &&
                sv_chunks_split(work.bytes, size, &chunks) &&
                sv_cluster_ask_holder(self, &work.job, run_publication) == STORE_OK && !work.lost;
    sv_chunks_unmap(work.bytes, size);
    if (path.text) unlink(path.text);
    sv_chunks_clear(good ? &agent->written : &chunks);
    if (good) {
        agent->written = chunks;
        agent->written_seq = agent->learnt_seq;
        atomic_store(&agent->checkpointed, agent->learnt_seq);
        atomic_store(&agent->policy_there, true);
    }
    pthread_mutex_lock(&self->lock);
    if (good) self->counts.written_bytes += work.written;
    pthread_mutex_unlock(&self->lock);
    sa_buffer_clear(&path);
    sa_buffer_clear(&work.settings);
    return good;
}

sv_store_status sv_cluster_cover(sv_store *store, int64_t agent, uint64_t seq) {
    return sv_shared_cover(store, agent, seq);
}

typedef struct breaking {
    sv_holder_job job; /* first */
    const sv_agent *agent;
    const char *why;
} breaking;

static sv_store_status run_break(sv_job *base, sv_store *store) {
    const breaking *self = (const breaking *)base;
    return sv_store_holds(store, self->agent->id) ? sv_shared_break(store, self->agent->id, self->why)
                                                  : STORE_OK;
}

bool sv_cluster_break(void *user, sv_agent *agent, const char *why) {
    breaking work = {.agent = agent, .why = why};
    return sv_cluster_ask_holder(user, &work.job, run_break) == STORE_OK;
}

typedef struct keeping {
    sv_holder_job job; /* first */
    const sv_agent *agent;
} keeping;

static sv_store_status run_keep(sv_job *base, sv_store *store) {
    const sv_agent *agent = ((const keeping *)base)->agent;
    return sv_store_holds(store, agent->id) ? sv_shared_cover(store, agent->id, agent->written_seq)
                                            : STORE_OK;
}

bool sv_cluster_keep_newest(void *user, sv_agent *agent) {
    keeping work = {.agent = agent};
    return sv_cluster_ask_holder(user, &work.job, run_keep) == STORE_OK;
}

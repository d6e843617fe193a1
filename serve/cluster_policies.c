/* Policies: written by the server that learns the agent, fetched by the others. Each is a whole saved
 * agent, and so what another learner goes on from. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chunks.h"
#include "cluster_own.h"

enum { AT_A_TIME = 64 }; /* chunks: 16 MB at most */

static bool path_of(const sv_cluster *self, const sv_agent *agent, const char *what, sa_buffer *out) {
    sa_buffer_format(out, "%s-%s-%lld.npz", self->service->folder.scratch, what, (long long)agent->id);
    return !out->status;
}

/* ---- a file out of chunks: those that the last file has too are copied from it ---- */

typedef struct fetch {
    sv_store *store;
    int64_t agent;
    const uint8_t *hashes; /* (all, SA_SHA256_BYTES) of the policy's chunks */
    size_t all;
    const sv_chunks *old;
    int from, to; /* the last file, -1 for none; the new one */
    sv_chunks made;
    uint64_t fetched;
    bool unwritten;      /* the new file has no room */
    size_t first, count; /* of the chunks at hand */
    void *bytes[AT_A_TIME];
    size_t sizes[AT_A_TIME];
} fetch;

static const uint8_t *hash_at(const fetch *self, size_t at) { return self->hashes + at * SA_SHA256_BYTES; }

static bool take_chunk(void *user, const uint8_t *hash, const void *bytes, size_t size) {
    fetch *self = user;
    for (size_t i = 0; i < self->count; i++) {
        if (self->bytes[i] || memcmp(hash, hash_at(self, self->first + i), SA_SHA256_BYTES)) continue;
        if (!(self->bytes[i] = malloc(size + 1))) return false;
        memcpy(self->bytes[i], bytes, size);
        self->sizes[i] = size;
        self->fetched += size;
    }
    return true;
}

static void copy_old(fetch *self) {
    for (size_t i = 0; self->from >= 0 && i < self->count; i++) {
        size_t at = sv_chunks_find(self->old, hash_at(self, self->first + i));
        if (at == self->old->count) continue;
        size_t size = (size_t)(self->old->offsets[at + 1] - self->old->offsets[at]);
        if (!(self->bytes[i] = malloc(size + 1))) return;
        self->sizes[i] = size;
        if (pread(self->from, self->bytes[i], size, (off_t)self->old->offsets[at]) == (ssize_t)size) continue;
        free(self->bytes[i]);
        self->bytes[i] = NULL;
    }
}

static bool fetch_missing(fetch *self) {
    uint8_t wanted[AT_A_TIME * SA_SHA256_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!self->bytes[i])
            memcpy(wanted + count++ * SA_SHA256_BYTES, hash_at(self, self->first + i), SA_SHA256_BYTES);
    return !count || sv_shared_chunks(self->store, self->agent, wanted, count, take_chunk, self) == STORE_OK;
}

static bool write_some(fetch *self) {
    bool good = true;
    for (size_t i = 0; i < self->count; i++) {
        good = good && self->bytes[i] &&
               (write(self->to, self->bytes[i], self->sizes[i]) == (ssize_t)self->sizes[i] ||
                !(self->unwritten = true)) &&
               sv_chunks_add(&self->made, hash_at(self, self->first + i), self->sizes[i]);
        free(self->bytes[i]);
        self->bytes[i] = NULL;
    }
    return good;
}

/* false: not all of it is there, since a newer one has come, or the disk is full. */
static bool assemble(fetch *self) {
    size_t all = self->all;
    bool good = true;
    for (self->first = 0; good && self->first < all; self->first += AT_A_TIME) {
        self->count = all - self->first < AT_A_TIME ? all - self->first : AT_A_TIME;
        copy_old(self);
        good = fetch_missing(self);
        good = write_some(self) && good;
    }
    return good;
}

/* The file `path` becomes the policy; `chunks` says what is in it, before and after. */
static bool bring(sv_cluster *self, sv_store *store, int64_t agent, const sv_shared_policy *policy,
                  const char *path, sv_chunks *chunks) {
    sa_buffer fresh = {0}, hashes = {0}; /* the policy's own end with its connection */
    fetch work = {.store = store, .agent = agent, .old = chunks, .from = -1, .to = -1};
    sa_buffer_format(&fresh, "%s.new", path);
    sa_buffer_bytes(&hashes, policy->hashes, policy->count * SA_SHA256_BYTES);
    if (fresh.status || hashes.status) return sa_buffer_clear(&fresh), sa_buffer_clear(&hashes), false;
    work.hashes = (const uint8_t *)hashes.text;
    work.all = policy->count;
    uint64_t size = policy->size;
    sv_cluster_need_scratch(self, (double)size);
    work.from = chunks->count ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    work.to = open(fresh.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = work.to >= 0 && assemble(&work);
    if (work.from >= 0) close(work.from);
    if (work.to < 0 || close(work.to) || (good && rename(fresh.text, path))) work.unwritten = true;
    good = good && !work.unwritten;
    if (work.unwritten) sv_cluster_scratch_failed(self);
    sv_chunks_clear(good ? chunks : &work.made);
    if (good) *chunks = work.made;
    if (!good) unlink(fresh.text);
    sa_buffer_clear(&fresh);
    sa_buffer_clear(&hashes);
    pthread_mutex_lock(&self->lock);
    self->counts.fetched_bytes += work.fetched;
    self->counts.policy_bytes += good ? size : 0;
    pthread_mutex_unlock(&self->lock);
    return good;
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

/* Never back: who has let the agent go serves newer rows than the last policy that was written. A database
 * that is set back under its servers would have older ones, too: they are restarted then. */
void sv_cluster_follow(sv_cluster *self, sv_agent *agent, uint64_t newest) {
    sv_shared_policy policy;
    sv_refusal why = {0};
    sa_buffer path = {0};
    sv_model *model = NULL;
    if (newest <= served_version(agent) || !path_of(self, agent, "follow", &path)) goto end;
    if (sv_shared_policy_get(self->store, agent->id, 0, &policy) != STORE_OK) goto end;
    sv_settings *settings = sv_settings_read_text(policy.settings, strlen(policy.settings), &why);
    uint64_t version = policy.version;
    int64_t time = policy.time;
    bool good = settings && bring(self, self->store, agent->id, &policy, path.text, &agent->followed) &&
                sv_model_load(path.text, &model, &why) && !atomic_load(&agent->tenure) &&
                serve(agent, model, settings, version, time, &why);
    if (!good && why.status)
        fprintf(stderr, "superarm serve: agent %s: policy %llu is not used: %s\n", agent->name,
                (unsigned long long)version, why.message);
    sv_settings_release(settings);
    sv_model_destroy(model);
end:
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
        bool good = bring(self, store, agent->id, &policy, path, &none);
        sv_chunks_clear(&none);
        if (good) return true;
    }
    return sv_refuse(why, 503, "the saved agent cannot be read");
}

/* ---- for the learner ---- */

static bool open_one(sv_cluster *self, sv_store *store, sv_agent *agent, const sv_shared_policy *policy,
                     sv_refusal *why) {
    sa_buffer path = {0};
    uint64_t version = policy->version;
    sv_settings *settings = sv_settings_read_text(policy->settings, strlen(policy->settings), why);
    bool good = settings && path_of(self, agent, "learn", &path) &&
                (bring(self, store, agent->id, policy, path.text, &agent->written) ||
                 sv_refuse(why, 503, "not all of it could be fetched")) &&
                sv_model_load(path.text, &agent->model, why);
    if (path.text) unlink(path.text);
    sa_buffer_clear(&path);
    if (good) {
        agent->learner_settings = settings;
        agent->learnt_seq = agent->written_seq = version;
    } else
        sv_settings_release(settings);
    return good;
}

bool sv_cluster_open(void *user, sv_store *store, sv_agent *agent) {
    sv_cluster *self = user;
    sv_store_status status = STORE_OK;
    bool none = false;
    for (size_t skip = 0; skip < SHARED_POLICIES && status == STORE_OK && !agent->model; skip++) {
        sv_shared_policy policy;
        sv_refusal why = {0};
        sv_chunks_clear(&agent->written);
        status = sv_shared_policy_get(store, agent->id, skip, &policy);
        none = none || (status == STORE_NONE && !skip);
        if (status != STORE_OK) break;
        uint64_t version = policy.version;
        if (!open_one(self, store, agent, &policy, &why))
            fprintf(stderr, "superarm serve: agent %s: its policy %llu is not used: %s\n", agent->name,
                    (unsigned long long)version, why.message);
    }
    return agent->model || none;
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

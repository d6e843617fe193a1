/* The file of a policy out of chunks: those that the last file has too are copied from it, the others are
 * fetched. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chunks.h"
#include "cluster_own.h"

enum { AT_A_TIME = 64 }; /* chunks: 16 MB at most */

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
    bool later;          /* memory is short, or the database gone */
    size_t first, count; /* of the chunks at hand */
    void *bytes[AT_A_TIME];
    size_t sizes[AT_A_TIME];
} fetch;

static const uint8_t *hash_at(const fetch *self, size_t at) { return self->hashes + at * SA_SHA256_BYTES; }

static bool is_whole(const uint8_t *hash, const void *bytes, size_t size) {
    sa_sha256 sum;
    uint8_t digest[SA_SHA256_BYTES];
    sa_sha256_begin(&sum);
    sa_sha256_add(&sum, bytes, size);
    sa_sha256_end(&sum, digest);
    return !memcmp(hash, digest, sizeof digest);
}

/* One that is damaged is none. */
static bool take_chunk(void *user, const uint8_t *hash, const void *bytes, size_t size) {
    fetch *self = user;
    if (!is_whole(hash, bytes, size)) return true;
    for (size_t i = 0; i < self->count; i++) {
        if (self->bytes[i] || memcmp(hash, hash_at(self, self->first + i), SA_SHA256_BYTES)) continue;
        if (!(self->bytes[i] = malloc(size + 1))) return !(self->later = true);
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

static void fetch_missing(fetch *self) {
    uint8_t wanted[AT_A_TIME * SA_SHA256_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!self->bytes[i])
            memcpy(wanted + count++ * SA_SHA256_BYTES, hash_at(self, self->first + i), SA_SHA256_BYTES);
    if (count && sv_shared_chunks(self->store, self->agent, wanted, count, take_chunk, self) != STORE_OK)
        self->later = true;
}

static bool write_some(fetch *self) {
    bool good = true;
    for (size_t i = 0; i < self->count; i++) {
        good = good && self->bytes[i] &&
               (write(self->to, self->bytes[i], self->sizes[i]) == (ssize_t)self->sizes[i] ||
                !(self->unwritten = true)) &&
               (sv_chunks_add(&self->made, hash_at(self, self->first + i), self->sizes[i]) ||
                !(self->later = true));
        free(self->bytes[i]);
        self->bytes[i] = NULL;
    }
    return good;
}

/* false: not all of it is there, or the disk is full. */
static bool assemble(fetch *self) {
    size_t all = self->all;
    bool good = true;
    for (self->first = 0; good && self->first < all; self->first += AT_A_TIME) {
        self->count = all - self->first < AT_A_TIME ? all - self->first : AT_A_TIME;
        copy_old(self);
        fetch_missing(self);
        good = write_some(self) && !self->later;
    }
    return good;
}

/* Does the database still have it? Its chunks go with it, in one transaction. */
static bool is_there(sv_store *store, int64_t agent, uint64_t version, int64_t time) {
    sv_shared_policy policy = {.version = UINT64_MAX};
    for (size_t skip = 0; policy.version > version; skip++)
        if (sv_shared_policy_get(store, agent, skip, &policy) != STORE_OK) return false;
    return policy.version == version && policy.time == time;
}

/* Into the file; false: what is missing, and why, is in `work`. */
static bool write_file(fetch *work, const char *path) {
    sa_buffer fresh = {0};
    sa_buffer_format(&fresh, "%s.new", path);
    if (fresh.status) return sa_buffer_clear(&fresh), !(work->later = true);
    work->from = work->old->count ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    work->to = open(fresh.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = work->to >= 0 && assemble(work);
    if (work->from >= 0) close(work->from);
    if (work->to < 0 || close(work->to) || (good && rename(fresh.text, path))) work->unwritten = true;
    good = good && !work->unwritten;
    if (!good) unlink(fresh.text);
    sa_buffer_clear(&fresh);
    return good;
}

sv_policy_end sv_cluster_fetch(sv_cluster *self, sv_store *store, int64_t agent,
                               const sv_shared_policy *policy, const char *path, sv_chunks *chunks) {
    sa_buffer hashes = {0}; /* the policy's own end with its connection */
    uint64_t size = policy->size, version = policy->version;
    int64_t time = policy->time;
    sa_buffer_bytes(&hashes, policy->hashes, policy->count * SA_SHA256_BYTES);
    if (hashes.status) return sa_buffer_clear(&hashes), POLICY_LATER;
    fetch work = {.store = store,
                  .agent = agent,
                  .hashes = (const uint8_t *)hashes.text,
                  .all = policy->count,
                  .old = chunks};
    sv_cluster_need_scratch(self, (double)size);
    bool good = write_file(&work, path);
    if (work.unwritten) sv_cluster_scratch_failed(self);
    sv_chunks_clear(good ? chunks : &work.made);
    if (good) *chunks = work.made;
    sa_buffer_clear(&hashes);
    pthread_mutex_lock(&self->lock);
    self->counts.fetched_bytes += work.fetched;
    self->counts.policy_bytes += good ? size : 0;
    pthread_mutex_unlock(&self->lock);
    if (good) return POLICY_READ;
    bool whole = !work.unwritten && !work.later;
    return whole && is_there(store, agent, version, time) ? POLICY_DAMAGED : POLICY_LATER;
}

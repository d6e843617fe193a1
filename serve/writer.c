#include "writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "thread_name.h"
#include "waiting.h"

enum { MAINTENANCE = 4, REPEATS = 2 };
static const double PROBE_SECONDS = 1, MOST_LOST_SECONDS = 4, IDLE_SECONDS = 0.05, SHORT_IDLE_SECONDS = 0.002;

/* How long a group waits for more. A commit costs an fsync whatever is in it, so at high load a group is
 * worth waiting for: until it has half of what the open connections can bring, at most GROUP, at most
 * GROUP_SECONDS, and not when nothing has come for four times the usual pause between two jobs. With one
 * client, or little load, the target is below 2 and nothing waits. */
enum { GROUP = 24 };
static const double GROUP_SECONDS = 0.005, LEAST_PAUSE = 0.0002;

struct writer {
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t filled;
    sv_job *first, **last;
    size_t count, target; /* target: jobs that a group waits for now */
    double pause, latest; /* between two jobs, on average; the last one's time */
    const atomic_uint *clients;
    bool stop, failed, troubled; /* failed: for good */
    char sentence[320];
    sv_writer_counts counts;

    sv_maintenance *maintenance[MAINTENANCE]; /* the thread's own */
    size_t maintenance_count;
    atomic_bool does_maintenance;
    sv_job *_Atomic last_job; /* of each group; NULL: none */
    double probe;
};

static void wait_for_more(sv_writer *self) {
    double begin = sv_clock_seconds(), pause = self->pause > LEAST_PAUSE ? 4 * self->pause : 4 * LEAST_PAUSE;
    size_t target = self->clients ? atomic_load(self->clients) / 2 : 0;
    if (target > GROUP) target = GROUP;
    if ((double)target * self->pause > GROUP_SECONDS) target = (size_t)(GROUP_SECONDS / self->pause);
    self->target = target;
    while (self->count < target && !self->stop) {
        double until =
            self->latest + pause < begin + GROUP_SECONDS ? self->latest + pause : begin + GROUP_SECONDS;
        if (sv_clock_seconds() >= until) break;
        sv_waiting_until(&self->filled, &self->lock, until);
    }
    self->target = 0;
}

static void wait_for_work(sv_writer *self) {
    bool more = false;
    for (size_t i = 0; i < self->maintenance_count; i++) more = more || self->maintenance[i]->more;
    double until = sv_clock_seconds() + (more ? SHORT_IDLE_SECONDS : IDLE_SECONDS);
    while (!self->first && !self->stop)
        if (!sv_waiting_until(&self->filled, &self->lock, until)) break;
    if (self->first && !self->stop) wait_for_more(self);
}

/* All that is queued, in order. */
static sv_job *take_all(sv_writer *self, bool *stop) {
    pthread_mutex_lock(&self->lock);
    wait_for_work(self);
    sv_job *group = self->first;
    self->first = NULL;
    self->last = &self->first;
    self->count = 0;
    *stop = self->stop && !group;
    pthread_mutex_unlock(&self->lock);
    return group;
}

/* `undone`: for the sake of another session or for a job's data, which says nothing about the disk. */
static void note(sv_writer *self, sv_store_status status, size_t jobs, bool undone) {
    pthread_mutex_lock(&self->lock);
    if (!undone) self->troubled = status != STORE_OK;
    self->failed = self->failed || status == STORE_FAILED;
    self->counts.commits += status == STORE_OK;
    self->counts.failures += status != STORE_OK;
    self->counts.jobs += status == STORE_OK ? jobs : 0;
    if (status != STORE_OK && !undone)
        snprintf(self->sentence, sizeof self->sentence, "%s", sv_store_sentence(self->store));
    pthread_mutex_unlock(&self->lock);
}

static sv_store_status run_group(sv_writer *self, sv_job *group, size_t *jobs) {
    sv_store_status status = self->failed ? STORE_FAILED : sv_store_begin(self->store);
    for (sv_job *each = group; each && status == STORE_OK; each = each->next)
        if (each->ahead) each->ahead(each, self->store);
    if (status == STORE_OK) status = sv_store_settle(self->store);
    for (sv_job *each = group; each && status == STORE_OK; each = each->next) {
        status = each->run(each, self->store);
        if (status == STORE_NONE) status = STORE_OK;
        ++*jobs;
    }
    sv_job *last = atomic_load(&self->last_job);
    if (status == STORE_OK && last) status = last->run(last, self->store);
    sv_thread_name("commit");
    if (status == STORE_OK) status = sv_store_commit(self->store);
    sv_thread_name("writer");
    if (status != STORE_OK && !self->failed) sv_store_rollback(self->store);
    return status;
}

static bool repeats(const sv_job *group) {
    for (const sv_job *each = group; each; each = each->next)
        if (!each->repeats) return false;
    return true;
}

/* Two servers may lock the same events in different orders, and the database undoes one of their groups. */
static bool can_repeat(sv_writer *self, const sv_job *group, sv_store_status status) {
    return status == STORE_LATER && sv_store_is_deadlocked(self->store) && repeats(group);
}

static sv_store_status run_until_through(sv_writer *self, sv_job *group, size_t *jobs) {
    sv_store_status status = run_group(self, group, jobs);
    for (int i = 0; i < REPEATS && can_repeat(self, group, status); i++) {
        sv_job *last = atomic_load(&self->last_job);
        if (last) last->end(last, status); /* what was undone is forgotten */
        *jobs = 0;
        status = run_group(self, group, jobs);
    }
    return status;
}

static void end_group(sv_job *group, sv_store_status status) {
    while (group) {
        sv_job *next = group->next;
        if (group->queued) atomic_fetch_sub(group->queued, 1);
        group->end(group, status);
        group = next;
    }
}

/* true: it was undone for the sake of another session or for a job's data. Nobody has been told then, if it
 * is to be run `apart`. */
static bool try_group(sv_writer *self, sv_job *group, bool apart) {
    size_t jobs = 0;
    bool failed_before = self->failed;
    uint64_t changes = sv_store_changes(self->store);
    sv_store_status status = run_until_through(self, group, &jobs);
    bool undone = status == STORE_LATER && sv_store_is_undone(self->store) && repeats(group);
    bool wrote = status != STORE_OK || sv_store_changes(self->store) !=
                                           changes; /* a group of retries says nothing about the disk */
    if (!failed_before && wrote) note(self, status, jobs, undone);
    sv_job *last = atomic_load(&self->last_job);
    if (last) last->end(last, status);
    if (undone && sv_store_has_bad_data(self->store)) status = STORE_UNFIT;
    if (!undone || !apart) end_group(group, status);
    return undone;
}

/* A group that was undone is run again job by job, so that only those are refused which are in another
 * session's way, or have what the store does not take. Each may wait as long for a lock: after some seconds
 * that were lost so, the rest is refused, too. */
static void write_group(sv_writer *self, sv_job *group) {
    double lost = 0;
    bool several = group->next;
    if (!try_group(self, group, several) || !several) return;
    for (sv_job *next; group && lost < MOST_LOST_SECONDS; group = next) {
        double since = sv_clock_seconds();
        next = group->next;
        group->next = NULL;
        if (try_group(self, group, false)) lost += sv_clock_seconds() - since;
    }
    end_group(group, STORE_LATER);
}

/* Maintenance that is due and has something to do goes in front of the group. */
static sv_job *add_maintenance(sv_writer *self, sv_job *group) {
    double now = sv_clock_seconds();
    for (size_t i = 0; i < self->maintenance_count && atomic_load(&self->does_maintenance); i++) {
        sv_maintenance *each = self->maintenance[i];
        if (now < each->next || self->failed) continue;
        each->next = now + (self->troubled && each->period < PROBE_SECONDS ? PROBE_SECONDS : each->period);
        if (!each->wanted(each, self->store)) continue;
        each->job.next = group;
        group = &each->job;
    }
    return group;
}

/* In trouble and without requests, the writer must find out by itself when the disk takes writes again. */
static void probe(sv_writer *self) {
    double now = sv_clock_seconds();
    if (!self->failed && sv_store_is_ruined(self->store)) note(self, STORE_FAILED, 0, false);
    if (!self->troubled || self->failed || now < self->probe) return;
    self->probe = now + PROBE_SECONDS;
    note(self, sv_store_probe(self->store), 0, false);
}

static void *work(void *user) {
    sv_writer *self = user;
    bool stop = false;
    while (!stop) {
        sv_job *group = take_all(self, &stop);
        bool apart = self->troubled; /* then what maintenance cannot do undoes nothing that was asked for */
        sv_job *own = stop ? NULL : add_maintenance(self, apart ? NULL : group);
        if (apart && own)
            write_group(self, own);
        else if (own)
            group = own;
        if (group)
            write_group(self, group);
        else
            probe(self);
    }
    return NULL;
}

sv_writer *sv_writer_start(sv_store *store, sv_maintenance *const *maintenance, size_t count,
                           const atomic_uint *clients) {
    sv_writer *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->store = store;
    self->clients = clients;
    self->pause = 0.1;
    self->last = &self->first;
    for (size_t i = 0; i < count && i < MAINTENANCE; i++)
        self->maintenance[self->maintenance_count++] = maintenance[i];
    pthread_mutex_init(&self->lock, NULL);
    sv_waiting_begin(&self->filled);
    if (pthread_create(&self->thread, NULL, work, self)) {
        free(self);
        return NULL;
    }
    return self;
}

void sv_writer_last(sv_writer *self, sv_job *job) { atomic_store(&self->last_job, job); }

void sv_writer_do_maintenance(sv_writer *self) { atomic_store(&self->does_maintenance, true); }

void sv_writer_stop(sv_writer *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    sv_store_close(self->store);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static bool has_room(sv_writer *self, const sv_job *job, sv_refusal *why) {
    if (self->failed)
        return sv_refuse(why, 503, "nothing can be written any longer, and a restart is needed: %s",
                         self->sentence);
    if (!job->queued) return true;
    if (self->count >= LIMIT_QUEUE)
        return sv_refuse(why, 503, "%d requests wait for the disk: try again later", LIMIT_QUEUE);
    if (atomic_load(job->queued) >= LIMIT_QUEUE / 2)
        return sv_refuse(why, 429, "%d requests of this agent wait for the disk: ask less often",
                         LIMIT_QUEUE / 2);
    return true;
}

bool sv_writer_submit(sv_writer *self, sv_job *job, sv_refusal *why) {
    job->next = NULL;
    job->since = sv_clock_seconds();
    pthread_mutex_lock(&self->lock);
    bool room = has_room(self, job, why);
    if (room) {
        *self->last = job;
        self->last = &job->next;
        if (job->queued) atomic_fetch_add(job->queued, 1);
        double gap = job->since - self->latest;
        self->pause += 0.05 * ((gap < 0.1 ? gap : 0.1) - self->pause);
        self->latest = job->since;
        self->count++;
        if (self->count == 1 || self->count == self->target) pthread_cond_signal(&self->filled);
    }
    pthread_mutex_unlock(&self->lock);
    return room;
}

bool sv_writer_trouble(sv_writer *self, char sentence[320]) {
    pthread_mutex_lock(&self->lock);
    bool troubled = self->troubled || self->failed;
    if (troubled) memcpy(sentence, self->sentence, sizeof self->sentence);
    pthread_mutex_unlock(&self->lock);
    return troubled;
}

size_t sv_writer_queue(sv_writer *self) {
    pthread_mutex_lock(&self->lock);
    size_t count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

void sv_writer_count(sv_writer *self, sv_writer_counts *out) {
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    pthread_mutex_unlock(&self->lock);
}

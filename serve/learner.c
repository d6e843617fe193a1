#include "learner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "learner_rows.h"
#include "thread_name.h"

enum { ROWS_AT_A_TIME = 64 };

struct learner {
    learner_options options;
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t filled;
    sv_agent *first, **last; /* dirty agents */
    sv_task *tasks;
    bool stop;
    size_t recovering; /* agents that have not learnt all that was there at the start */
    char sentence[480];
    learner_counts counts;
};

/* ---- what others call ---- */

void learner_wake(sv_learner *self, sv_agent *agent) {
    if (atomic_exchange(&agent->dirty, true)) return;
    agent_retain(agent);
    pthread_mutex_lock(&self->lock);
    agent->next_dirty = NULL;
    *self->last = agent;
    self->last = &agent->next_dirty;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
}

void learner_do(sv_learner *self, sv_task *task) {
    pthread_mutex_lock(&self->lock);
    struct task **end = &self->tasks;
    while (*end) end = &(*end)->next;
    task->next = NULL;
    *end = task;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
}

bool learner_trouble(sv_learner *self, char sentence[480]) {
    pthread_mutex_lock(&self->lock);
    bool troubled = self->recovering || *self->sentence;
    snprintf(sentence, 480, "%s",
             *self->sentence ? self->sentence : "agents are being recovered from the journal");
    pthread_mutex_unlock(&self->lock);
    return troubled;
}

void learner_count(sv_learner *self, learner_counts *out) {
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    pthread_mutex_unlock(&self->lock);
}

/* ---- one agent ---- */

static void break_agent(sv_learner *self, sv_agent *agent, const char *sentence) {
    agent->broken = true;
    pthread_mutex_lock(&self->lock);
    snprintf(self->sentence, sizeof self->sentence, "agent %s cannot learn: %.380s", agent->name, sentence);
    pthread_mutex_unlock(&self->lock);
}

static void publish(sv_learner *self, sv_agent *agent) {
    sv_policy *policy = NULL;
    sa_agent_counts counts;
    sv_refusal why = {0};
    if (!agent->brain || agent->published_seq == agent->learnt_seq) return;
    if (!brain_policy(agent->brain, agent->learnt_seq, &policy, &why)) {
        break_agent(self, agent, why.message);
        return;
    }
    brain_count(agent->brain, &counts);
    agent_publish(agent, policy, &counts);
    agent->published_seq = agent->learnt_seq;
    pthread_mutex_lock(&self->lock);
    self->counts.publications++;
    pthread_mutex_unlock(&self->lock);
}

/* A deleted agent's memory and file go at once; its rows go in the background. */
static void forget(sv_learner *self, sv_agent *agent) {
    sv_text path = {0};
    brain_destroy(agent->brain);
    agent->brain = NULL;
    text_put(&path, "%s/%s", self->options.folder, agent->checkpoint_file);
    if (*agent->checkpoint_file && !path.failed) unlink(path.data);
    *agent->checkpoint_file = 0;
    text_free(&path);
}

static void end_recovery(sv_learner *self, sv_agent *agent) {
    if (!agent->recovering) return;
    if (agent->learnt_seq < agent->recover_to && !agent->broken && !atomic_load(&agent->deleted)) return;
    agent->recovering = false;
    pthread_mutex_lock(&self->lock);
    self->recovering--;
    pthread_mutex_unlock(&self->lock);
}

/* Learns the rows that are there, up to ROWS_AT_A_TIME. true: there may be more. After a start, nothing is
 * published before all that had been learnt is learnt again. */
static bool advance(sv_learner *self, sv_agent *agent) {
    char sentence[480] = "";
    uint64_t before = agent->learnt_seq;
    if (atomic_load(&agent->deleted)) forget(self, agent);
    if (agent->broken || atomic_load(&agent->deleted)) {
        end_recovery(self, agent);
        return false;
    }
    thread_name("learn");
    bool good = learner_take_rows(self->store, agent, self->options.folder, ROWS_AT_A_TIME, sentence);
    thread_name("learner");
    pthread_mutex_lock(&self->lock);
    self->counts.rows += agent->learnt_seq - before;
    pthread_mutex_unlock(&self->lock);
    if (!good) break_agent(self, agent, sentence);
    bool more = good && agent->learnt_seq - before == ROWS_AT_A_TIME;
    if (good && agent->learnt_seq >= agent->recover_to) publish(self, agent);
    end_recovery(self, agent);
    return more;
}

bool learner_save(sv_learner *self, sv_agent *agent, const char *path, sv_refusal *why) {
    (void)self;
    if (!agent->brain) return refuse(why, 503, "agent %s is not there yet", agent->name);
    sa_status status = brain_save(agent->brain, path);
    return status == SA_OK || refuse_library(why, status);
}

/* ---- checkpoints: written, synced, renamed, the folder synced (by the library), then named in a row ---- */

typedef struct checkpoint_job {
    sv_job job;
    sv_agent *agent;
    uint64_t seq;
    char file[96];
    sv_text settings;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    store_status status;
} checkpoint_job;

static store_status write_checkpoint(sv_job *base, sv_store *store) {
    checkpoint_job *self = (checkpoint_job *)base;
    return store_checkpoint(store, self->agent->id, self->seq, self->file, self->settings.data,
                            clock_milliseconds());
}

static void end_checkpoint(sv_job *base, store_status status) {
    checkpoint_job *self = (checkpoint_job *)base;
    pthread_mutex_lock(&self->lock);
    self->status = status;
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->lock);
}

static bool submit_and_wait(sv_learner *self, checkpoint_job *job, sv_refusal *why) {
    job->job.run = write_checkpoint;
    job->job.end = end_checkpoint;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->ended, NULL);
    bool good = writer_submit(self->options.writer, &job->job, why);
    pthread_mutex_lock(&job->lock);
    while (good && !job->done) pthread_cond_wait(&job->ended, &job->lock);
    pthread_mutex_unlock(&job->lock);
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->lock);
    if (good && job->status != STORE_OK) return refuse(why, 503, "the checkpoint's row could not be written");
    return good;
}

static bool make_checkpoint(sv_learner *self, sv_agent *agent, sv_refusal *why) {
    sv_text path = {0}, old = {0};
    checkpoint_job job = {.agent = agent, .seq = agent->learnt_seq};
    snprintf(job.file, sizeof job.file, "agent-%lld-%llu.npz", (long long)agent->id,
             (unsigned long long)agent->learnt_seq);
    text_put(&path, "%s/%s", self->options.folder, job.file);
    settings_write(agent->learner_settings, &job.settings);
    bool good = !path.failed && !job.settings.failed && learner_save(self, agent, path.data, why);
    if (good) good = submit_and_wait(self, &job, why);
    if (good && *agent->checkpoint_file && strcmp(agent->checkpoint_file, job.file)) {
        text_put(&old, "%s/%s", self->options.folder, agent->checkpoint_file);
        if (!old.failed) unlink(old.data);
    }
    if (good) {
        memcpy(agent->checkpoint_file, job.file, sizeof job.file);
        agent->checkpoint_seq = job.seq;
    }
    text_free(&path);
    text_free(&old);
    text_free(&job.settings);
    return good;
}

bool learner_checkpoint(sv_learner *self, sv_agent *agent, sv_refusal *why) {
    double begin = clock_seconds();
    agent->checkpoint_time = begin;
    if (!agent->brain || agent->broken || agent->checkpoint_seq == agent->learnt_seq ||
        atomic_load(&agent->deleted))
        return true;
    thread_name("checkpoint");
    bool good = make_checkpoint(self, agent, why);
    thread_name("learner");
    pthread_mutex_lock(&self->lock);
    self->counts.checkpoints += good;
    self->counts.failed_checkpoints += !good;
    self->counts.checkpoint_seconds = clock_seconds() - begin;
    pthread_mutex_unlock(&self->lock);
    return good;
}

/* ---- the thread ---- */

static void checkpoint_all(sv_learner *self, bool now) {
    sv_agent *all[LIMIT_AGENTS + 1];
    sv_refusal why;
    size_t count = agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        if (now || clock_seconds() - all[i]->checkpoint_time >= self->options.checkpoint_seconds)
            learner_checkpoint(self, all[i], &why);
        agent_release(all[i]);
    }
}

static bool is_due(const sv_learner *self, const sv_task *task) {
    const sv_agent *of = task->agent;
    return of->learnt_seq >= task->seq || of->broken || atomic_load(&of->deleted) || self->stop;
}

/* The first task whose row has been learnt. */
static sv_task *take_task(sv_learner *self) {
    pthread_mutex_lock(&self->lock);
    sv_task **at = &self->tasks;
    while (*at && !is_due(self, *at)) at = &(*at)->next;
    sv_task *found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&self->lock);
    return found;
}

/* The next agent with rows, or NULL after at most half a second. */
static sv_agent *take_agent(sv_learner *self, bool *stop) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 500000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&self->lock);
    if (!self->first && !self->stop && !self->tasks)
        pthread_cond_timedwait(&self->filled, &self->lock, &until);
    sv_agent *agent = self->first;
    if (agent && !(self->first = agent->next_dirty)) self->last = &self->first;
    *stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    return agent;
}

static void *work(void *user) {
    sv_learner *self = user;
    bool stop = false;
    while (!stop) {
        sv_agent *agent = take_agent(self, &stop);
        if (agent) {
            atomic_store(&agent->dirty, false);
            if (!stop && advance(self, agent)) learner_wake(self, agent);
            agent_release(agent);
        }
        for (sv_task *task; (task = take_task(self));) task->run(task, self);
        if (!stop) checkpoint_all(self, false);
    }
    checkpoint_all(self, true);
    return NULL;
}

sv_learner *learner_start(const learner_options *options, sv_store *store) {
    pthread_condattr_t monotonic;
    sv_learner *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->options = *options;
    self->store = store;
    self->last = &self->first;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->filled, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sv_agent *all[LIMIT_AGENTS + 1];
    size_t count = agents_all(options->agents, all);
    for (size_t i = 0; i < count; i++) {
        all[i]->checkpoint_time = clock_seconds();
        all[i]->recover_to = atomic_load(&all[i]->last_seq);
        all[i]->recovering = true;
        self->recovering++;
        learner_wake(self, all[i]);
        agent_release(all[i]);
    }
    if (pthread_create(&self->thread, NULL, work, self)) {
        free(self);
        return NULL;
    }
    return self;
}

void learner_stop(sv_learner *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}

void learner_destroy(sv_learner *self) {
    if (!self) return;
    for (sv_agent *each = self->first, *next; each; each = next) {
        next = each->next_dirty;
        agent_release(each);
    }
    store_close(self->store);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

#include "learner_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learner_rows.h"
#include "thread_name.h"
#include "waiting.h"

enum { ROWS_AT_A_TIME = 64 };
static const double RECOVERY_PUBLISH_SECONDS = 1; /* between two policies of an agent that recovers */
static const double STALLED_SECONDS = 1;          /* between two tries where the disk is full */

/* ---- what others call ---- */

void sv_learner_wake(sv_learner *self, sv_agent *agent) {
    if (atomic_exchange(&agent->dirty, true)) return;
    sv_agent_retain(agent);
    pthread_mutex_lock(&self->lock);
    agent->next_dirty = NULL;
    *self->last = agent;
    self->last = &agent->next_dirty;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
}

void sv_learner_do(sv_learner *self, sv_task *task) {
    pthread_mutex_lock(&self->lock);
    struct task **end = &self->tasks;
    while (*end) end = &(*end)->next;
    task->next = NULL;
    *end = task;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
}

bool sv_learner_trouble(sv_learner *self, char sentence[480]) {
    pthread_mutex_lock(&self->lock);
    bool troubled = self->unopened;
    snprintf(sentence, 480, "agents are being opened");
    pthread_mutex_unlock(&self->lock);
    return troubled;
}

void sv_learner_count(sv_learner *self, sv_learner_counts *out) {
    pthread_mutex_lock(&self->lock);
    *out = self->counts;
    out->recovering = self->recovering;
    pthread_mutex_unlock(&self->lock);
}

void sv_learner_count_checkpoint(sv_learner *self, bool good, double seconds) {
    pthread_mutex_lock(&self->lock);
    self->counts.checkpoints += good;
    self->counts.failed_checkpoints += !good;
    self->counts.checkpoint_seconds = seconds;
    pthread_mutex_unlock(&self->lock);
}

/* ---- one agent ---- */

/* It goes on as it is, and the others as ever. */
static void break_agent(sv_learner *self, sv_agent *agent, const char *sentence) {
    sv_agent_break(agent, sentence);
    sv_learner_tell_broken(self, agent);
    fprintf(stderr, "superarm serve: agent %s is broken: %s\n", agent->name, sentence);
}

/* Rows before a reset say nothing about the agent after it: one that could not go on goes on from there, if
 * it is at least `from`. */
static bool skip_to_reset(sv_learner *self, sv_agent *agent, uint64_t from) {
    uint64_t seq = 0;
    if (atomic_load(&agent->unreadable) ||
        sv_store_row_reset(self->store, agent->id, from, false, &seq) != STORE_OK)
        return false;
    agent->learnt_seq = seq - 1;
    sv_agent_mend(agent);
    sv_learner_tell_broken(self, agent);
    return true;
}

void sv_learner_publish(sv_learner *self, sv_agent *agent) {
    sv_policy *policy = NULL;
    sa_agent_counts counts;
    sv_refusal why = {0};
    if (!agent->model || agent->published_seq == agent->learnt_seq) return;
    if (!sv_model_policy(agent->model, agent->learnt_seq, &policy, &why)) {
        break_agent(self, agent, why.message);
        return;
    }
    sv_model_count(agent->model, &counts);
    sv_agent_publish(agent, policy, agent->learner_settings, &counts, agent->row_time);
    agent->published_seq = agent->learnt_seq;
    agent->published_time = sv_clock_seconds();
    pthread_mutex_lock(&self->lock);
    self->counts.publications++;
    pthread_mutex_unlock(&self->lock);
    sv_learner_publish_shared(self, agent, false);
}

void sv_learner_set_replay(sv_learner *self, sv_agent *agent, double seconds) {
    self->replay_seconds += seconds - agent->replay_seconds;
    agent->replay_seconds = seconds;
}

/* A deleted agent's memory and files go at once; its rows go in the background. */
static void forget(sv_learner *self, sv_agent *agent) {
    sv_model_destroy(agent->model);
    agent->model = NULL;
    sv_learner_set_replay(self, agent, 0);
    if (!self->options.shared) sv_checkpoints_remove(agent, self->options.folder);
}

void sv_learner_end_recovery(sv_learner *self, sv_agent *agent) {
    if (!agent->recovering) return;
    if (agent->learnt_seq < agent->recover_to && !agent->broken && !atomic_load(&agent->deleted)) return;
    agent->recovering = false;
    pthread_mutex_lock(&self->lock);
    self->recovering--;
    pthread_mutex_unlock(&self->lock);
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void sv_learner_stall(sv_agent *agent, const char *sentence) {
    if (!agent->stalled) fprintf(stderr, "superarm serve: agent %s waits: %s\n", agent->name, sentence);
    agent->stalled = true;
    agent->stalled_time = sv_clock_seconds();
}

void sv_learner_try_again(sv_learner *self, sv_agent *agent, double now) {
    if (agent->stalled && now - agent->stalled_time >= STALLED_SECONDS) sv_learner_wake(self, agent);
}

/* Learns up to `most` of the rows that are there. false: it cannot go on. */
static bool take_rows(sv_learner *self, sv_agent *agent, size_t most) {
    char sentence[480] = "";
    uint64_t before = agent->learnt_seq;
    double begin = processor_seconds();
    sv_thread_name("learn");
    bool later = false, good = sv_learner_take_rows(self->store, agent, self->options.scratch, most,
                                                    &self->stop, &later, sentence);
    sv_thread_name("learner");
    sv_learner_set_replay(self, agent, agent->replay_seconds + processor_seconds() - begin);
    pthread_mutex_lock(&self->lock);
    self->counts.rows += agent->learnt_seq - before;
    pthread_mutex_unlock(&self->lock);
    bool on = good || skip_to_reset(self, agent, agent->learnt_seq + 2);
    if (!on && later)
        sv_learner_stall(agent, sentence);
    else
        agent->stalled = false;
    if (!on && !later) break_agent(self, agent, sentence);
    return on;
}

/* Does a policy of the rows so far take the requests that are sent now? Not when the agent was given another
 * shape later, which it has not learnt of yet. */
bool sv_learner_fits(sv_agent *agent) {
    sv_settings *now = sv_agent_settings(agent);
    bool fit = agent->learner_settings && agent->learner_settings->dim == now->dim &&
               sv_settings_same_schema(agent->learner_settings, now);
    sv_settings_release(now);
    return fit;
}

/* After a start: the policy of the newest checkpoint that can be read, or the first there was. */
static void open_agent(sv_learner *self, sv_agent *agent) {
    bool deleted = atomic_load(&agent->deleted);
    if (!deleted) sv_checkpoints_open(agent, self->options.folder);
    for (int i = 0; i < 2 && !deleted && !agent->model && !agent->broken; i++) /* the second after a reset */
        take_rows(self, agent, 1);
    if (agent->model && !agent->broken && sv_learner_fits(agent)) sv_learner_publish(self, agent);
    sv_learner_end_recovery(self, agent);
    pthread_mutex_lock(&self->lock);
    self->unopened--;
    pthread_mutex_unlock(&self->lock);
}

/* Learns the rows that are there, up to ROWS_AT_A_TIME. true: there may be more. */
static bool advance(sv_learner *self, sv_agent *agent) {
    if (self->options.shared && !sv_learner_is_held(self, agent)) return false;
    uint64_t before = agent->learnt_seq;
    if (atomic_load(&agent->deleted)) forget(self, agent);
    bool gone = atomic_load(&agent->deleted) ||
                (atomic_load(&agent->broken) && !skip_to_reset(self, agent, agent->learnt_seq + 1));
    if (gone) {
        sv_learner_end_recovery(self, agent);
        return false;
    }
    bool good = take_rows(self, agent, ROWS_AT_A_TIME);
    bool more = good && agent->learnt_seq > before;
    if (good &&
        (agent->learnt_seq >= agent->recover_to ||
         (sv_clock_seconds() - agent->published_time >= RECOVERY_PUBLISH_SECONDS && sv_learner_fits(agent))))
        sv_learner_publish(self, agent);
    sv_learner_end_recovery(self, agent);
    return more;
}

bool sv_learner_save(sv_learner *self, sv_agent *agent, const char *path, sv_refusal *why) {
    (void)self;
    if (!agent->model) return sv_refuse(why, 503, "agent %s is not there yet", agent->name);
    sa_status status = sv_model_save(agent->model, path);
    return status == SA_OK || sv_refuse_library(why, status);
}

/* ---- the thread ---- */

static bool is_due(const sv_learner *self, const sv_task *task) {
    const sv_agent *of = task->agent;
    bool learnt = of->learnt_seq >= task->seq && of->learnt_seq >= of->recover_to;
    return learnt || of->broken || of->stalled || atomic_load(&of->deleted) || self->stop;
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
    double until = sv_clock_seconds() + (self->options.shared ? sv_learner_shared_pause() : 0.5);
    pthread_mutex_lock(&self->lock);
    if (!self->first && !self->stop && !self->tasks) sv_waiting_until(&self->filled, &self->lock, until);
    sv_agent *agent = self->first;
    if (agent && !(self->first = agent->next_dirty)) self->last = &self->first;
    *stop = self->stop;
    pthread_mutex_unlock(&self->lock);
    return agent;
}

/* Each agent has a policy before any learns further. */
static void open_agents(sv_learner *self) {
    for (size_t i = 0; i < self->opening_count; i++)
        if (!atomic_load(&self->stop)) open_agent(self, self->opening[i]);
}

/* What the journal had of each agent's decisions at the start, added to what came since. Where servers share
 * it, each says what it has seen itself, which can be added up. */
static void count_decisions(sv_learner *self) {
    for (size_t i = 0; i < self->opening_count; i++) {
        sv_agent *agent = self->opening[i];
        sv_store_counts counts = {0};
        if (!atomic_load(&self->stop) && !self->options.shared)
            sv_store_agent_count(self->store, agent->id, &counts);
        atomic_fetch_add(&agent->decisions, counts.decisions);
        atomic_fetch_add(&agent->waiting, counts.waiting);
        atomic_fetch_add(&agent->held, counts.held);
        atomic_fetch_add(&agent->learnt, counts.learnt);
        atomic_store(&agent->decisions_known, true);
        sv_agent_release(agent);
    }
    self->opening_count = 0;
    sv_store_rollback(self->store); /* the snapshot of the start */
}

static void keep_agents(sv_learner *self, bool last) {
    if (self->options.shared)
        sv_learner_publish_waiting(self);
    else if (last)
        sv_learner_write_last(self);
    else
        sv_learner_write_checkpoints(self);
}

static void *work(void *user) {
    sv_learner *self = user;
    bool stop = false;
    if (!self->options.shared) open_agents(self);
    count_decisions(self);
    while (!stop) {
        sv_agent *agent = take_agent(self, &stop);
        if (agent) {
            atomic_store(&agent->dirty, false);
            if (!stop && advance(self, agent)) sv_learner_wake(self, agent);
            sv_agent_release(agent);
        }
        for (sv_task *task; (task = take_task(self));) task->run(task, self);
        if (!stop) keep_agents(self, false);
    }
    keep_agents(self, true);
    return NULL;
}

sv_learner *sv_learner_start(const sv_learner_options *options, sv_store *store) {
    sv_learner *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->options = *options;
    self->store = store;
    self->last = &self->first;
    pthread_mutex_init(&self->lock, NULL);
    sv_waiting_begin(&self->filled);
    self->opening_count = sv_agents_all(options->agents, self->opening);
    if (!options->shared) self->unopened = self->recovering = self->opening_count;
    for (size_t i = 0; i < self->opening_count && !options->shared; i++) {
        sv_agent *agent = self->opening[i];
        agent->recover_to = atomic_load(&agent->last_seq);
        agent->recovering = true;
        sv_learner_wake(self, agent);
    }
    if (pthread_create(&self->thread, NULL, work, self)) {
        free(self);
        return NULL;
    }
    return self;
}

void sv_learner_stop(sv_learner *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->filled);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}

void sv_learner_destroy(sv_learner *self) {
    if (!self) return;
    for (sv_agent *each = self->first, *next; each; each = next) {
        next = each->next_dirty;
        sv_agent_release(each);
    }
    sv_store_close(self->store);
    pthread_cond_destroy(&self->filled);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

#include "learner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoints.h"
#include "learner_rows.h"
#include "thread_name.h"
#include "waiting.h"

enum { ROWS_AT_A_TIME = 64 };
static const double RECOVERY_PUBLISH_SECONDS = 1; /* between two policies of an agent that recovers */
static const double LOOK_SECONDS = 0.2, RETRY_SECONDS = 5; /* for checkpoints; after one that failed */
/* Between two policies for others: at least so long, and four times what the last one took. */
static const double PUBLISH_SECONDS = 0.2, PUBLISH_FACTOR = 4;
static const double STALLED_SECONDS = 1; /* between two tries where the disk is full */
static const double RETENTION_PARTS = 8; /* checkpoints in one retention */

struct learner {
    sv_learner_options options;
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t filled;
    sv_agent *first, **last; /* dirty agents */
    sv_task *tasks;
    atomic_bool stop;
    size_t unopened, recovering; /* agents without a policy; that have not learnt all rows of the start */
    sv_learner_counts counts;
    /* the thread's own */
    sv_agent *opening[LIMIT_AGENTS + 1]; /* those of the start */
    size_t opening_count;
    double replay_seconds; /* of all agents */
    double look_time;
};

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

/* ---- one agent ---- */

static void tell_broken(sv_learner *self, sv_agent *agent, const char *why) {
    if (self->options.shared) self->options.shared->broke(self->options.shared->user, agent, why);
}

/* It goes on as it is, and the others as ever. */
static void break_agent(sv_learner *self, sv_agent *agent, const char *sentence) {
    sv_agent_break(agent, sentence);
    tell_broken(self, agent, sentence);
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
    tell_broken(self, agent, NULL);
    return true;
}

/* To the other servers. What waits for its time is tried again (publish_waiting). */
static void publish_shared(sv_learner *self, sv_agent *agent, bool now) {
    const sv_learner_shared *shared = self->options.shared;
    double begin = sv_clock_seconds(), cost = PUBLISH_FACTOR * agent->written_cost,
           pause = cost > PUBLISH_SECONDS ? cost : PUBLISH_SECONDS;
    if (!shared || !agent->model || agent->broken || agent->written_seq == agent->learnt_seq) return;
    if (!now && !agent->checkpoint_wanted && begin - agent->written_time < pause) return;
    sv_thread_name("checkpoint");
    bool good = shared->publish(shared->user, agent);
    sv_thread_name("learner");
    double end = sv_clock_seconds();
    agent->checkpoint_time = end;
    agent->written_time = end;
    agent->written_cost = end - begin;
    if (good) agent->checkpoint_wanted = agent->written_alone = false;
    pthread_mutex_lock(&self->lock);
    self->counts.checkpoints += good;
    self->counts.failed_checkpoints += !good;
    self->counts.checkpoint_seconds = agent->written_cost;
    pthread_mutex_unlock(&self->lock);
}

static void publish(sv_learner *self, sv_agent *agent) {
    sv_policy *policy = NULL;
    sa_agent_counts counts;
    sv_refusal why = {0};
    if (!agent->model || agent->published_seq == agent->learnt_seq) return;
    if (!sv_model_policy(agent->model, agent->learnt_seq, &policy, &why)) {
        break_agent(self, agent, why.message);
        return;
    }
    sv_model_count(agent->model, &counts);
    sv_agent_publish(agent, policy, agent->learner_settings, &counts);
    agent->published_seq = agent->learnt_seq;
    agent->published_time = sv_clock_seconds();
    pthread_mutex_lock(&self->lock);
    self->counts.publications++;
    pthread_mutex_unlock(&self->lock);
    publish_shared(self, agent, false);
}

/* What learning the rows after its checkpoint would take, and so of all agents. */
static void set_replay(sv_learner *self, sv_agent *agent, double seconds) {
    self->replay_seconds += seconds - agent->replay_seconds;
    agent->replay_seconds = seconds;
}

/* A deleted agent's memory and files go at once; its rows go in the background. */
static void forget(sv_learner *self, sv_agent *agent) {
    sv_model_destroy(agent->model);
    agent->model = NULL;
    set_replay(self, agent, 0);
    if (!self->options.shared) sv_checkpoints_remove(agent, self->options.folder);
}

static void end_recovery(sv_learner *self, sv_agent *agent) {
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

/* A change needs room on the disk: until there is, the agent goes on as it is. */
static void stall(sv_agent *agent, const char *sentence) {
    fprintf(stderr, "superarm serve: agent %s waits: %s\n", agent->name, sentence);
    agent->stalled = true;
    agent->stalled_time = sv_clock_seconds();
}

static void try_again(sv_learner *self, sv_agent *agent, double now) {
    if (agent->stalled && now - agent->stalled_time >= STALLED_SECONDS) sv_learner_wake(self, agent);
}

/* Learns up to `most` of the rows that are there. false: it cannot go on. */
static bool take_rows(sv_learner *self, sv_agent *agent, size_t most) {
    char sentence[480] = "";
    uint64_t before = agent->learnt_seq;
    double begin = processor_seconds();
    agent->stalled = false;
    sv_thread_name("learn");
    bool later = false, good = sv_learner_take_rows(self->store, agent, self->options.scratch, most,
                                                    &self->stop, &later, sentence);
    sv_thread_name("learner");
    set_replay(self, agent, agent->replay_seconds + processor_seconds() - begin);
    pthread_mutex_lock(&self->lock);
    self->counts.rows += agent->learnt_seq - before;
    pthread_mutex_unlock(&self->lock);
    if (good || skip_to_reset(self, agent, agent->learnt_seq + 2)) return true;
    if (later)
        stall(agent, sentence);
    else
        break_agent(self, agent, sentence);
    return false;
}

/* Does a policy of the rows so far take the requests that are sent now? Not when the agent was given another
 * shape later, which it has not learnt of yet. */
static bool fits(sv_agent *agent) {
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
    if (agent->model && !agent->broken && fits(agent)) publish(self, agent);
    end_recovery(self, agent);
    pthread_mutex_lock(&self->lock);
    self->unopened--;
    pthread_mutex_unlock(&self->lock);
}

/* ---- an agent that is taken over from another server, or lost to one ---- */

static void drop(sv_learner *self, sv_agent *agent) {
    sv_model_destroy(agent->model);
    agent->model = NULL;
    sv_settings_release(agent->learner_settings);
    agent->learner_settings = NULL;
    agent->learnt_seq = agent->published_seq = agent->written_seq = 0;
    agent->written_time = 0;
    agent->checkpoint_wanted = agent->stalled = false;
    sv_chunks_clear(&agent->written);
    set_replay(self, agent, 0);
    if (agent->recovering) { /* it has ended */
        agent->recover_to = 0;
        end_recovery(self, agent);
    }
}

static bool take_over(sv_learner *self, sv_agent *agent, uint64_t held) {
    const sv_learner_shared *shared = self->options.shared;
    if (!shared->open(shared->user, self->store, agent)) {
        stall(agent, "its policies cannot be read from the database");
        return false;
    }
    agent->opened = held;
    agent->stalled = false;
    agent->recover_to = atomic_load(&agent->last_seq);
    agent->recovering = true;
    pthread_mutex_lock(&self->lock);
    self->recovering++;
    pthread_mutex_unlock(&self->lock);
    sv_agent_mend(agent); /* what another server could not go on with is tried again */
    if (agent->model && fits(agent)) publish(self, agent);
    end_recovery(self, agent);
    return true;
}

/* Is it this server's, with all that it has learnt so far? */
static bool is_held(sv_learner *self, sv_agent *agent) {
    uint64_t held = atomic_load(&agent->tenure);
    if (agent->opened == held) return held;
    drop(self, agent);
    agent->opened = 0;
    return held && !atomic_load(&agent->deleted) && !atomic_load(&agent->unreadable) &&
           take_over(self, agent, held);
}

/* Learns the rows that are there, up to ROWS_AT_A_TIME. true: there may be more. */
static bool advance(sv_learner *self, sv_agent *agent) {
    if (self->options.shared && !is_held(self, agent)) return false;
    uint64_t before = agent->learnt_seq;
    if (atomic_load(&agent->deleted)) forget(self, agent);
    bool gone = atomic_load(&agent->deleted) ||
                (atomic_load(&agent->broken) && !skip_to_reset(self, agent, agent->learnt_seq + 1));
    if (gone) {
        end_recovery(self, agent);
        return false;
    }
    bool good = take_rows(self, agent, ROWS_AT_A_TIME);
    bool more = good && agent->learnt_seq > before;
    if (good && (agent->learnt_seq >= agent->recover_to ||
                 (sv_clock_seconds() - agent->published_time >= RECOVERY_PUBLISH_SECONDS && fits(agent))))
        publish(self, agent);
    end_recovery(self, agent);
    return more;
}

bool sv_learner_save(sv_learner *self, sv_agent *agent, const char *path, sv_refusal *why) {
    (void)self;
    if (!agent->model) return sv_refuse(why, 503, "agent %s is not there yet", agent->name);
    sa_status status = sv_model_save(agent->model, path);
    return status == SA_OK || sv_refuse_library(why, status);
}

/* ---- checkpoints ---- */

static bool write_checkpoint(sv_learner *self, sv_agent *agent, sv_refusal *why) {
    double begin = sv_clock_seconds();
    sv_thread_name("checkpoint");
    bool good = sv_checkpoints_write(agent, self->options.folder, self->options.writer, why);
    sv_thread_name("learner");
    agent->checkpoint_time = sv_clock_seconds();
    agent->checkpoint_cost = agent->checkpoint_time - begin;
    if (good) set_replay(self, agent, 0);
    if (good) agent->checkpoint_wanted = false;
    pthread_mutex_lock(&self->lock);
    self->counts.checkpoints += good;
    self->counts.failed_checkpoints += !good;
    self->counts.checkpoint_seconds = agent->checkpoint_cost;
    pthread_mutex_unlock(&self->lock);
    agent->checkpoint_failed = !good;
    return good;
}

/* Has the agent learnt what no checkpoint has? */
static bool has_learnt(const sv_agent *agent) {
    return agent->checkpoint_damaged || agent->checkpoint.seq < agent->learnt_seq;
}

static bool can_be_written(const sv_agent *agent) {
    return agent->model && !agent->broken && !atomic_load(&agent->deleted);
}

bool sv_learner_checkpoint(sv_learner *self, sv_agent *agent, uint64_t seq, sv_refusal *why) {
    if (!can_be_written(agent) || agent->learnt_seq < seq) return true;
    if (agent->checkpoint_damaged || agent->checkpoint.seq < seq)
        if (!write_checkpoint(self, agent, why)) return false;
    return (*agent->older.file && agent->older.seq >= seq) || write_checkpoint(self, agent, why);
}

/* Retention removes no row that a checkpoint is without, so both of them move on with it. */
static bool retention_waits(const sv_learner *self, const sv_agent *agent, double age) {
    double period = agent->learner_settings->retention_days * 86400 / RETENTION_PARTS,
           wanted = self->options.checkpoint_seconds;
    bool behind = has_learnt(agent) || agent->older.seq < agent->learnt_seq;
    return behind && ((period > 0 && age >= period) || (wanted > 0 && age >= wanted));
}

/* By the clock only where it was asked for, and for retention. */
static bool is_old(const sv_learner *self, const sv_agent *agent, double now) {
    double age = now - agent->checkpoint_time;
    if (!can_be_written(agent) || (agent->checkpoint_failed && age < RETRY_SECONDS)) return false;
    return (agent->checkpoint_wanted && !agent->recovering) || retention_waits(self, agent, age);
}

/* An agent's turn comes once its rows take longer to learn again than its checkpoint takes to write: at most
 * half of the learner's time goes into checkpoints. */
static bool may_be_next(const sv_agent *agent, double now) {
    return can_be_written(agent) && has_learnt(agent) && agent->replay_seconds >= agent->checkpoint_cost &&
           !(agent->checkpoint_failed && now - agent->checkpoint_time < RETRY_SECONDS);
}

/* Retention removes no row that a policy is without. */
static void keep_newest(sv_learner *self, sv_agent *agent, double now) {
    const sv_learner_shared *shared = self->options.shared;
    double period = agent->learner_settings
                        ? agent->learner_settings->retention_days * 86400 / RETENTION_PARTS
                        : 0,
           wanted = self->options.checkpoint_seconds, age = now - agent->written_time;
    if (!agent->model || agent->written_alone || agent->written_seq != agent->learnt_seq) return;
    if ((period > 0 && age >= period) || (wanted > 0 && age >= wanted))
        agent->written_alone = shared->keep_newest(shared->user, agent);
}

static void publish_waiting(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    double now = sv_clock_seconds();
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        try_again(self, all[i], now);
        if (all[i]->opened && all[i]->opened == atomic_load(&all[i]->tenure)) {
            publish_shared(self, all[i], atomic_load(&self->stop));
            keep_newest(self, all[i], now);
        }
        sv_agent_release(all[i]);
    }
}

/* A start would learn all rows again that are in no checkpoint: while that takes too long, the agent that
 * takes the longest gets one. */
static void write_checkpoints(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1], *next;
    sv_refusal why;
    double now = sv_clock_seconds();
    if (self->options.shared) {
        publish_waiting(self);
        return;
    }
    bool late = self->replay_seconds > self->options.recovery_seconds;
    if (!late && now - self->look_time < LOOK_SECONDS) return;
    self->look_time = now;
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        try_again(self, all[i], now);
        if (is_old(self, all[i], now)) write_checkpoint(self, all[i], &why);
    }
    do {
        next = NULL;
        for (size_t i = 0; i < count; i++)
            if (may_be_next(all[i], now) && (!next || all[i]->replay_seconds > next->replay_seconds))
                next = all[i];
    } while (self->replay_seconds > self->options.recovery_seconds && next &&
             write_checkpoint(self, next, &why));
    for (size_t i = 0; i < count; i++) sv_agent_release(all[i]);
}

static void write_last_checkpoints(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    sv_refusal why;
    if (self->options.shared) {
        publish_waiting(self);
        return;
    }
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        if (can_be_written(all[i]) && has_learnt(all[i])) write_checkpoint(self, all[i], &why);
        sv_agent_release(all[i]);
    }
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
    double until = sv_clock_seconds() + (self->options.shared ? PUBLISH_SECONDS / 2 : 0.5);
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

/* What the journal had of each agent's decisions at the start, added to what came since. */
static void count_decisions(sv_learner *self) {
    for (size_t i = 0; i < self->opening_count; i++) {
        sv_agent *agent = self->opening[i];
        sv_store_counts counts = {0};
        if (!atomic_load(&self->stop)) sv_store_agent_count(self->store, agent->id, &counts);
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
        if (!stop) write_checkpoints(self);
    }
    write_last_checkpoints(self);
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

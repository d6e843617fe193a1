/* Checkpoints of agents, where one process has the folder: when they are due, and whose turn it is. */
#include "learner_own.h"
#include "thread_name.h"

static const double LOOK_SECONDS = 0.2, RETRY_SECONDS = 5; /* for checkpoints; after one that failed */

static bool write_checkpoint(sv_learner *self, sv_agent *agent, sv_refusal *why) {
    double begin = sv_clock_seconds();
    sv_thread_name("checkpoint");
    bool good = sv_checkpoints_write(agent, self->options.folder, self->options.writer, why);
    sv_thread_name("learner");
    agent->checkpoint_time = sv_clock_seconds();
    agent->checkpoint_cost = agent->checkpoint_time - begin;
    if (good) sv_learner_set_replay(self, agent, 0);
    if (good) agent->checkpoint_wanted = false;
    sv_learner_count_checkpoint(self, good, agent->checkpoint_cost);
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

/* A start would learn all rows again that are in no checkpoint: while that takes too long, the agent that
 * takes the longest gets one. */
void sv_learner_write_checkpoints(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1], *next;
    sv_refusal why;
    double now = sv_clock_seconds();
    bool late = self->replay_seconds > self->options.recovery_seconds;
    if (!late && now - self->look_time < LOOK_SECONDS) return;
    self->look_time = now;
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        sv_learner_try_again(self, all[i], now);
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

void sv_learner_write_last(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    sv_refusal why;
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        if (can_be_written(all[i]) && has_learnt(all[i])) write_checkpoint(self, all[i], &why);
        sv_agent_release(all[i]);
    }
}

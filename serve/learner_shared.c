/* An agent that several servers have: it is taken over from another one, published for the others, and lost
 * to one. */
#include <string.h>

#include "learner_own.h"
#include "thread_name.h"

/* Between two policies for others: at least so long, and four times what the last one took. */
static const double PUBLISH_SECONDS = 0.2, PUBLISH_FACTOR = 4;
static const double UNTOLD_SECONDS = 1; /* between two tries to tell others that an agent is broken */

double sv_learner_shared_pause(void) { return PUBLISH_SECONDS / 2; }

void sv_learner_tell_broken(sv_learner *self, sv_agent *agent) {
    const sv_learner_shared *shared = self->options.shared;
    char why[sizeof agent->why];
    if (!shared) return;
    pthread_mutex_lock(&agent->lock);
    bool broken = atomic_load(&agent->broken);
    memcpy(why, agent->why, sizeof why);
    pthread_mutex_unlock(&agent->lock);
    agent->untold = !shared->broke(shared->user, agent, broken ? why : NULL);
    agent->told_time = sv_clock_seconds();
}

/* ---- publishing ---- */

/* To the other servers. What waits for its time is tried again. */
void sv_learner_publish_shared(sv_learner *self, sv_agent *agent, bool now) {
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
    sv_learner_count_checkpoint(self, good, agent->written_cost);
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

void sv_learner_publish_waiting(sv_learner *self) {
    sv_agent *all[LIMIT_AGENTS + 1];
    double now = sv_clock_seconds();
    size_t count = sv_agents_all(self->options.agents, all);
    for (size_t i = 0; i < count; i++) {
        sv_learner_try_again(self, all[i], now);
        if (all[i]->opened && all[i]->opened == atomic_load(&all[i]->tenure)) {
            sv_learner_publish_shared(self, all[i], atomic_load(&self->stop));
            keep_newest(self, all[i], now);
            if (all[i]->untold && now - all[i]->told_time >= UNTOLD_SECONDS)
                sv_learner_tell_broken(self, all[i]);
        }
        sv_agent_release(all[i]);
    }
}

/* ---- taken over, and lost ---- */

static void drop(sv_learner *self, sv_agent *agent) {
    sv_model_destroy(agent->model);
    agent->model = NULL;
    sv_settings_release(agent->learner_settings);
    agent->learner_settings = NULL;
    agent->learnt_seq = agent->published_seq = agent->written_seq = 0;
    agent->written_time = 0;
    agent->checkpoint_wanted = agent->written_alone = agent->untold = false;
    atomic_store(&agent->policy_there, false);
    sv_chunks_clear(&agent->written);
    sv_learner_set_replay(self, agent, 0);
    if (agent->recovering) { /* it has ended */
        agent->recover_to = 0;
        sv_learner_end_recovery(self, agent);
    }
}

static bool take_over(sv_learner *self, sv_agent *agent, uint64_t held) {
    const sv_learner_shared *shared = self->options.shared;
    if (!shared->open(shared->user, self->store, agent)) {
        sv_learner_stall(agent, "its policies cannot be read from the database");
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
    sv_learner_tell_broken(self, agent);
    if (agent->model && sv_learner_fits(agent)) sv_learner_publish(self, agent);
    sv_learner_end_recovery(self, agent);
    return true;
}

bool sv_learner_is_held(sv_learner *self, sv_agent *agent) {
    uint64_t held = atomic_load(&agent->tenure);
    if (agent->opened == held) return held;
    drop(self, agent);
    agent->opened = 0;
    agent->stalled = agent->stalled && held;
    return held && !atomic_load(&agent->deleted) && !atomic_load(&agent->unreadable) &&
           take_over(self, agent, held);
}

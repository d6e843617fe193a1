/* Which evaluation runs next, and who ends it. */
#define _GNU_SOURCE
#include "evaluations_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread_name.h"

enum { QUEUE = EVALUATIONS_QUEUE };

/* ---- the queue ---- */

static void forget(sv_evaluations *self, sv_evaluation *which) {
    size_t i = 0;
    while (i < self->count && self->queue[i] != which) i++;
    if (i == self->count) return;
    memmove(self->queue + i, self->queue + i + 1, (self->count - i - 1) * sizeof *self->queue);
    self->count--;
    sv_settings_release(which->question.candidate);
    sv_agent_release(which->agent);
    free(which);
    pthread_cond_broadcast(&self->changed);
}

static sv_evaluation *next(sv_evaluations *self) {
    for (size_t i = 0; i < self->count; i++)
        if (self->queue[i]->admitted) return self->queue[i];
    return NULL;
}

static void *work(void *user) {
    sv_evaluations *self = user;
    sv_thread_name("evaluations");
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
    pthread_mutex_lock(&self->lock);
    while (!self->stopping) {
        sv_evaluation *of = self->held ? NULL : next(self);
        if (!of) {
            pthread_cond_wait(&self->changed, &self->lock);
            continue;
        }
        atomic_store(&self->end, false);
        self->running = of;
        pthread_mutex_unlock(&self->lock);
        sv_evaluation_run(self, of);
        pthread_mutex_lock(&self->lock);
        self->running = NULL;
        forget(self, of);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

sv_evaluation *sv_evaluations_reserve(sv_evaluations *self, sv_agent *agent,
                                      const sv_evaluation_question *question, sv_refusal *why) {
    sv_evaluation *made = calloc(1, sizeof *made);
    if (!made) {
        sv_refuse(why, 503, "memory could not be had");
        return NULL;
    }
    *made = (sv_evaluation){.agent = agent, .question = *question};
    pthread_mutex_lock(&self->lock);
    bool room = self->count < QUEUE && !self->stopping;
    if (room) self->queue[self->count++] = made;
    if (room) sv_agent_retain(agent);
    pthread_mutex_unlock(&self->lock);
    if (room) return made;
    free(made);
    sv_refuse(why, 429, "%d evaluations wait already, and one runs at a time: try again later", QUEUE - 1);
    return NULL;
}

void sv_evaluations_admit(sv_evaluations *self, sv_evaluation *evaluation, int64_t id) {
    pthread_mutex_lock(&self->lock);
    evaluation->id = id;
    evaluation->admitted = id;
    if (!id) forget(self, evaluation);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* With the lock. */
static sv_evaluation *find(const sv_evaluations *self, int64_t id) {
    for (size_t i = 0; i < self->count; i++)
        if (self->queue[i]->admitted && self->queue[i]->id == id) return self->queue[i];
    return NULL;
}

sv_evaluation_state sv_evaluations_state(sv_evaluations *self, int64_t id) {
    pthread_mutex_lock(&self->lock);
    const sv_evaluation *found = find(self, id);
    sv_evaluation_state state = !found                   ? EVALUATION_NONE
                                : found == self->running ? EVALUATION_RUNS
                                                         : EVALUATION_WAITS;
    pthread_mutex_unlock(&self->lock);
    return state;
}

/* With the lock: ends the one that runs, and waits until its files are gone. */
static void end(sv_evaluations *self, sv_evaluation *of) {
    int64_t id = of->id;
    atomic_store(&self->end, true);
    pthread_cond_broadcast(&self->changed);
    while ((of = find(self, id)) && !of->over) pthread_cond_wait(&self->changed, &self->lock);
}

size_t sv_evaluations_list(sv_evaluations *self, int64_t ids[EVALUATIONS_QUEUE], bool *all) {
    size_t count = 0;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < self->count; i++)
        if (self->queue[i]->admitted) ids[count++] = self->queue[i]->id;
    *all = count == self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

void sv_evaluations_give_up(sv_evaluations *self, int64_t id, const char *why) {
    pthread_mutex_lock(&self->lock);
    sv_evaluation *found = find(self, id);
    if (found && found != self->running)
        forget(self, found);
    else if (found) {
        snprintf(found->given_up, sizeof found->given_up, "%s", why ? why : "");
        atomic_store(&self->end, true);
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
}

void sv_evaluations_hold(sv_evaluations *self, const sv_agent *agent, const char *why) {
    pthread_mutex_lock(&self->lock);
    self->held++;
    sv_evaluation *of = self->running;
    if (of && of->agent == agent) {
        snprintf(of->given_up, sizeof of->given_up, "%s", why);
        end(self, of);
    }
    pthread_mutex_unlock(&self->lock);
}

void sv_evaluations_go_on(sv_evaluations *self) {
    pthread_mutex_lock(&self->lock);
    self->held--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

/* ---- its life ---- */

sv_evaluations *sv_evaluations_start(const sv_evaluations_options *options, sv_store *store) {
    sv_evaluations *self = calloc(1, sizeof *self);
    if (self) {
        self->about = *options;
        self->store = store;
        pthread_mutex_init(&self->lock, NULL);
        sv_waiting_begin(&self->changed);
        if (pthread_create(&self->thread, NULL, work, self) == 0) return self;
        pthread_cond_destroy(&self->changed);
        pthread_mutex_destroy(&self->lock);
    }
    free(self);
    sv_store_close(store);
    return NULL;
}

void sv_evaluations_stop(sv_evaluations *self) {
    if (!self) return;
    pthread_mutex_lock(&self->lock);
    self->stopping = true;
    atomic_store(&self->end, true);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    sv_store_close(self->store);
}

void sv_evaluations_destroy(sv_evaluations *self) {
    if (!self) return;
    while (self->count) forget(self, self->queue[0]);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

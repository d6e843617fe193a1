/* All runs of all agents, spread over threads. A job is one run of one agent and writes its own row of the
 * results, from random numbers of its own address, so that the results do not depend on the number of threads
 * or on who was first. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/platform.h"
#include "experiment/experiment.h"

typedef struct place {
    sa_plan *plan;
    size_t agent, run;
} place;

typedef struct pool {
    sa_work *work;
    place *jobs;       /* (count) what is not done yet: run by run, so that agents can be compared early */
    size_t count, all; /* all: those that were done before, too */
    double rounds_left, rounds_all;
    sa_job_control control;
    pthread_mutex_t lock; /* of all that follows, and of what agents have done */
    pthread_cond_t news;
    size_t next, finished, working;
    const place *last; /* that ended; NULL: none so far */
    sa_status status;  /* of the first job that failed, and its sentence */
    char sentence[1024];
} pool;

/* ---- workers ---- */

static sa_status do_job(pool *self, const place *at) {
    const sa_work *work = self->work;
    sa_job_files files = {0};
    sa_status status = SA_OK;
    if (*work->options->trace)
        status = sa_results_part(work, at->plan, at->agent, at->run, "jsonl", &files.trace);
    if (status == SA_OK && *work->options->log)
        status = sa_results_part(work, at->plan, at->agent, at->run, "log", &files.log);
    if (status == SA_OK) status = sa_job_run(at->plan, at->agent, at->run, &files, &self->control);
    if (status == SA_OK) status = sa_results_keep(work, at->plan, at->agent, at->run);
    sa_free(files.trace);
    sa_free(files.log);
    return status;
}

static void note_end(pool *self, const place *at, sa_status status) {
    if (status == SA_OK) {
        self->finished++;
        at->plan->agents[at->agent].done[at->run] = true;
        at->plan->agents[at->agent].session[at->run] = json_array_size(self->work->sessions) - 1;
        self->last = at;
    } else if (self->status == SA_OK && status != SA_INTERRUPTED) {
        self->status = status;
        snprintf(self->sentence, sizeof self->sentence, "%s", sa_last_error()); /* sentences are per thread */
    }
    if (status != SA_OK) atomic_store(&self->control.stop, true);
    pthread_cond_signal(&self->news);
}

static void *work_on(void *user) {
    pool *self = user;
    pthread_mutex_lock(&self->lock);
    while (self->next < self->count && !atomic_load(&self->control.stop)) {
        const place *at = &self->jobs[self->next++];
        pthread_mutex_unlock(&self->lock);
        sa_status status = do_job(self, at);
        pthread_mutex_lock(&self->lock);
        note_end(self, at, status);
    }
    self->working--;
    pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- the caller's thread: progress ---- */

static double mean_regret(const sa_plan *plan, const sa_plan_agent *agent) {
    const double *curves = agent->curve[sa_curve_shown(plan)];
    double sum = 0, count = 0;
    for (size_t run = 0; run < plan->runs; run++)
        if (agent->done[run]) {
            sum += curves[(run + 1) * plan->rounds - 1];
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static sa_progress look(const pool *self, double start) {
    double rounds = (double)atomic_load(&self->control.rounds), left = self->rounds_left - rounds;
    sa_progress progress = {.jobs = self->all,
                            .jobs_done = self->all - self->count + self->finished,
                            .rounds_done = self->rounds_all > 0 ? 1 - left / self->rounds_all : 1,
                            .seconds = sa_seconds_now() - start,
                            .seconds_left = -1,
                            .label = ""};
    if (rounds > 0) progress.seconds_left = progress.seconds * left / rounds;
    if (!self->last) return progress;
    const sa_plan_agent *agent = &self->last->plan->agents[self->last->agent];
    progress.label = agent->label;
    progress.regret = mean_regret(self->last->plan, agent);
    return progress;
}

/* Waits until the workers have ended; holds the lock except while it waits or calls. */
static void watch(pool *self, sa_progress_call *call, void *user) {
    double start = sa_seconds_now();
    for (bool last = false; !last;) {
        last = self->working == 0;
        sa_progress progress = look(self, start);
        pthread_mutex_unlock(&self->lock);
        if (call && call(user, &progress)) atomic_store(&self->control.stop, true);
        pthread_mutex_lock(&self->lock);
        if (last || self->working == 0) continue;
        sa_condition_wait(&self->news, &self->lock, 0.1);
    }
}

/* ---- putting it together ---- */

static sa_status list_jobs(pool *self) {
    const sa_work *work = self->work;
    size_t runs = work->plans[0]->runs, agents = 0, job = 0;
    sa_plan *plan;
    while (sa_work_agent(work, agents, &plan)) agents++;
    SA_TRY(sa_alloc_matrix(runs, agents, sizeof *self->jobs, &self->jobs));
    for (size_t run = 0; run < runs; run++)
        for (size_t p = 0; p < work->plan_count; p++)
            for (size_t i = 0; i < work->plans[p]->agent_count; i++, job++) {
                plan = work->plans[p];
                if (!sa_work_has(work, job)) continue;
                self->all++;
                self->rounds_all += (double)plan->rounds;
                if (plan->agents[i].done[run]) continue;
                self->rounds_left += (double)plan->rounds;
                self->jobs[self->count++] = (place){plan, i, run};
            }
    return SA_OK;
}

static sa_status start_and_join(pool *self, sa_progress_call *call, void *user) {
    size_t wanted = self->work->threads < self->count ? self->work->threads : self->count, started = 0;
    pthread_t *threads;
    SA_TRY(sa_alloc_array(wanted, sizeof *threads, &threads));
    pthread_mutex_lock(&self->lock);
    while (started < wanted && pthread_create(&threads[started], NULL, work_on, self) == 0) started++;
    self->working = started; /* fewer threads than asked for is fine */
    if (started > 0 || wanted == 0) watch(self, call, user);
    pthread_mutex_unlock(&self->lock);
    for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    sa_free(threads);
    return started > 0 || wanted == 0 ? SA_OK : sa_fail(SA_OUT_OF_MEMORY, "no thread could be started");
}

static sa_status outcome(const pool *self) {
    if (self->status != SA_OK) return sa_fail(self->status, "%s", self->sentence);
    if (self->finished == self->count) return SA_OK;
    size_t jobs = self->all, done = jobs - self->count + self->finished;
    const char *out = self->work->options->out;
    if (!*out)
        return sa_fail(SA_INTERRUPTED, "stopped after %zu of %zu runs; without --out nothing is kept", done,
                       jobs);
    return sa_fail(SA_INTERRUPTED, "stopped after %zu of %zu runs; --resume --out %s goes on", done, jobs,
                   out);
}

sa_status sa_runner_run(sa_work *work, sa_progress_call *call, void *user) {
    pool self = {.work = work};
    SA_TRY(list_jobs(&self));
    sa_condition_init(&self.news);
    pthread_mutex_init(&self.lock, NULL);
    sa_status status = start_and_join(&self, call, user);
    if (status == SA_OK) status = outcome(&self);
    pthread_mutex_destroy(&self.lock);
    pthread_cond_destroy(&self.news);
    sa_free(self.jobs);
    return status;
}

#include "experiment/runner.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/platform.h"
#include "experiment/job.h"
#include "experiment/keep.h"
#include "results/parts.h"

typedef struct place {
    const sa_plan *plan;
    sa_agent_runs *agent;
    uint64_t run;
} place;

typedef struct pool {
    sa_work *work;
    place *jobs;       /* (count) what is not done yet: run by run, so that agents can be compared early */
    size_t count, all; /* all: those that were done before, too */
    double rounds_left, rounds_all;
    sa_job_control control;
    pthread_mutex_t lock; /* of all that follows, and of the table */
    pthread_cond_t news;
    size_t next, finished, working;
    const place *last; /* that ended; NULL: none so far */
    sa_status status;  /* of the first job that failed, and its sentence */
    char sentence[1024];
} pool;

/* ---- workers ---- */

static sa_status do_job(pool *self, const place *at, sa_row *row) {
    const sa_work *work = self->work;
    sa_job_files files = {0};
    sa_status status = sa_row_init(row, at->agent);
    if (status == SA_OK && *work->options->trace)
        status = sa_part_path(work->parts, at->agent->label, at->run, "jsonl", &files.trace);
    if (status == SA_OK && *work->options->log)
        status = sa_part_path(work->parts, at->agent->label, at->run, "log", &files.log);
    if (status == SA_OK) status = sa_job_run(at->plan, at->agent, at->run, &files, &self->control, row);
    if (status == SA_OK) status = sa_keep_run(work, at->agent, row);
    sa_free(files.trace);
    sa_free(files.log);
    return status;
}

static void note_end(pool *self, const place *at, sa_row *row, sa_status status) {
    if (status == SA_OK) {
        self->finished++;
        row->run.session = (int64_t)json_array_size(self->work->results.sessions) - 1;
        sa_agent_insert(at->agent, row);
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
        sa_row row;
        sa_status status = do_job(self, at, &row);
        pthread_mutex_lock(&self->lock);
        note_end(self, at, &row, status);
        sa_row_clear(&row);
    }
    self->working--;
    pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- the caller's thread: progress ---- */

static double mean_regret(const sa_agent_runs *agent, sa_curve_kind shown) {
    double sum = 0;
    for (size_t i = 0; i < agent->runs; i++) sum += sa_agent_row(agent, i).curve[shown][agent->rounds - 1];
    return agent->runs > 0 ? sum / (double)agent->runs : 0;
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
    progress.label = self->last->agent->label;
    progress.regret = mean_regret(self->last->agent, sa_curve_shown(self->work->options));
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
    const sa_results *results = &work->results;
    size_t job = 0, row;
    SA_TRY(sa_alloc_matrix(results->wanted, results->agent_count, sizeof *self->jobs, &self->jobs));
    for (size_t run = 0; run < results->wanted; run++)
        for (size_t i = 0; i < results->agent_count; i++, job++) {
            const sa_plan *plan = sa_work_plan(work, i);
            sa_agent_runs *agent = &results->agents[i];
            if (!sa_work_has(work, job)) continue;
            self->all++;
            self->rounds_all += (double)plan->rounds;
            if (sa_agent_has(agent, results->first_run + run, &row)) continue;
            self->rounds_left += (double)plan->rounds;
            self->jobs[self->count++] = (place){plan, agent, results->first_run + run};
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

/* What the thread that holds agents is asked to do, and how long its answer is waited for. */
#include "cluster_own.h"

static void end_job(sv_job *base, sv_store_status status) {
    sv_holder_job *self = (sv_holder_job *)base;
    pthread_mutex_lock(&self->lock);
    self->status = status;
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->lock);
}

void sv_cluster_tell_holder(sv_cluster *self, sv_holder_job *job,
                            sv_store_status (*run)(sv_job *job, sv_store *store)) {
    sv_refusal why;
    job->job = (sv_job){.run = run, .end = end_job};
    job->done = false;
    pthread_mutex_init(&job->lock, NULL);
    sv_waiting_begin(&job->ended);
    if (sv_writer_submit(self->service->holder, &job->job, &why)) return;
    job->status = STORE_LATER;
    job->done = true;
}

bool sv_cluster_hear_holder(sv_holder_job *job, double seconds, sv_store_status *status) {
    double until = sv_clock_seconds() + seconds;
    pthread_mutex_lock(&job->lock);
    while (!job->done && sv_clock_seconds() < until) sv_waiting_until(&job->ended, &job->lock, until);
    bool done = job->done;
    if (done) *status = job->status;
    pthread_mutex_unlock(&job->lock);
    if (!done) return false;
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->lock);
    return true;
}

sv_store_status sv_cluster_ask_holder(sv_cluster *self, sv_holder_job *job,
                                      sv_store_status (*run)(sv_job *job, sv_store *store)) {
    static const double A_WHILE = 60;
    sv_store_status status = STORE_LATER;
    sv_cluster_tell_holder(self, job, run);
    while (!sv_cluster_hear_holder(job, A_WHILE, &status)) continue;
    return status;
}

#include "checkpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

/* ---- opening ---- */

static bool note(sv_checkpoint *self, uint64_t seq, const char *file, const char *settings) {
    if (!file || !settings) return true;
    self->seq = seq;
    snprintf(self->file, sizeof self->file, "%s", file);
    return (self->settings = strdup(settings)) != NULL;
}

bool sv_checkpoints_note(sv_agent *agent, const sv_store_agent *from) {
    double age = from->checkpoint ? 1e-3 * (double)(sv_clock_milliseconds() - from->checkpoint_time) : 0;
    agent->checkpoint_time = sv_clock_seconds() - (age > 0 ? age : 0);
    atomic_store(&agent->checkpointed, from->checkpoint ? from->checkpoint_seq : 0);
    return note(&agent->checkpoint, from->checkpoint_seq, from->checkpoint, from->checkpoint_settings) &&
           note(&agent->older, from->older_seq, from->older, from->older_settings);
}

static bool open_one(sv_agent *agent, const sv_checkpoint *from, const char *folder, sv_refusal *why) {
    sa_buffer path = {0};
    uint64_t last = atomic_load(&agent->last_seq);
    if (from->seq > last) /* rows to come would have numbers that it has learnt under another meaning */
        return sv_refuse(why, 503,
                         "it has learnt row %llu, and the journal ends with row %llu: rows are gone",
                         (unsigned long long)from->seq, (unsigned long long)last);
    sv_settings *settings = sv_settings_read_text(from->settings, strlen(from->settings), why);
    sa_buffer_format(&path, "%s/%s", folder, from->file);
    bool good = settings && (!path.status || sv_refuse(why, 503, "memory could not be had")) &&
                sv_model_load(path.text, &agent->model, why);
    if (good) {
        agent->learner_settings = settings;
        agent->learnt_seq = from->seq;
    } else
        sv_settings_release(settings);
    sa_buffer_clear(&path);
    return good;
}

static void say(const sv_agent *agent, const sv_checkpoint *of, const char *instead, const sv_refusal *why) {
    fprintf(stderr, "superarm serve: agent %s: its checkpoint %s is not used, and %s: %s\n", agent->name,
            of->file, instead, why->message);
}

static void drop_settings(sv_checkpoint *self) {
    free(self->settings);
    self->settings = NULL;
}

void sv_checkpoints_open(sv_agent *agent, const char *folder) {
    sv_refusal why = {0}, older = {0};
    bool any = agent->older.settings;
    if (agent->checkpoint.settings && !open_one(agent, &agent->checkpoint, folder, &why)) {
        say(agent, &agent->checkpoint, any ? "the one before it is" : "all its rows are", &why);
        agent->checkpoint_damaged = true; /* its file stays: what cannot be read is not deleted */
        agent->checkpoint_wanted = true;
    }
    if (!agent->model && any && !open_one(agent, &agent->older, folder, &older)) {
        say(agent, &agent->older, "all its rows are", &older);
        agent->older_damaged = agent->checkpoint_wanted = true;
    }
    drop_settings(&agent->checkpoint);
    drop_settings(&agent->older);
}

/* ---- writing ---- */

typedef struct checkpoint_job {
    sv_job job;
    const sv_agent *agent;
    sv_checkpoint made;
    sa_buffer settings;
    bool begins; /* the file is named before it is written, so that what is cut off can be removed */
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    sv_store_status status;
} checkpoint_job;

static sv_store_status write_row(sv_job *base, sv_store *store) {
    checkpoint_job *self = (checkpoint_job *)base;
    if (self->begins) return sv_store_leftover(store, self->agent->id, self->made.file);
    return sv_store_checkpoint(store, self->agent->id, self->made.seq, self->made.file, self->settings.text,
                               !self->agent->checkpoint_damaged, self->agent->older_damaged,
                               sv_clock_milliseconds());
}

static void end_row(sv_job *base, sv_store_status status) {
    checkpoint_job *self = (checkpoint_job *)base;
    pthread_mutex_lock(&self->lock);
    self->status = status;
    self->done = true;
    pthread_cond_signal(&self->ended);
    pthread_mutex_unlock(&self->lock);
}

static bool submit_and_wait(checkpoint_job *job, sv_writer *writer, sv_refusal *why) {
    job->job = (sv_job){.run = write_row, .end = end_row};
    job->done = false;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->ended, NULL);
    bool good = sv_writer_submit(writer, &job->job, why);
    pthread_mutex_lock(&job->lock);
    while (good && !job->done) pthread_cond_wait(&job->ended, &job->lock);
    pthread_mutex_unlock(&job->lock);
    pthread_cond_destroy(&job->ended);
    pthread_mutex_destroy(&job->lock);
    if (good && job->status != STORE_OK)
        return sv_refuse(why, 503, "the checkpoint's row could not be written");
    return good;
}

static void remove_file(const char *folder, const char *file) {
    sa_buffer path = {0};
    sa_buffer_format(&path, "%s/%s", folder, file);
    if (*file && !path.status) unlink(path.text);
    sa_buffer_clear(&path);
}

/* The name has the row; another checkpoint at the same row has another name. */
static void name_file(const sv_agent *agent, char file[96]) {
    static const char *const marks[] = {"", "-b", "-c"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, 96, "agent-%lld-%llu%s.npz", (long long)agent->id,
                 (unsigned long long)agent->learnt_seq, marks[i]);
        if (strcmp(file, agent->checkpoint.file) && strcmp(file, agent->older.file)) return;
    }
}

/* What was the newest is the older one now, whose file is kept; the one before that goes. */
static void shift(sv_agent *agent, const sv_checkpoint *made, const char *folder) {
    if (!agent->checkpoint_damaged) {
        if (!agent->older_damaged) remove_file(folder, agent->older.file);
        agent->older = agent->checkpoint;
        agent->older_damaged = false;
    }
    agent->checkpoint = *made;
    agent->checkpoint_damaged = false;
    atomic_store(&agent->checkpointed, made->seq);
}

bool sv_checkpoints_write(sv_agent *agent, const char *folder, sv_writer *writer, sv_refusal *why) {
    sa_buffer path = {0};
    checkpoint_job job = {.agent = agent, .made.seq = agent->learnt_seq};
    name_file(agent, job.made.file);
    sa_buffer_format(&path, "%s/%s", folder, job.made.file);
    sv_settings_write(agent->learner_settings, &job.settings);
    bool good = (!path.status && !job.settings.status) || sv_refuse(why, 503, "memory could not be had");
    job.begins = true;
    if (good) good = submit_and_wait(&job, writer, why);
    job.begins = false;
    sa_status status = good ? sv_model_save(agent->model, path.text) : SA_OK;
    if (status != SA_OK) good = sv_refuse_library(why, status);
    if (good) good = submit_and_wait(&job, writer, why);
    if (good) shift(agent, &job.made, folder);
    sa_buffer_clear(&path);
    sa_buffer_clear(&job.settings);
    return good;
}

void sv_checkpoints_remove(sv_agent *agent, const char *folder) {
    remove_file(folder, agent->checkpoint.file);
    remove_file(folder, agent->older.file);
    agent->checkpoint = agent->older = (sv_checkpoint){0};
}

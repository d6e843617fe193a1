/* One evaluation: its events become files, a helper makes an answer of them, and the journal gets it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "cluster.h"
#include "evaluation_files.h"
#include "evaluations_own.h"

enum { MEMORY_MOST = 1 << 30, MEMORY_LEAST = 64 << 20 };
static const double ROOM = 4e9, PERIOD = 0.02, AGAIN_SECONDS = 1;

typedef struct run {
    sv_evaluations *all;
    sv_evaluation *of;
    sa_buffer begin; /* of its files' paths */
    sv_evaluation_span span;
    sv_settings *present;
    size_t memory;
    double since;
    sv_refusal why;
} sv_run;

static bool ends(const sv_run *self) {
    return atomic_load(&self->all->end) || atomic_load(&self->of->agent->deleted);
}

static bool ask_for_memory(sv_run *self) {
    sv_evaluations *all = self->all;
    for (size_t bytes = MEMORY_MOST; bytes >= MEMORY_LEAST; bytes /= 2) {
        sv_refusal less = {0};
        if (!sv_memory_promise(all->about.memory, all->about.agents, NULL, bytes, &less)) continue;
        self->memory = bytes;
        return true;
    }
    return sv_refuse(&self->why, 409, "an evaluation needs %d MB of --memory, which the agents have taken",
                     MEMORY_LEAST >> 20);
}

static bool write_question(sv_run *self) {
    const sv_evaluation_question *question = &self->of->question;
    sa_buffer text = {0};
    sa_buffer_text(&text, "{\"present\": ");
    sv_settings_write(self->present, &text);
    if (question->candidate) {
        sa_buffer_text(&text, ", \"candidate\": ");
        sv_settings_write(question->candidate, &text);
    }
    if (*question->estimators) sa_buffer_format(&text, ", \"estimators\": \"%s\"", question->estimators);
    sa_buffer_text(&text, "}");
    bool good = sv_evaluation_write(self->begin.text, EVALUATION_QUESTION, &text);
    sa_buffer_clear(&text);
    return good || sv_refuse(&self->why, 503, "the disk takes no file");
}

static bool spawn(sv_run *self, pid_t *process) {
    char bytes[32], *name = strrchr(self->begin.text, '/');
    snprintf(bytes, sizeof bytes, "%zu", self->memory);
    char *words[] = {(char *)"superarm",
                     (char *)"serve",
                     (char *)"--evaluator",
                     name ? name + 1 : self->begin.text,
                     bytes,
                     NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t about;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&about);
    posix_spawn_file_actions_addchdir_np(&actions, self->all->about.folder->path);
    for (int file = 0; file < 3; file++)
        posix_spawn_file_actions_addopen(&actions, file, "/dev/null", file ? O_WRONLY : O_RDONLY, 0);
    posix_spawnattr_setsigmask(&about, &none);
    posix_spawnattr_setsigdefault(&about, &all);
    posix_spawnattr_setflags(&about, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    bool good = !posix_spawn(process, self->all->about.program, &actions, &about, words, environ);
    posix_spawnattr_destroy(&about);
    posix_spawn_file_actions_destroy(&actions);
    return good || sv_refuse(&self->why, 503, "no process could be had for the evaluation");
}

/* Until the helper has ended; or it is ended. */
static bool wait_for(sv_run *self, pid_t process) {
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(process, &status, WNOHANG);
        if (ended == process || (ended < 0 && errno != EINTR)) break;
        if (ends(self)) {
            kill(process, SIGKILL);
            while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
            return sv_refuse(&self->why, 409, "it was stopped");
        }
        pthread_mutex_lock(&self->all->lock);
        sv_waiting_until(&self->all->changed, &self->all->lock, sv_clock_seconds() + PERIOD);
        pthread_mutex_unlock(&self->all->lock);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return sv_refuse(&self->why, 409,
                         "it took more than an hour of processor time: choose a shorter span");
    return (WIFEXITED(status) && !WEXITSTATUS(status)) ||
           sv_refuse(&self->why, 409,
                     "its process ended before it had an answer (%zu MB of memory are what it may take): "
                     "choose a shorter span",
                     self->memory >> 20);
}

static bool run_helper(sv_run *self) {
    pid_t process = 0;
    bool good = write_question(self) && spawn(self, &process) && wait_for(self, process);
    return good;
}

/* ---- its result ---- */

static void write_facts(const sv_run *self, const char *state, sa_buffer *out) {
    sa_buffer_format(out,
                     "{\"state\": \"%s\", \"seconds\": %.1f, \"events\": {\"learnt_from\": %llu, "
                     "\"judged_by\": %llu}",
                     state, sv_clock_seconds() - self->since, (unsigned long long)self->span.learnt_from,
                     (unsigned long long)self->span.judged_by);
}

static void write_failure(const sv_run *self, const char *sentence, sa_buffer *out) {
    write_facts(self, "failed", out);
    sa_buffer_text(out, ", \"error\": ");
    sa_buffer_quote(out, sentence);
    sa_buffer_text(out, "}");
}

/* Sentences name the files, which nobody will find: they become what they are. */
static void name_files(const sv_run *self, const char *from, sa_buffer *out) {
    const char *base = strrchr(self->begin.text, '/');
    size_t length = strlen(base = base ? base + 1 : self->begin.text);
    static const struct {
        const char *end, *name;
    } files[] = {{"-past.jsonl", "the first events"},
                 {"-later.jsonl", "the later events"},
                 {"-present.npz", "present"},
                 {"-candidate.npz", "candidate"}};
    for (const char *at; (at = strstr(from, base)); from = at) {
        sa_buffer_bytes(out, from, (size_t)(at - from));
        at += length;
        for (size_t i = 0; i < 4; i++)
            if (!strncmp(at, files[i].end, strlen(files[i].end))) {
                sa_buffer_text(out, files[i].name);
                at += strlen(files[i].end);
                break;
            }
    }
    sa_buffer_text(out, from);
}

static void read_given_up(const sv_run *self, char out[]) {
    pthread_mutex_lock(&self->all->lock);
    memcpy(out, self->of->given_up, sizeof self->of->given_up);
    pthread_mutex_unlock(&self->all->lock);
}

/* The helper's answer, or why there is none. */
static void write_result(sv_run *self, sa_buffer *out) {
    sa_buffer answer = {0};
    sa_json json = {0};
    char given_up[sizeof self->of->given_up];
    read_given_up(self, given_up);
    if (self->why.status)
        write_failure(self, *given_up ? given_up : self->why.message, out);
    else if (!sv_evaluation_read(self->begin.text, EVALUATION_RESULT, &answer) ||
             sa_json_parse(&json, answer.text, answer.size) != SA_OK)
        write_failure(self, "its answer cannot be read", out);
    else {
        bool failed = sa_json_find(&json, 0, "error");
        write_facts(self, failed ? "failed" : "done", out);
        sa_buffer_text(out, ", ");
        name_files(self, answer.text + 1, out); /* without its first brace */
    }
    sa_json_clear(&json);
    sa_buffer_clear(&answer);
}

/* ---- in the journal ---- */

typedef struct keeping {
    sv_job job;
    int64_t agent, id;
    const char *result; /* NULL: that it begins */
    sv_store_status status;
    pthread_mutex_t lock;
    pthread_cond_t kept;
    bool done;
} sv_keeping;

static sv_store_status run_keeping(sv_job *base, sv_store *store) {
    sv_keeping *self = (sv_keeping *)base;
    self->status = self->result ? sv_store_evaluation_put(store, self->agent, self->id, self->result)
                                : sv_cluster_begin_evaluation(store, self->agent, self->id);
    return self->status;
}

static void end_keeping(sv_job *base, sv_store_status status) {
    sv_keeping *self = (sv_keeping *)base;
    pthread_mutex_lock(&self->lock);
    if (status != STORE_OK) self->status = status;
    self->done = true;
    pthread_cond_signal(&self->kept);
    pthread_mutex_unlock(&self->lock);
}

/* STORE_NONE: it is not there any longer. */
static sv_store_status keep(sv_evaluations *all, const sv_evaluation *of, const char *result) {
    sv_refusal why = {0};
    sv_keeping self = {.job = {.run = run_keeping, .end = end_keeping, .repeats = true},
                       .agent = of->agent->id,
                       .id = of->id,
                       .result = result};
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.kept, NULL);
    bool taken = sv_writer_submit(all->about.writer, &self.job, &why);
    pthread_mutex_lock(&self.lock);
    while (taken && !self.done) pthread_cond_wait(&self.kept, &self.lock);
    pthread_mutex_unlock(&self.lock);
    pthread_cond_destroy(&self.kept);
    pthread_mutex_destroy(&self.lock);
    return taken ? self.status : STORE_LATER;
}

/* With the lock: nobody waits for its result. One that was given up has a reason, which others wait for. */
static bool is_unwanted(const sv_run *self) {
    return self->all->stopping || atomic_load(&self->of->agent->deleted) ||
           (atomic_load(&self->all->end) && !*self->of->given_up);
}

static bool is_put_off(sv_store_status status) { return status == STORE_LATER || status == STORE_LOST; }

/* false: it is over before the time has come for another try. */
static bool wait_for_store(sv_run *self, bool (*is_over)(const sv_run *self)) {
    sv_evaluations *all = self->all;
    double until = sv_clock_seconds() + AGAIN_SECONDS;
    bool over;
    pthread_mutex_lock(&all->lock);
    if (is_over == is_unwanted) self->of->over = true; /* its files are gone */
    pthread_cond_broadcast(&all->changed);
    while (!(over = is_over(self)) && sv_waiting_until(&all->changed, &all->lock, until)) continue;
    pthread_mutex_unlock(&all->lock);
    return !over;
}

/* A disk that is full, or a database that is gone, is waited for: the answer may have taken an hour. Who
 * ended it goes on meanwhile. */
static void keep_result(sv_run *self, const sa_buffer *result) {
    const char *text =
        result->status ? "{\"state\": \"failed\", \"error\": \"memory could not be had\"}" : result->text;
    while (is_put_off(keep(self->all, self->of, text)) && wait_for_store(self, is_unwanted)) continue;
}

/* Other servers know that it reads events before it does. STORE_LATER: it was ended before. */
static sv_store_status keep_begin(sv_run *self) {
    sv_store_status status;
    while (is_put_off(status = keep(self->all, self->of, NULL)) && wait_for_store(self, ends)) continue;
    return status;
}

void sv_evaluation_run(sv_evaluations *all, sv_evaluation *of) {
    sa_buffer result = {0};
    char given_up[sizeof of->given_up];
    sv_run self = {.all = all, .of = of};
    sv_store_status begun = all->about.cluster ? keep_begin(&self) : STORE_OK;
    if (begun == STORE_NONE) return; /* another server has deleted it */
    self.since = sv_clock_seconds();
    self.present = sv_agent_settings(of->agent);
    self.span = (sv_evaluation_span){.agent = of->agent->id,
                                     .name = of->agent->name,
                                     .from = of->question.from,
                                     .to = of->question.to,
                                     .split = of->question.split,
                                     .room = ROOM,
                                     .stop = &all->end};
    sa_buffer_format(&self.begin, "%s-evaluation-%lld", all->about.folder->scratch, (long long)of->id);
    if (self.begin.status)
        sv_refuse(&self.why, 503, "memory could not be had");
    else if (begun != STORE_OK)
        sv_refuse(&self.why, 503, "that it begins could not be written");
    else if (ask_for_memory(&self) &&
             sv_evaluation_events(all->store, self.begin.text, &self.span, &self.why))
        run_helper(&self);
    if (self.begin.status)
        write_failure(&self, self.why.message, &result);
    else
        write_result(&self, &result);
    if (!self.begin.status) sv_evaluation_remove(self.begin.text);
    if (self.memory) sv_memory_release(all->about.memory, self.memory);
    read_given_up(&self, given_up);
    if (!ends(&self) || *given_up) keep_result(&self, &result);
    sv_settings_release(self.present);
    sa_buffer_clear(&self.begin);
    sa_buffer_clear(&result);
}

#define _GNU_SOURCE
#include "evaluations.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "evaluation_files.h"
#include "thread_name.h"
#include "waiting.h"

enum { QUEUE = 5 /* that runs, and four that wait */, MEMORY_MOST = 1 << 30, MEMORY_LEAST = 64 << 20 };
static const double ROOM = 4e9, PERIOD = 0.02;

struct evaluation {
    int64_t id; /* 0: the journal does not have it yet */
    sv_agent *agent;
    sv_evaluation_question question;
    bool admitted;
    char given_up[160]; /* why it is not run to its end, with the lock; "": it is */
};

struct evaluations {
    sv_evaluations_options about;
    sv_store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sv_evaluation *queue[QUEUE]; /* in order, with the one that runs */
    size_t count;
    sv_evaluation *running; /* NULL: none */
    size_t held;            /* by those that must not be read meanwhile */
    bool stopping;
    atomic_bool end; /* what runs is to end */
};

/* ---- one run ---- */

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

/* The helper's answer, or why there is none. */
static void write_result(sv_run *self, sa_buffer *out) {
    sa_buffer answer = {0};
    sa_json json = {0};
    if (self->why.status)
        write_failure(self, *self->of->given_up ? self->of->given_up : self->why.message, out);
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

typedef struct keeping {
    sv_job job;
    int64_t agent, id;
    const char *result;
    pthread_mutex_t lock;
    pthread_cond_t kept;
    bool done;
} sv_keeping;

static sv_store_status run_keeping(sv_job *base, sv_store *store) {
    sv_keeping *self = (sv_keeping *)base;
    return sv_store_evaluation_put(store, self->agent, self->id, self->result);
}

static void end_keeping(sv_job *base, sv_store_status status) {
    sv_keeping *self = (sv_keeping *)base;
    (void)status; /* without a result it counts as cut off */
    pthread_mutex_lock(&self->lock);
    self->done = true;
    pthread_cond_signal(&self->kept);
    pthread_mutex_unlock(&self->lock);
}

static void keep_result(sv_evaluations *all, const sv_evaluation *of, const sa_buffer *result) {
    sv_refusal why = {0};
    if (result->status || atomic_load(&of->agent->deleted)) return;
    sv_keeping self = {.job = {.run = run_keeping, .end = end_keeping},
                       .agent = of->agent->id,
                       .id = of->id,
                       .result = result->text};
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.kept, NULL);
    if (sv_writer_submit(all->about.writer, &self.job, &why)) {
        pthread_mutex_lock(&self.lock);
        while (!self.done) pthread_cond_wait(&self.kept, &self.lock);
        pthread_mutex_unlock(&self.lock);
    }
    pthread_cond_destroy(&self.kept);
    pthread_mutex_destroy(&self.lock);
}

static void run_one(sv_evaluations *all, sv_evaluation *of) {
    sa_buffer result = {0};
    sv_run self = {
        .all = all, .of = of, .since = sv_clock_seconds(), .present = sv_agent_settings(of->agent)};
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
    else if (ask_for_memory(&self) &&
             sv_evaluation_events(all->store, self.begin.text, &self.span, &self.why))
        run_helper(&self);
    if (!self.begin.status) write_result(&self, &result);
    if (!self.begin.status) sv_evaluation_remove(self.begin.text);
    if (self.memory) sv_memory_release(all->about.memory, self.memory);
    if (!ends(&self) || *of->given_up) keep_result(all, of, &result);
    sv_settings_release(self.present);
    sa_buffer_clear(&self.begin);
    sa_buffer_clear(&result);
}

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
        run_one(self, of);
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

/* With the lock: ends it, and waits until its files are gone. */
static void end(sv_evaluations *self, sv_evaluation *of) {
    int64_t id = of->id;
    if (of != self->running) {
        forget(self, of);
        return;
    }
    atomic_store(&self->end, true);
    pthread_cond_broadcast(&self->changed);
    while (find(self, id)) pthread_cond_wait(&self->changed, &self->lock);
}

void sv_evaluations_cancel(sv_evaluations *self, int64_t id) {
    pthread_mutex_lock(&self->lock);
    sv_evaluation *found = find(self, id);
    if (found) end(self, found);
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

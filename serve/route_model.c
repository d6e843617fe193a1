/* GET and PUT of the agent itself, as npz, and the erasure of an event: what needs the learner between two
 * rows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "routes.h"
#include "service.h"

typedef struct work {
    sv_task task;
    sv_job job;
    sv_emptying emptying; /* DELETE of an event */
    sv_exchange *exchange;
    sv_settings *settings; /* PUT: with the options of the model */
    sv_text written;
    bool holds;
    uint64_t seq;
    int64_t decision;
    decision_state state;
    sv_refusal why;
} sv_work;

#define WORK_OF(field, pointer) ((sv_work *)((char *)(pointer)-offsetof(sv_work, field)))

static void free_work(void *state) {
    sv_work *self = state;
    if (self->holds) atomic_store(&self->exchange->agent->changing, false);
    settings_release(self->settings);
    text_free(&self->written);
    free(self);
}

static sv_work *new_work(sv_exchange *self) {
    sv_refusal why = {0};
    sv_work *state = calloc(1, sizeof *state);
    self->state = state;
    self->state_free = free_work;
    if (state)
        state->exchange = self;
    else {
        refuse(&why, 503, "memory could not be had");
        exchange_refuse(self, &why);
    }
    return state;
}

static void finish(sv_work *self, int status) {
    sv_exchange *exchange = self->exchange;
    if (self->why.status)
        exchange_refuse(exchange, &self->why);
    else
        exchange_answer(exchange, status);
    exchange->done(exchange);
}

static void scratch_path(const sv_exchange *self, sv_text *out) {
    text_put(out, "%s-%llu.npz", self->service->folder.scratch, service_number());
}

/* ---- GET: the learner saves it ---- */

static void save_model(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    sv_text path = {0};
    scratch_path(self->exchange, &path);
    if (!path.failed && learner_save(learner, self->exchange->agent, path.data, &self->why)) {
        self->exchange->file = open(path.data, O_RDONLY | O_CLOEXEC);
        if (self->exchange->file < 0) refuse(&self->why, 503, "the saved agent cannot be read");
    }
    if (path.data) unlink(path.data); /* what is open stays */
    text_free(&path);
    self->exchange->answer_type = "application/octet-stream";
    finish(self, 200);
}

static void ask_learner(sv_exchange *self) {
    learner_do(self->service->learner, &((sv_work *)self->state)->task);
}

void route_get_model(sv_exchange *self) {
    sv_work *state = new_work(self);
    if (!state) return;
    state->task = (sv_task){.run = save_model, .agent = self->agent};
    self->later = ask_learner;
}

/* ---- PUT: a warm start ---- */

static void answer_put(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    (void)learner;
    if (agent_is_sound(self->exchange->agent, &self->why) && atomic_load(&self->exchange->agent->deleted))
        refuse(&self->why, 404, "agent %s was deleted", self->exchange->name);
    finish(self, 200);
}

static store_status run_model(sv_job *base, sv_store *store) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    store_row row = {.kind = ROW_MODEL,
                     .time = clock_milliseconds(),
                     .data = exchange->body.data,
                     .size = exchange->body.size};
    if (atomic_load(&exchange->agent->deleted)) {
        refuse(&self->why, 404, "agent %s was deleted at this moment", exchange->name);
        return STORE_NONE;
    }
    store_status status = store_agent_change(store, exchange->agent->id, self->written.data);
    if (status == STORE_OK) status = store_row_add(store, exchange->agent->id, &row);
    self->seq = row.seq;
    return status;
}

static void end_model(sv_job *base, store_status status) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    if (self->why.status) {
        finish(self, 200);
        return;
    }
    if (status != STORE_OK) {
        exchange_refuse_store(exchange, status);
        exchange->done(exchange);
        return;
    }
    agent_change_settings(exchange->agent, self->settings);
    agent_wrote(exchange->agent, self->seq);
    learner_wake(exchange->service->learner, exchange->agent);
    text_put(&exchange->answer, "{\"model\": %llu}\n", (unsigned long long)self->seq);
    self->task = (sv_task){.run = answer_put, .agent = exchange->agent, .seq = self->seq};
    learner_do(exchange->service->learner, &self->task);
}

static void submit_job(sv_exchange *self) { exchange_submit(self, &((sv_work *)self->state)->job); }

static bool write_file(const char *path, const sv_text *data) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data->data, 1, data->size, file) == data->size;
    return file && !fclose(file) && good;
}

/* Is it an agent that fits in here? */
/* In the place of what the agent has. */
static bool has_memory(sv_exchange *self, const sv_brain *brain, sv_refusal *why) {
    sv_service *service = self->service;
    sa_agent_counts counts;
    brain_count(brain, &counts);
    if (!memory_promise(&service->memory, &service->agents, self->agent, (size_t)counts.bytes, why))
        return false;
    memory_release(&service->memory, (size_t)counts.bytes);
    return true;
}

static bool read_model(sv_exchange *self, sv_work *state) {
    sv_text path = {0};
    sv_brain *brain = NULL;
    sv_settings *before = agent_settings(self->agent);
    scratch_path(self, &path);
    bool good = folder_has_room(&self->service->folder, 3 * (double)self->body.size, &state->why);
    if (good)
        good = self->body.size > 0 ||
               refuse(&state->why, 400, "the body is empty, where an agent saved as npz is expected");
    if (good)
        good = (!path.failed && write_file(path.data, &self->body)) ||
               refuse(&state->why, 503, "the disk takes no file");
    if (good)
        good = brain_load(path.data, &brain, &state->why) && brain_is_servable(brain, before, &state->why) &&
               has_memory(self, brain, &state->why);
    if (good) {
        state->settings = brain_settings(brain, before, &state->why);
        good = state->settings;
        if (good) settings_write(state->settings, &state->written);
        if (state->written.failed) good = refuse(&state->why, 503, "memory could not be had");
    }
    if (path.data) unlink(path.data);
    text_free(&path);
    brain_destroy(brain);
    settings_release(before);
    return good;
}

void route_put_model(sv_exchange *self) {
    sv_work *state = new_work(self);
    if (!state) return;
    if (atomic_exchange(&self->agent->changing, true))
        refuse(&state->why, 409, "agent %s is being changed by another request", self->name);
    else
        state->holds = true;
    if (!state->holds || !agent_is_sound(self->agent, &state->why) || !read_model(self, state)) {
        exchange_refuse(self, &state->why);
        return;
    }
    state->job = (sv_job){.run = run_model, .end = end_model};
    self->later = submit_job;
}

/* ---- erasure: what is in no checkpoint yet is put into one first, or the journal could not be read again
 * ---- */

static store_status run_erase(sv_job *base, sv_store *store) {
    sv_work *self = WORK_OF(job, base);
    store_decision found;
    store_status status =
        store_decision_find(store, self->exchange->agent->id, self->exchange->event, &found);
    if (status == STORE_NONE) refuse(&self->why, 404, "there is no event %.64s", self->exchange->event);
    if (status != STORE_OK) return status;
    self->state = found.state;
    if (found.state == DECISION_LEARNT && found.seq > self->seq) {
        self->decision = found.id;
        self->seq = found.seq;
        return STORE_OK; /* not yet */
    }
    self->decision = 0;
    return store_decision_erase(store, found.id);
}

static void erase_with_checkpoint(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    if (!learner_checkpoint(learner, self->exchange->agent, self->seq, &self->why)) {
        finish(self, 503);
        return;
    }
    exchange_submit(self->exchange, &self->job); /* again, now that `seq` is in a checkpoint */
}

/* The event is erased; its bytes are in no file, or may still be in the log. */
static void end_emptying(sv_emptying *base, bool done) {
    sv_work *self = WORK_OF(emptying, base);
    if (!done)
        refuse(&self->why, 503,
               "event %.64s is erased, but its bytes are in the log until those who read the journal, as a "
               "backup does, have ended",
               self->exchange->event);
    finish(self, 204);
}

static void end_erase(sv_job *base, store_status status) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    if (status == STORE_OK && self->decision && !self->why.status) {
        self->task = (sv_task){.run = erase_with_checkpoint, .agent = exchange->agent, .seq = self->seq};
        learner_do(exchange->service->learner, &self->task);
        return;
    }
    if (status != STORE_OK) {
        exchange_refuse_store(exchange, status);
        exchange->done(exchange);
        return;
    }
    if (self->why.status) {
        finish(self, 204);
        return;
    }
    if (self->state == DECISION_WAITS) atomic_fetch_sub(&exchange->agent->waiting, 1);
    self->emptying.end = end_emptying;
    folding_empty(exchange->service->folding, &self->emptying);
}

void route_erase(sv_exchange *self) {
    sv_work *state = new_work(self);
    if (!state) return;
    state->job = (sv_job){.run = run_erase, .end = end_erase};
    self->later = submit_job;
}

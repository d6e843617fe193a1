/* GET and PUT of the agent itself, as npz, and the erasure of an event: what needs the learner between two
 * rows. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "cluster.h"
#include "routes.h"
#include "service.h"

typedef struct work {
    sv_task task;
    sv_job job;
    sv_emptying emptying; /* DELETE of an event */
    sv_cluster_wait wait; /* where servers share the store */
    sv_exchange *exchange;
    sv_evaluations *held;  /* DELETE of an event: until that is over */
    sv_settings *settings; /* PUT: with the options of the model */
    sa_buffer written;
    bool holds;
    uint64_t seq, version, ending; /* ending: evaluations of other servers that may have the event */
    int64_t decision, inbox;
    sv_decision_state state;
    sv_refusal why;
} sv_work;

#define WORK_OF(field, pointer) ((sv_work *)((char *)(pointer)-offsetof(sv_work, field)))

static void free_work(void *state) {
    sv_work *self = state;
    if (self->held) sv_evaluations_go_on(self->held);
    if (self->holds) atomic_store(&self->exchange->agent->changing, false);
    sv_settings_release(self->settings);
    sa_buffer_clear(&self->written);
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
        sv_refuse(&why, 503, "memory could not be had");
        sv_exchange_refuse(self, &why);
    }
    return state;
}

static void finish(sv_work *self, int status) {
    sv_exchange *exchange = self->exchange;
    if (self->why.status)
        sv_exchange_refuse(exchange, &self->why);
    else
        sv_exchange_answer(exchange, status);
    exchange->done(exchange);
}

static void scratch_path(const sv_exchange *self, sa_buffer *out) {
    sa_buffer_format(out, "%s-%llu.npz", self->service->folder.scratch, sv_service_number());
}

/* ---- GET: the learner saves it ---- */

static void save_model(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    sa_buffer path = {0};
    scratch_path(self->exchange, &path);
    if (!path.status && sv_learner_save(learner, self->exchange->agent, path.text, &self->why)) {
        self->exchange->file = open(path.text, O_RDONLY | O_CLOEXEC);
        if (self->exchange->file < 0) sv_refuse(&self->why, 503, "the saved agent cannot be read");
    }
    if (path.text) unlink(path.text); /* what is open stays */
    sa_buffer_clear(&path);
    self->exchange->answer_type = "application/octet-stream";
    finish(self, 200);
}

static void ask_learner(sv_exchange *self) {
    sv_learner_do(self->service->learner, &((sv_work *)self->state)->task);
}

/* Where servers share the store, the newest policy is the agent. */
static void bring_model(sv_exchange *self, sv_work *state) {
    sa_buffer path = {0};
    sv_store *reader = sv_readers_take(&self->service->readers, &state->why);
    scratch_path(self, &path);
    if (reader && !path.status &&
        sv_cluster_save(self->service->cluster, reader, self->agent, path.text, &state->why)) {
        self->file = open(path.text, O_RDONLY | O_CLOEXEC);
        if (self->file < 0) sv_refuse(&state->why, 503, "the saved agent cannot be read");
    }
    if (reader) sv_readers_give_back(&self->service->readers, reader);
    if (path.text) unlink(path.text);
    sa_buffer_clear(&path);
    self->answer_type = "application/octet-stream";
    if (state->why.status)
        sv_exchange_refuse(self, &state->why);
    else
        sv_exchange_answer(self, 200);
}

void sv_route_get_model(sv_exchange *self) {
    sv_work *state = new_work(self);
    if (!state) return;
    if (self->service->cluster) {
        bring_model(self, state);
        return;
    }
    state->task = (sv_task){.run = save_model, .agent = self->agent};
    self->later = ask_learner;
}

/* ---- PUT: a warm start ---- */

static void answer_put(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    (void)learner;
    if (sv_agent_is_sound(self->exchange->agent, &self->why) && atomic_load(&self->exchange->agent->deleted))
        sv_refuse(&self->why, 404, "agent %s was deleted", self->exchange->name);
    finish(self, 200);
}

static sv_store_status run_model(sv_job *base, sv_store *store) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    sv_store_row row = {.kind = ROW_MODEL,
                        .time = sv_clock_milliseconds(),
                        .data = exchange->body.text,
                        .size = exchange->body.size};
    if (atomic_load(&exchange->agent->deleted)) {
        sv_refuse(&self->why, 404, "agent %s was deleted at this moment", exchange->name);
        return STORE_NONE;
    }
    sv_store_status status =
        sv_store_agent_change(store, exchange->agent->id, self->version, self->written.text);
    if (status == STORE_NONE)
        sv_refuse(&self->why, 409, "agent %s was changed or deleted by another request at this moment",
                  exchange->name);
    if (status == STORE_OK) status = sv_store_row_add(store, exchange->agent->id, &row);
    self->seq = row.seq;
    self->inbox = row.inbox;
    return status;
}

static void end_wait(sv_cluster_wait *base, bool done) {
    sv_work *self = WORK_OF(wait, base);
    if (!done)
        sv_refuse(&self->why, 503,
                  "the model is in the journal, and takes effect once a server learns this agent");
    else {
        sa_buffer_format(&self->exchange->answer, "{\"model\": %llu}\n", (unsigned long long)base->seq);
        answer_put(&self->task, self->exchange->service->learner);
        return;
    }
    finish(self, 200);
}

static void end_model(sv_job *base, sv_store_status status) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    if (self->why.status) {
        finish(self, 200);
        return;
    }
    if (status != STORE_OK) {
        sv_exchange_refuse_store(exchange, status);
        exchange->done(exchange);
        return;
    }
    sv_agent_change_settings(exchange->agent, self->settings, self->inbox ? self->version + 1 : 0);
    if (self->inbox) {
        self->wait = (sv_cluster_wait){.end = end_wait, .agent = exchange->agent, .inbox = self->inbox};
        sv_cluster_await(exchange->service->cluster, &self->wait);
        return;
    }
    sv_agent_wrote(exchange->agent, self->seq);
    sv_learner_wake(exchange->service->learner, exchange->agent);
    sa_buffer_format(&exchange->answer, "{\"model\": %llu}\n", (unsigned long long)self->seq);
    self->task = (sv_task){.run = answer_put, .agent = exchange->agent, .seq = self->seq};
    sv_learner_do(exchange->service->learner, &self->task);
}

static void submit_job(sv_exchange *self) { sv_exchange_submit(self, &((sv_work *)self->state)->job); }

static bool write_file(const char *path, const sa_buffer *data) {
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(data->text, 1, data->size, file) == data->size;
    return file && !fclose(file) && good;
}

/* Is there memory for it, in the place of what the agent has? */
static bool has_memory(sv_exchange *self, const sv_model *model, sv_refusal *why) {
    sv_service *service = self->service;
    sa_agent_counts counts;
    sv_model_count(model, &counts);
    if (!sv_memory_promise(&service->memory, &service->agents, self->agent, (size_t)counts.bytes, why))
        return false;
    sv_memory_release(&service->memory, (size_t)counts.bytes);
    return true;
}

/* What is wrong is wrong with the body; the file is our own matter. */
static bool load(const char *path, sv_model **out, sv_refusal *why) {
    sv_refusal said = {0};
    size_t size = strlen(path);
    if (sv_model_load(path, out, &said)) return true;
    bool named = !strncmp(said.message, path, size);
    return sv_refuse(why, said.status, "%s%s", named ? "the body" : "", said.message + (named ? size : 0));
}

static bool read_model(sv_exchange *self, sv_work *state) {
    sa_buffer path = {0};
    sv_model *model = NULL;
    sv_settings *before = sv_agent_settings_at(self->agent, &state->version);
    scratch_path(self, &path);
    bool good = sv_folder_has_room(&self->service->folder, 3 * (double)self->body.size, &state->why);
    if (good)
        good = self->body.size > 0 ||
               sv_refuse(&state->why, 400, "the body is empty, where an agent saved as npz is expected");
    if (good)
        good = (!path.status && write_file(path.text, &self->body)) ||
               sv_refuse(&state->why, 503, "the disk takes no file");
    if (good)
        good = load(path.text, &model, &state->why) && sv_model_is_servable(model, before, &state->why) &&
               has_memory(self, model, &state->why);
    if (good) {
        state->settings = sv_model_settings(model, before, &state->why);
        good = state->settings;
        if (good) sv_settings_write(state->settings, &state->written);
        if (state->written.status) good = sv_refuse(&state->why, 503, "memory could not be had");
    }
    if (path.text) unlink(path.text);
    sa_buffer_clear(&path);
    sv_model_destroy(model);
    sv_settings_release(before);
    return good;
}

void sv_route_put_model(sv_exchange *self) {
    sv_work *state = new_work(self);
    if (!state) return;
    if (atomic_exchange(&self->agent->changing, true))
        sv_refuse(&state->why, 409, "agent %s is being changed by another request", self->name);
    else
        state->holds = true;
    if (!state->holds || !sv_agent_is_sound(self->agent, &state->why) || !read_model(self, state)) {
        sv_exchange_refuse(self, &state->why);
        return;
    }
    state->job = (sv_job){.run = run_model, .end = end_model};
    self->later = submit_job;
}

/* ---- erasure: what is in no checkpoint yet is put into one first, or the journal could not be read again
 * ---- */

static const char ERASED[] = "an event was erased while it ran: ask for it again";

static sv_store_status run_erase(sv_job *base, sv_store *store) {
    sv_work *self = WORK_OF(job, base);
    sv_store_decision found;
    sv_store_status status = STORE_OK;
    self->why.status = 0;
    if (self->exchange->service->cluster)
        status = sv_cluster_stop_evaluations(store, self->exchange->agent->id, ERASED, &self->ending);
    if (status == STORE_OK)
        status = sv_store_decision_find(store, self->exchange->agent->id, self->exchange->event, &found);
    if (status == STORE_NONE) sv_refuse(&self->why, 404, "there is no event %.64s", self->exchange->event);
    if (status != STORE_OK) return status;
    self->state = found.state;
    sv_cluster *cluster = self->exchange->service->cluster;
    int64_t id = found.id;
    sv_store_row revised;
    uint64_t last = found.seq;
    if (found.state == DECISION_LEARNT &&
        sv_store_row_revised(store, self->exchange->agent->id, found.id, found.seq, &revised) == STORE_OK)
        last = revised.seq;
    bool covered = found.state != DECISION_LEARNT || last <= self->seq;
    if (cluster && found.state == DECISION_LEARNT) {
        status = sv_cluster_cover(store, self->exchange->agent->id, last);
        if (status != STORE_OK && status != STORE_NONE) return status;
        covered = status == STORE_OK || atomic_load(&self->exchange->agent->broken); /* it writes no policy */
    }
    if (!covered) {
        self->decision = found.id;
        self->seq = last;
        return STORE_OK; /* not yet */
    }
    self->decision = 0;
    return sv_store_decision_erase(store, id);
}

static void erase_with_policy(sv_cluster_wait *base, bool done) {
    sv_work *self = WORK_OF(wait, base);
    if (done)
        sv_exchange_submit(self->exchange, &self->job); /* again, now that `seq` is in a policy */
    else {
        sv_refuse(&self->why, 503, "no server learns this agent now: try again");
        finish(self, 503);
    }
}

static void erase_with_checkpoint(sv_task *base, sv_learner *learner) {
    sv_work *self = WORK_OF(task, base);
    if (!sv_learner_checkpoint(learner, self->exchange->agent, self->seq, &self->why)) {
        finish(self, 503);
        return;
    }
    sv_exchange_submit(self->exchange, &self->job); /* again, now that `seq` is in a checkpoint */
}

/* The event is erased; its bytes are in no file, or may still be in the log. */
static void end_emptying(sv_emptying *base, bool done) {
    sv_work *self = WORK_OF(emptying, base);
    if (!done)
        sv_refuse(
            &self->why, 503,
            "event %.64s is erased, but its bytes are in the log until those who read the journal, as a "
            "backup does, have ended",
            self->exchange->event);
    finish(self, 204);
}

/* Other servers have ended what may have read it; one that is gone has files that its next start removes. */
static void end_ending(sv_cluster_wait *base, bool done) {
    sv_work *self = WORK_OF(wait, base);
    if (!done)
        sv_refuse(
            &self->why, 503,
            "event %.64s is erased, but an evaluation of another server has not ended yet, and may have "
            "read it",
            self->exchange->event);
    finish(self, 204);
}

static void end_erase(sv_job *base, sv_store_status status) {
    sv_work *self = WORK_OF(job, base);
    sv_exchange *exchange = self->exchange;
    if (status == STORE_OK && self->decision && !self->why.status) {
        if (exchange->service->cluster) {
            self->wait =
                (sv_cluster_wait){.end = erase_with_policy, .agent = exchange->agent, .covered = self->seq};
            sv_cluster_await(exchange->service->cluster, &self->wait);
            return;
        }
        self->task = (sv_task){.run = erase_with_checkpoint, .agent = exchange->agent, .seq = self->seq};
        sv_learner_do(exchange->service->learner, &self->task);
        return;
    }
    if (status != STORE_OK) {
        sv_exchange_refuse_store(exchange, status);
        exchange->done(exchange);
        return;
    }
    if (self->why.status) {
        finish(self, 204);
        return;
    }
    if (self->state == DECISION_WAITS) atomic_fetch_sub(&exchange->agent->waiting, 1);
    if (self->state == DECISION_HELD) atomic_fetch_sub(&exchange->agent->held, 1);
    if (exchange->service->cluster) { /* PostgreSQL's VACUUM sees to the bytes */
        self->wait = (sv_cluster_wait){.end = end_ending, .agent = exchange->agent, .evaluations = true};
        if (self->ending)
            sv_cluster_await(exchange->service->cluster, &self->wait);
        else
            finish(self, 204);
        return;
    }
    self->emptying.end = end_emptying;
    sv_folding_empty(exchange->service->folding, &self->emptying);
}

/* Is it there? Else nothing is ended for it. */
static bool has_event(sv_exchange *self, sv_refusal *why) {
    sv_store_decision found;
    sv_store *reader = sv_readers_take(&self->service->readers, why);
    if (!reader) return false;
    sv_store_status status = sv_store_decision_find(reader, self->agent->id, self->event, &found);
    if (status == STORE_NONE)
        sv_refuse(why, 404, "there is no event %.64s", self->event);
    else if (status != STORE_OK)
        sv_refuse(why, 503, "%s", sv_store_sentence(reader));
    sv_readers_give_back(&self->service->readers, reader);
    return status == STORE_OK;
}

void sv_route_erase(sv_exchange *self) {
    sv_refusal why = {0};
    sv_work *state = has_event(self, &why) ? new_work(self) : NULL;
    if (why.status) sv_exchange_refuse(self, &why);
    if (state && (state->held = self->service->evaluations)) /* whose files may have it */
        sv_evaluations_hold(state->held, self->agent, ERASED);
    if (!state) return;
    state->job = (sv_job){.run = run_erase, .end = end_erase, .repeats = true};
    self->later = submit_job;
}

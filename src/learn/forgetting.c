#include "agent/forgetting.h"

#include <math.h>

#include "agent/agent.h"
#include "agent/learn.h"
#include "agent/rebuild.h"
#include "base/memory.h"

static const double LEAST_WEIGHT = 1e-3; /* in the loss */

/* ---- life ---- */

static sa_status check(const sa_agent *agent) {
    const sa_options *options = agent->options;
    const sa_model *model = agent->model;
    if (options->window > 0 && options->discount < 1)
        return sa_fail(SA_INVALID, "--window %lld and --discount %g are two ways to forget: leave one out",
                       (long long)options->window, options->discount);
    const char *option = options->window > 0 ? "--window" : "--discount";
    if (agent->base)
        return sa_fail(SA_INVALID, "%s does not go with --algorithm %s, whose epochs begin with all feedback", option,
                       agent->algorithm->name);
    if (model && model->kind->observe && !model->kind->discount)
        return sa_fail(SA_INVALID, "%s does not go with --algorithm %s, whose cells cannot forget", option,
                       agent->algorithm->name);
    if (options->discount < 1 && agent->confidence && !agent->confidence->kind->discount)
        return sa_fail(SA_INVALID, "--discount does not go with --confidence %s", agent->confidence->kind->name);
    return SA_OK;
}

sa_status sa_forgetting_init(sa_agent *agent) {
    sa_forgetting *self = &agent->forgetting;
    const sa_options *options = agent->options;
    *self = (sa_forgetting){.window = (size_t)options->window, .factor = options->discount};
    if (self->window == 0 && self->factor == 1) return SA_OK;
    SA_TRY(check(agent));
    if (self->factor < 1) self->reach = (size_t)fmin(1e15, ceil(log(LEAST_WEIGHT) / log(self->factor)));
    self->keeps = self->window > 0 && agent->confidence && !sa_rebuild_is_due(agent); /* which counts anew by itself */
    if (!self->keeps) return SA_OK;
    return sa_gradients_init(&self->counted, agent->model->precision, agent->model->pairs, agent->model->shape);
}

void sa_forgetting_clear(sa_forgetting *forgetting) {
    sa_gradients_clear(&forgetting->counted);
    sa_free(forgetting->stamp);
    *forgetting = (sa_forgetting){0};
}

size_t sa_forgetting_bytes(const sa_forgetting *forgetting) {
    return forgetting->keeps
               ? sa_gradients_bytes(&forgetting->counted) + forgetting->stamp_capacity * sizeof *forgetting->stamp
               : 0;
}

/* ---- what counts ---- */

static size_t shorter(size_t window, size_t other) {
    return window == 0 || (other > 0 && other < window) ? other : window;
}

size_t sa_forgetting_first_counted(const sa_agent *agent) {
    const sa_forgetting *self = &agent->forgetting;
    return sa_history_window(&agent->history, shorter(self->window, self->reach));
}

size_t sa_forgetting_first(const sa_agent *agent) {
    const sa_forgetting *self = &agent->forgetting;
    size_t window = shorter((size_t)agent->options->train_window, shorter(self->window, self->reach));
    return sa_history_window(&agent->history, window);
}

double sa_forgetting_weight(const sa_agent *agent, size_t observation) {
    const sa_history *history = &agent->history;
    if (agent->forgetting.factor == 1) return 1;
    size_t age = history->answered - 1 - sa_history_decision(history, observation);
    return pow(agent->forgetting.factor, (double)age);
}

/* ---- Z ---- */

sa_status sa_forgetting_count(sa_agent *agent, const sa_gradients *batch, uint64_t ticket, const size_t *rows,
                              size_t decision) {
    sa_forgetting *self = &agent->forgetting;
    size_t kept = self->counted.count;
    if (self->keeps) {
        SA_TRY(sa_gradients_reserve(&self->counted, kept + batch->count));
        SA_TRY(sa_grow_array(&self->stamp, &self->stamp_capacity, kept + batch->count, sizeof *self->stamp));
    }
    SA_TRY(agent->confidence->kind->count(agent->confidence, batch, ticket, rows));
    if (!self->keeps) return SA_OK;
    sa_gradients_append(&self->counted, batch, NULL, batch->count);
    for (size_t i = 0; i < batch->count; i++) self->stamp[kept + i] = (int64_t)decision;
    return SA_OK;
}

/* ---- the window moves ---- */

/* A new engine, which counts what the window keeps; both are `next` and `kept`, and the agent is as it was. */
static sa_status recount(const sa_agent *agent, size_t first, sa_confidence **next, sa_gradients *kept) {
    const sa_forgetting *self = &agent->forgetting;
    SA_TRY(sa_gradients_init_like(kept, self->counted.precision, &self->counted));
    SA_TRY(sa_gradients_reserve(kept, self->counted.count - first));
    for (size_t i = first; i < self->counted.count; i++) sa_gradients_append(kept, &self->counted, &i, 1);
    sa_options options = *agent->options; /* for this call: it owns nothing */
    sa_confidence_state state;
    agent->confidence->kind->state(agent->confidence, &state);
    if (state.in_double) options.precision = SA_PRECISION_DOUBLE; /* where widths once had to be, they stay */
    SA_TRY(sa_confidence_create(&options, agent->model->pairs, agent->model->shape, next));
    return sa_confidence_count_all(*next, kept);
}

static sa_status drop_gradients(sa_agent *agent, size_t oldest) {
    sa_forgetting *self = &agent->forgetting;
    sa_confidence *next = NULL;
    sa_gradients kept = {0};
    size_t first = 0;
    while (first < self->counted.count && self->stamp[first] < (int64_t)oldest) first++;
    sa_status status = recount(agent, first, &next, &kept);
    if (status != SA_OK) {
        sa_confidence_destroy(next);
        sa_gradients_clear(&kept);
        return status;
    }
    sa_confidence_destroy(agent->confidence);
    agent->confidence = next;
    sa_gradients_clear(&self->counted);
    self->counted = kept;
    for (size_t i = 0; i < kept.count; i++) self->stamp[i] = self->stamp[i + first];
    for (size_t i = 0; i < agent->pending.count; i++) /* they named batches of the engine before */
        sa_ring_at(&agent->pending, i)->ticket = 0;
    return SA_OK;
}

static sa_status drop(sa_agent *agent, size_t oldest) {
    const sa_history *history = &agent->history;
    size_t first = oldest < history->answered ? (size_t)history->start[oldest] : history->count;
    bool observes = agent->model && agent->model->kind->observe;
    SA_TRY(sa_learn_reserve(agent, observes && history->count > first ? history->count - first : 1));
    if (agent->forgetting.keeps) SA_TRY(drop_gradients(agent, oldest));
    if (observes) {
        agent->model->kind->forget(agent->model);
        sa_learn_observe(agent, first);
    }
    sa_learn_tell_again(agent, first);
    agent->forgetting.oldest = oldest;
    return SA_OK;
}

static sa_status fade(sa_agent *agent) {
    sa_forgetting *self = &agent->forgetting;
    if (self->factor == 1) return SA_OK;
    if (agent->confidence) SA_TRY(agent->confidence->kind->discount(agent->confidence, self->factor));
    if (agent->model && agent->model->kind->observe) agent->model->kind->discount(agent->model, self->factor);
    return SA_OK;
}

sa_status sa_forgetting_move(sa_agent *agent) {
    sa_forgetting *self = &agent->forgetting;
    size_t answered = agent->history.answered + 1;
    if (self->moved) return SA_OK;
    SA_TRY(fade(agent));
    if (self->window > 0 && answered - self->oldest > self->window + self->window / 4)
        SA_TRY(drop(agent, answered - self->window));
    self->moved = true;
    return SA_OK;
}

/* ---- files ---- */

sa_status sa_forgetting_save(const sa_forgetting *forgetting, sa_npz_writer *writer) {
    static const int64_t yes = 1;
    if (forgetting->moved) SA_TRY(sa_npz_add(writer, "forgetting_moved", SA_INT64, 0, NULL, &yes));
    if (forgetting->window == 0) return SA_OK;
    SA_TRY(sa_npz_add(writer, "window_oldest", SA_INT64, 0, NULL, &forgetting->oldest));
    if (!forgetting->keeps) return SA_OK;
    SA_TRY(sa_npz_add(writer, "window_stamp", SA_INT64, 1, &forgetting->counted.count, forgetting->stamp));
    return sa_gradients_save(&forgetting->counted, writer, "window");
}

sa_status sa_forgetting_load(sa_agent *agent, sa_npz *archive) {
    sa_forgetting *self = &agent->forgetting;
    int64_t oldest;
    sa_array stamp = {0};
    self->moved = sa_npz_has(archive, "forgetting_moved"); /* after an update that failed */
    if (self->window == 0) return SA_OK;
    SA_TRY(sa_npz_get_integer(archive, "window_oldest", 0, (int64_t)agent->history.answered, &oldest));
    self->oldest = (uint64_t)oldest;
    if (!self->keeps) return SA_OK;
    SA_TRY(sa_npz_get_exactly(archive, "window_stamp", SA_INT64, 0, NULL, &stamp));
    self->stamp = stamp.data; /* ours now */
    self->stamp_capacity = sa_array_count(&stamp);
    return sa_gradients_load(&self->counted, archive, "window", self->stamp_capacity);
}

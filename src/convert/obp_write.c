/* Decisions as arrays of the Open Bandit Pipeline: see obp_read.c for what they mean. All of them are in
 * memory until they are written, as they are when obp reads them. */
#include <math.h>
#include <string.h>

#include <superarm/schema.h>

#include "base/memory.h"
#include "base/npy.h"
#include "convert/convert.h"

typedef struct numbers {
    double *data;
    size_t count, room;
} numbers;

typedef struct integers {
    int64_t *data;
    size_t count, room;
} integers;

typedef struct obp_sink {
    sa_sink base;
    const char *path; /* the caller's */
    sa_schema *schema;
    sa_encoding *encoding;
    sa_buffer request;
    size_t decisions, actions, dim, longest;
    bool known, known_prefixes, known_positions; /* of all so far */
    numbers context, reward, pscore, cascade, place;
    integers action, position, slate;
} obp_sink;

static sa_status add(numbers *to, double number) {
    SA_TRY(sa_grow_array(&to->data, &to->room, to->count + 1, sizeof *to->data));
    to->data[to->count++] = number;
    return SA_OK;
}

static sa_status add_integer(integers *to, size_t number) {
    SA_TRY(sa_grow_array(&to->data, &to->room, to->count + 1, sizeof *to->data));
    to->data[to->count++] = (int64_t)number;
    return SA_OK;
}

/* A request is made of what the entry has: only lines of a log are one already. */
static sa_status encode(obp_sink *self, const sa_log_entry *entry) {
    sa_buffer *request = &self->request;
    if (!entry->items)
        return sa_fail(SA_INVALID, "there are no items with named fields, which --schema is for");
    request->size = 0;
    sa_buffer_text(request, "{\"context\":");
    sa_buffer_bytes(request, entry->context ? entry->context : "{}",
                    entry->context ? entry->context_size : 2);
    sa_buffer_text(request, ",\"items\":");
    sa_buffer_bytes(request, entry->items, entry->items_size);
    sa_buffer_text(request, "}");
    SA_TRY(request->status);
    return sa_schema_encode(self->schema, request->text, request->size, self->encoding);
}

static sa_status add_contexts(obp_sink *self, const sa_log_entry *entry) {
    const double *contexts = entry->contexts;
    size_t dim = entry->dim, count = entry->candidates * dim;
    if (self->schema) {
        SA_TRY(encode(self, entry));
        contexts = sa_encoding_contexts(self->encoding);
        dim = sa_schema_dim(self->schema);
        count = entry->candidates * dim;
    }
    if (!contexts)
        return sa_fail(SA_INVALID, "items have named fields, and obp's arrays numbers: give a --schema");
    if (self->decisions == 0) self->actions = entry->candidates, self->dim = dim;
    if (self->actions != entry->candidates || self->dim != dim)
        return sa_fail(
            SA_INVALID,
            "%zu candidates of %zu features, and those before are %zu of %zu: obp's arrays have one shape",
            entry->candidates, dim, self->actions, self->dim);
    SA_TRY(
        sa_grow_array(&self->context.data, &self->context.room, self->context.count + count, sizeof(double)));
    memcpy(self->context.data + self->context.count, contexts, count * sizeof(double));
    self->context.count += count;
    return SA_OK;
}

/* The list's k-th, or NaN; `*known` falls where it is unknown. */
static double probability(const double *list, size_t k, bool *known) {
    double number = list ? list[k] : NAN;
    *known = *known && !isnan(number);
    return number;
}

static sa_status write_entry(sa_sink *sink, const sa_log_entry *entry, bool *left_out) {
    obp_sink *self = (obp_sink *)sink;
    *left_out = !entry->feedback || entry->slate == 0 || !entry->final;
    if (*left_out) return SA_OK;
    SA_TRY(add_contexts(self, entry));
    for (size_t k = 0; k < entry->slate; k++) {
        SA_TRY(add_integer(&self->action, entry->arms[k]));
        SA_TRY(add_integer(&self->position, k));
        SA_TRY(add_integer(&self->slate, self->decisions));
        SA_TRY(add(&self->reward,
                   isnan(entry->feedback[k]) ? 0 : entry->feedback[k])); /* unseen counts 0 in estimates */
        SA_TRY(add(&self->pscore, probability(&entry->propensity, 0, &self->known)));
        SA_TRY(add(&self->cascade, probability(entry->prefix_propensities, k, &self->known_prefixes)));
        SA_TRY(add(&self->place, probability(entry->position_propensities, k, &self->known_positions)));
    }
    if (entry->slate > self->longest) self->longest = entry->slate;
    self->decisions++;
    return SA_OK;
}

static void abandon(sa_sink *sink) {
    obp_sink *self = (obp_sink *)sink;
    numbers *const lists[] = {&self->context, &self->reward, &self->pscore, &self->cascade, &self->place};
    integers *const whole[] = {&self->action, &self->position, &self->slate};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) sa_free(lists[i]->data);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) sa_free(whole[i]->data);
    sa_buffer_clear(&self->request);
    sa_encoding_destroy(self->encoding);
    sa_schema_release(self->schema);
    sa_free(self);
}

static sa_status add_arrays(const obp_sink *self, sa_npz_writer *writer, const int64_t *n,
                            const int64_t *actions, const int64_t *dim) {
    const size_t rows = self->action.count, shape[2] = {self->decisions, self->actions * self->dim};
    bool slates = self->longest > 1;
    SA_TRY(sa_npz_add(writer, "n_rounds", SA_INT64, 0, NULL, n));
    SA_TRY(sa_npz_add(writer, slates ? "n_unique_action" : "n_actions", SA_INT64, 0, NULL, actions));
    SA_TRY(sa_npz_add(writer, "dim", SA_INT64, 0, NULL, dim));
    SA_TRY(sa_npz_add(writer, "context", SA_FLOAT64, 2, shape, self->context.data));
    SA_TRY(sa_npz_add(writer, "action", SA_INT64, 1, &rows, self->action.data));
    SA_TRY(sa_npz_add(writer, "position", SA_INT64, 1, &rows, self->position.data));
    SA_TRY(sa_npz_add(writer, "reward", SA_FLOAT64, 1, &rows, self->reward.data));
    if (self->known) SA_TRY(sa_npz_add(writer, "pscore", SA_FLOAT64, 1, &rows, self->pscore.data));
    if (!slates) return SA_OK;
    SA_TRY(sa_npz_add(writer, "slate_id", SA_INT64, 1, &rows, self->slate.data));
    if (self->known_prefixes)
        SA_TRY(sa_npz_add(writer, "pscore_cascade", SA_FLOAT64, 1, &rows, self->cascade.data));
    if (self->known_positions)
        SA_TRY(sa_npz_add(writer, "pscore_item_position", SA_FLOAT64, 1, &rows, self->place.data));
    return SA_OK;
}

static sa_status finish(sa_sink *sink) {
    obp_sink *self = (obp_sink *)sink;
    const int64_t n = (int64_t)self->decisions, actions = (int64_t)self->actions, dim = (int64_t)self->dim;
    sa_npz_writer *writer;
    sa_status status = sa_npz_begin(&writer);
    if (status == SA_OK) {
        status = add_arrays(self, writer, &n, &actions, &dim);
        if (status == SA_OK)
            status = sa_npz_finish(writer, self->path);
        else
            sa_npz_abandon(writer);
    }
    abandon(sink);
    return status;
}

sa_status sa_sink_obp(const sa_conversion *conversion, sa_sink **out) {
    obp_sink *self;
    SA_TRY(sa_alloc_array(1, sizeof *self, &self));
    self->base = (sa_sink){NULL, write_entry, finish, abandon};
    self->path = conversion->out;
    self->known = self->known_prefixes = self->known_positions = true;
    sa_status status = SA_OK;
    if (conversion->schema) {
        self->encoding = sa_encoding_new();
        status = self->encoding ? sa_schema_load(conversion->schema, &self->schema) : SA_OUT_OF_MEMORY;
    }
    if (status == SA_OK)
        *out = &self->base;
    else
        abandon(&self->base);
    return status;
}

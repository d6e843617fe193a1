#include "past/pending_file.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/reals.h"

void sa_pending_file_clear(sa_pending_file *file) {
    sa_free(file->id);
    sa_free(file->event);
    sa_free(file->slate);
    sa_free(file->has_gradients);
    sa_free(file->arms);
    sa_free(file->answered);
    sa_free(file->row);
    sa_free(file->discounts);
    sa_free(file->prefix);
    sa_free(file->position);
    sa_free(file->contexts);
    sa_gradients_clear(&file->gradients);
    *file = (sa_pending_file){0};
}

static sa_status allocate(sa_pending_file *file, const sa_pending_ring *ring, const sa_gradients *like) {
    size_t gradients = 0;
    bool propensities = false, events = false;
    file->decisions = ring->kept;
    for (size_t i = 0; i < ring->count; i++) {
        const sa_pending *pending = sa_ring_at(ring, i);
        file->places += pending->slate;
        file->kept += pending->contexts ? pending->slate : 0;
        gradients += pending->gradients.count;
        propensities = propensities || pending->propensities;
        events = events || pending->event;
    }
    SA_TRY(sa_alloc_array(file->decisions, sizeof *file->id, &file->id));
    if (events) SA_TRY(sa_alloc_array(file->decisions, sizeof *file->event, &file->event));
    SA_TRY(sa_alloc_array(file->decisions, sizeof *file->slate, &file->slate));
    SA_TRY(sa_alloc_array(file->decisions, sizeof *file->has_gradients, &file->has_gradients));
    SA_TRY(sa_alloc_array(file->places, sizeof *file->arms, &file->arms));
    SA_TRY(sa_alloc_array(file->places, sizeof *file->answered, &file->answered));
    SA_TRY(sa_alloc_array(file->places, sizeof *file->row, &file->row));
    if (ring->discounted) SA_TRY(sa_alloc_array(file->places, sizeof *file->discounts, &file->discounts));
    if (propensities) SA_TRY(sa_alloc_array(file->places, sizeof *file->prefix, &file->prefix));
    if (propensities) SA_TRY(sa_alloc_array(file->places, sizeof *file->position, &file->position));
    SA_TRY(sa_alloc_matrix(file->kept, file->dim, sa_precision_bytes(file->precision), &file->contexts));
    SA_TRY(sa_gradients_init_like(&file->gradients, file->precision, like));
    return sa_gradients_reserve(&file->gradients, gradients);
}

sa_status sa_pending_file_from(sa_pending_file *file, const sa_pending_ring *ring, const sa_gradients *like,
                               const sa_inputs *inputs) {
    *file = (sa_pending_file){.dim = inputs->dim, .precision = inputs->precision};
    SA_TRY(allocate(file, ring, like));
    size_t place = 0, kept = 0, row = file->dim * sa_precision_bytes(file->precision);
    for (size_t slot = 0, i = 0; slot < ring->count; slot++) {
        const sa_pending *pending = sa_ring_at(ring, slot);
        if (pending->forgotten) continue;
        file->id[i] = (int64_t)pending->id;
        if (file->event) file->event[i] = (int64_t)pending->event;
        file->slate[i] = (int64_t)pending->slate;
        file->has_gradients[i++] = pending->gradients.count > 0;
        for (size_t k = 0; k < pending->slate; k++, place++) {
            file->arms[place] = (int64_t)pending->arms[k];
            file->answered[place] = pending->answered[k];
            file->row[place] = pending->row[k] == SA_NO_ROW ? -1 : (int64_t)pending->row[k];
            if (file->discounts) file->discounts[place] = pending->discounts[k];
            if (!file->prefix) continue;
            file->prefix[place] = pending->propensities ? pending->propensities[k] : NAN;
            file->position[place] = pending->propensities ? pending->propensities[pending->slate + k] : NAN;
        }
        if (pending->contexts) {
            memcpy((char *)file->contexts + kept * row, pending->contexts, pending->slate * row);
            kept += pending->slate;
        }
        if (pending->gradients.count)
            sa_gradients_append(&file->gradients, &pending->gradients, NULL, pending->gradients.count);
    }
    return SA_OK;
}

sa_status sa_pending_file_save(const sa_pending_file *file, const sa_pending_ring *ring,
                               sa_npz_writer *writer) {
    size_t shape[2] = {file->kept, file->dim};
    SA_TRY(sa_npz_add(writer, "pending_next", SA_INT64, 0, NULL, &ring->next));
    SA_TRY(sa_npz_add(writer, "pending_forgotten", SA_INT64, 0, NULL, &ring->forgotten));
    SA_TRY(sa_npz_add(writer, "pending_id", SA_INT64, 1, &file->decisions, file->id));
    if (file->event) SA_TRY(sa_npz_add(writer, "pending_event", SA_INT64, 1, &file->decisions, file->event));
    SA_TRY(sa_npz_add(writer, "pending_slate", SA_INT64, 1, &file->decisions, file->slate));
    SA_TRY(sa_npz_add(writer, "pending_has_gradients", SA_UINT8, 1, &file->decisions, file->has_gradients));
    SA_TRY(sa_npz_add(writer, "pending_arms", SA_INT64, 1, &file->places, file->arms));
    SA_TRY(sa_npz_add(writer, "pending_answered", SA_UINT8, 1, &file->places, file->answered));
    SA_TRY(sa_npz_add(writer, "pending_row", SA_INT64, 1, &file->places, file->row));
    if (file->discounts)
        SA_TRY(sa_npz_add(writer, "pending_discounts", SA_FLOAT64, 1, &file->places, file->discounts));
    if (file->prefix) {
        SA_TRY(sa_npz_add(writer, "pending_prefix_propensities", SA_FLOAT64, 1, &file->places, file->prefix));
        SA_TRY(sa_npz_add(writer, "pending_position_propensities", SA_FLOAT64, 1, &file->places,
                          file->position));
    }
    SA_TRY(sa_npz_add(writer, "pending_contexts", sa_real_dtype(file->precision), 2, shape, file->contexts));
    return sa_gradients_save(&file->gradients, writer, "pending");
}

/* ---- loading ---- */

typedef struct loaded {
    sa_array id, event, slate, has_gradients, arms, answered, row, discounts, contexts, prefix, position;
    sa_gradients gradients;
} loaded;

static void loaded_clear(loaded *from) {
    sa_array_clear(&from->id);
    sa_array_clear(&from->event);
    sa_array_clear(&from->slate);
    sa_array_clear(&from->has_gradients);
    sa_array_clear(&from->arms);
    sa_array_clear(&from->answered);
    sa_array_clear(&from->row);
    sa_array_clear(&from->discounts);
    sa_array_clear(&from->contexts);
    sa_array_clear(&from->prefix);
    sa_array_clear(&from->position);
    sa_gradients_clear(&from->gradients);
}

static sa_status read_discounts(loaded *from, size_t places, sa_npz *archive) {
    SA_TRY(sa_npz_get_exactly(archive, "pending_discounts", SA_FLOAT64, 1, &places, &from->discounts));
    for (size_t i = 0; i < places; i++) {
        double discount = ((const double *)from->discounts.data)[i];
        if (!(discount >= 0 && discount <= 1))
            return sa_fail(SA_FORMAT, "a pending discount is not from 0 to 1");
    }
    return SA_OK;
}

static sa_status read_propensities(const char *name, size_t places, sa_npz *archive, sa_array *out) {
    SA_TRY(sa_npz_get_exactly(archive, name, SA_FLOAT64, 1, &places, out));
    for (size_t i = 0; i < places; i++) {
        double propensity = ((const double *)out->data)[i];
        if (!isnan(propensity) && !(propensity > 0 && propensity <= 1 + 1e-9))
            return sa_fail(SA_FORMAT, "a pending propensity is not a probability");
    }
    return SA_OK;
}

static sa_status read_rows(loaded *from, size_t places, size_t observations, sa_npz *archive) {
    SA_TRY(sa_npz_get_exactly(archive, "pending_row", SA_INT64, 1, &places, &from->row));
    const int64_t *row = from->row.data;
    for (size_t i = 0; i < places; i++)
        if (row[i] < -1 || row[i] >= (int64_t)observations)
            return sa_fail(
                SA_FORMAT,
                "a pending decision was answered by an observation that the history does not have");
    return SA_OK;
}

/* Reads the arrays and checks that their sizes fit together. */
static sa_status read_arrays(loaded *from, const sa_pending_ring *ring, const sa_gradients *like,
                             const sa_inputs *inputs, size_t observations, sa_npz *archive) {
    SA_TRY(sa_npz_get_exactly(archive, "pending_slate", SA_INT64, 0, NULL, &from->slate));
    size_t decisions = sa_array_count(&from->slate), places = 0, kept = 0, gradients = 0;
    SA_TRY(sa_npz_get_exactly(archive, "pending_id", SA_INT64, 1, &decisions, &from->id));
    if (sa_npz_has(archive, "pending_event"))
        SA_TRY(sa_npz_get_exactly(archive, "pending_event", SA_INT64, 1, &decisions, &from->event));
    SA_TRY(
        sa_npz_get_exactly(archive, "pending_has_gradients", SA_UINT8, 1, &decisions, &from->has_gradients));
    SA_TRY(sa_npz_get_exactly(archive, "pending_arms", SA_INT64, 0, NULL, &from->arms));
    size_t all_places = sa_array_count(&from->arms);
    SA_TRY(sa_npz_get_exactly(archive, "pending_answered", SA_UINT8, 1, &all_places, &from->answered));
    SA_TRY(read_rows(from, all_places, observations, archive));
    if (ring->discounted) SA_TRY(read_discounts(from, all_places, archive));
    if (sa_npz_has(archive, "pending_prefix_propensities")) {
        SA_TRY(read_propensities("pending_prefix_propensities", all_places, archive, &from->prefix));
        SA_TRY(read_propensities("pending_position_propensities", all_places, archive, &from->position));
    }
    const int64_t *slate = from->slate.data;
    const uint8_t *answered = from->answered.data, *has_gradients = from->has_gradients.data;
    for (size_t i = 0; i < decisions; i++) {
        bool too_long = (inputs->positions && (size_t)slate[i] > inputs->positions) ||
                        (ring->longest && (size_t)slate[i] > ring->longest);
        if (slate[i] < 0 || (size_t)slate[i] > all_places - places || too_long)
            return sa_fail(SA_FORMAT, "the pending decisions do not fit together");
        size_t left = 0;
        for (size_t k = 0; k < (size_t)slate[i]; k++) left += !answered[places + k];
        kept += left ? (size_t)slate[i] : 0;
        gradients += has_gradients[i] ? (size_t)slate[i] : 0;
        places += (size_t)slate[i];
    }
    if (places != all_places) return sa_fail(SA_FORMAT, "the pending decisions do not fit together");
    SA_TRY(sa_npz_get_exactly(archive, "pending_contexts", sa_real_dtype(inputs->precision), 2,
                              (size_t[]){kept, inputs->dim}, &from->contexts));
    SA_TRY(sa_gradients_init_like(&from->gradients, inputs->precision, like));
    return sa_gradients_load(&from->gradients, archive, "pending", gradients);
}

/* One decision from the arrays; `place`, `kept` and `gradient` move on. */
static sa_status make_decision(const loaded *from, size_t index, const sa_inputs *inputs, size_t *place,
                               size_t *kept, size_t *gradient, sa_pending *out) {
    size_t slate = (size_t)((const int64_t *)from->slate.data)[index];
    size_t row = inputs->dim * sa_precision_bytes(inputs->precision);
    sa_pending pending;
    sa_status status;
    const double *discounts = from->discounts.data;
    SA_TRY(sa_pending_init(&pending, slate, inputs->dim, inputs->precision, discounts));
    for (size_t k = 0; k < slate; k++) {
        pending.arms[k] = (size_t)((const int64_t *)from->arms.data)[*place + k];
        pending.answered[k] = ((const uint8_t *)from->answered.data)[*place + k] != 0;
        pending.left -= pending.answered[k];
        int64_t history_row = ((const int64_t *)from->row.data)[*place + k];
        if (history_row >= 0) pending.row[k] = (size_t)history_row;
        if (discounts) pending.discounts[k] = discounts[*place + k];
    }
    if (from->event.data) pending.event = (uint64_t)((const int64_t *)from->event.data)[index];
    const double *prefix = from->prefix.data, *position = from->position.data;
    if (prefix) SA_TRY_OR_FAIL(sa_pending_set_propensities(&pending, prefix + *place, position + *place));
    *place += slate;
    if (pending.left) {
        memcpy(pending.contexts, (const char *)from->contexts.data + *kept * row, slate * row);
        *kept += slate;
    } else {
        sa_free(pending.contexts);
        pending.contexts = NULL;
    }
    if (((const uint8_t *)from->has_gradients.data)[index]) {
        SA_TRY_OR_FAIL(sa_gradients_init_like(&pending.gradients, inputs->precision, &from->gradients));
        SA_TRY_OR_FAIL(sa_gradients_reserve(&pending.gradients, slate));
        for (size_t k = 0; k < slate; k++)
            sa_gradients_append(&pending.gradients, &from->gradients, &(size_t){*gradient + k}, 1);
        *gradient += slate;
    }
    *out = pending;
    return SA_OK;
fail:
    sa_pending_clear(&pending);
    return status;
}

/* Ids must rise, below the next one. */
static bool ids_are_sound(const loaded *from, int64_t next) {
    const int64_t *id = from->id.data;
    for (size_t i = 0; i < sa_array_count(&from->id); i++)
        if (id[i] < (i ? id[i - 1] + 1 : 0) || id[i] >= next) return false;
    return true;
}

sa_status sa_pending_file_load(sa_pending_ring *ring, const sa_gradients *like, const sa_inputs *inputs,
                               size_t observations, sa_npz *archive) {
    int64_t next, forgotten;
    SA_TRY(sa_npz_get_integer(archive, "pending_next", 0, INT64_MAX / 2, &next));
    SA_TRY(sa_npz_get_integer(archive, "pending_forgotten", 0, next, &forgotten));
    loaded from = {0};
    sa_status status;
    SA_TRY_OR_FAIL(read_arrays(&from, ring, like, inputs, observations, archive));
    if (!ids_are_sound(&from, next)) {
        status = sa_fail(SA_FORMAT, "the ids of pending decisions do not rise to the next one");
        goto fail;
    }
    ring->forgotten = (uint64_t)forgotten;
    size_t place = 0, kept = 0, gradient = 0;
    for (size_t i = 0; i < sa_array_count(&from.slate); i++) {
        sa_pending pending;
        SA_TRY_OR_FAIL(sa_ring_reserve(ring, 1));
        SA_TRY_OR_FAIL(make_decision(&from, i, inputs, &place, &kept, &gradient, &pending));
        ring->next = (uint64_t)((const int64_t *)from.id.data)[i];
        sa_ring_push(ring, &pending); /* and forgets, where the limit is lower by now */
    }
    ring->next = (uint64_t)next;
fail:
    loaded_clear(&from);
    return status;
}

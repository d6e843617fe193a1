#include "past/pending.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/reals.h"

void sa_pending_clear(sa_pending *pending) {
    sa_free(pending->answered);
    sa_free(pending->arms);
    sa_free(pending->row);
    sa_free(pending->discounts);
    sa_free(pending->propensities);
    sa_free(pending->contexts);
    sa_gradients_clear(&pending->gradients);
    *pending = (sa_pending){0};
}

sa_status sa_pending_init(sa_pending *pending, size_t slate, size_t dim, sa_precision precision,
                          bool discounted) {
    sa_pending fresh = {.slate = slate, .left = slate};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.answered, &fresh.answered));
    SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.arms, &fresh.arms));
    SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.row, &fresh.row));
    for (size_t k = 0; k < slate; k++) fresh.row[k] = SA_NO_ROW;
    if (discounted) SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.discounts, &fresh.discounts));
    SA_TRY_OR_FAIL(sa_alloc_matrix(slate, dim, sa_precision_bytes(precision), &fresh.contexts));
    *pending = fresh;
    return SA_OK;
fail:
    sa_pending_clear(&fresh);
    return status;
}

sa_status sa_pending_set_propensities(sa_pending *pending, const double *prefix, const double *position) {
    size_t slate = pending->slate;
    if (slate == 0 || isnan(prefix[slate - 1])) return SA_OK;
    SA_TRY(sa_alloc_matrix(2, slate, sizeof *pending->propensities, &pending->propensities));
    memcpy(pending->propensities, prefix, slate * sizeof *prefix);
    memcpy(pending->propensities + slate, position, slate * sizeof *position);
    return SA_OK;
}

bool sa_pending_is_new(const sa_pending *pending) {
    for (size_t k = 0; k < pending->slate; k++)
        if (pending->row[k] != SA_NO_ROW) return false;
    return true;
}

sa_pending *sa_ring_at(const sa_pending_ring *ring, size_t index) {
    return &ring->slot[(ring->head + index) % ring->capacity];
}

void sa_ring_clear(sa_pending_ring *ring) {
    for (size_t i = 0; i < ring->count; i++) sa_pending_clear(sa_ring_at(ring, i));
    sa_free(ring->slot);
    sa_free(ring->answered);
    *ring = (sa_pending_ring){0};
}

sa_status sa_ring_reserve(sa_pending_ring *ring, size_t more) {
    size_t most = ring->limit + ring->limit / 8 + 1, needed = ring->count + more;
    if (needed > most) needed = most;
    if (needed <= ring->capacity) return SA_OK;
    size_t capacity = ring->capacity < 8 ? 16 : 2 * ring->capacity;
    if (capacity < needed) capacity = needed;
    if (capacity > most) capacity = most;
    sa_pending *slot;
    uint64_t *answered;
    SA_TRY(sa_alloc_array(capacity, sizeof *slot, &slot));
    sa_status status = sa_alloc_array(capacity, sizeof *answered, &answered);
    if (status != SA_OK) {
        sa_free(slot);
        return status;
    }
    for (size_t i = 0; i < ring->count; i++) slot[i] = *sa_ring_at(ring, i);
    for (size_t i = 0; i < ring->answered_count; i++) answered[i] = ring->answered[i];
    sa_free(ring->slot);
    sa_free(ring->answered);
    ring->slot = slot;
    ring->answered = answered;
    ring->capacity = capacity;
    ring->head = 0;
    return SA_OK;
}

/* ---- the answered, the oldest on top ---- */

static void note_answered(sa_pending_ring *ring, uint64_t id) {
    size_t at = ring->answered_count++;
    for (; at > 0 && ring->answered[(at - 1) / 2] > id; at = (at - 1) / 2)
        ring->answered[at] = ring->answered[(at - 1) / 2];
    ring->answered[at] = id;
}

static uint64_t take_oldest_answered(sa_pending_ring *ring) {
    uint64_t *heap = ring->answered, oldest = heap[0], last = heap[--ring->answered_count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < ring->answered_count; at = child) {
        if (child + 1 < ring->answered_count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
    }
    heap[at] = last;
    return oldest;
}

void sa_ring_settle(sa_pending_ring *ring, sa_pending *pending) {
    ring->unanswered--;
    note_answered(ring, pending->id);
    sa_free(pending->contexts);
    pending->contexts = NULL;
    sa_gradients_clear(&pending->gradients);
}

/* ---- coming and going ---- */

/* The first slot whose id is not below this one; `count` when there is none. */
static size_t index_of(const sa_pending_ring *ring, uint64_t id) {
    size_t low = 0, high = ring->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sa_ring_at(ring, middle)->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void drop_first_empty(sa_pending_ring *ring) {
    while (ring->count > 0 && sa_ring_at(ring, 0)->forgotten) {
        ring->head = (ring->head + 1) % ring->capacity;
        ring->count--;
    }
}

/* The first slot is never empty. */
static void forget_one(sa_pending_ring *ring) {
    sa_pending *oldest =
        ring->answered_count ? sa_ring_find(ring, take_oldest_answered(ring)) : sa_ring_at(ring, 0);
    uint64_t id = oldest->id;
    ring->forgotten += oldest->left > 0;
    ring->unanswered -= oldest->left > 0;
    ring->kept--;
    sa_pending_clear(oldest);
    oldest->id = id;
    oldest->forgotten = true;
    drop_first_empty(ring);
}

static void drop_all_empty(sa_pending_ring *ring) {
    size_t kept = 0;
    for (size_t i = 0; i < ring->count; i++)
        if (!sa_ring_at(ring, i)->forgotten) *sa_ring_at(ring, kept++) = *sa_ring_at(ring, i);
    ring->count = kept;
}

void sa_ring_push(sa_pending_ring *ring, const sa_pending *pending) {
    if (ring->kept == ring->limit) forget_one(ring);
    if (ring->count == ring->capacity) drop_all_empty(ring);
    sa_pending *slot = sa_ring_at(ring, ring->count++);
    *slot = *pending;
    slot->id = ring->next++;
    ring->kept++;
    ring->unanswered += slot->left > 0;
    if (slot->left == 0) note_answered(ring, slot->id);
}

sa_pending *sa_ring_find(const sa_pending_ring *ring, uint64_t id) {
    size_t index = index_of(ring, id);
    sa_pending *found = index < ring->count ? sa_ring_at(ring, index) : NULL;
    return found && found->id == id && !found->forgotten ? found : NULL;
}

sa_pending *sa_ring_find_event(const sa_pending_ring *ring, uint64_t event) {
    for (size_t i = ring->count; i-- > 0;) {
        sa_pending *each = sa_ring_at(ring, i);
        if (each->event == event && !each->forgotten) return each;
    }
    return NULL;
}

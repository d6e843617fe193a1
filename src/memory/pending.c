#include "agent/pending.h"

#include "base/memory.h"

void sa_pending_clear(sa_pending *pending) {
    sa_free(pending->answered);
    sa_free(pending->arms);
    sa_free(pending->discounts);
    sa_free(pending->contexts);
    sa_gradients_clear(&pending->gradients);
    *pending = (sa_pending){0};
}

sa_status sa_pending_init(sa_pending *pending, size_t slate, size_t dim, sa_precision precision, bool discounted) {
    sa_pending fresh = {.slate = slate, .left = slate};
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.answered, &fresh.answered));
    SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.arms, &fresh.arms));
    if (discounted) SA_TRY_OR_FAIL(sa_alloc_array(slate, sizeof *fresh.discounts, &fresh.discounts));
    SA_TRY_OR_FAIL(sa_alloc_matrix(slate, dim, sa_precision_bytes(precision), &fresh.contexts));
    *pending = fresh;
    return SA_OK;
fail:
    sa_pending_clear(&fresh);
    return status;
}

static sa_pending *slot_at(const sa_pending_ring *ring, size_t index) {
    return &ring->slot[(ring->head + index) % ring->capacity];
}

void sa_ring_clear(sa_pending_ring *ring) {
    for (size_t i = 0; i < ring->count; i++) sa_pending_clear(slot_at(ring, i));
    sa_free(ring->slot);
    *ring = (sa_pending_ring){0};
}

sa_status sa_ring_reserve(sa_pending_ring *ring, size_t more) {
    if (ring->count + more <= ring->capacity || ring->capacity == ring->limit) return SA_OK;
    size_t capacity = ring->capacity < 8 ? 16 : 2 * ring->capacity;
    if (capacity < ring->count + more) capacity = ring->count + more;
    if (capacity > ring->limit) capacity = ring->limit;
    sa_pending *slot;
    SA_TRY(sa_alloc_array(capacity, sizeof *slot, &slot));
    for (size_t i = 0; i < ring->count; i++) slot[i] = *slot_at(ring, i);
    sa_free(ring->slot);
    ring->slot = slot;
    ring->capacity = capacity;
    ring->head = 0;
    return SA_OK;
}

void sa_ring_push(sa_pending_ring *ring, const sa_pending *pending) {
    if (ring->count == ring->capacity) {
        sa_pending *oldest = slot_at(ring, 0);
        ring->forgotten += oldest->left > 0;
        ring->unanswered -= oldest->left > 0;
        sa_pending_clear(oldest);
        ring->head = (ring->head + 1) % ring->capacity;
        ring->first++;
        ring->count--;
    }
    *slot_at(ring, ring->count) = *pending;
    ring->unanswered += pending->left > 0;
    ring->count++;
}

sa_pending *sa_ring_find(const sa_pending_ring *ring, uint64_t id) {
    if (id < ring->first || id - ring->first >= ring->count) return NULL;
    return slot_at(ring, (size_t)(id - ring->first));
}

size_t sa_ring_bytes(const sa_pending_ring *ring, size_t dim, sa_precision precision) {
    size_t total = ring->capacity * sizeof *ring->slot;
    for (size_t i = 0; i < ring->count; i++) {
        const sa_pending *pending = slot_at(ring, i);
        total += pending->slate * (sizeof *pending->arms + sizeof *pending->answered);
        if (pending->discounts) total += pending->slate * sizeof *pending->discounts;
        if (pending->contexts) total += pending->slate * dim * sa_precision_bytes(precision);
        total += sa_gradients_bytes(&pending->gradients);
    }
    return total;
}

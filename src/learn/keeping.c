#include "learn/keeping.h"

#include <string.h>

#include "base/memory.h"
#include "base/reals.h"
#include "learn/accumulators.h"
#include "learn/forgetting.h"
#include "rng/stream.h"

enum { LEAST_PREFIX = 1024, LEAST_TAIL = 64 }; /* rows; decisions: fewer are not worth moving the others */
static const double THINNING = 1.0 / 16;

/* ---- dropping ---- */

/* Moves row `from` to row `to`, which is not behind it. */
static void move_row(sa_history *history, size_t from, size_t to) {
    size_t bytes = history->dim * sa_precision_bytes(history->precision);
    if (from == to) return;
    memmove((char *)history->contexts + to * bytes, (const char *)history->contexts + from * bytes, bytes);
    history->scores[to] = history->scores[from];
    if (history->positions) history->position[to] = history->position[from];
    if (history->discounted) history->psi[to] = history->psi[from];
}

/* Pending decisions name rows of the history; (rows) from `first` on are at `to` now, SA_NO_ROW: gone. */
static void rename_rows(sa_pending_ring *ring, size_t first, const size_t *to) {
    for (size_t i = 0; i < ring->count; i++) {
        sa_pending *pending = sa_ring_at(ring, i);
        for (size_t k = 0; k < pending->slate; k++)
            if (pending->row[k] != SA_NO_ROW && pending->row[k] >= first)
                pending->row[k] = to[pending->row[k] - first];
    }
}

/* With --window only the oldest decisions go, and so many numbers move down. */
static void shift_window(sa_window *window, size_t decisions) {
    window->oldest = window->oldest > decisions ? window->oldest - decisions : 0;
    for (size_t i = 0; window->remembers && i < sa_gradients_many(&window->gradients); i++)
        window->stamp[i] = window->stamp[i] > (int64_t)decisions ? window->stamp[i] - (int64_t)decisions : 0;
}

/* Drops the decisions from `from` on that `goes` (end - from) says. */
static sa_status drop(sa_learner *learner, size_t from, size_t end, const bool *goes) {
    sa_history *history = &learner->past->history;
    size_t first = (size_t)history->start[from], rows = history->count, decisions = history->answered,
           row = first, decision = from, judged = learner->judged, *to;
    SA_TRY(sa_alloc_array(rows - first + 1, sizeof *to, &to));
    sa_moments_follow(&learner->moments, history, learner->options->discount); /* it has all feedback */
    for (size_t d = from, begin = first, next; d < decisions; d++, begin = next) {
        next = d + 1 < decisions ? (size_t)history->start[d + 1] : rows;
        bool gone = d < end && goes[d - from];
        if (!gone) history->start[decision++] = (int64_t)row;
        for (size_t i = begin; i < next; i++) {
            to[i - first] = gone ? SA_NO_ROW : row;
            if (gone && i < learner->judged) judged--;
            if (!gone) move_row(history, i, row++);
        }
    }
    history->gone_rows += rows - row;
    history->gone_decisions += decisions - decision;
    history->count = row;
    history->answered = decision;
    learner->judged = judged;
    learner->moments.taken = (double)row;
    learner->moments.decisions = (double)decision;
    rename_rows(&learner->past->pending, first, to);
    sa_free(to);
    return SA_OK;
}

/* ---- the latest ---- */

static size_t decisions_needed(const sa_options *options) {
    if (options->window > 0) return (size_t)options->window;
    return options->discount < 1 ? sa_forgetting_reach(options) : (size_t)options->train_window;
}

/* The first decision that is still needed, of those before `end`. */
static size_t first_needed(const sa_learner *learner, size_t end) {
    const sa_history *history = &learner->past->history;
    size_t needed = decisions_needed(learner->options), keep = (size_t)learner->options->keep_rows,
           first = history->answered > needed ? history->answered - needed : 0;
    if (learner->options->window > 0 && learner->window.oldest < first) first = learner->window.oldest;
    while (first < end && history->count - (size_t)history->start[first] > keep) first++;
    return first < end ? first : end;
}

static sa_status keep_latest(sa_learner *learner, size_t end) {
    const sa_history *history = &learner->past->history;
    size_t first = first_needed(learner, end);
    size_t rows = first < history->answered ? (size_t)history->start[first] : history->count;
    bool *goes;
    if (rows < LEAST_PREFIX || rows < history->count / 4) return SA_OK;
    SA_TRY(sa_alloc_array(first, sizeof *goes, &goes));
    memset(goes, true, first * sizeof *goes);
    sa_status status = drop(learner, 0, first, goes);
    sa_free(goes);
    if (status == SA_OK) shift_window(&learner->window, first);
    return status;
}

/* ---- a sample of all ---- */

/* Decisions [from, end) go with this probability. */
static sa_status thin(sa_learner *learner, size_t from, size_t end, double probability, uint64_t round,
                      uint64_t number) {
    const sa_options *options = learner->options;
    sa_stream stream =
        sa_stream_at((uint64_t)options->seed, SA_PURPOSE_KEEPING, (uint64_t)options->first_run, round);
    bool *goes;
    SA_TRY(sa_alloc_array(end - from + 1, sizeof *goes, &goes));
    for (size_t i = 0; i < end - from; i++) goes[i] = sa_draw_uniform(&stream, number + i) < probability;
    sa_status status = drop(learner, from, end, goes);
    sa_free(goes);
    return status;
}

static sa_status keep_sample(sa_learner *learner, size_t end) {
    sa_history *history = &learner->past->history;
    size_t from = (size_t)history->sampled, keep = (size_t)learner->options->keep_rows;
    double share = 1;
    for (uint64_t i = 0; i < history->thinnings; i++) share *= 1 - THINNING;
    if (end - from < LEAST_TAIL && history->count <= keep) return SA_OK;
    if (share < 1 && end > from) { /* round 0: a decision is drawn for by its number among all */
        size_t before = history->answered;
        SA_TRY(thin(learner, from, end, 1 - share, 0, history->gone_decisions + from));
        end -= before - history->answered;
    }
    history->sampled = end;
    while (history->count > keep && history->sampled > 0) {
        size_t before = history->answered;
        history->thinnings++;
        SA_TRY(thin(learner, 0, (size_t)history->sampled, THINNING, history->thinnings, 0));
        history->sampled -= before - history->answered;
    }
    return SA_OK;
}

sa_status sa_keeping_tidy(sa_learner *learner) {
    const sa_history *history = &learner->past->history;
    size_t keep = (size_t)learner->options->keep_rows, end = history->answered;
    bool judges = sa_accumulate_predictions.is_used(learner);
    if (keep == 0 || history->answered == 0) return SA_OK;
    if (judges && history->count - learner->judged > keep) SA_TRY(sa_predictions_skip(learner));
    while (judges && end > 0 && sa_history_end(history, end - 1) > learner->judged) end--;
    return sa_forgetting_is_latest(learner) ? keep_latest(learner, end) : keep_sample(learner, end);
}

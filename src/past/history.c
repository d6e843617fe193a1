#include "past/history.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/reals.h"
#include "model/model.h"
#include "past/history_file.h"

void sa_history_init(sa_history *history, const sa_inputs *inputs, bool discounted) {
    *history = (sa_history){.precision = inputs->precision,
                            .dim = inputs->dim,
                            .positions = inputs->positions,
                            .discounted = discounted};
}

void sa_history_clear(sa_history *history) {
    sa_history_file_close(history->file);
    if (history->file) {
        *history = (sa_history){0};
        return;
    }
    sa_free(history->contexts);
    sa_free(history->scores);
    sa_free(history->position);
    sa_free(history->psi);
    sa_free(history->start);
    *history = (sa_history){0};
}

sa_status sa_history_reserve(sa_history *history, size_t rows) {
    if (history->file) return sa_history_file_reserve(history, history->count + rows);
    size_t scores = history->capacity, contexts = scores, positions = scores, discounts = scores;
    SA_TRY(sa_grow_array(&history->start, &history->answered_capacity, history->answered + 1,
                         sizeof *history->start));
    SA_TRY(sa_grow_array(&history->scores, &scores, history->count + rows, sizeof *history->scores));
    if (history->positions)
        SA_TRY(
            sa_grow_array(&history->position, &positions, history->count + rows, sizeof *history->position));
    if (history->discounted)
        SA_TRY(sa_grow_array(&history->psi, &discounts, history->count + rows, sizeof *history->psi));
    SA_TRY(sa_grow_array(&history->contexts, &contexts, history->count + rows,
                         history->dim * sa_precision_bytes(history->precision)));
    history->capacity = contexts;
    return SA_OK;
}

void sa_history_begin_decision(sa_history *history) {
    if (history->file) sa_history_file_go_on(history);
    history->start[history->answered++] = (int64_t)history->count;
}

void sa_history_add(sa_history *history, const void *context, double score, size_t position, double psi) {
    if (history->file) sa_history_file_go_on(history);
    memcpy(sa_real_at(history->precision, history->contexts, history->count * history->dim), context,
           history->dim * sa_precision_bytes(history->precision));
    if (history->positions) history->position[history->count] = (int64_t)position;
    if (history->discounted) history->psi[history->count] = psi;
    history->scores[history->count++] = score;
    if (history->file) sa_history_file_note(history);
}

size_t sa_history_window(const sa_history *history, size_t window) {
    if (window == 0 || window >= history->answered) return 0;
    return (size_t)history->start[history->answered - window];
}

size_t sa_history_end(const sa_history *history, size_t decision) {
    return decision + 1 < history->answered ? (size_t)history->start[decision + 1] : history->count;
}

sa_observation sa_history_observation(const sa_history *history, size_t row) {
    if (!history->totals)
        return (sa_observation){.index = row,
                                .first = row,
                                .rows = 1,
                                .score = history->scores[row],
                                .psi = history->psi ? history->psi[row] : 1,
                                .unit = 1};
    size_t decision = sa_history_decision(history, row), rows = sa_history_end(history, decision) - row;
    double root = sqrt((double)rows);
    return (sa_observation){.index = decision,
                            .first = row,
                            .rows = rows,
                            .score = history->scores[row] / root,
                            .psi = root,
                            .unit = root};
}

size_t sa_history_decision(const sa_history *history, size_t row) {
    size_t low = 0, high = history->answered; /* start[low] <= row < start[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if ((size_t)history->start[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where it is, and how much of that there is. */
static sa_status save_mark(const sa_history *history, sa_npz_writer *writer) {
    const sa_history_mark *mark;
    SA_TRY(sa_history_file_sync(history, &mark));
    SA_TRY(sa_npz_add(writer, "history_id", SA_INT64, 1, (size_t[]){2}, mark->id));
    SA_TRY(sa_npz_add(writer, "history_mark", SA_INT64, 0, NULL, &mark->number));
    SA_TRY(sa_npz_add(writer, "history_count", SA_INT64, 0, NULL, &mark->count));
    return sa_npz_add(writer, "history_answered", SA_INT64, 0, NULL, &mark->answered);
}

sa_status sa_history_save(const sa_history *history, sa_npz_writer *writer) {
    if (history->file) return save_mark(history, writer);
    size_t shape[2] = {history->count, history->dim};
    SA_TRY(sa_npz_add(writer, "history_contexts", sa_real_dtype(history->precision), 2, shape,
                      history->contexts));
    SA_TRY(sa_npz_add(writer, "history_scores", SA_FLOAT64, 1, &history->count, history->scores));
    if (history->positions)
        SA_TRY(sa_npz_add(writer, "history_positions", SA_INT64, 1, &history->count, history->position));
    if (history->discounted)
        SA_TRY(sa_npz_add(writer, "history_discounts", SA_FLOAT64, 1, &history->count, history->psi));
    if (history->gone_rows || history->sampled) {
        _Static_assert(offsetof(sa_history, sampled) ==
                           offsetof(sa_history, gone_rows) + 3 * sizeof(uint64_t),
                       "they are one array in a file");
        SA_TRY(sa_npz_add(writer, "history_gone", SA_INT64, 1, (size_t[]){4}, &history->gone_rows));
    }
    return sa_npz_add(writer, "history_start", SA_INT64, 1, &history->answered, history->start);
}

/* Starts must rise from 0 and stay within the observations, for every decision has some; of totals at most
 * SA_MOST_SUMMED. */
static bool starts_are_sound(const sa_history *history) {
    if (history->count > 0 && (history->answered == 0 || history->start[0] != 0)) return false;
    for (size_t i = 0; i < history->answered; i++)
        if (history->start[i] < (i ? history->start[i - 1] + 1 : 0) ||
            history->start[i] >= (int64_t)history->count)
            return false;
    for (size_t i = 0; history->totals && i < history->answered; i++)
        if (sa_history_end(history, i) - (size_t)history->start[i] > SA_MOST_SUMMED) return false;
    return true;
}

/* Numbers must be finite, positions those that are told apart, and discounts from 0 to 1. */
static bool is_sound(const sa_history *history) {
    if (!starts_are_sound(history)) return false;
    for (size_t i = 0; i < history->count; i++)
        if (!isfinite(history->scores[i])) return false;
    for (size_t i = 0; history->positions && i < history->count; i++)
        if (history->position[i] < 0 || history->position[i] >= (int64_t)history->positions) return false;
    for (size_t i = 0; history->discounted && i < history->count; i++)
        if (!(history->psi[i] >= 0 && history->psi[i] <= 1)) return false;
    for (size_t i = 0; i < history->count * history->dim; i++)
        if (!isfinite(sa_real_get(history->precision, history->contexts, i))) return false;
    return true;
}

/* Of a file that may be larger than memory, only what others are found by is looked at. */
static sa_status load_mark(sa_history *history, const char *path, sa_npz *archive) {
    sa_history_mark mark;
    int64_t number, count, answered;
    SA_TRY(sa_npz_read_into(archive, "history_id", SA_INT64, 1, (size_t[]){2}, mark.id));
    SA_TRY(sa_npz_get_integer(archive, "history_mark", 1, INT64_MAX, &number));
    SA_TRY(sa_npz_get_integer(archive, "history_count", 0, INT64_MAX, &count));
    SA_TRY(sa_npz_get_integer(archive, "history_answered", 0, INT64_MAX, &answered));
    mark.number = (uint64_t)number;
    mark.count = (uint64_t)count;
    mark.answered = (uint64_t)answered;
    SA_TRY(sa_history_file_open(history, path, &mark));
    return starts_are_sound(history) ? SA_OK
                                     : sa_fail(SA_FORMAT, "the history %s is damaged: it is not sound", path);
}

static sa_status load_gone(sa_history *history, sa_npz *archive) {
    int64_t gone[4];
    if (!sa_npz_has(archive, "history_gone")) return SA_OK;
    SA_TRY(sa_npz_read_into(archive, "history_gone", SA_INT64, 1, (size_t[]){4}, gone));
    for (size_t i = 0; i < 4; i++)
        if (gone[i] < 0 || gone[i] > (INT64_C(1) << 52) || (i == 2 && gone[i] > 10000))
            return sa_fail(SA_FORMAT, "'history_gone' has the number %lld", (long long)gone[i]);
    if ((uint64_t)gone[3] > history->answered || gone[0] < gone[1])
        return sa_fail(SA_FORMAT, "'history_gone' does not go with the history");
    history->gone_rows = (uint64_t)gone[0];
    history->gone_decisions = (uint64_t)gone[1];
    history->thinnings = (uint64_t)gone[2];
    history->sampled = (uint64_t)gone[3];
    return SA_OK;
}

sa_status sa_history_load(sa_history *history, const char *path, sa_npz *archive) {
    if (*path) return load_mark(history, path, archive);
    sa_array scores = {0}, start = {0}, contexts = {0}, positions = {0}, discounts = {0};
    sa_status status;
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "history_scores", SA_FLOAT64, 0, NULL, &scores));
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "history_start", SA_INT64, 0, NULL, &start));
    size_t count = sa_array_count(&scores);
    SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "history_contexts", sa_real_dtype(history->precision), 2,
                                      (size_t[]){count, history->dim}, &contexts));
    if (history->positions)
        SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "history_positions", SA_INT64, 1, &count, &positions));
    if (history->discounted)
        SA_TRY_OR_FAIL(sa_npz_get_exactly(archive, "history_discounts", SA_FLOAT64, 1, &count, &discounts));
    history->count = history->capacity = count;
    history->answered = history->answered_capacity = sa_array_count(&start);
    history->scores = scores.data;
    history->start = start.data;
    history->position = positions.data;
    history->psi = discounts.data;
    history->contexts = contexts.data; /* the arrays are ours now */
    return is_sound(history) ? load_gone(history, archive) : sa_fail(SA_FORMAT, "the history is not sound");
fail:
    sa_array_clear(&scores);
    sa_array_clear(&start);
    sa_array_clear(&contexts);
    sa_array_clear(&positions);
    sa_array_clear(&discounts);
    return status;
}

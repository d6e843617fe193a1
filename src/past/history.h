/* The history: every context that was answered, with its score, in the order in which feedback came; and,
 * where the feedback model asks for them, its position in the slate and the discount of that position. It is
 * on the heap, or in a file (history_file.h). */
#ifndef SA_PAST_HISTORY_H
#define SA_PAST_HISTORY_H

#include "model/standardize.h"
#include "past/history_rows.h"

/* An empty one, of raw contexts of this shape. */
void sa_history_init(sa_history *history, const sa_inputs *inputs, bool discounted);
void sa_history_clear(sa_history *history);
/* Room for `rows` more observations and one more decision, so that the calls below cannot fail. */
sa_status sa_history_reserve(sa_history *history, size_t rows);
void sa_history_begin_decision(sa_history *history);
/* One observation; context (dim), raw. */
void sa_history_add(sa_history *history, const void *context, double score, size_t position, double psi);
/* The first observation of the last `window` answered decisions; 0 for a window of 0. */
size_t sa_history_window(const sa_history *history, size_t window);
/* What one observation tells of the scores of its arms: y = psi v, with the noise of one score. It is a row,
 * or where totals are known the K rows of a decision, and then y = total / sqrt(K), psi = sqrt(K), and v the
 * arms' mean score. */
typedef struct sa_observation {
    size_t index;       /* among the observations */
    size_t first, rows; /* of the history */
    double score, psi;
    double unit; /* what the history's score was divided by */
} sa_observation;
/* The one that begins with this row. */
sa_observation sa_history_observation(const sa_history *history, size_t row);
/* The rows of a decision end here. */
size_t sa_history_end(const sa_history *history, size_t decision);
/* The decision that has this row; the history has one. */
size_t sa_history_decision(const sa_history *history, size_t row);
sa_status sa_history_save(const sa_history *history, sa_npz_writer *writer);
/* `path`: its file, or "". */
sa_status sa_history_load(sa_history *history, const char *path, sa_npz *archive);

#endif

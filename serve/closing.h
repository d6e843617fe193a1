/* The end of an event's wait: its feedback is combined into the one row that the agent learns from. */
#ifndef SERVE_CLOSING_H
#define SERVE_CLOSING_H

#include "settings.h"
#include "store.h"
#include "sums.h"

/* What a slate's values (count), NaN where nothing came, teach: arms without feedback get the default; where
 * users scan from the top and stop at their click, what is behind it was not seen. Appends them to `data` as
 * JSON, and returns the sum of what was seen. */
double sv_closing_fill(const sv_settings *settings, double *values, size_t count, sa_buffer *data);
/* How many values the feedback of a decision has: one an arm, or one. */
size_t sv_closing_count(const sv_settings *settings, const sv_store_decision *decision);
/* The same of a single feedback, as it is kept; false when memory is short. */
bool sv_closing_single(const sv_settings *settings, const char *feedback, size_t count, sa_buffer *data,
                       double *reward);
/* Adds the row of the decision, with such data, and its reward to the sums. */
sv_store_status sv_closing_add(sv_store *store, sv_sums *sums, const sv_settings *settings,
                               const sv_store_decision *decision, const sa_buffer *data, double reward,
                               uint64_t *seq);
/* The same with the feedback that is there now, combined. */
sv_store_status sv_closing_write(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                 const sv_store_decision *decision, uint64_t *seq, double *reward);
/* The feedback that is there now, late ones included, revises what row `decision->seq` or a later one
 * taught, where it is another by now: then it adds a row, and `*seq` is its. Where the agent is not held, it
 * is left for who holds it. */
sv_store_status sv_closing_revise(sv_store *store, sv_sums *sums, const sv_settings *settings,
                                  const sv_store_decision *decision, uint64_t *seq);
/* What a decision has taught by now, as text: the values of its row, or those that took their place. */
sv_store_status sv_closing_learnt(sv_store *store, const sv_store_decision *decision, sa_buffer *out);
/* A row that revises: the row that it revises, and which values are new (first) and which are others
 * (changed) than before, (count) each; false: it is damaged. */
typedef struct revision {
    uint64_t of;
    double *scores;
    bool *first, *changed;
    bool any_first, any_changed;
} sv_revision;
bool sv_closing_read_revision(const char *json, size_t size, size_t count, sv_revision *out);
/* K values or nulls, JSON, into scores and observed (count); false: they are not that. `any`: one was
 * observed. */
bool sv_closing_read(const char *json, size_t size, double *scores, bool *observed, size_t count, bool *any);

#endif

/* The end of an event's wait: its feedback is combined into the one row that the agent learns from. */
#ifndef SERVE_CLOSING_H
#define SERVE_CLOSING_H

#include "settings.h"
#include "store.h"

/* Adds the row of the decision, with the feedback that is there now. `reward`: the sum of what was seen. */
sv_store_status sv_closing_write(sv_store *store, const sv_settings *settings,
                                 const sv_store_decision *decision, sv_store_row *row, double *reward);
/* K values or nulls, JSON, into scores and observed (count); false: they are not that. `any`: one was
 * observed. */
bool sv_closing_read(const char *json, size_t size, double *scores, bool *observed, size_t count, bool *any);

#endif

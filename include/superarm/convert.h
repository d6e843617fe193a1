/* Logs of other programs to decision logs, and back: what `superarm convert` does, as a call. docs/LOGS.md
 * says what becomes of what. */
#ifndef SUPERARM_CONVERT_H
#define SUPERARM_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include <superarm/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL where nothing is said. All texts are borrowed until the call returns. */
typedef struct sa_conversion {
    const char *from, *to; /* "log", "vw" (dsjson of cb and ccb), "obp" (npz) or "csv" */
    const char *in, *out;  /* files; `out` appears whole, over an older one */
    bool skip_bad;         /* lines that are wrong are skipped and counted */
    const char *schema;    /* to obp: a schema that makes numbers of named fields */
    /* from csv: names of columns, each with the names that are tried where it is NULL */
    const char *item;                /* item, item_id, action */
    const char *feedback;            /* feedback, click, reward */
    const char *propensity;          /* propensity, propensity_score, pscore */
    const char *position_propensity; /* position_propensity */
    const char *event;    /* event, event_id; rows of one event, one after the other, are a slate */
    const char *time;     /* time, timestamp */
    const char *items;    /* a csv file of all items, by the column `item` */
    const char *per_item; /* columns NAME + id hold a field NAME of that item, as user-item_affinity_ does */
} sa_conversion;

typedef struct sa_converted {
    uint64_t decisions; /* written */
    uint64_t left_out;  /* that could not be written: no feedback, no propensity */
    char note[512];     /* what a user should be told, as one sentence; "" when there is nothing */
} sa_converted;

/* `converted` may be NULL. */
SA_API sa_status sa_convert(const sa_conversion *conversion, sa_converted *converted);

#ifdef __cplusplus
}
#endif

#endif

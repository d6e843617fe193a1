/* What is gathered of the latest events, for insights*.c. */
#ifndef SERVE_INSIGHTS_TYPE_H
#define SERVE_INSIGHTS_TYPE_H

#include "ask.h"
#include "model.h"
#include "store.h"

enum {
    INSIGHT_ROWS = 1000,   /* of the journal */
    INSIGHT_PLACES = 50,   /* that are told apart */
    INSIGHT_ITEMS = 4096,  /* ids that are counted */
    INSIGHT_SHOWN = 20,    /* of them that are named */
    INSIGHT_SAMPLES = 300, /* arms with feedback, for the features */
    INSIGHT_FIELDS = 64    /* fields, or features without a schema, that are tried */
};

typedef struct insight_count {
    uint64_t count;
    double sum; /* of feedback */
} sv_insight_count;

typedef struct insight_item {
    char *id; /* NULL: a free place of the table */
    sv_insight_count shown;
} sv_insight_item;

typedef struct insights {
    const sv_settings *settings;
    const sv_policy *policy;
    double until; /* sv_clock_seconds */
    uint64_t events, unread;
    int64_t first, last; /* milliseconds */
    sv_insight_count places[INSIGHT_PLACES];
    uint64_t chances, unlikely; /* places with a known propensity; those of less than an even one */
    sv_insight_item *items;     /* (2 INSIGHT_ITEMS) by hash */
    size_t item_count;
    bool more_items;
    double *samples; /* (sample_count, dim) */
    double *answers; /* (sample_count) feedback */
    size_t sample_count, sample_seen;
} sv_insights;

/* {"rows", "variance", "error", "fields": [{"name", "increase", "missing"}]} into `out`. */
void sv_insights_features(const sv_insights *self, sa_buffer *out);

#endif

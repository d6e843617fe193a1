/* What was seen of a field in a log: enough to propose a kind for it. Memory is bounded, whatever the log. */
#ifndef SA_FEATURES_FIELD_SUMMARY_H
#define SA_FEATURES_FIELD_SUMMARY_H

#include "base/json.h"

enum { SA_SEEN_TEXTS = 16, SA_SEEN_DIFFERENT = 4096 };

/* Count, mean and central sums of powers. */
typedef struct sa_moments3 {
    double n, mean, squares, cubes;
} sa_moments3;

typedef struct sa_field_summary {
    char *name;
    bool of_item;
    uint64_t texts, numbers, flags, lists, others; /* values of each kind; null counts as missing */
    uint64_t list_entries;
    bool list_of_texts; /* all entries so far */
    double least, most;
    bool whole;                    /* all numbers so far */
    sa_moments3 plain, logarithms; /* of numbers; of log(1 + x) while none is negative */
    uint64_t *different; /* (2 x SA_SEEN_DIFFERENT) hashes of texts, numbers and tags; 0 is an empty place */
    size_t different_count;    /* up to SA_SEEN_DIFFERENT, and then no more are told apart */
    uint64_t values_told;      /* values seen when that came, or so far */
    char *text[SA_SEEN_TEXTS]; /* the first different ones */
    uint64_t text_hash[SA_SEEN_TEXTS], text_count[SA_SEEN_TEXTS];
    size_t longest; /* text, in bytes */
} sa_field_summary;

/* Takes in one value. */
sa_status sa_field_summary_add(sa_field_summary *seen, const sa_json *json, size_t at);
void sa_field_summary_clear(sa_field_summary *seen);
/* Values that are there. */
uint64_t sa_field_summary_count(const sa_field_summary *seen);
double sa_moments3_skewness(const sa_moments3 *moments); /* 0 when all are equal */

#endif

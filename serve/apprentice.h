/* An apprentice looks on while the shop's own slate is shown: how like it is its own slate, and what would
 * that have earned?
 *
 * The estimate is what was seen where the two slates have the same arm at the same place, and the model's own
 * estimate, made before the event was learnt, of the arms elsewhere. Where a click ends the page (feedback
 * cascade) or the page has one number (total), it is what was seen if the slates are the same, and else
 * the model's. */
#ifndef SERVE_APPRENTICE_H
#define SERVE_APPRENTICE_H

#include "hours.h"
#include "settings.h"

typedef struct comparison {
    size_t places; /* 0: there is nothing to compare */
    bool same[HOUR_PLACES];
    double estimate;
} sv_comparison;

/* By the answer of a decision, with its reward and the values of its first places (count), NaN: not seen. */
void sv_apprentice_compare(const sv_settings *settings, const char *answer, double reward,
                           const double *values, size_t count, sv_comparison *out);
/* The names of the first arms of an answer's slate, each ended by 0, and whether it explored. */
void sv_answer_names(const char *answer, sa_buffer *names, bool *explored);

#endif

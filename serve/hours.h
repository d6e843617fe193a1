/* What happened to an agent in an hour, as the journal keeps it (one row of JSON an hour; after two weeks
 * a day): decisions and rewards by side, rewards by place, the most shown items. And what has happened
 * since the control was set, which each hour takes over from the one before. */
#ifndef SERVE_HOURS_H
#define SERVE_HOURS_H

#include <superarm/json.h>
#include <superarm/sides.h>

#include "bounds.h"
#include "store.h"

enum { HOUR_PLACES = 20, HOUR_ITEMS = 100, HOUR_MILLISECONDS = 3600000 };

/* How an apprentice's slates compare with those that were shown, of the events that were learnt. */
typedef struct agreement {
    uint64_t events, whole; /* whole: the same slate in the same order */
    size_t places;
    uint64_t by_place[HOUR_PLACES];
    double estimate; /* sum over events of the estimated reward of its own slates */
} sv_agreement;

typedef struct since {
    int64_t time; /* milliseconds; 0: from the first event on */
    uint64_t seq; /* events of later rows count */
    sa_side sides[SIDES];
    sv_agreement agreement;
} sv_since;

/* Of the most shown, by space-saving (Metwally, Agrawal and El Abbadi, 2005): an item that is not among
 * them takes the place of the least, with its count: so counts are too high by at most `error`, and an
 * item that was shown more often than once in HOUR_ITEMS times is there. */
typedef struct shown_item {
    char id[LIMIT_ID + 1];
    uint64_t count, error;
} sv_shown_item;

typedef struct hour {
    int64_t hour; /* since 1970 */
    int span;     /* hours: 1 or 24 */
    struct {
        uint64_t decisions, learnt;
        double reward; /* sum over learnt events of their feedback's sum, and of what revisions changed */
    } sides[SIDES];
    uint64_t feedback, late, revised, explored; /* explored: decisions by the floor, and of the control */
    size_t places;
    struct {
        uint64_t seen; /* feedback that was learnt, a default's included */
        double reward;
    } by_place[HOUR_PLACES];
    sv_agreement agreement;
    size_t item_count;
    sv_shown_item items[HOUR_ITEMS];
    sv_since since;
} sv_hour;

/* NULL when memory is short, or the text is not one. Caller frees. */
sv_hour *sv_hour_new(int64_t hour);
sv_hour *sv_hour_read(int64_t hour, const char *json);
/* As JSON, without the number of the hour; `all`: with `since`. */
void sv_hour_write(const sv_hour *self, bool all, sa_buffer *out);
/* An item was shown. */
void sv_hour_show(sv_hour *self, const char *id);
/* An event was learnt from row seq, with its reward and what its places got, values (count) with NaN for
 * what was not seen; and by a revision the reward of one that had been learnt became another. */
void sv_hour_learn(sv_hour *self, sv_decision_side side, double reward, const double *values, size_t count);
void sv_hour_revise(sv_hour *self, sv_decision_side side, uint64_t seq, double before, double after);
/* An apprentice's slate: whether each place is the same (places), and the estimated reward. */
void sv_hour_compare(sv_hour *self, const bool *same, size_t places, double estimate);
/* Takes in a later hour, for a day. */
void sv_hour_merge(sv_hour *self, const sv_hour *later);
/* What is known since the control was set, as JSON: sides, difference, agreement. */
void sv_since_write(const sv_since *self, sa_buffer *out);

#endif

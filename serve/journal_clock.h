/* The journal's own time, in milliseconds: waits and retention go by it, and not by the clock of the day,
 * which can be wrong and jump. It is kept in the journal and never goes back.
 *
 * `waits` runs as the machine's steady clock does. `kept` does too, and where the day's clock is ahead of it
 * (the service was stopped for long) it follows at twice that speed, so that a clock that jumps ahead by 100
 * days moves it by two hours an hour. A stop, and a machine that sleeps, count for an hour at most. */
#ifndef SERVE_JOURNAL_CLOCK_H
#define SERVE_JOURNAL_CLOCK_H

#include <stdint.h>

typedef struct journal_clock {
    int64_t waits, kept, day; /* day: the day's clock when they were read last */
    double steady;            /* seconds */
} sv_journal_clock;

/* A new journal's. */
void sv_journal_clock_begin(sv_journal_clock *self, int64_t day, double steady);
/* Goes on with `waits`, `kept` and `day` as they were stored. */
void sv_journal_clock_resume(sv_journal_clock *self, int64_t day, double steady);
/* To the present. */
void sv_journal_clock_advance(sv_journal_clock *self, int64_t day, double steady);

#endif

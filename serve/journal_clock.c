#include "journal_clock.h"

static const int64_t HOUR = 3600 * 1000;
/* A gap that is longer than this is a clock that had not been set, and is not followed. */
static const int64_t BELIEVED = (int64_t)400 * 24 * 3600 * 1000;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void sv_journal_clock_begin(sv_journal_clock *self, int64_t day, double steady) {
    int64_t now = day > HOUR ? day : HOUR; /* 0 has a meaning of its own */
    *self = (sv_journal_clock){.waits = now, .kept = now, .day = day, .steady = steady};
}

void sv_journal_clock_resume(sv_journal_clock *self, int64_t day, double steady) {
    int64_t stopped = day > self->day ? least(day - self->day, HOUR) : 0;
    self->waits += stopped;
    self->kept += stopped;
    self->day = day;
    self->steady = steady;
}

void sv_journal_clock_advance(sv_journal_clock *self, int64_t day, double steady) {
    double seconds = steady - self->steady;
    if (!(seconds >= 0.001)) return; /* milliseconds are not lost to rounding: the rest is counted later */
    int64_t passed = seconds < 3600 ? (int64_t)(seconds * 1000) : HOUR;
    int64_t behind = day - self->kept - passed;
    self->waits += passed;
    self->kept += passed;
    if (behind > 0 && behind <= BELIEVED) self->kept += least(behind, passed);
    self->day = day;
    self->steady = seconds < 3600 ? self->steady + (double)passed / 1000 : steady;
}

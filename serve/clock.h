/* Two clocks: of the day for what is stored, and one that never goes back for what is measured. */
#ifndef SERVE_CLOCK_H
#define SERVE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Since 1970; a clock that is set before that counts as 1970. */
static inline int64_t sv_clock_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec < 0 ? 0 : (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline double sv_clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif

/* A client for load tests of HTTP servers on this machine: many connections, one thread, closed or open
 * loop. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct load_plan {
    unsigned port;
    const char *path;
    const char *body; /* sent as it is, or with "%s" replaced by an event of 32 digits */
    size_t connections;
    double seconds;
    /* requests a second, at given moments (open loop); 0: as many as there are answers (closed loop) */
    double rate;
    /* After each share-th answer, feedback for its event goes out on the same connection; 0: never. It is
     * not measured. */
    const char *feedback_path, *feedback; /* body with "%s" for the event */
    size_t share;
    /* Called once a second. */
    void (*tick)(void *user, double second);
    void *user;
} load_plan;

typedef struct load_result {
    size_t answers, errors; /* errors: no 2xx, or the connection was lost */
    size_t feedbacks;
    double seconds;
    double p50, p99, worst; /* seconds from the moment a request was due to its answer */
} load_result;

/* false: no connection, or no memory. */
bool load_run(const load_plan *about, load_result *out);

#endif

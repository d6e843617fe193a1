/* What is counted of requests. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { METRICS_ROUTES = 64, METRICS_BUCKETS = 14 };

typedef struct latency {
    atomic_uint_fast64_t by_class[6];              /* answers 1xx to 5xx */
    atomic_uint_fast64_t buckets[METRICS_BUCKETS]; /* the last: longer than all bounds */
    atomic_uint_fast64_t microseconds;
} sv_latency;

typedef struct metrics {
    sv_latency routes[METRICS_ROUTES]; /* by the route's index; the last: no route */
    atomic_uint_fast64_t open;         /* requests being answered */
} sv_metrics;

extern const double METRICS_BOUNDS[METRICS_BUCKETS - 1]; /* seconds */

void sv_metrics_count(sv_metrics *self, size_t route, int status, double seconds);

#endif

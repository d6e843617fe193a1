#include "metrics.h"

const double METRICS_BOUNDS[METRICS_BUCKETS - 1] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                    0.1,    0.2,   0.5,   1,     2,    5};

void sv_metrics_count(sv_metrics *self, size_t route, int status, double seconds) {
    sv_latency *at = &self->routes[route < METRICS_ROUTES ? route : METRICS_ROUTES - 1];
    size_t i = 0;
    while (i < METRICS_BUCKETS - 1 && seconds > METRICS_BOUNDS[i]) i++;
    atomic_fetch_add(&at->buckets[i], 1);
    atomic_fetch_add(&at->microseconds, (uint64_t)(seconds * 1e6));
    atomic_fetch_add(&at->by_class[status / 100 % 6], 1);
}

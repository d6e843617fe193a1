/* What the machine can do, and clocks to compare with it. */
#ifndef SUPERARM_BENCH_MACHINE_H
#define SUPERARM_BENCH_MACHINE_H

#include <stddef.h>

/* Seconds of this thread on a processor: the same as on the wall when nothing else runs, and less disturbed
 * when something does. */
double machine_seconds(void);
/* Seconds on the wall, from some point on: for work of several threads. */
double machine_wall(void);

/* Bytes a second when one thread sums an array far larger than the caches; negative when memory is short. */
double machine_bandwidth(void);
/* Flops a second of one thread in a large single-precision matrix product; negative when memory is short. */
double machine_peak(void);

/* The share-quantile of time (count), which gets sorted: 0.5 is the median. */
double machine_quantile(double *time, size_t count, double share);

#endif

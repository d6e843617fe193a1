/* Bootstrap intervals: decisions are drawn again, with replacement, and the value computed again; the 2.5%
 * and 97.5% percentiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/evaluate.h"
#include "rng/stream.h"

static int rising(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* Between the two nearest of the sorted values. */
static double percentile(const double *sorted, size_t count, double share) {
    double at = share * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

static void draw(uint64_t seed, size_t resampling, size_t count, uint32_t *times) {
    sa_stream stream = sa_stream_at(seed, SA_PURPOSE_BOOTSTRAP, 0, resampling);
    memset(times, 0, count * sizeof *times);
    for (size_t i = 0; i < count; i++) times[sa_draw_below(&stream, i, count)]++;
}

sa_status sa_bootstrap(const sa_policy_result *policy, size_t resamplings, uint64_t seed) {
    size_t count = policy->sample.table->count;
    uint32_t *times = NULL;
    double *values = NULL; /* (estimators, resamplings) */
    sa_status status;
    SA_TRY_OR_FAIL(sa_alloc_array(count, sizeof *times, &times));
    SA_TRY_OR_FAIL(sa_alloc_matrix(sa_estimator_count, resamplings, sizeof *values, &values));
    for (size_t b = 0; b < resamplings; b++) {
        draw(seed, b, count, times);
        for (size_t e = 0; e < sa_estimator_count; e++)
            if (policy->computed[e] && !sa_estimators[e].replay)
                SA_TRY_OR_FAIL(sa_estimate_value(&sa_estimators[e], &policy->sample, times,
                                                 &values[e * resamplings + b]));
    }
    for (size_t e = 0; e < sa_estimator_count; e++) {
        double *own = values + e * resamplings;
        size_t finite = 0; /* a resampling may hold no decision of weight */
        for (size_t b = 0; b < resamplings; b++)
            if (isfinite(own[b])) own[finite++] = own[b];
        if (!policy->computed[e] || sa_estimators[e].replay || finite == 0) continue;
        qsort(own, finite, sizeof *own, rising);
        policy->estimates[e].bootstrap95[0] = percentile(own, finite, 0.025);
        policy->estimates[e].bootstrap95[1] = percentile(own, finite, 0.975);
    }
    status = SA_OK;
fail:
    sa_free(values);
    sa_free(times);
    return status;
}

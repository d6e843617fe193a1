/* Bootstrap intervals: decisions are drawn again, with replacement, and the value computed again; the 2.5%
 * and 97.5% percentiles. Resampling b holds the same decisions for every policy, so that differences are
 * paired. */
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

/* Of values (count), which are sorted. */
static void percentiles(double *values, size_t count, double interval[2]) {
    size_t finite = 0; /* a resampling may hold no decision of weight */
    for (size_t b = 0; b < count; b++)
        if (isfinite(values[b])) values[finite++] = values[b];
    interval[0] = interval[1] = NAN;
    if (finite == 0) return;
    qsort(values, finite, sizeof *values, rising);
    interval[0] = percentile(values, finite, 0.025);
    interval[1] = percentile(values, finite, 0.975);
}

static sa_status resample(sa_policy_result *policy, uint64_t seed, uint32_t *times) {
    size_t count = policy->sample.table->count, resamplings = policy->resamplings;
    for (size_t b = 0; b < resamplings; b++) {
        draw(seed, b, count, times);
        for (size_t e = 0; e < sa_estimator_count; e++)
            if (policy->computed[e] && !sa_estimators[e].replay)
                SA_TRY(sa_estimate_value(&sa_estimators[e], &policy->sample, times,
                                         &policy->resampled[e * resamplings + b]));
    }
    return SA_OK;
}

/* Of estimator e's resampled values, minus those of `base` where it is not NULL. */
static sa_status interval_of(const sa_policy_result *policy, const sa_policy_result *base, size_t e,
                             double interval[2]) {
    size_t count = policy->resamplings;
    double *values;
    SA_TRY(sa_alloc_array(count, sizeof *values, &values));
    for (size_t b = 0; b < count; b++)
        values[b] = policy->resampled[e * count + b] - (base ? base->resampled[e * count + b] : 0);
    percentiles(values, count, interval);
    sa_free(values);
    return SA_OK;
}

sa_status sa_bootstrap(sa_policy_result *policy, size_t resamplings, uint64_t seed) {
    uint32_t *times;
    SA_TRY(sa_alloc_matrix(sa_estimator_count, resamplings, sizeof(double), &policy->resampled));
    policy->resamplings = resamplings;
    SA_TRY(sa_alloc_array(policy->sample.table->count, sizeof *times, &times));
    sa_status status = resample(policy, seed, times);
    sa_free(times);
    for (size_t e = 0; e < sa_estimator_count && status == SA_OK; e++)
        if (policy->computed[e] && !sa_estimators[e].replay)
            status = interval_of(policy, NULL, e, policy->estimates[e].bootstrap95);
    return status;
}

sa_status sa_bootstrap_difference(const sa_policy_result *policy, const sa_policy_result *base,
                                  size_t estimator, double interval[2]) {
    interval[0] = interval[1] = NAN;
    if (!policy->resamplings) return SA_OK;
    return interval_of(policy, base, estimator, interval);
}

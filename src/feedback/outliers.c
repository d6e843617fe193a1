#include "feedback/outliers.h"

#include <math.h>

static const double FACTOR = 100, FIRST = 20, KEPT = 1 - 1.0 / 1000, ENOUGH = 5;

/* Divided before they are subtracted, which cannot overflow. */
bool sa_outliers_is_mistake(const sa_outliers *outliers, double score) {
    return fabs(score / FACTOR - outliers->mean / FACTOR) > outliers->largest;
}

static bool is_wild(const sa_outliers *outliers, double score) {
    if (outliers->count < FIRST || outliers->largest == 0) return false; /* there is no scale yet */
    return sa_outliers_is_mistake(outliers, score);
}

bool sa_outliers_would_take(const sa_outliers *outliers, double score) {
    return !is_wild(outliers, score) || KEPT * outliers->suspects + 1 > ENOUGH;
}

static void add(double *count, double *mean, double *largest, double score) {
    double distance = score - *mean;
    if (++*count > 1) *largest = fmax(*largest, fabs(distance));
    *mean += distance / *count;
}

void sa_outliers_rejudge(sa_outliers *outliers) {
    if (outliers->newer_count < fmax(FIRST, outliers->count - outliers->newer_count)) return;
    if (outliers->newer_largest > 0 && outliers->largest / FACTOR > outliers->newer_largest) {
        outliers->mean = outliers->newer_mean;
        outliers->largest = outliers->newer_largest;
        outliers->changes++;
    }
    outliers->newer_count = outliers->newer_mean = outliers->newer_largest = 0;
}

bool sa_outliers_take(sa_outliers *outliers, double score) {
    bool counts = sa_outliers_would_take(outliers, score);
    bool wild = is_wild(outliers, score);
    outliers->suspects = KEPT * outliers->suspects + wild;
    outliers->wild += wild;
    if (!counts) return false;
    add(&outliers->count, &outliers->mean, &outliers->largest, score);
    add(&outliers->newer_count, &outliers->newer_mean, &outliers->newer_largest, score);
    return true;
}

#include "feedback/outliers.h"

#include <math.h>

static const double FACTOR = 100, FIRST = 20, KEPT = 1 - 1.0 / 1000, ENOUGH = 5;

/* Divided before they are subtracted, which cannot overflow. */
static bool is_wild(const sa_outliers *outliers, double score) {
    if (outliers->count < FIRST || outliers->largest == 0) return false; /* there is no scale yet */
    return fabs(score / FACTOR - outliers->mean / FACTOR) > outliers->largest;
}

bool sa_outliers_would_take(const sa_outliers *outliers, double score) {
    return !is_wild(outliers, score) || KEPT * outliers->suspects + 1 > ENOUGH;
}

bool sa_outliers_take(sa_outliers *outliers, double score) {
    bool counts = sa_outliers_would_take(outliers, score);
    bool wild = is_wild(outliers, score);
    outliers->suspects = KEPT * outliers->suspects + wild;
    outliers->wild += wild;
    if (!counts) return false;
    double distance = score - outliers->mean;
    outliers->count++;
    if (outliers->count > 1) outliers->largest = fmax(outliers->largest, fabs(distance));
    outliers->mean += distance / outliers->count;
    return true;
}

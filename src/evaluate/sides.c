#include <math.h>
#include <superarm/sides.h>

#include "base/functions.h"

static const double ALPHA = 0.05;
static const double USUAL = 1000; /* events of the smaller side at which the interval is narrowest */
static const double SHARED = 100; /* events that the variance of both counts for in each */

void sa_side_add(sa_side *side, double reward) {
    double distance = reward - side->mean;
    side->least = side->count == 0 || reward < side->least ? reward : side->least;
    side->most = side->count == 0 || reward > side->most ? reward : side->most;
    side->mean += distance / ++side->count;
    side->squares += distance * (reward - side->mean);
}

/* sum of (x - m)^2 with one x changed, by x^2 and the mean's change. */
void sa_side_replace(sa_side *side, double before, double after) {
    double mean = side->mean;
    if (!(side->count > 0)) return;
    side->mean += (after - before) / side->count;
    side->squares += (after - before) * (after - side->mean + before - mean);
    if (side->squares < 0) side->squares = 0;
    side->least = after < side->least ? after : side->least;
    side->most = after > side->most ? after : side->most;
}

/* The largest distance to its mean. */
static double reach(const sa_side *side) { return fmax(side->most - side->mean, side->mean - side->least); }

/* Few rewards, or rare ones, say little about a variance: both sides' together counts for some events of
 * each, and one more event is as far off as the farthest. */
static double variance(const sa_side *side, double shared, double farthest) {
    return (side->squares + farthest * farthest + SHARED * shared) / (side->count + SHARED);
}

sa_difference sa_side_difference(const sa_side *first, const sa_side *second) {
    double m = first->count, n = second->count;
    if (m < 2 || n < 2)
        return (sa_difference){m > 0 && n > 0 ? first->mean - second->mean : NAN, NAN, -INFINITY, INFINITY};
    double farthest = fmax(reach(first), reach(second));
    double shared = (first->squares + second->squares + farthest * farthest) / (m + n);
    double value = first->mean - second->mean;
    double error = sqrt(variance(first, shared, farthest) / m + variance(second, shared, farthest) / n);
    /* `prior`: the variance of the normal distribution over which differences are mixed, over a reward's */
    double events = 1 / (1 / m + 1 / n), prior = (-2 * sa_log(ALPHA) + sa_log(1 - 2 * sa_log(ALPHA))) / USUAL;
    double x = events * prior, half = error * sqrt(2 * (1 + 1 / x) * (0.5 * sa_log1p(x) - sa_log(ALPHA)));
    if (!(farthest > 0)) return (sa_difference){value, NAN, -INFINITY, INFINITY}; /* all are alike */
    return (sa_difference){value, error, value - half, value + half};
}

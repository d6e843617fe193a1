/* Probabilities of slates under Thompson sampling with the oracle top-k. The arms' scores are independent,
 *
 *     s_a = mean_a + deviation_a max(z_1 ... z_M),     F_a(t) = Phi((t - mean_a) / deviation_a)^M,
 *
 * and the slate is the K highest, the highest first. With h_k(t) the chance that a_k ... a_K come in this
 * order below t, and all other arms below a_K,
 *
 *     h_K(t) = integral up to t of f_{a_K} prod over arms outside of F,    h_k(t) = integral up to t of
 *         f_{a_k} h_{k+1},
 *
 * the slate's probability is h_1(infinity). Its first k arms are the slate of a smaller K. Arm a is at
 * position k when k - 1 others are above it: the integral of f_a times a Poisson-binomial probability.
 *
 * With a floor by place (place.h), the own choice for place k is the highest of the arms left under the same
 * scores, however those before were chosen. What is known of the scores of arms left is that they are below
 * t, the last own choice's. A place that the floor fills with a_k asks for no more than that of it, too:
 *
 *     h_k(t) = (1 - E) integral up to t of f_{a_k} h_{k+1}  +  E / left_k F_{a_k}(t) h_{k+1}(t),
 *     h_{K+1}(t) = prod over arms outside of F. */
#ifndef SA_EXPLORATION_TS_PROPENSITY_H
#define SA_EXPLORATION_TS_PROPENSITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct sa_ts_scores {
    size_t arms;             /* eligible ones alone */
    const double *mean;      /* (arms) */
    const double *deviation; /* (arms) not negative */
    size_t samples;          /* M */
    double floor;            /* E of the floor by place; 0: none */
} sa_ts_scores;

/* prefix (length): of the first k arms of the slate, in order; the last is the slate's own. */
sa_status sa_ts_prefix_propensities(const sa_ts_scores *scores, const size_t *slate, size_t length,
                                    double *prefix);
/* out (length): of arm k of the slate at position k. */
sa_status sa_ts_slate_positions(const sa_ts_scores *scores, const size_t *slate, size_t length, double *out);
/* out (positions, arms): of each arm at each position. */
sa_status sa_ts_position_propensities(const sa_ts_scores *scores, size_t positions, double *out);
/* out (length, arms): of the first k - 1 arms of the slate, and then this one; 0 for arms among those. */
sa_status sa_ts_next_propensities(const sa_ts_scores *scores, const size_t *slate, size_t length,
                                  double *out);

/* ---- ts_panels.c: the line of scores in pieces on which every arm's density is smooth ---- */

enum { SA_PANEL_NODES = 16 };

typedef struct sa_panels {
    size_t arms;
    const double *mean;
    double *deviation;  /* (arms) never 0 */
    double samples;     /* M */
    double *low, *high; /* (arms) below and above, F is 0 and 1 but for 1e-18 */
    double to;          /* where the last panel ends */
    double at;          /* where the next begins */
    double node[SA_PANEL_NODES], weight[SA_PANEL_NODES]; /* Gauss-Legendre on (-1, 1) */
    double running[SA_PANEL_NODES][SA_PANEL_NODES];      /* integrals from -1 to a node */
    /* the present panel: */
    double half;             /* its half width */
    double *below, *density; /* (arms, nodes) F and f */
} sa_panels;

/* Panels up to the highest score, from the lowest that matters: there the arms outside, (arms) flags, all
 * have F > 0; NULL: from the lowest of all. */
sa_status sa_panels_begin(const sa_ts_scores *scores, const bool *outside, sa_panels *out);
/* The next panel; false after the last. */
bool sa_panels_next(sa_panels *panels);
void sa_panels_clear(sa_panels *panels);
/* The integral over the panel of values (nodes). */
double sa_panel_integral(const sa_panels *panels, const double *values);
/* total + the integral from the panel's beginning to each node. */
void sa_panel_running(const sa_panels *panels, double total, const double *values, double *out);

#endif
